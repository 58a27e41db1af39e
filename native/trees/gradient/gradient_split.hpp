// The best split of one column of a histogram of packed gradients.
//
//     gain = G_L²/(H_L + λ) + G_R²/(H_R + λ) − G²/(H + λ)
//
// G and H are sums of integers; the gain is computed in their units and scaled at the end. At equal
// gain the smaller code is chosen, and missing values on the right. If values are bounded (by a
// monotonic constraint above), the term of a child is that of its clipped value: −2·G·v − (H +
// λ)·v².
//
// Categories are ordered by G/(H + s) and split along that order, which for a convex loss contains
// the best subset. The constant s, and a minimum weight for a category to be moved, prevent rare
// categories from being chosen because of noise. The gain is reduced by what such an order finds in
// noise (category_noise.hpp). Missing values are one more category.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "trees/bounds.hpp"
#include "trees/gradient/packed_gradients.hpp"

namespace thetahat::trees {

constexpr std::size_t most_codes = 256;

// Constraints on a split, in the units of the histogram.
struct SplitRules {
    double l2 = 0.0;
    std::int64_t least_hessian = 1; // of each side
    double support = 0.0;           // hessian that a category needs to be moved, and s

    // The rules of a leaf, whose sides need `min_rows`: counted by their share of the hessian with
    // `by_curvature`.
    SplitRules within(std::int64_t total, double weight, double min_rows, bool by_curvature) const {
        SplitRules rules = *this;
        const auto H = static_cast<double>(hessian_of(total));
        rules.support = std::min(10.0, min_rows) * (H / std::max(weight, 1.0));
        if (by_curvature && weight > 0.0) {
            const double least = min_rows / weight * (1.0 - 1e-9) * H;
            rules.least_hessian =
                std::max(least_hessian, static_cast<std::int64_t>(std::ceil(least)));
        }
        return rules;
    }
};

// The best split of a column: codes ≤ code go left, or the first `code` + 1 of `order`.
struct Found {
    double score = -1.0; // the two children's terms; −1: there is none
    std::uint32_t code = 0;
    bool missing_left = false;
    std::int64_t left = 0; // word of the left side
};

inline double term(std::int64_t g, std::int64_t h, double l2) {
    const double G = static_cast<double>(g);
    return G * G / (static_cast<double>(h) + l2);
}

// Of the splits of an ordered column, missing values all on one side (`missing` is their word, to
// be counted on the left; 0 to count them on the right).
inline void scan(const std::int64_t *prefix, std::size_t n_splits, std::int64_t total,
                 std::int64_t missing, const SplitRules &rules, const std::uint8_t *allowed,
                 Found &best) {
    std::int64_t keys[most_codes];
    const double G = static_cast<double>(gradient_of(total));
    const double H = static_cast<double>(hessian_of(total)) + 2.0 * rules.l2;
    const double least = static_cast<double>(rules.least_hessian) + rules.l2, l2 = rules.l2;
    for (std::size_t c = 0; c < n_splits; ++c) {
        const std::int64_t word = prefix[c] + missing;
        const double g = static_cast<double>(gradient_of(word));
        const double h = static_cast<double>(hessian_of(word)) + l2;
        const double rest = G - g, beyond = H - h;
        const double score = g * g / h + rest * rest / beyond;
        // Doubles ≥ 0 are in the order of their bits; −1 is below them all.
        keys[c] = (h >= least) & (beyond >= least) ? std::bit_cast<std::int64_t>(score) : -1;
    }
    if (allowed)
        for (std::size_t c = 0; c < n_splits; ++c)
            keys[c] = allowed[c] ? keys[c] : -1;
    std::int64_t top = -1;
    for (std::size_t c = 0; c < n_splits; ++c)
        top = std::max(top, keys[c]);
    if (top < 0 || std::bit_cast<double>(top) <= best.score)
        return;
    const auto at = static_cast<std::size_t>(std::find(keys, keys + n_splits, top) - keys);
    best = {std::bit_cast<double>(top), static_cast<std::uint32_t>(at), missing != 0,
            prefix[at] + missing};
}

// As `scan`, with bounded values, and ordered children if `direction` is ±1. Bounds
// are in units of value times (gradient scale / hessian scale).
inline void scan_bounded(const std::int64_t *prefix, std::size_t n_splits, std::int64_t total,
                         std::int64_t missing, const SplitRules &rules, const std::uint8_t *allowed,
                         const Bounds &bounds, int direction, Found &best) {
    const auto clipped = [&](std::int64_t g, std::int64_t h) {
        const double v = -static_cast<double>(g) / (static_cast<double>(h) + rules.l2);
        return std::clamp(v, bounds.lower, bounds.upper);
    };
    const auto worth = [&](std::int64_t g, std::int64_t h, double v) {
        return -2.0 * static_cast<double>(g) * v - (static_cast<double>(h) + rules.l2) * v * v;
    };
    for (std::size_t c = 0; c < n_splits; ++c) {
        const std::int64_t left = prefix[c] + missing, right = total - left;
        const std::int64_t hl = hessian_of(left), hr = hessian_of(right);
        if (hl < rules.least_hessian || hr < rules.least_hessian || (allowed && !allowed[c]))
            continue;
        const double vl = clipped(gradient_of(left), hl), vr = clipped(gradient_of(right), hr);
        if ((direction > 0 && vl > vr) || (direction < 0 && vl < vr))
            continue;
        const double score = worth(gradient_of(left), hl, vl) + worth(gradient_of(right), hr, vr);
        if (score > best.score)
            best = {score, static_cast<std::uint32_t>(c), missing != 0, left};
    }
}

// Codes of a categorical column in the order of G/(H + s), without those of too little weight.
inline std::vector<std::uint32_t> category_order(const std::int64_t *sums, std::size_t n_codes,
                                                 const SplitRules &rules) {
    std::vector<std::uint32_t> order;
    std::vector<double> slope(n_codes);
    for (std::size_t c = 0; c < n_codes; ++c) {
        const auto h = static_cast<double>(hessian_of(sums[c]));
        slope[c] = static_cast<double>(gradient_of(sums[c])) / (h + rules.support);
        if (h > 0.0 && h >= rules.support)
            order.push_back(static_cast<std::uint32_t>(c));
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return slope[a] < slope[b]; });
    return order;
}

// The term of a leaf that is not divided.
inline double own_term(std::int64_t total, const Bounds &bounds, double l2) {
    const std::int64_t g = gradient_of(total), h = hessian_of(total);
    if (!bounds.any())
        return term(g, h, l2);
    const double H = static_cast<double>(h) + l2, G = static_cast<double>(g);
    const double v = std::clamp(-G / H, bounds.lower, bounds.upper);
    return -2.0 * G * v - H * v * v;
}

} // namespace thetahat::trees
