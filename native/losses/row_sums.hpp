// The rows of a linear prediction z = x̃ᵀθ, x̃ = (x, constant), with their losses ℓ(y, z), and sums
// over them in one pass.
//
// Rows are processed in chunks: first the raw predictions of a chunk, then their losses, then the
// sums. Sums within a chunk and over chunks are in the order of the rows, by one thread, so the
// bits are a function of the arguments.
#pragma once

#include <vector>

#include "core/linear_rows.hpp"
#include "core/pairwise_sum.hpp"
#include "linalg/gram_tiles.hpp"
#include "losses/losses.hpp"

namespace thetahat {

template <typename T> struct LossRows {
    LinearRows<T> rows;
    const double *y, *weight; // no weights: null
    const double *theta;
    int loss;
    double knee;

    LossRows(StridedMatrix<const T> x, Vector<const double> targets, Vector<const double> weights,
             Vector<const double> parameters, double constant, int loss, double knee)
        : rows(x, parameters.shape(0), constant), y(targets.data()),
          weight(weights.shape(0) ? weights.data() : nullptr), theta(parameters.data()), loss(loss),
          knee(knee) {
        require(targets.shape(0) == rows.n, "y must have one entry per row");
        require(weights.shape(0) == 0 || weights.shape(0) == rows.n,
                "weight must be empty or have one entry per row");
        require(loss >= 0 && loss < n_losses, "no loss has this number");
    }

    // visit(i, √(w_i ∂²ℓ/∂z²)) for the rows where that is not 0, in order.
    template <typename Visit> void each_curved(const Visit &visit) const {
        std::array<double, most_rows> root;
        const std::size_t step = rows.chunk();
        for (std::size_t first = 0; first < rows.n; first += step) {
            const std::size_t count = std::min(step, rows.n - first);
            rows.scores(first, count, theta, root.data());
            roots(first, count, root.data());
            for (std::size_t i = 0; i < count; ++i)
                if (root[i] != 0.0)
                    visit(first + i, root[i]);
        }
    }

  private:
    // From the scores of some rows, in their place: √(w ∂²ℓ/∂z²).
    void roots(std::size_t first, std::size_t count, double *z) const {
        // A local array, so that the compiler knows that it does not overlap with others.
        double bend[most_rows];
        with_loss(loss, [&](auto known) {
            const double *own = y + first, bent = knee;
            for (std::size_t i = 0; i < count; ++i)
                bend[i] = loss_at<decltype(known)::value, SideBySide>(bent, own[i], z[i]).curvature;
        });
        for (std::size_t i = 0; weight != nullptr && i < count; ++i)
            bend[i] *= weight[first + i];
        for (std::size_t i = 0; i < count; ++i)
            z[i] = std::sqrt(bend[i]);
    }
};

// Σ w ℓ, and Σ w ∂ℓ/∂z·x̃ in `slope`.
template <typename T> double sum_losses(const LossRows<T> &of, double *slope) {
    const LinearRows<T> &rows = of.rows;
    return with_loss(of.loss, [&](auto known) {
        std::fill(slope, slope + rows.size, 0.0);
        std::vector<double> part(rows.size);
        std::array<double, most_rows> z, pull;
        const std::size_t step = rows.chunk();
        PairwiseSum value;
        for (std::size_t first = 0; first < rows.n; first += step) {
            const std::size_t count = std::min(step, rows.n - first);
            rows.scores(first, count, of.theta, z.data());
            for (std::size_t i = 0; i < count; ++i) {
                const Value at =
                    loss_at<decltype(known)::value, SideBySide>(of.knee, of.y[first + i], z[i]);
                z[i] = at.loss;
                pull[i] = at.slope;
            }
            for (std::size_t i = 0; of.weight != nullptr && i < count; ++i) {
                z[i] *= of.weight[first + i];
                pull[i] *= of.weight[first + i];
            }
            value.add(lane_sum(z.data(), count));
            std::fill(part.begin(), part.end(), 0.0);
            rows.pull_back(first, count, pull.data(), part.data());
            for (std::size_t j = 0; j < rows.size; ++j)
                slope[j] += part[j];
        }
        return value.total();
    });
}

// Σ w ∂²ℓ/∂z²·x̃ x̃ᵀ, a matrix of the size of θ.
template <typename T> void sum_curvatures(const LossRows<T> &of, double *out) {
    GramTiles gram(of.rows.size);
    of.each_curved([&](std::size_t i, double root) {
        of.rows.scaled(i, root, gram.next());
        gram.add();
    });
    gram.write(out);
}

} // namespace thetahat
