// Conjugate gradients for the dual of dual_coordinates.cpp on a face: the rows whose β_i lie
// strictly between their bounds, and not on the kink. There D is quadratic,
//
//     D(β + m) = D(β) + gᵀm − mᵀHm/2,   H = S(XXᵀ + constant²)S/penalty + curvature·S,
//
// and conjugate gradients, scaled by the diagonal of H, need about the square root of the number of
// passes that single coordinates need. Sweeps over the coordinates find the face.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/rows.hpp"

namespace thetahat {

template <typename Rows> class DualFace {
  public:
    DualFace(const Rows &rows, const double *share, const double *bend, const double *lower,
             const double *upper, double kink, double curvature, double penalty, double constant)
        : rows(rows), s(share), bend(bend), lo(lower), hi(upper), kink(kink), curvature(curvature),
          penalty(penalty), constant(constant), through(rows.n_columns() + 1) {}

    // Climbs while rows meet their bounds, because each such row makes the face smaller. Returns
    // whether the last round met none, so that this may be the face of the optimum.
    bool climb(const double *target, double offset, double *b, double *t) {
        for (int round = 0; round < ROUNDS; ++round) {
            collect(target, offset, b, t);
            if (free.empty())
                return false;
            aim_high(b);
            const Move made = move_on(b, t);
            if (made != Move::met_bounds)
                return made == Move::inside;
        }
        return false;
    }

  private:
    enum class Move { none, met_bounds, inside };
    static constexpr int ROUNDS = 5;
    static constexpr int PRODUCTS = 100;    // with H, in one round
    static constexpr double REMAINS = 0.1;  // share of the slopes at which a round is exact enough
    static constexpr double OUTSIDE = 0.02; // share of the rows that may leave the box in a round
    static constexpr int HALVINGS = 8;
    static constexpr double PROMISED = 0.1; // share of the promised rise that a step must keep

    // The rows of the face, their slopes, and the part of their box on this side of the kink.
    void collect(const double *target, double offset, const double *b, const double *t) {
        free.clear(), slope.clear(), scale.clear(), least.clear(), most.clear();
        for (std::size_t i = 0; i < rows.n_rows(); ++i) {
            const bool inside = b[i] > lo[i] && b[i] < hi[i] && (kink == 0.0 || b[i] != 0.0);
            const double diagonal = s[i] * (bend[i] + curvature);
            if (!inside || !(diagonal > 0.0))
                continue;
            const bool right = kink != 0.0 && b[i] > 0.0, left = kink != 0.0 && b[i] < 0.0;
            const double r = target[i] - offset - rows.dot(i, t) - constant * t[rows.n_columns()];
            free.push_back(i);
            slope.push_back(s[i] * (r - curvature * b[i] - (right ? kink : left ? -kink : 0.0)));
            scale.push_back(1.0 / diagonal);
            least.push_back(right ? std::max(lo[i], 0.0) : lo[i]);
            most.push_back(left ? std::min(hi[i], 0.0) : hi[i]);
        }
    }

    // aim ≈ H⁻¹g. Ends early when many rows are outside the box: then this is not yet the face of
    // the optimum, and an exact solution on it would be wasted.
    void aim_high(const double *b) {
        const std::size_t count = free.size();
        aim.assign(count, 0.0), rest = slope, way.resize(count), bent.resize(count);
        double size = 0.0;
        for (std::size_t k = 0; k < count; ++k) {
            way[k] = rest[k] * scale[k];
            size += rest[k] * way[k];
        }
        const double enough = REMAINS * REMAINS * size;
        const double bearable = OUTSIDE * static_cast<double>(count);
        for (int product = 0; product < PRODUCTS && size > enough; ++product) {
            const double turn = bend_along(way);
            if (!(turn > 0.0))
                return;
            const double length = size / turn;
            std::size_t outside = 0;
            double next = 0.0;
            for (std::size_t k = 0; k < count; ++k) {
                aim[k] += length * way[k];
                rest[k] -= length * bent[k];
                next += rest[k] * rest[k] * scale[k];
                const double to = b[free[k]] + aim[k];
                outside += to < least[k] || to > most[k];
            }
            if (static_cast<double>(outside) > bearable)
                return;
            for (std::size_t k = 0; k < count; ++k)
                way[k] = rest[k] * scale[k] + next / size * way[k];
            size = next;
        }
    }

    // Moves towards the aim, clipped to the box, and halves the way until D rises.
    Move move_on(double *b, double *t) {
        double length = 1.0;
        for (int halving = 0; halving < HALVINGS; ++halving, length /= 2) {
            double rise = 0.0;
            bool met = false;
            for (std::size_t k = 0; k < free.size(); ++k) {
                const double to = b[free[k]] + length * aim[k];
                met = met || to < least[k] || to > most[k];
                way[k] = std::min(std::max(to, least[k]), most[k]) - b[free[k]];
                rise += slope[k] * way[k];
            }
            const double turn = bend_along(way);
            if (!(rise > 0.0 && rise - turn / 2 > PROMISED * rise))
                continue;
            for (std::size_t k = 0; k < free.size(); ++k) {
                double &value = b[free[k]];
                value = std::min(std::max(value + length * aim[k], least[k]), most[k]);
            }
            for (std::size_t j = 0; j < through.size(); ++j)
                t[j] += through[j];
            return met ? Move::met_bounds : Move::inside;
        }
        return Move::none;
    }

    // bent = H·along; returns alongᵀH·along. `through` becomes the change of θ.
    double bend_along(const std::vector<double> &along) {
        std::fill(through.begin(), through.end(), 0.0);
        double *change = through.data(), &last = through[rows.n_columns()];
        for (std::size_t k = 0; k < free.size(); ++k) {
            const double by = s[free[k]] * along[k] / penalty;
            rows.add(free[k], by, change);
            last += by * constant;
        }
        double sum = 0.0;
        for (std::size_t k = 0; k < free.size(); ++k) {
            const double z = rows.dot(free[k], change) + constant * last;
            bent[k] = s[free[k]] * (z + curvature * along[k]);
            sum += along[k] * bent[k];
        }
        return sum;
    }

    const Rows &rows;
    const double *s, *bend, *lo, *hi;
    double kink, curvature, penalty, constant;
    std::vector<std::size_t> free;
    std::vector<double> slope, scale, least, most, aim, rest, way, bent, through;
};

} // namespace thetahat
