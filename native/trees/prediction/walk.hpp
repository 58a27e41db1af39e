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

} // namespace thetahat::trees
