// Shared by the kernels of hierarchical clustering: their merges as arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace cluster {

struct Merge {
    std::int64_t left, right; // a row of each of the two clusters
    double height;
};

using Merges = std::vector<Merge>;

inline void copy_merges(const Merges &merges, Vector<std::int64_t> left, Vector<std::int64_t> right,
                        Vector<double> height) {
    require(left.shape(0) == merges.size() && right.shape(0) == merges.size() &&
                height.shape(0) == merges.size(),
            "there must be one place per merge");
    for (std::size_t i = 0; i < merges.size(); ++i) {
        left.data()[i] = merges[i].left;
        right.data()[i] = merges[i].right;
        height.data()[i] = merges[i].height;
    }
}

} // namespace cluster

} // namespace thetahat
