// The rows on which a tree is grown: `draws` draws, with or without replacement. With replacement,
// the probabilities are proportional to the weights.
//
//     row = the first i with w_0 + … + w_i > u·W,  u uniform in [0, 1)
//
// A row of integer weight is drawn by the same random numbers as that many repeated rows of weight
// 1, so "weight two equals a row twice" holds for every draw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trees/random.hpp"

namespace thetahat::trees {

// counts[i] = how often row i is drawn; `cumulative` is empty when all weights are 1.
inline void draw_rows(std::uint64_t seed, std::size_t draws, const std::vector<double> &cumulative,
                      std::vector<std::uint32_t> &counts) {
    // A separate generator, so that the random numbers that grow the tree do not depend on it.
    Random random{seed ^ 0xD1B54A32D192ED03ull};
    const std::size_t n = counts.size();
    std::fill(counts.begin(), counts.end(), 0u);
    const double total = cumulative.empty() ? static_cast<double>(n) : cumulative.back();
    for (std::size_t draw = 0; draw < draws; ++draw) {
        const double place = random.uniform() * total;
        std::size_t row;
        if (cumulative.empty()) {
            row = static_cast<std::size_t>(place);
        } else {
            const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), place);
            row = static_cast<std::size_t>(found - cumulative.begin());
            if (row == n) // u·W rounded up to W: the last row of positive weight
                row = static_cast<std::size_t>(
                    std::lower_bound(cumulative.begin(), cumulative.end(), total) -
                    cumulative.begin());
        }
        ++counts[std::min(row, n - 1)];
    }
}

// counts[i] = 1 for `draws` distinct rows, every set of rows of positive weight being equally
// likely; all of them where there are fewer. Row i is taken with probability
// (still to take)/(rows left), in order (selection sampling, Knuth's algorithm S).
inline void draw_distinct_rows(std::uint64_t seed, std::size_t draws, const double *weight,
                               std::vector<std::uint32_t> &counts) {
    Random random{seed ^ 0xD1B54A32D192ED03ull};
    std::size_t left = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
        left += !weight || weight[i] > 0.0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        counts[i] = 0;
        if (weight && !(weight[i] > 0.0))
            continue;
        if (random.uniform() * static_cast<double>(left) < static_cast<double>(draws)) {
            counts[i] = 1;
            --draws;
        }
        --left;
    }
}

inline std::vector<double> cumulative_weights(const double *weight, std::size_t n) {
    std::vector<double> sums(weight ? n : 0);
    double sum = 0.0;
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = sum += weight[i];
    return sums;
}

} // namespace thetahat::trees
