// The numbers stored in the nodes of a tree, from sums of the unrounded gradients of its leaves.
//
//     value of a leaf = −Σ w·g / (Σ w·h + λ)
//
// Nodes above the leaves contain the sums of their children.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trees/gradient/gradient_rules.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

struct LeafSums {
    double gradient = 0, hessian = 0, weight = 0, squares = 0;
    std::int64_t count = 0;

    void add(const LeafSums &other) {
        gradient += other.gradient;
        hessian += other.hessian;
        weight += other.weight;
        squares += other.squares;
        count += other.count;
    }
};

// `sums` has those of the leaves, by node; `bound_scale` gives bounds the unit of the values.
inline void fill_nodes(Tree &tree, std::vector<LeafSums> &sums,
                       const std::vector<ClosedLeaf> &leaves, double l2, double bound_scale) {
    for (std::size_t node = tree.nodes.size(); node-- > 0;) {
        const std::int32_t left = tree.nodes[node].left;
        if (left != none) {
            sums[node].add(sums[static_cast<std::size_t>(left)]);
            sums[node].add(sums[static_cast<std::size_t>(left) + 1]);
        }
        const LeafSums &own = sums[node];
        tree.nodes[node].weight = own.weight;
        tree.nodes[node].count = own.count;
        const double mean = own.gradient / own.weight;
        tree.nodes[node].impurity = std::max(0.0, own.squares / own.weight - mean * mean);
        const double H = own.hessian + l2;
        *tree.value(static_cast<std::int32_t>(node)) = H > 0.0 ? -own.gradient / H : 0.0;
    }
    for (const ClosedLeaf &leaf : leaves)
        if (leaf.bounds.any()) {
            double &value = *tree.value(leaf.node);
            value =
                std::clamp(value, leaf.bounds.lower * bound_scale, leaf.bounds.upper * bound_scale);
        }
}

} // namespace thetahat::trees
