// Access to single rows, dense or compressed, for kernels that visit rows in any order.
//
// All sums are in float64. A dense product keeps eight partial sums and adds them in a fixed order,
// so the compiler may use vector units without changing the bits.
//
// Rows visited in random order begin with cache misses. Prefetching the bounds and the entries of a
// row a few visits before they are read hides most of that wait. It does not change any result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/views.hpp"

namespace thetahat {

template <typename T> void prefetch(const T *begin, std::size_t count) {
#if defined(__GNUC__)
    constexpr std::size_t line = 64 / sizeof(T);
    for (std::size_t k = 0; k < count; k += line)
        __builtin_prefetch(begin + k);
#else
    (void)begin, (void)count;
#endif
}

template <typename T> class DenseRows {
  public:
    explicit DenseRows(Matrix<const T> x) : data(x.data()), n(x.shape(0)), d(x.shape(1)) {}

    std::size_t n_rows() const { return n; }
    std::size_t n_columns() const { return d; }
    std::size_t typical_length() const { return d; } // entries of a row

    void prefetch_bounds(std::size_t) const {}
    void prefetch_row(std::size_t i) const { prefetch(data + i * d, d); }

    // Σ_j x_ij t_j
    double dot(std::size_t i, const double *t) const {
        const T *row = data + i * d;
        double sums[lanes] = {};
        std::size_t j = 0;
        for (; j + lanes <= d; j += lanes)
            for (std::size_t k = 0; k < lanes; ++k)
                sums[k] += static_cast<double>(row[j + k]) * t[j + k];
        for (; j < d; ++j)
            sums[0] += static_cast<double>(row[j]) * t[j];
        return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
               ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    }

    // t_j += step · x_ij
    void add(std::size_t i, double step, double *__restrict t) const {
        const T *row = data + i * d;
        for (std::size_t j = 0; j < d; ++j)
            t[j] += step * static_cast<double>(row[j]);
    }

    // visit(j, x_ij) for every entry
    template <typename Visit> void each(std::size_t i, Visit visit) const {
        for (std::size_t j = 0; j < d; ++j)
            visit(j, static_cast<double>(data[i * d + j]));
    }

    double square(std::size_t i) const {
        double sum = 0.0;
        each(i, [&](std::size_t, double value) { sum += value * value; });
        return sum;
    }

  private:
    static constexpr std::size_t lanes = 8;
    const T *data;
    std::size_t n, d;
};

template <typename T, typename Index> class SparseRows {
  public:
    SparseRows(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
               std::size_t columns)
        : value(data.data()), column(indices.data()), bound(indptr.data()), d(columns) {
        require(indptr.shape(0) >= 1, "indptr must have one entry more than there are rows");
        require(indices.shape(0) == data.shape(0), "indices and data must have the same length");
        n = indptr.shape(0) - 1;
        require(bound[0] >= 0 && static_cast<std::size_t>(bound[n]) <= data.shape(0),
                "indptr points past the stored entries");
        for (std::size_t i = 0; i < n; ++i)
            require(bound[i] <= bound[i + 1], "indptr must not decrease");
        Index lowest = 0, highest = 0; // two running extremes vectorise; a test per entry does not
        for (Index k = bound[0]; k < bound[n]; ++k) {
            lowest = std::min(lowest, column[k]);
            highest = std::max(highest, column[k]);
        }
        require(bound[n] == bound[0] || (lowest >= 0 && static_cast<std::size_t>(highest) < d),
                "a column index is out of range");
    }

    std::size_t n_rows() const { return n; }
    std::size_t n_columns() const { return d; }
    std::size_t typical_length() const {
        return n ? static_cast<std::size_t>(bound[n] - bound[0]) / n : 0;
    }

    void prefetch_bounds(std::size_t i) const { prefetch(bound + i, 2); }
    void prefetch_row(std::size_t i) const {
        const auto count = static_cast<std::size_t>(bound[i + 1] - bound[i]);
        prefetch(value + bound[i], count);
        prefetch(column + bound[i], count);
    }

    // Two sums, so that an addition need not wait for the previous one.
    double dot(std::size_t i, const double *t) const {
        const auto term = [&](Index k) { return static_cast<double>(value[k]) * t[column[k]]; };
        double even = 0.0, odd = 0.0;
        Index k = bound[i];
        for (; k + 2 <= bound[i + 1]; k += 2) {
            even += term(k);
            odd += term(k + 1);
        }
        return even + (k < bound[i + 1] ? term(k) : 0.0) + odd;
    }

    void add(std::size_t i, double step, double *t) const {
        each(i, [&](std::size_t j, double entry) { t[j] += step * entry; });
    }

    template <typename Visit> void each(std::size_t i, Visit visit) const {
        for (Index k = bound[i]; k < bound[i + 1]; ++k)
            visit(static_cast<std::size_t>(column[k]), static_cast<double>(value[k]));
    }

    double square(std::size_t i) const {
        double sum = 0.0;
        each(i, [&](std::size_t, double entry) { sum += entry * entry; });
        return sum;
    }

  private:
    const T *value;
    const Index *column, *bound;
    std::size_t n = 0, d;
};

// Prefetches what the visits after `place` of an order of rows will read.
template <typename Rows, typename Index>
void prefetch_next(const Rows &rows, const Index *order, std::size_t place, std::size_t count) {
    constexpr std::size_t ahead = 4; // visits between prefetching a row and reading it
    if (place + 2 * ahead < count)
        rows.prefetch_bounds(static_cast<std::size_t>(order[place + 2 * ahead]));
    if (place + ahead < count)
        rows.prefetch_row(static_cast<std::size_t>(order[place + ahead]));
}

// Random orders from a 64-bit counter (the splitmix generator): one sequence per seed.
class Shuffler {
  public:
    explicit Shuffler(std::uint64_t seed) : state(seed) {}

    template <typename Place> void shuffle(Place *places, std::size_t count) {
        for (std::size_t i = count; i > 1; --i)
            std::swap(places[i - 1], places[below(i)]);
    }

  private:
    // A number below `count`, from the upper half of the bits times count: a division, which takes
    // as long as a short row, is needed only for counts of more than 32 bits.
    std::uint64_t below(std::uint64_t count) {
        const std::uint64_t bits = next();
        return count >> 32 ? bits % count : (bits >> 32) * count >> 32;
    }

    std::uint64_t next() {
        std::uint64_t bits = (state += 0x9E3779B97F4A7C15ULL);
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
        return bits ^ (bits >> 31);
    }

    std::uint64_t state;
};

// Binds kernel(rows, arguments...) under one name: for dense rows `x`, and for compressed rows in
// `data`, `indices` and `indptr` with `n_columns`, in both precisions and with both index types.
template <typename... Arguments, typename Kernel, typename... Names>
void bind_for_rows(nb::module_ &module, const char *name, Kernel kernel, const Names &...names) {
    const auto dense = [&]<typename T>(T) {
        module.def(
            name,
            [kernel](Matrix<const T> x, Arguments... arguments) {
                return kernel(DenseRows<T>(x), arguments...);
            },
            nb::arg("x").noconvert(), names...);
    };
    const auto compressed = [&]<typename T, typename Index>(T, Index) {
        module.def(
            name,
            [kernel](Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
                     std::size_t n_columns, Arguments... arguments) {
                return kernel(SparseRows<T, Index>(data, indices, indptr, n_columns), arguments...);
            },
            nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
            nb::arg("indptr").noconvert(), nb::arg("n_columns"), names...);
    };
    dense(double{});
    dense(float{});
    compressed(double{}, std::int32_t{});
    compressed(float{}, std::int32_t{});
    compressed(double{}, std::int64_t{});
    compressed(float{}, std::int64_t{});
}

} // namespace thetahat
