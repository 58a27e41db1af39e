// The bins and rules of a tree on gradients, as they are passed from Python, checked.
#pragma once

#include <algorithm>

#include "core/views.hpp"
#include "trees/gradient/gradient_rules.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

inline BinTable checked_bins(std::size_t d, const Vector<const double> &cuts,
                             const Vector<const std::int64_t> &cut_offsets,
                             const Vector<const std::uint8_t> &lookup,
                             const Vector<const std::int64_t> &lookup_offsets) {
    require(d > 0 && cut_offsets.shape(0) == d + 1 && lookup_offsets.shape(0) == d + 1,
            "offsets must bound the cuts and the lookup of every column");
    BinTable bins{cuts.data(), cut_offsets.data(), lookup.data(), lookup_offsets.data(), {}};
    for (std::size_t j = 0; j < d; ++j) {
        const std::int64_t begin = cut_offsets.data()[j], end = cut_offsets.data()[j + 1];
        const std::int64_t first = lookup_offsets.data()[j], last = lookup_offsets.data()[j + 1];
        require(0 <= begin && begin <= end && end - begin < 255 &&
                    static_cast<std::size_t>(end) <= cuts.shape(0) && 0 <= first && first <= last &&
                    static_cast<std::size_t>(last) <= lookup.shape(0),
                "offsets must stay within the cuts and the lookup");
        std::size_t n_bins = static_cast<std::size_t>(end - begin) + 1;
        if (last > first)
            n_bins =
                *std::max_element(lookup.data() + first, lookup.data() + last) + std::size_t{1};
        require(n_bins <= 255, "a column has at most 255 bins");
        bins.n_bins.push_back(n_bins);
    }
    return bins;
}

// Arguments of a tree, in the order of the function of Python.
struct GivenRules {
    std::size_t max_leaves, max_depth;
    double min_split, min_rows, min_hessian, min_gain, l2;
    bool rows_by_curvature;
    std::size_t max_features;
    Vector<const std::int8_t> monotonic;
    Matrix<const std::uint8_t> groups;
    std::uint32_t seed;

    GradientRules checked(std::size_t d) const {
        require(monotonic.shape(0) == 0 || monotonic.shape(0) == d,
                "monotonic must be empty or have one entry per column");
        require(groups.shape(0) == 0 || groups.shape(1) == d,
                "groups must have one entry per column");
        require(max_leaves >= 1 && max_features >= 1, "a tree needs a leaf and a column");
        require(l2 >= 0.0 && min_rows >= 0.0 && min_hessian >= 0.0, "penalties must be ≥ 0");
        return {min_split,
                min_rows,
                min_hessian,
                min_gain,
                l2,
                rows_by_curvature,
                max_features,
                seed,
                monotonic.shape(0) ? monotonic.data() : nullptr,
                groups.shape(0) ? groups.data() : nullptr,
                groups.shape(0)};
    }

    // Without a limit on leaves their order does not matter, and a stack has fewer open leaves.
    Growth growth(std::size_t n_rows) const {
        Growth growth;
        growth.max_leaves = max_leaves;
        growth.max_depth = static_cast<std::uint32_t>(
            std::min<std::size_t>(max_depth, std::numeric_limits<std::uint32_t>::max()));
        growth.best_first = max_leaves < n_rows;
        return growth;
    }
};

} // namespace thetahat::trees
