// Rows of a Gram matrix, computed when they are asked for, and a cache of them.
//
// A source computes row i, k(x_i, x_j) for all j. Each entry is a sum over the columns in their
// order, whatever piece or vector it lies in, so the bits do not depend on the number of threads.
// Dense rows are given by columns, one contiguous run of all rows per column, so that the loop over
// j uses vector registers. For sparse rows only the stored entries of the columns that row i has
// are visited.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/exponential.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat::smo {

enum class Kind : int { linear = 0, polynomial = 1, rbf = 2, sigmoid = 3 };

struct Formula {
    Kind kind;
    double gamma, coef0;
    int degree;
    // k from the product xᵀz, or from ‖x − z‖² for the Gaussian kernel
    double operator()(double sum) const {
        switch (kind) {
        case Kind::linear:
            return sum;
        case Kind::polynomial: {
            double base = gamma * sum + coef0, power = 1.0;
            for (int left = degree; left > 0; left /= 2, base *= base)
                if (left % 2)
                    power *= base;
            return power;
        }
        case Kind::rbf:
            return thetahat::exponential_below(-gamma * sum);
        default:
            return std::tanh(gamma * sum + coef0);
        }
    }
};

using Float4 = float __attribute__((vector_size(4 * sizeof(float))));
using Word4 = std::uint32_t __attribute__((vector_size(4 * sizeof(float))));

// e^x of four x ≤ 0 in single precision, by the method of exponential.hpp.
inline Float4 exponential_below(Float4 x) {
    const float shift = 12582912.0f; // 1.5·2²³
    const Float4 lowest = {-87.0f, -87.0f, -87.0f, -87.0f}, zero = {};
    const Float4 kept = x < lowest ? lowest : x;
    const Float4 shifted = kept * 1.44269504f + shift;
    const Float4 k = shifted - shift;
    const Float4 r = (kept - k * 0.693145751953125f) - k * 1.428606820309417e-6f;
    Float4 sum = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
    sum = sum * r + 1.0f / 120.0f;
    sum = sum * r + 1.0f / 24.0f;
    sum = sum * r + 1.0f / 6.0f;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    const Word4 power = (std::bit_cast<Word4>(shifted) + 127u) << 23;
    return x < lowest ? zero : sum * std::bit_cast<Float4>(power);
}

inline void exponentials(float *values, std::size_t count, float factor) {
    for (std::size_t j = 0; j < count; j += 4) { // values has room for whole fours
        Float4 four;
        std::memcpy(&four, values + j, sizeof four);
        four = exponential_below(factor * four);
        std::memcpy(values + j, &four, sizeof four);
    }
}

inline void exponentials(double *values, std::size_t count, double factor) {
    for (std::size_t j = 0; j < count; ++j)
        values[j] = thetahat::exponential_below(factor * values[j]);
}

constexpr std::size_t run = 256; // entries whose sums stay in the nearest cache

template <bool distances, typename T> T term(T x, T z) {
    if constexpr (distances)
        return (x - z) * (x - z);
    else
        return x * z;
}

// sum_j += Σ_c (x_c − z_jc)² or x_c·z_jc, four columns at a time: fewer passes over the sums. The
// entries of x are `step` apart.
template <bool distances, typename T>
void add_columns(const T *columns, std::size_t stride, std::size_t d, const T *x, std::size_t step,
                 std::size_t from, std::size_t count, T *__restrict sum) {
    std::size_t c = 0;
    for (; c + 4 <= d; c += 4) {
        const T *z0 = columns + c * stride + from, *z1 = z0 + stride, *z2 = z1 + stride,
                *z3 = z2 + stride;
        const T x0 = x[c * step], x1 = x[(c + 1) * step], x2 = x[(c + 2) * step],
                x3 = x[(c + 3) * step];
        for (std::size_t j = 0; j < count; ++j)
            sum[j] += (term<distances>(x0, z0[j]) + term<distances>(x1, z1[j])) +
                      (term<distances>(x2, z2[j]) + term<distances>(x3, z3[j]));
    }
    for (; c < d; ++c) {
        const T *z = columns + c * stride + from;
        const T own = x[c * step];
        for (std::size_t j = 0; j < count; ++j)
            sum[j] += term<distances>(own, z[j]);
    }
}

// Rows by columns: `columns` has shape (d, m). T is the precision of the sums.
template <typename T> struct DenseSource {
    const T *columns;
    std::size_t d, m;
    Formula formula;
    int threads;

    template <typename Out> void fill(std::size_t i, Out *out) const {
        constexpr std::size_t piece = 8 * run;
        const bool share = m * (d + 8) >= 200000;
        for_each_piece((m + piece - 1) / piece, share ? threads : 1, [&](std::size_t p) {
            const std::size_t end = std::min(m, (p + 1) * piece);
            for (std::size_t from = p * piece; from < end; from += run)
                fill_run(i, from, std::min(run, end - from), out + from);
        });
    }

    template <typename Out>
    void fill_run(std::size_t i, std::size_t from, std::size_t count, Out *out) const {
        T sum[run] = {};
        if (formula.kind == Kind::rbf) {
            add_columns<true>(columns, m, d, columns + i, m, from, count, sum);
            exponentials(sum, count, static_cast<T>(-formula.gamma));
            std::copy(sum, sum + count, out);
            return;
        }
        add_columns<false>(columns, m, d, columns + i, m, from, count, sum);
        if (formula.kind == Kind::linear)
            for (std::size_t j = 0; j < count; ++j)
                out[j] = static_cast<Out>(sum[j]);
        else
            for (std::size_t j = 0; j < count; ++j)
                out[j] = static_cast<Out>(formula(static_cast<double>(sum[j])));
    }
};

// The same rows compressed by rows (start, column, value) and by columns (head, row, entry).
struct SparseSource {
    const std::int32_t *start, *column, *head, *row;
    const double *value, *entry, *square;
    std::size_t m;
    Formula formula;

    template <typename Out> void fill(std::size_t i, Out *out) const {
        std::vector<double> sum(m);
        for (std::int32_t k = start[i]; k < start[i + 1]; ++k) {
            const double x = value[k];
            for (std::int32_t at = head[column[k]]; at < head[column[k] + 1]; ++at)
                sum[static_cast<std::size_t>(row[at])] += x * entry[at];
        }
        if (formula.kind == Kind::rbf)
            for (std::size_t j = 0; j < m; ++j)
                sum[j] = std::max(0.0, square[i] + square[j] - 2.0 * sum[j]);
        if (formula.kind == Kind::rbf)
            sum[i] = 0.0;
        for (std::size_t j = 0; j < m; ++j)
            out[j] = static_cast<Out>(formula(sum[j]));
    }
};

// Rows of a matrix that is given, of which the rows and columns in `which` are used.
struct GivenSource {
    const double *matrix;
    const std::int64_t *which;
    std::size_t stride, m;

    template <typename Out> void fill(std::size_t i, Out *out) const {
        const double *from = matrix + static_cast<std::size_t>(which[i]) * stride;
        for (std::size_t j = 0; j < m; ++j)
            out[j] = static_cast<Out>(from[which[j]]);
    }
};

// Rows from a function of Python, which is called with the number of the row.
struct CalledSource {
    nb::callable function;
    std::size_t m;

    template <typename Out> void fill(std::size_t i, Out *out) const {
        nb::gil_scoped_acquire locked;
        const auto found = nb::cast<Vector<const double>>(function(i));
        require(found.shape(0) == m, "a kernel row must have one entry per row");
        std::copy(found.data(), found.data() + m, out);
    }
};

// The cache: `store` has one row per slot. The slot used longest ago is given up.
template <typename T> struct Cache {
    T *store;
    std::int64_t *slot_of, *held, *used; // by row; by slot: the row in it, and when it was used
    std::size_t slots, m;
    std::int64_t now = 0, computed = 0;

    void begin() { now = slots ? *std::max_element(used, used + slots) : 0; }

    template <typename Source> const T *row(std::size_t i, const Source &source) {
        std::int64_t slot = slot_of[i];
        if (slot < 0) {
            slot = std::min_element(used, used + slots) - used;
            if (held[slot] >= 0)
                slot_of[held[slot]] = -1;
            held[slot] = -1;
            source.fill(i, store + static_cast<std::size_t>(slot) * m);
            held[slot] = static_cast<std::int64_t>(i);
            slot_of[i] = slot;
            ++computed;
        }
        used[slot] = ++now;
        return store + static_cast<std::size_t>(slot) * m;
    }
};

// A whole matrix in memory needs no cache.
struct Whole {
    const double *matrix;
    std::size_t m;
    std::int64_t computed = 0;
    template <typename Source> const double *row(std::size_t i, const Source &) const {
        return matrix + i * m;
    }
};

} // namespace thetahat::smo
