// The settings of a tree on statistics: allowed columns and splits, and stopping rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thetahat::trees {

struct Settings {
    std::size_t min_split = 2, min_leaf = 1;
    double min_weight = 0.0;
    double min_decrease = 0.0; // of impurity, for a unit of the root's weight
    double min_gain = 0.0;     // the same for a unit of the node's weight
    std::size_t max_features = 0;
    bool at_values = false;       // thresholds are values of the column, else midpoints
    bool category_subsets = true; // else one category against the others
    bool random_ties = false;     // of columns with equal gain a random one is used, else the first
    std::vector<std::int8_t> monotone{};
    std::uint64_t seed = 0;
    int threads = 1;
};

} // namespace thetahat::trees
