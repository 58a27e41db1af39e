// The settings of a tree on gradients: the bins of its columns, and when a leaf may be split.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "trees/bounds.hpp"
#include "trees/gradient/packed_gradients.hpp"

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

// The columns (of d) by which a leaf may be split, given the groups of its path; empty: all.
inline std::vector<std::uint8_t> usable_columns(const GradientRules &rules, std::size_t d,
                                                const std::vector<std::uint8_t> &groups,
                                                std::int32_t node) {
    std::vector<std::uint8_t> use;
    if (rules.n_groups) {
        use.assign(d, 0);
        for (std::size_t k = 0; k < rules.n_groups; ++k)
            for (std::size_t j = 0; groups[k] && j < d; ++j)
                use[j] |= rules.groups[k * d + j];
    }
    if (rules.max_features < d) {
        if (use.empty())
            use.assign(d, 1);
        // The columns with the smallest pseudo-random numbers of this node.
        std::vector<std::pair<double, std::uint32_t>> draws;
        for (std::uint32_t j = 0; j < d; ++j)
            if (use[j])
                draws.emplace_back(
                    fraction(static_cast<std::uint32_t>(node) * 65599u + j, ~rules.seed), j);
        std::sort(draws.begin(), draws.end());
        for (std::size_t k = rules.max_features; k < draws.size(); ++k)
            use[draws[k].second] = 0;
    }
    return use;
}

// The columns that one of two leaves may use (empty: all), or whose histograms are subtracted.
inline std::vector<std::uint32_t> looked_at(std::size_t d, const std::vector<std::uint8_t> &use_a,
                                            const std::vector<std::uint8_t> &use_b,
                                            bool subtracts) {
    const bool all = subtracts || use_a.empty() || use_b.empty();
    std::vector<std::uint32_t> open;
    for (std::uint32_t j = 0; j < d; ++j)
        if (all || use_a[j] || use_b[j])
            open.push_back(j);
    return open;
}

} // namespace thetahat::trees
