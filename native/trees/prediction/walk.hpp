// The layout of trees for prediction: 16 bytes per node, siblings next to each other.
//
//     feature ≥ 0   inner node: the low bits are the column; two flags give the side of missing
//                   values and whether `threshold` is the number of a category set; the children
//                   are child and child + 1
//     feature < 0   leaf: child is the row of `values` with its values
//
// Children come after their parent, so every walk ends.
#pragma once

#include <cstdint>

#include "core/views.hpp"

namespace thetahat::trees {

struct PackedNode {
    double threshold;
    std::int32_t feature;
    std::int32_t child;
};
static_assert(sizeof(PackedNode) == 16);

constexpr std::int32_t missing_left_flag = 1 << 30;
constexpr std::int32_t categorical_flag = 1 << 29;
constexpr std::int32_t feature_mask = categorical_flag - 1;

struct Trees {
    const PackedNode *nodes;
    const std::int64_t *roots;
    std::size_t n_trees;
    const std::uint32_t *sets; // n_sets × words
    std::size_t words;
};

inline bool in_set(const Trees &trees, double set, double x) {
    // Codes are whole numbers ≥ 0; any other value goes right.
    if (!(x >= 0.0) || x >= 32.0 * static_cast<double>(trees.words))
        return false;
    const auto code = static_cast<std::size_t>(x);
    return trees.sets[static_cast<std::size_t>(set) * trees.words + code / 32] >> (code % 32) & 1u;
}

template <typename T>
inline std::int32_t next(const Trees &trees, const PackedNode &node, const T *row) {
    const double x = static_cast<double>(row[node.feature & feature_mask]);
    // Only one branch, which is the same for whole trees, because the path of a row is
    // unpredictable.
    const bool missing_left = (x != x) & ((node.feature & missing_left_flag) != 0);
    bool left = (x <= node.threshold) | missing_left;
    if (node.feature & categorical_flag) [[unlikely]]
        left = missing_left || in_set(trees, node.threshold, x);
    return node.child + (left ? 0 : 1);
}

using Nodes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline Trees view(const Nodes &nodes, const Vector<const std::int64_t> &roots,
                  const Matrix<const std::uint32_t> &sets) {
    require(nodes.shape(1) == sizeof(PackedNode), "nodes must be given as rows of 16 bytes");
    require(roots.shape(0) >= 1, "roots must bound the nodes of every tree");
    return {reinterpret_cast<const PackedNode *>(nodes.data()), roots.data(), roots.shape(0) - 1,
            sets.data(), sets.shape(1)};
}

} // namespace thetahat::trees
