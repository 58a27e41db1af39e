// The quadratic model of the graphical lasso at a precision matrix Q with inverse W:
//
//     m(D) = tr((S − W)D) + ½ tr(WDWD) + α Σ_{i≠j} |q_ij + d_ij|
//
// over symmetric D that are zero outside the free pairs: the diagonal, and the pairs with q_ij ≠ 0
// or |s_ij − w_ij| > α. β = q + d is kept for each pair i ≤ j, in the order of the columns j.
//
// Invariant: U = DW, and `column` = column j of U while the pairs (i, j) are visited, so that
// (WDW)_ij = w_i · column is a product of contiguous memory, and a move changes two rows of U and
// two entries of the column. O(d) per pair. One thread, in a fixed order.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/dots.hpp"
#include "sparse/coordinate_sweep.hpp"

namespace thetahat {

struct PrecisionModel {
    const double *s, *q, *w;
    std::size_t d;
    double alpha;
    std::vector<std::uint32_t> first, second;
    std::vector<double> beta, curvature, u, column;
    std::size_t current;

    PrecisionModel(const double *s, const double *q, const double *w, std::size_t d, double alpha)
        : s(s), q(q), w(w), d(d), alpha(alpha), u(d * d), column(d), current(d) {
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t i = 0; i <= j; ++i) {
                const double at = q[i * d + j], cross = w[i * d + j];
                if (i != j && at == 0.0 && !(std::abs(s[i * d + j] - cross) > alpha))
                    continue;
                first.push_back(static_cast<std::uint32_t>(i));
                second.push_back(static_cast<std::uint32_t>(j));
                beta.push_back(at);
                const double squares = w[i * d + i] * w[j * d + j];
                curvature.push_back(i == j ? squares : squares + cross * cross);
            }
    }

    std::size_t size() const { return beta.size(); }
    bool is_diagonal(std::size_t pair) const { return first[pair] == second[pair]; }
    double start(std::size_t pair) const { return q[first[pair] * d + second[pair]]; }
    double pull(std::size_t pair) const { // w_ij − s_ij
        const std::size_t at = first[pair] * d + second[pair];
        return w[at] - s[at];
    }

    // As `Columns` of coordinate_sweep.hpp.
    double slope(std::size_t pair) {
        if (second[pair] != current) {
            current = second[pair];
            for (std::size_t k = 0; k < d; ++k)
                column[k] = u[k * d + current];
        }
        return pull(pair) - dot(w + first[pair] * d, column.data(), d);
    }

    void move(std::size_t pair, double by) {
        const std::size_t i = first[pair], j = second[pair];
        add_row(u.data(), i, j, by);
        if (i != j)
            add_row(u.data(), j, i, by);
        column[i] = u[i * d + current];
        column[j] = u[j * d + current];
    }

    // As its penalty: only pairs off the diagonal are penalised.
    struct Terms {
        const PrecisionModel &model;
        double square(std::size_t) const { return 0.0; }
        double best(std::size_t pair, double pull, double curvature) const {
            return soft_threshold(pull, model.is_diagonal(pair) ? 0.0 : model.alpha) / curvature;
        }
    };

    // One sweep over all free pairs; Σ curvature·move².
    double descend() {
        double moved = 0.0;
        thetahat::sweep(
            *this, size(), [](std::size_t pair) { return pair; },
            [this](std::size_t pair) { return curvature[pair]; }, Terms{*this}, beta.data(),
            [&moved](std::size_t, double from, double to, double curved) {
                moved += curved * (to - from) * (to - from);
            });
        return moved;
    }

    // Row i of a product XW, for an entry x_ij = by.
    void add_row(double *product, std::size_t i, std::size_t j, double by) const {
        const double *from = w + j * d;
        double *__restrict to = product + i * d;
        for (std::size_t k = 0; k < d; ++k)
            to[k] += by * from[k];
    }
};

} // namespace thetahat
