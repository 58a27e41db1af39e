// Conjugate gradients for the dual of class_dual.cpp on a face: for each row the classes whose α_im
// lie below their bounds, if there are at least two. There D is quadratic, with g = −(z + 1[m ≠ y])
// and H = (XXᵀ + constant²) for each class, both without their mean over the classes of a row,
// because Σ_m α_im stays 0. Conjugate gradients, scaled by ‖(x_i, constant)‖², need about the
// square root of the number of passes that single rows need. Sweeps over the rows find the face.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rows.hpp"

namespace thetahat {

template <typename Rows> class ClassFace {
  public:
    ClassFace(const Rows &rows, const std::int64_t *right, const double *cost,
              const double *squares, double constant, std::size_t classes)
        : rows(rows), right(right), cost(cost), squares(squares), constant(constant),
          classes(classes), through((rows.n_columns() + 1) * classes) {}

    // Climbs while entries meet their bounds, because each such entry makes the face smaller.
    // Returns whether the last round met none, so that this may be the face of the optimum.
    bool climb(double *alpha, double *weights) {
        for (int round = 0; round < ROUNDS; ++round) {
            collect(alpha, weights);
            if (free.empty())
                return false;
            aim_high(alpha);
            const Move made = move_on(alpha, weights);
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
    static constexpr double OUTSIDE = 0.02; // share of entries that may leave the box in a round
    static constexpr int HALVINGS = 8;
    static constexpr double PROMISED = 0.1; // share of the promised rise that a step must keep

    struct Row {
        std::size_t number, begin, end; // places of its classes in the arrays below
    };

    // The entries of the face, their slopes and bounds.
    void collect(const double *alpha, const double *weights) {
        face.clear(), free.clear(), most.clear();
        for (std::size_t i = 0; i < rows.n_rows(); ++i) {
            const std::size_t begin = free.size();
            if (!(squares[i] > 0.0) || !(cost[i] > 0.0))
                continue;
            for (std::size_t m = 0; m < classes; ++m) {
                const double bound = static_cast<std::size_t>(right[i]) == m ? cost[i] : 0.0;
                if (alpha[i * classes + m] < bound)
                    free.push_back(m), most.push_back(bound);
            }
            if (free.size() < begin + 2) // Σ_m α_im = 0 allows no change
                free.resize(begin), most.resize(begin);
            else
                face.push_back({i, begin, free.size()});
        }
        slope.resize(free.size());
        for (const Row &row : face) {
            score(row, weights, slope.data());
            for (std::size_t k = row.begin; k < row.end; ++k)
                slope[k] = -slope[k] -
                           (free[k] == static_cast<std::size_t>(right[row.number]) ? 0.0 : 1.0);
            centre(row, slope.data());
        }
    }

    // aim ≈ H⁻¹g. Ends early when many entries are outside the box: then this is not yet the face
    // of the optimum, and an exact solution on it would be wasted.
    void aim_high(const double *alpha) {
        const std::size_t count = free.size();
        aim.assign(count, 0.0), rest = slope, way.resize(count), bent.resize(count);
        double size = 0.0;
        for (const Row &row : face)
            for (std::size_t k = row.begin; k < row.end; ++k) {
                way[k] = rest[k] / squares[row.number];
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
            for (const Row &row : face)
                for (std::size_t k = row.begin; k < row.end; ++k) {
                    aim[k] += length * way[k];
                    rest[k] -= length * bent[k];
                    next += rest[k] * rest[k] / squares[row.number];
                    outside += alpha[row.number * classes + free[k]] + aim[k] > most[k];
                }
            if (static_cast<double>(outside) > bearable)
                return;
            for (const Row &row : face)
                for (std::size_t k = row.begin; k < row.end; ++k)
                    way[k] = rest[k] / squares[row.number] + next / size * way[k];
            size = next;
        }
    }

    // Moves towards the aim, projected to the box, and halves the way until D rises.
    Move move_on(double *alpha, double *weights) {
        double length = 1.0;
        for (int halving = 0; halving < HALVINGS; ++halving, length /= 2) {
            double rise = 0.0;
            bool met = false;
            for (const Row &row : face) {
                const double *own = alpha + row.number * classes;
                for (std::size_t k = row.begin; k < row.end; ++k)
                    way[k] = own[free[k]] + length * aim[k];
                met = project(row, way.data()) || met;
                for (std::size_t k = row.begin; k < row.end; ++k) {
                    way[k] -= own[free[k]];
                    rise += slope[k] * way[k];
                }
            }
            const double turn = bend_along(way);
            if (!(rise > 0.0 && rise - turn / 2 > PROMISED * rise))
                continue;
            for (const Row &row : face)
                for (std::size_t k = row.begin; k < row.end; ++k) {
                    double &value = alpha[row.number * classes + free[k]];
                    value = std::min(value + way[k], most[k]);
                }
            for (std::size_t j = 0; j < through.size(); ++j)
                weights[j] += through[j];
            return met ? Move::met_bounds : Move::inside;
        }
        return Move::none;
    }

    // The nearest values within the bounds that have the same sum. Returns whether one was outside.
    bool project(const Row &row, double *values) const {
        bool met = false;
        for (;;) {
            double excess = 0.0;
            std::size_t below = 0;
            for (std::size_t k = row.begin; k < row.end; ++k) {
                if (values[k] > most[k])
                    excess += values[k] - most[k], values[k] = most[k];
                below += values[k] < most[k];
            }
            if (!(excess > 0.0) || below == 0)
                return met;
            met = true;
            for (std::size_t k = row.begin; k < row.end; ++k)
                if (values[k] < most[k])
                    values[k] += excess / static_cast<double>(below);
        }
    }

    // bent = H·along; returns alongᵀH·along. `through` becomes the change of the weights.
    double bend_along(const std::vector<double> &along) {
        std::fill(through.begin(), through.end(), 0.0);
        double *last = through.data() + rows.n_columns() * classes;
        for (const Row &row : face) {
            rows.each(row.number, [&](std::size_t j, double entry) {
                double *change = through.data() + j * classes;
                for (std::size_t k = row.begin; k < row.end; ++k)
                    change[free[k]] += entry * along[k];
            });
            for (std::size_t k = row.begin; k < row.end; ++k)
                last[free[k]] += constant * along[k];
        }
        double sum = 0.0;
        for (const Row &row : face) {
            score(row, through.data(), bent.data());
            centre(row, bent.data());
            for (std::size_t k = row.begin; k < row.end; ++k)
                sum += along[k] * bent[k];
        }
        return sum;
    }

    // The scores of a row for its classes of the face.
    void score(const Row &row, const double *weights, double *scores) const {
        const double *last = weights + rows.n_columns() * classes;
        for (std::size_t k = row.begin; k < row.end; ++k)
            scores[k] = constant * last[free[k]];
        rows.each(row.number, [&](std::size_t j, double entry) {
            const double *of = weights + j * classes;
            for (std::size_t k = row.begin; k < row.end; ++k)
                scores[k] += entry * of[free[k]];
        });
    }

    static void centre(const Row &row, double *values) {
        double sum = 0.0;
        for (std::size_t k = row.begin; k < row.end; ++k)
            sum += values[k];
        sum /= static_cast<double>(row.end - row.begin);
        for (std::size_t k = row.begin; k < row.end; ++k)
            values[k] -= sum;
    }

    const Rows &rows;
    const std::int64_t *right;
    const double *cost, *squares;
    double constant;
    std::size_t classes;
    std::vector<Row> face;
    std::vector<std::size_t> free;
    std::vector<double> most, slope, aim, rest, way, bent, through;
};

} // namespace thetahat
