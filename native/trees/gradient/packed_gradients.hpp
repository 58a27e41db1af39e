// Gradient and hessian of a row as integers in one 64-bit word, so that a histogram is updated by
// one addition and its sums are exact.
//
//     word = q_g·2³² + q_h,   q_g = w·round(g·s_g),   q_h = w·round(h·s_h) ≥ 0
//
// The scales are chosen so that the sums over all rows fit (|Σ q_g| < 2³¹, Σ q_h < 2³²), so no sum
// over some of the rows overflows, and integer sums do not depend on the order or on the threads.
// Integer weights multiply the rounded numbers, so a row of weight two adds as much as two rows. If
// they are so large that the rounded numbers would have few digits, and if they are not integers,
// weights are multiplied before rounding. Where q_h counts rows, it is exact for integer weights.
// With many rows the integers are small; `round` then adds a pseudo-random number in [0, 1) and
// takes the floor, so that the rounding errors of equal rows have mean zero. That number depends
// only on the row number and a seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/parallel.hpp"

namespace thetahat::trees {

constexpr std::size_t exact_rows = 1u << 16;   // up to which rounding to nearest is accurate enough
constexpr std::size_t most_whole = exact_rows; // weight up to which the rounded are multiplied
constexpr std::size_t sum_chunk = 4096;        // rows per partial sum

inline std::int64_t gradient_of(std::int64_t word) { return word >> 32; }
inline std::int64_t hessian_of(std::int64_t word) { return word & 0xffffffff; }

// A number in [0, 1) from a row's number and a seed.
inline double fraction(std::uint32_t row, std::uint32_t seed) {
    std::uint32_t x = row * 0x9e3779b1u ^ seed;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return static_cast<double>(x) * (1.0 / 4294967296.0);
}

struct Gradients {
    const double *gradient;
    const double *hessian; // null: 1 for every row
    const double *weight;  // null: 1 for every row

    double g(std::size_t i) const { return gradient[i]; }
    double h(std::size_t i) const { return hessian ? hessian[i] : 1.0; }
    double w(std::size_t i) const { return weight ? weight[i] : 1.0; }
};

// How gradients become integers.
struct PackedScales {
    double gradient_scale = 1.0, hessian_scale = 1.0;
    bool counts = false;              // q_h / s_h is the weight of the rows
    bool whole = false;               // weights are integers, and multiply the rounded numbers
    bool exact_counts = false;        // q_h is the weight of the rows
    bool dither = false;              // whether a pseudo-random number is added before rounding
    std::int64_t largest_hessian = 1; // of any row, per unit of weight, rounded up
};

struct PackedGradients : PackedScales {
    std::vector<std::int64_t> words{}; // by the number of the row
};

// Sums over some rows, from which the scales follow.
struct GradientSums {
    double gradient = 0, hessian = 0, weight = 0, largest = 0; // Σ w·|g|, Σ w·h, Σ w, largest h
    bool whole = true;

    void add(const GradientSums &other) {
        gradient += other.gradient;
        hessian += other.hessian;
        weight += other.weight;
        largest = std::max(largest, other.largest);
        whole = whole && other.whole;
    }
};

// Of the rows [0, n) (of those in `rows`, where that is not null), chunk by chunk in their order.
inline GradientSums sums_of(const Gradients &of, const std::uint32_t *rows, std::size_t n_rows,
                            int threads) {
    const std::size_t chunks = (n_rows + sum_chunk - 1) / sum_chunk;
    std::vector<GradientSums> parts(chunks);
    for_each_piece(chunks, threads, [&](std::size_t piece) {
        GradientSums sums;
        const std::size_t end = std::min(n_rows, (piece + 1) * sum_chunk);
        for (std::size_t k = piece * sum_chunk; k < end; ++k) {
            const std::size_t i = rows ? rows[k] : k;
            const double w = of.w(i), h = std::max(of.h(i), 0.0);
            sums.gradient += w * std::abs(of.g(i));
            sums.hessian += w * h;
            sums.weight += w;
            sums.largest = std::max(sums.largest, h);
            if (of.weight)
                sums.whole = sums.whole && w == std::floor(w);
        }
        parts[piece] = sums;
    });
    GradientSums all;
    for (const GradientSums &part : parts)
        all.add(part);
    return all;
}

// `counts`: all hessians are 1.
inline PackedScales scales_of(const GradientSums &all, std::size_t n_rows, bool counts) {
    if (!std::isfinite(all.gradient) || !std::isfinite(all.hessian) || !std::isfinite(all.weight))
        throw std::invalid_argument("gradients, hessians and weights must be finite");
    PackedScales packed;
    packed.counts = counts;
    packed.whole = all.whole && all.weight <= static_cast<double>(most_whole);
    packed.exact_counts = counts && all.whole && all.weight < 1 << 30;
    packed.dither = n_rows > exact_rows;
    // The largest rounding error of the sums.
    const double slack = 1.0 + (packed.whole ? all.weight : static_cast<double>(n_rows));
    if (all.gradient > 0.0)
        packed.gradient_scale = (2147483647.0 - slack) / all.gradient;
    if (packed.exact_counts)
        packed.hessian_scale = 1.0;
    else if (all.hessian > 0.0)
        packed.hessian_scale = (4294967295.0 - slack) / all.hessian;
    const double s_g = packed.gradient_scale, s_h = packed.hessian_scale;
    if (!std::isfinite(s_g) || !std::isfinite(s_h))
        throw std::invalid_argument("gradients or hessians are too small to be counted");
    packed.largest_hessian =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(all.largest * s_h)) + 1);
    return packed;
}

// words[i] of the rows [0, n_rows) (of those in `rows`); row i has the number first + i.
inline void pack_words(const Gradients &of, const std::uint32_t *rows, std::size_t n_rows,
                       const PackedScales &packed, std::uint32_t first, std::uint32_t seed,
                       int threads, std::int64_t *words) {
    const std::size_t chunks = (n_rows + sum_chunk - 1) / sum_chunk;
    const double s_g = packed.gradient_scale, s_h = packed.hessian_scale;
    const bool whole = packed.whole, exact = packed.exact_counts;
    for_each_piece(chunks, threads, [&](std::size_t piece) {
        const std::size_t end = std::min(n_rows, (piece + 1) * sum_chunk);
        for (std::size_t k = piece * sum_chunk; k < end; ++k) {
            const std::size_t i = rows ? rows[k] : k;
            const auto number = static_cast<std::uint32_t>(first + i);
            const double up = packed.dither ? fraction(number, seed) : 0.5;
            const double w = of.w(i), inner = whole ? 1.0 : w, outer = whole ? w : 1.0;
            const double g = std::floor(inner * of.g(i) * s_g + up);
            const double h =
                exact ? w : outer * std::floor(inner * std::max(of.h(i), 0.0) * s_h + (1.0 - up));
            words[i] = static_cast<std::int64_t>(outer * g) * (std::int64_t{1} << 32) +
                       static_cast<std::int64_t>(h);
        }
    });
}

// Words of the rows [0, n) (of those in `rows`, where that is not null).
inline PackedGradients pack(const Gradients &of, const std::uint32_t *rows, std::size_t n_rows,
                            std::size_t n, std::uint32_t seed, int threads) {
    PackedGradients packed{
        scales_of(sums_of(of, rows, n_rows, threads), n_rows, of.hessian == nullptr)};
    packed.words.resize(n);
    pack_words(of, rows, n_rows, packed, 0, seed, threads, packed.words.data());
    return packed;
}

} // namespace thetahat::trees
