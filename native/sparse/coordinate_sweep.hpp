// One sweep of coordinate descent, in place, for least squares with separable terms:
//
//     F(β) = ½‖y − Xβ‖² + Σ_j (l1_j |β_j| + ½ l2_j β_j²),   lower_j ≤ β_j ≤ upper_j
//
// `Columns` holds r = y − Xβ in whatever form gives slope(j) = x_jᵀr and move(j, by), which keeps
// it that of β; `Terms` gives the penalty. Each coordinate in turn goes to its minimum, given all
// others, so F never increases. One thread visits the columns in the given order: the order of sums
// is fixed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/soft_threshold.hpp"

namespace thetahat {

// Terms of each column.
struct Terms {
    const double *l1, *l2, *lower;

    double square(std::size_t a) const { return l2[a]; }
    double best(std::size_t a, double pull, double curvature) const {
        return std::max(soft_threshold(pull, l1[a]) / curvature, lower[a]);
    }
};

struct BoxTerms {
    Terms terms;
    const double *upper;

    double square(std::size_t a) const { return terms.square(a); }
    double best(std::size_t a, double pull, double curvature) const {
        return std::min(terms.best(a, pull, curvature), upper[a]);
    }
};

// The same terms for all columns.
struct SameTerms {
    double l1, l2, lower;

    double square(std::size_t) const { return l2; }
    double best(std::size_t, double pull, double curvature) const {
        return std::max(soft_threshold(pull, l1) / curvature, lower);
    }
};

// X through its Gram matrix, whose rows are `stride` long: slopes = Xᵀ(y − Xβ).
struct GramSlopes {
    const double *gram;
    std::size_t stride, k;
    double *slopes;

    double square(std::size_t j) const { return gram[j * stride + j]; }
    double slope(std::size_t j) const { return slopes[j]; }
    void move(std::size_t j, double by) {
        const double *row = gram + j * stride;
        double *__restrict running = slopes;
        for (std::size_t i = 0; i < k; ++i)
            running[i] -= by * row[i];
    }
};

// `at` gives the column of the a-th coefficient and `square` its ‖x‖²; on_move(a, from, to,
// curvature) is called for each that moves.
template <typename Columns, typename At, typename Square, typename Penalty, typename OnMove>
void sweep(Columns &columns, std::size_t k, At at, Square square, Penalty terms, double *beta,
           OnMove on_move) {
    for (std::size_t a = 0; a < k; ++a) {
        const double own = square(a), curvature = own + terms.square(a);
        if (!(curvature > 0.0))
            continue; // a column of zeros does not affect the fit and keeps its coefficient
        const double from = beta[a];
        const double to = terms.best(a, own * from + columns.slope(at(a)), curvature);
        if (to == from)
            continue;
        columns.move(at(a), to - from);
        beta[a] = to;
        on_move(a, from, to, curvature);
    }
}

template <typename Penalty, typename OnMove>
void sweep(GramSlopes &columns, Penalty terms, double *beta, OnMove on_move) {
    const auto same = [](std::size_t a) { return a; };
    sweep(
        columns, columns.k, same, [&](std::size_t a) { return columns.square(a); }, terms, beta,
        on_move);
}

} // namespace thetahat
