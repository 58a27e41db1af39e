// The settings of the trees of a forest: columns that are tried, and stopping rules.
#pragma once

#include <cstdint>

#include "trees/tree.hpp"

namespace thetahat::trees {

struct ForestRules {
    std::uint32_t max_features;      // looked at per node, more while all are constant there
    std::uint32_t features_per_tree; // drawn once, of which the nodes draw theirs
    std::uint32_t max_candidates;    // thresholds tried per feature, drawn anew; 0: all
    std::size_t exact_rows;          // in nodes of more, near ranks are taken together
    std::size_t min_split, min_leaf; // rows
    double min_weight_share;         // of the tree's weight, in every leaf
    double min_decrease;             // of impurity, per unit of the tree's weight
    const std::int8_t *monotone;     // of each column −1, 0 or +1; null: no constraint
    Growth growth;
};

} // namespace thetahat::trees
