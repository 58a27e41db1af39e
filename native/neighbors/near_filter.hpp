// Rows that may be near, from bounds: with g = qᵀx the squared distance is ‖q‖² + ‖x‖² − 2g, and
// with g = Σ_j min(|q_j|, |x_j|)·1[q_j x_j > 0] the Manhattan distance is ‖q‖₁ + ‖x‖₁ − 2g.
//
// Such sums carry rounding errors, so they serve as a filter only. With `low[j]` = (1 − c)·‖x_j‖
// and c beyond all rounding of the formula, low[j] − 2 g[j] + (1 − c)·‖q‖ is a lower bound, and the
// same with 1 + c an upper bound. A row whose lower bound does not exceed the distance of the
// farthest kept row is measured anew, in float64 as metrics.hpp defines it: the result has the bits
// of a scan. The test is written so that a bound that overflowed (NaN) passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "neighbors/nearest_list.hpp"

namespace thetahat::neighbors {

// The smallest number of type T that is not less.
template <typename T> T rounded_up(double value) {
    const T near = static_cast<T>(value);
    return static_cast<double>(near) < value
               ? std::nextafter(near, std::numeric_limits<T>::infinity())
               : near;
}

template <typename T> struct Bounds {
    const T *low; // one per row
    double slack; // the share c

    // The k-th smallest upper bound: no row beyond it is among the k nearest. Without it, the first
    // rows would all be measured before the list is full.
    double kth_upper(const T *g, double query_low, std::size_t n, std::vector<T> &best) const {
        const T ratio = rounded_up<T>((1 + slack) / (1 - slack));
        std::fill(best.begin(), best.end(), std::numeric_limits<T>::infinity());
        const std::size_t k = best.size();
        for (std::size_t c = 0; c < n; ++c) {
            const T upper = ratio * low[c] - 2 * g[c];
            if (!(upper < best[k - 1]))
                continue;
            std::size_t at = k - 1;
            for (; at > 0 && upper < best[at - 1]; --at)
                best[at] = best[at - 1];
            best[at] = upper;
        }
        return static_cast<double>(best[k - 1]) + (1 + slack) / (1 - slack) * query_low;
    }
};

// Offer the n rows from `first` on whose lower bound does not exceed `most` nor the list's worst.
template <typename T, typename Distance, typename List>
void refine(const T *g, const T *low, double query_low, std::size_t n, std::size_t first,
            double most, const Distance &distance, List &list) {
    constexpr std::size_t chunk = 64; // looked at as a whole before one by one
    const auto limit_now = [&] { return rounded_up<T>(std::min(list.worst(), most) - query_low); };
    T limit = limit_now();
    for (std::size_t j = 0; j < n; j += chunk) {
        const std::size_t end = std::min(n, j + chunk);
        int passing = 0;
        for (std::size_t c = j; c < end; ++c)
            passing |= !(low[c] - 2 * g[c] > limit);
        if (!passing)
            continue;
        for (std::size_t c = j; c < end; ++c) {
            if (low[c] - 2 * g[c] > limit)
                continue;
            const double exact = distance(first + c);
            const auto number = static_cast<std::int64_t>(first + c);
            if (list.admits(exact, number)) {
                list.insert(exact, number);
                limit = limit_now();
            }
        }
    }
}

constexpr std::size_t longest_bounded_list = 64;

} // namespace thetahat::neighbors
