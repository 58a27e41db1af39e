// How far β is from the minimum of ½‖y − Xβ‖² + Σ_j (l1_j |β_j| + ½ l2_j β_j²), β_j ≥ lower_j: the
// duality gap, from ‖r‖², yᵀr and the slopes Xᵀr alone. Sums run over the columns in order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "sparse/coordinate_sweep.hpp"

namespace thetahat {

inline double penalty(const double *beta, Terms terms, std::size_t k) {
    double sum = 0.0;
    for (std::size_t a = 0; a < k; ++a)
        sum += terms.l1[a] * std::abs(beta[a]) + 0.5 * terms.l2[a] * beta[a] * beta[a];
    return sum;
}

struct Gap {
    double gap;    // the smaller one
    double scaled; // the gap of `scale`·r, which is feasible, so that spheres about it are safe
    double scale;
    double penalty;
};

// The smaller of two gaps, both 0 at the optimum. The first scales (r, −√l2 β) until it is feasible
// for the dual of the lasso on augmented rows; the second pays for infeasible slopes with l2.
template <typename Slope>
Gap duality_gap(const double *beta, Terms terms, std::size_t k, double rr, double yr, Slope slope) {
    double steepest = 0.0, absolute = 0.0, square = 0.0, excess = 0.0;
    bool scalable = true, payable = true;
    for (std::size_t a = 0; a < k; ++a) {
        const double c = slope(a), l1 = terms.l1[a], l2 = terms.l2[a], b = beta[a];
        const double tilted = c - l2 * b;
        const double size = terms.lower[a] == 0.0 ? std::max(tilted, 0.0) : std::abs(tilted);
        const double over = (terms.lower[a] == 0.0 ? std::max(c, 0.0) : std::abs(c)) - l1;
        absolute += l1 * std::abs(b);
        square += l2 * b * b;
        if (l1 > 0.0) {
            if (size > steepest * l1) // rarely true, which saves divisions
                steepest = size / l1;
        } else if (size > 0.0)
            scalable = false;
        if (over > 0.0) {
            if (l2 > 0.0)
                excess += over * over / (2.0 * l2);
            else
                payable = false;
        }
    }
    constexpr double infinite = std::numeric_limits<double>::infinity();
    Gap found{infinite, infinite, 0.0, absolute + 0.5 * square};
    if (scalable) {
        const double length = rr + square;
        const double most = steepest > 0.0 ? 1.0 / steepest : 1.0;
        const double best = length > 0.0 ? std::max(0.0, yr / length) : 0.0;
        found.scale = std::min(best, most);
        const double apart =
            0.5 * length * (1.0 + found.scale * found.scale) - found.scale * yr + absolute;
        found.gap = found.scaled = std::max(apart, 0.0);
    }
    if (payable) {
        const double paid = rr - yr + found.penalty + excess;
        found.gap = std::min(found.gap, paid);
    }
    found.gap = std::max(found.gap, 0.0);
    return found;
}

// When the coefficients are accurate themselves, not only F: one step of coordinate descent would
// move none of them by more than `share` of the largest, both in units of √curvature so that the
// scale of a column does not matter. An infinite share asks for nothing.
struct Settling {
    double share;
    double rounding; // moves up to this are rounding errors of the slopes

    bool is_asked() const { return !std::isinf(share); }
    bool holds(double move, double size) const {
        return !is_asked() || move <= std::max(share * size, rounding);
    }
};

inline constexpr double ROUNDING_OF_MOVES = 1e3; // in units of the smallest move of a sweep

struct Move {
    double largest, size; // of the moves, and of the coefficients
};

template <typename Square, typename Slope>
Move next_move(const double *beta, Terms terms, std::size_t k, Square square, Slope slope) {
    Move found{0.0, 0.0};
    for (std::size_t a = 0; a < k; ++a) {
        const double own = square(a), curvature = own + terms.square(a), c = slope(a);
        if (!(own > 0.0) || (beta[a] == 0.0 && std::abs(c) <= terms.l1[a]))
            continue;
        const double root = std::sqrt(curvature);
        const double to = terms.best(a, own * beta[a] + c, curvature);
        found.largest = std::max(found.largest, std::abs(to - beta[a]) * root);
        found.size = std::max(found.size, std::abs(beta[a]) * root);
    }
    return found;
}

} // namespace thetahat
