// Sorting the columns of X, once for all trees that are grown on them.
//
// Each column is sorted by the bits of its values (least significant byte first; bytes that all
// values share are skipped), in O(n) for any input. Columns are distributed over threads, each
// written by one. Neighbouring columns are read together, so that the cache line of a row is
// fetched once for all of them.

#include "trees/exact/sorted_columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

using trees::Entry;
using trees::OrderedRow;
using trees::SortedColumns;

struct Key {
    std::uint64_t bits;
    std::uint32_t row;
};

// Bits in the order of the numbers; −0 is 0.
inline std::uint64_t ordered_bits(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

inline double number_of(std::uint64_t bits) {
    return std::bit_cast<double>(bits >> 63 ? bits & ~(std::uint64_t{1} << 63) : ~bits);
}

constexpr std::size_t memory_of_keys = 1 << 23; // bytes, of the columns read together
constexpr std::size_t small_column = 512;       // for fewer rows, sorting by comparison is faster

void sort_keys(std::vector<Key> &keys, std::vector<Key> &other) {
    if (keys.size() < small_column) {
        std::sort(keys.begin(), keys.end(), [](const Key &a, const Key &b) {
            return a.bits != b.bits ? a.bits < b.bits : a.row < b.row;
        });
        return;
    }
    constexpr std::size_t n_bytes = 8, n_digits = 256;
    std::array<std::array<std::size_t, n_digits>, n_bytes> counts{};
    for (const Key &key : keys)
        for (std::size_t b = 0; b < n_bytes; ++b)
            ++counts[b][key.bits >> (8 * b) & 255];
    other.resize(keys.size());
    for (std::size_t b = 0; b < n_bytes; ++b) {
        auto &count = counts[b];
        if (count[keys[0].bits >> (8 * b) & 255] == keys.size())
            continue;
        std::size_t before = 0;
        for (std::size_t &place : count)
            before += std::exchange(place, before);
        for (const Key &key : keys)
            other[count[key.bits >> (8 * b) & 255]++] = key;
        keys.swap(other);
    }
}

// The rows of one column in order, from its sorted keys; rows that have no value come last.
void write_order(SortedColumns &columns, std::size_t j, const std::vector<Key> &keys,
                 const std::vector<std::uint32_t> &missing) {
    trees::StretchWriter stretch(columns.order.data() + j * columns.n_rows);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const bool differs = i > 0 && keys[i].bits != keys[i - 1].bits;
        stretch.offer({keys[i].row | (differs ? OrderedRow::new_value : 0)}, true);
    }
    for (std::size_t i = 0; i < missing.size(); ++i)
        stretch.offer({missing[i] | OrderedRow::no_value | (i == 0 ? OrderedRow::new_value : 0)},
                      true);
    stretch.finish();
}

// The codes of the rows of one column, and its values.
void write_codes(SortedColumns &columns, std::size_t j, const std::vector<Key> &keys,
                 const std::vector<std::uint32_t> &missing, bool keep_values) {
    std::uint32_t *codes = columns.codes.data() + j * columns.n_rows;
    std::vector<double> &values = columns.values[j];
    std::uint32_t n_values = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i == 0 || keys[i].bits != keys[i - 1].bits) {
            ++n_values;
            if (keep_values || columns.categorical[j])
                values.push_back(number_of(keys[i].bits));
        }
        codes[keys[i].row] = n_values - 1;
    }
    for (const std::uint32_t row : missing)
        codes[row] = n_values;
    columns.n_values[j] = n_values;
    values.shrink_to_fit();
}

// Whether all sorted keys are categories, of which a set is a row of bits.
bool are_categories(const std::vector<Key> &keys) {
    constexpr double most = 1 << 24;
    if (keys.empty())
        return true;
    return number_of(keys.front().bits) >= 0.0 && number_of(keys.back().bits) < most &&
           std::all_of(
               keys.begin(), keys.end(),
               [](const Key &key) {
                   return number_of(key.bits) == std::floor(number_of(key.bits));
               });
}

void require_sizes(std::size_t n, std::size_t d) {
    require(n >= 1 && d >= 1, "x must have rows and columns");
    require(n < std::size_t{1} << 30, "trees take fewer than 2^30 rows");
    require(d < std::size_t{1} << 29, "trees take fewer than 2^29 columns");
}

} // namespace

namespace trees {

template <typename T>
SortedColumns sort_columns(const StridedMatrix<const T> &x,
                           const Vector<const std::uint8_t> &categorical, bool ordered, int threads,
                           bool keep_values) {
    SortedColumns columns;
    const std::size_t n = x.shape(0), d = x.shape(1);
    require_sizes(n, d);
    require(categorical.shape(0) == d, "categorical must have one entry per column");
    columns.n_rows = n;
    columns.n_columns = d;
    columns.ordered = ordered;
    columns.categorical.assign(categorical.data(), categorical.data() + d);
    if (ordered) {
        columns.given = {x.data(), std::is_same_v<T, double>, x.stride(0), x.stride(1)};
        columns.x = nb::cast(x);
        columns.order.resize(n * d);
    } else {
        columns.values.resize(d);
        columns.n_values.resize(d);
        columns.codes.resize(n * d);
    }
    const T *data = x.data();
    const std::int64_t by_row = x.stride(0), by_column = x.stride(1);
    std::vector<std::uint8_t> legal(d, 1);

    {
        nb::gil_scoped_release unlocked;
        const std::size_t workers = static_cast<std::size_t>(std::max(1, threads));
        const std::size_t fit = memory_of_keys / (n * sizeof(Key)) + 1;
        const std::size_t together =
            std::clamp<std::size_t>(std::min(fit, d / (4 * workers)), 1, 8);
        for_each_piece((d + together - 1) / together, threads, [&](std::size_t piece) {
            const std::size_t first = piece * together, last = std::min(d, first + together);
            std::vector<std::vector<Key>> keys(last - first);
            std::vector<std::vector<std::uint32_t>> missing(last - first);
            for (auto &column : keys)
                column.reserve(n);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = first; j < last; ++j) {
                    const auto value =
                        static_cast<double>(data[static_cast<std::int64_t>(i) * by_row +
                                                 static_cast<std::int64_t>(j) * by_column]);
                    const auto row = static_cast<std::uint32_t>(i);
                    if (std::isnan(value))
                        missing[j - first].push_back(row);
                    else
                        keys[j - first].push_back({ordered_bits(value), row});
                }
            std::vector<Key> other;
            for (std::size_t j = first; j < last; ++j) {
                sort_keys(keys[j - first], other);
                if (ordered)
                    write_order(columns, j, keys[j - first], missing[j - first]);
                else
                    write_codes(columns, j, keys[j - first], missing[j - first], keep_values);
                legal[j] = !columns.categorical[j] || are_categories(keys[j - first]);
                keys[j - first] = std::vector<Key>();
            }
        });
    }
    require(std::all_of(legal.begin(), legal.end(), [](std::uint8_t each) { return each; }),
            "categories must be given as whole numbers from 0");
    return columns;
}

template <typename T>
SortedColumns sparse_columns(Vector<const std::int64_t> starts, Vector<const std::uint32_t> rows,
                             Vector<const T> data, std::size_t n_rows, bool ordered, int threads) {
    require(starts.shape(0) >= 1, "starts must bound every column");
    const std::size_t n = n_rows, d = starts.shape(0) - 1, stored = data.shape(0);
    require_sizes(n, d);
    SortedColumns columns;
    columns.n_rows = n;
    columns.n_columns = d;
    columns.ordered = ordered;
    columns.sparse = true;
    columns.categorical.assign(d, 0);
    columns.values.resize(d);
    columns.n_values.resize(d);
    columns.zero.resize(d);
    columns.starts.assign(starts.data(), starts.data() + d + 1);
    require(rows.shape(0) == stored && columns.starts[0] == 0 && columns.starts[d] == stored &&
                std::is_sorted(columns.starts.begin(), columns.starts.end()),
            "starts must bound every column");
    for (std::size_t j = 0; j < d; ++j)
        for (std::size_t k = columns.starts[j]; k < columns.starts[j + 1]; ++k)
            require(rows.data()[k] < n &&
                        (k == columns.starts[j] || rows.data()[k] > rows.data()[k - 1]),
                    "rows of a column must be ascending numbers of rows");
    columns.entries.resize(stored);

    nb::gil_scoped_release unlocked;
    constexpr std::size_t together = 256;
    for_each_piece((d + together - 1) / together, threads, [&](std::size_t piece) {
        std::vector<Key> keys, other;
        std::vector<std::uint32_t> missing;
        for (std::size_t j = piece * together; j < std::min(d, (piece + 1) * together); ++j) {
            keys.clear();
            missing.clear();
            for (std::size_t k = columns.starts[j]; k < columns.starts[j + 1]; ++k) {
                const auto value = static_cast<double>(data.data()[k]);
                if (std::isnan(value))
                    missing.push_back(rows.data()[k]);
                else
                    keys.push_back({ordered_bits(value), rows.data()[k]});
            }
            sort_keys(keys, other);
            std::vector<double> &values = columns.values[j];
            bool before_zero = keys.size() + missing.size() < n; // some row is zero
            Entry *to = columns.entries.data() + columns.starts[j];
            const auto put_zero = [&] {
                columns.zero[j] = static_cast<std::uint32_t>(values.size());
                values.push_back(0.0);
                before_zero = false;
            };
            for (std::size_t i = 0; i < keys.size(); ++i) {
                const double value = number_of(keys[i].bits);
                if (before_zero && value > 0.0)
                    put_zero();
                if (i == 0 || keys[i].bits != keys[i - 1].bits)
                    values.push_back(value);
                *to++ = {keys[i].row, static_cast<std::uint32_t>(values.size() - 1)};
            }
            if (before_zero)
                put_zero();
            for (const std::uint32_t row : missing)
                *to++ = {row, static_cast<std::uint32_t>(values.size())};
            columns.n_values[j] = static_cast<std::uint32_t>(values.size());
            values.shrink_to_fit();
        }
    });
    return columns;
}

template SortedColumns sparse_columns(Vector<const std::int64_t>, Vector<const std::uint32_t>,
                                      Vector<const float>, std::size_t, bool, int);
template SortedColumns sparse_columns(Vector<const std::int64_t>, Vector<const std::uint32_t>,
                                      Vector<const double>, std::size_t, bool, int);
template SortedColumns sort_columns(const StridedMatrix<const float> &,
                                    const Vector<const std::uint8_t> &, bool, int, bool);
template SortedColumns sort_columns(const StridedMatrix<const double> &,
                                    const Vector<const std::uint8_t> &, bool, int, bool);

} // namespace trees

namespace {

template <typename T> void bind(nb::module_ &module) {
    module.def("sorted_columns", &trees::sort_columns<T>, nb::arg("x").noconvert(),
               nb::arg("categorical"), nb::arg("ordered"), nb::arg("threads"),
               nb::arg("keep_values") = true);
    module.def("sparse_columns", &trees::sparse_columns<T>, nb::arg("starts").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("data").noconvert(), nb::arg("n_rows"),
               nb::arg("ordered"), nb::arg("threads"));
}

} // namespace

void bind_sorted_columns(nb::module_ &module) {
    nb::class_<SortedColumns>(module, "SortedColumns")
        .def_ro("n_rows", &SortedColumns::n_rows)
        .def_ro("n_columns", &SortedColumns::n_columns)
        .def_ro("ordered", &SortedColumns::ordered);
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
