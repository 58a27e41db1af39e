// Rows of a linear prediction z = xᵀβ + b, and their scores, in chunks that a cache holds.
#pragma once

#include <algorithm>
#include <array>

#include "four.hpp"
#include "kernels.hpp"
#include "losses.hpp"

namespace thetahat {

inline constexpr std::size_t together = 4; // rows whose scores are summed side by side
inline constexpr std::size_t chunk_bytes = 1 << 15, most_rows = 256;

template <typename T> struct LossRows {
    const T *x;
    std::size_t n, d;
    std::int64_t stride;
    const double *y, *weight; // no weights: null

    const T *row(std::size_t i) const { return x + static_cast<std::int64_t>(i) * stride; }
    double weight_of(std::size_t i) const { return weight == nullptr ? 1.0 : weight[i]; }
};

template <typename T>
LossRows<T> checked(StridedMatrix<const T> x, Vector<const double> y, Vector<const double> weight,
                Vector<const double> theta, int loss) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(d <= 1 || x.stride(1) == 1, "the entries of a row must follow one another");
    require(y.shape(0) == n, "y must have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    require(theta.shape(0) == d || theta.shape(0) == d + 1,
            "theta must have one entry per column of x, or one more");
    require(loss >= 0 && loss < n_losses, "no loss has this number");
    return {x.data(), n, d, x.stride(0), y.data(), weight.shape(0) ? weight.data() : nullptr};
}

inline std::size_t chunk_rows(std::size_t row_bytes) {
    const std::size_t rows = chunk_bytes / std::max<std::size_t>(row_bytes, 1) / together;
    return std::clamp(rows * together, together, most_rows);
}

// z_i = b + Σ_j x_ij t_j for `count` rows from `first` on.
template <typename T>
void scores(const LossRows<T> &rows, std::size_t first, std::size_t count, const double *t, double b,
            double *z) {
    const std::size_t d = rows.d;
    for (std::size_t i = 0; i < count; i += together) {
        // The last few rows are completed by the last of them, whose score is then not kept.
        std::array<const T *, together> a;
        for (std::size_t k = 0; k < together; ++k)
            a[k] = rows.row(first + std::min(i + k, count - 1));
        Four even[together] = {}, odd[together] = {};
        std::size_t j = 0;
        for (; j + 8 <= d; j += 8) {
            const Four low = four_at(t + j), high = four_at(t + j + 4);
            for (std::size_t k = 0; k < together; ++k) {
                even[k] += four_at(a[k] + j) * low;
                odd[k] += four_at(a[k] + j + 4) * high;
            }
        }
        Four sum;
        for (std::size_t k = 0; k < together; ++k)
            sum[k] = sum_of(even[k] + odd[k]);
        for (; j < d; ++j)
            for (std::size_t k = 0; k < together; ++k)
                sum[k] += static_cast<double>(a[k][j]) * t[j];
        for (std::size_t k = 0; k < together && i + k < count; ++k)
            z[i + k] = sum[k] + b;
    }
}

} // namespace thetahat
