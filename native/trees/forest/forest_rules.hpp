// The settings of the trees of a forest: columns that are tried, and stopping rules.
#pragma once

#include <cstdint>

#include "trees/tree.hpp"

namespace thetahat::trees {

struct ForestRules {
    std::uint32_t max_features; // columns tried per node, more while all of them are constant there
    std::uint32_t features_per_tree; // columns drawn once per tree, from which nodes draw theirs
    std::uint32_t max_candidates;    // random thresholds tried per column; 0: all thresholds
    std::size_t exact_rows;          // in nodes with more rows, neighbouring ranks are merged
    std::size_t min_split, min_leaf; // rows
    double min_weight_share;         // of the tree's weight, in every leaf
    double min_decrease;             // of impurity, per unit of the tree's weight
    const std::int8_t *monotone;     // of each column −1, 0 or +1; null: no constraint
    Growth growth;
};

} // namespace thetahat::trees
