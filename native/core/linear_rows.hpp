// Rows of a linear prediction z = x̃ᵀθ, x̃ = (x, constant) or x itself, in chunks that fit in the
// cache, so that x is read from memory only once for all computations on a chunk.
#pragma once

#include <algorithm>
#include <array>

#include "core/simd4.hpp"
#include "core/views.hpp"

namespace thetahat {

inline constexpr std::size_t together = 4; // rows whose products are summed at the same time
inline constexpr std::size_t most_rows = 256;

template <typename T> struct LinearRows {
    const T *x;
    std::size_t n, d, size; // rows, entries of x, entries of x̃
    std::int64_t stride;
    double constant;

    LinearRows(StridedMatrix<const T> rows, std::size_t size, double constant)
        : x(rows.data()), n(rows.shape(0)), d(rows.shape(1)), size(size), stride(rows.stride(0)),
          constant(constant) {
        require(d <= 1 || rows.stride(1) == 1, "the entries of a row must follow one another");
        require(size == d || size == d + 1,
                "theta must have one entry per column of x, or one more");
    }

    const T *row(std::size_t i) const { return x + static_cast<std::int64_t>(i) * stride; }

    // Number of rows of a chunk.
    std::size_t chunk() const {
        constexpr std::size_t bytes = 1 << 15;
        const std::size_t rows = bytes / std::max<std::size_t>(d * sizeof(T), 1) / together;
        return std::clamp(rows * together, together, most_rows);
    }

    // z_i = x̃_iᵀθ for `count` rows from `first` on.
    void scores(std::size_t first, std::size_t count, const double *theta, double *z) const {
        const double level = size > d ? constant * theta[d] : 0.0;
        for (std::size_t i = 0; i < count; i += together) {
            // The last few rows are completed by the last of them, whose score is then not kept.
            std::array<const T *, together> a;
            for (std::size_t k = 0; k < together; ++k)
                a[k] = row(first + std::min(i + k, count - 1));
            Double4 even[together] = {}, odd[together] = {};
            std::size_t j = 0;
            for (; j + 8 <= d; j += 8) {
                const Double4 low = load4(theta + j), high = load4(theta + j + 4);
                for (std::size_t k = 0; k < together; ++k) {
                    even[k] += load4(a[k] + j) * low;
                    odd[k] += load4(a[k] + j + 4) * high;
                }
            }
            Double4 sum;
            for (std::size_t k = 0; k < together; ++k)
                sum[k] = sum_of(even[k] + odd[k]);
            for (; j < d; ++j)
                for (std::size_t k = 0; k < together; ++k)
                    sum[k] += static_cast<double>(a[k][j]) * theta[j];
            for (std::size_t k = 0; k < together && i + k < count; ++k)
                z[i + k] = sum[k] + level;
        }
    }

    // g += Σ_i s_i x̃_i over the same rows.
    void pull_back(std::size_t first, std::size_t count, const double *s,
                   double *__restrict g) const {
        std::size_t i = 0;
        for (; i + together <= count; i += together) {
            const T *a = row(first + i), *b = row(first + i + 1);
            const T *c = row(first + i + 2), *e = row(first + i + 3);
            const double p = s[i], q = s[i + 1], r = s[i + 2], t = s[i + 3];
            for (std::size_t j = 0; j < d; ++j)
                g[j] += (p * static_cast<double>(a[j]) + q * static_cast<double>(b[j])) +
                        (r * static_cast<double>(c[j]) + t * static_cast<double>(e[j]));
        }
        for (; i < count; ++i) {
            const T *a = row(first + i);
            for (std::size_t j = 0; j < d; ++j)
                g[j] += s[i] * static_cast<double>(a[j]);
        }
        if (size > d) {
            double sum = 0.0;
            for (std::size_t k = 0; k < count; ++k)
                sum += s[k];
            g[d] += constant * sum;
        }
    }

    // factor · x̃_i
    void scaled(std::size_t i, double factor, double *to) const {
        const T *from = row(i);
        for (std::size_t j = 0; j < d; ++j)
            to[j] = static_cast<double>(from[j]) * factor;
        if (size > d)
            to[d] = constant * factor;
    }

    // The same for some of its entries.
    void scaled(std::size_t i, double factor, const std::int64_t *entries, std::size_t count,
                double *to) const {
        const T *from = row(i);
        for (std::size_t j = 0; j < count; ++j)
            to[j] = static_cast<std::size_t>(entries[j]) < d
                        ? static_cast<double>(from[entries[j]]) * factor
                        : constant * factor;
    }
};

} // namespace thetahat
