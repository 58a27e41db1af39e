// The settings of a tree on gradients: the bins of its columns, and when a leaf may be split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/bounds.hpp"

namespace thetahat::trees {

struct BinTable {
    const double *cuts;
    const std::int64_t *cut_offsets;
    const std::uint8_t *lookup;
    const std::int64_t *lookup_offsets;
    std::vector<std::size_t> n_bins{}; // per column; the code of missing values

    bool categorical(std::size_t j) const { return lookup_offsets[j + 1] > lookup_offsets[j]; }
    bool any_categorical() const { return lookup_offsets[n_bins.size()] > lookup_offsets[0]; }
    double threshold(std::size_t j, std::uint32_t code) const {
        return code + 1 < n_bins[j] ? cuts[cut_offsets[j] + code]
                                    : std::numeric_limits<double>::infinity();
    }
};

constexpr double noise = 1e-9; // share of a leaf's own term that a gain must exceed

struct ClosedLeaf {
    std::int32_t node;
    std::size_t begin, end;
    Bounds bounds;
};

struct GradientRules {
    double min_split, min_rows, min_hessian, min_gain, l2;
    bool rows_by_curvature; // whether rows of a split's sides count by their share of the hessian
    std::size_t max_features;
    std::uint32_t seed;
    const std::int8_t *monotonic; // null: no monotonic constraints
    const std::uint8_t *groups;   // n_groups × d: columns that may be used on one path; null: all
    std::size_t n_groups;
};

} // namespace thetahat::trees
