// The categories of a leaf of a tree on gradients, compared with chance.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/category_noise.hpp"
#include "trees/gradient/packed_gradients.hpp"

namespace thetahat::trees {

struct LeafSquares {
    double gradient = 0.0;                // Σ w·g²
    double weight = 0.0, of_weight = 0.0; // Σ w, Σ w²
};

// In the order of the rows, by one thread.
inline LeafSquares squares_of(const Gradients &gradients, const std::vector<std::uint32_t> &order,
                              std::size_t begin, std::size_t end) {
    LeafSquares squares;
    for (std::size_t i = begin; i < end; ++i) {
        const double w = gradients.w(order[i]), g = gradients.g(order[i]);
        squares.gradient += w * g * g;
        squares.weight += w;
        squares.of_weight += w * w;
    }
    return squares;
}

// The share of the differences between the categories in `order`, and the rest of the leaf, that is
// more than chance. Every row counts with the mean curvature of the leaf.
inline double real_share(std::int64_t total, const LeafSquares &squares, const std::int64_t *sums,
                         const std::vector<std::uint32_t> &order, const PackedGradients &packed) {
    const double row = squares.of_weight / squares.weight;
    const double per_weight = static_cast<double>(hessian_of(total)) / squares.weight;
    CategoryNoise noise;
    const auto add = [&](std::int64_t word) {
        const double w = static_cast<double>(hessian_of(word)) / per_weight;
        const auto g = static_cast<double>(gradient_of(word));
        if (w > 0.0)
            noise.add(w, w * row, g * g);
    };
    std::int64_t rest = total;
    for (const std::uint32_t code : order) {
        add(sums[code]);
        rest -= sums[code];
    }
    add(rest);
    const auto g = static_cast<double>(gradient_of(total));
    return noise.share(g * g, squares.gradient * packed.gradient_scale * packed.gradient_scale);
}

} // namespace thetahat::trees
