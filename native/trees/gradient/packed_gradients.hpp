// Gradient and hessian of a row as integers in one 64-bit word, so that a histogram is updated by
// one addition and its sums are exact.
//
//     word = q_g·2³² + q_h,   q_g = w·round(g·s_g),   q_h = w·round(h·s_h) ≥ 0
//
// The scales are chosen so that the sums over all rows fit (|Σ q_g| < 2³¹, Σ q_h < 2³²), so no sum
// over some of the rows overflows, and integer sums do not depend on the order or on the threads.
// Integer weights multiply the rounded numbers, so a row of weight two adds as much as two rows.
// Other weights are multiplied before rounding. With many rows the integers are small; `round` then
// adds a pseudo-random number in [0, 1) and takes the floor, so that the rounding errors of equal
// rows have mean zero. That number depends only on the row number and a seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/parallel.hpp"

namespace thetahat::trees {

constexpr std::size_t exact_rows = 1u << 16; // up to which rounding to nearest is accurate enough
constexpr std::size_t sum_chunk = 4096;      // rows per partial sum

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

struct PackedGradients {
    std::vector<std::int64_t> words; // by the number of the row
    double gradient_scale = 1.0, hessian_scale = 1.0;
    bool counts = false;              // q_h / s_h is the weight of the rows
    std::int64_t largest_hessian = 1; // of any row, per unit of weight, rounded up
};

// Words of the rows [0, n) (of those in `rows`, where that is not null).
inline PackedGradients pack(const Gradients &of, const std::uint32_t *rows, std::size_t n_rows,
                            std::size_t n, std::uint32_t seed, int threads) {
    struct Sums {
        double gradient = 0, hessian = 0, weight = 0, largest = 0;
        bool whole = true;
    };
    const std::size_t chunks = (n_rows + sum_chunk - 1) / sum_chunk;
    std::vector<Sums> parts(chunks);
    for_each_piece(chunks, threads, [&](std::size_t piece) {
        Sums sums;
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
    Sums all;
    for (const Sums &part : parts) { // in the order of the rows
        all.gradient += part.gradient;
        all.hessian += part.hessian;
        all.weight += part.weight;
        all.largest = std::max(all.largest, part.largest);
        all.whole = all.whole && part.whole;
    }
    if (!std::isfinite(all.gradient) || !std::isfinite(all.hessian) || !std::isfinite(all.weight))
        throw std::invalid_argument("gradients, hessians and weights must be finite");

    PackedGradients packed;
    packed.words.resize(n);
    packed.counts = of.hessian == nullptr;
    const bool whole = all.whole && all.weight < 1 << 30;
    // The largest rounding error of the sums.
    const double slack = 1.0 + (whole ? all.weight : static_cast<double>(n_rows));
    if (all.gradient > 0.0)
        packed.gradient_scale = (2147483647.0 - slack) / all.gradient;
    if (packed.counts && whole)
        packed.hessian_scale = 1.0;
    else if (all.hessian > 0.0)
        packed.hessian_scale = (4294967295.0 - slack) / all.hessian;
    const double s_g = packed.gradient_scale, s_h = packed.hessian_scale;
    if (!std::isfinite(s_g) || !std::isfinite(s_h))
        throw std::invalid_argument("gradients or hessians are too small to be counted");
    packed.largest_hessian =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(all.largest * s_h)) + 1);
    const bool dither = n_rows > exact_rows;
    for_each_piece(chunks, threads, [&](std::size_t piece) {
        const std::size_t end = std::min(n_rows, (piece + 1) * sum_chunk);
        for (std::size_t k = piece * sum_chunk; k < end; ++k) {
            const std::size_t i = rows ? rows[k] : k;
            const auto number = static_cast<std::uint32_t>(i);
            const double up = dither ? fraction(number, seed) : 0.5;
            const double w = of.w(i), inner = whole ? 1.0 : w, outer = whole ? w : 1.0;
            const double g = std::floor(inner * of.g(i) * s_g + up);
            const double h = packed.counts && whole
                                 ? 1.0
                                 : std::floor(inner * std::max(of.h(i), 0.0) * s_h + (1.0 - up));
            packed.words[i] = static_cast<std::int64_t>(outer * g) * (std::int64_t{1} << 32) +
                              static_cast<std::int64_t>(outer * h);
        }
    });
    return packed;
}

} // namespace thetahat::trees
