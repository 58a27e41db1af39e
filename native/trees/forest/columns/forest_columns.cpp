// Builds the columns of a forest, once for all its trees, and checks every size and code.

#include "trees/forest/columns/forest_columns.hpp"

#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/exact/sorted_columns.hpp"

namespace thetahat {

namespace {

using namespace trees;

template <typename T>
ForestColumns described(const StridedMatrix<const T> &x,
                        const Vector<const std::uint32_t> &n_categories,
                        const Vector<const std::uint8_t> &categorical) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(d > 0 && n > 0 && n < std::numeric_limits<std::uint32_t>::max(),
            "columns must be some, and their rows so many that 32 bits can number them");
    require(n_categories.shape(0) == d && categorical.shape(0) == d,
            "every column must be said to be categorical or not, and its codes be counted");
    ForestColumns columns;
    columns.n_rows = n;
    columns.n_columns = d;
    columns.n_codes.assign(n_categories.data(), n_categories.data() + d);
    columns.categorical.assign(categorical.data(), categorical.data() + d);
    columns.x = nb::cast(x);
    return columns;
}

template <typename T> GivenRows given(const StridedMatrix<const T> &x) {
    return {x.data(), std::is_same_v<T, double>, x.stride(0), x.stride(1)};
}

void require_codes(const ForestColumns &columns, const Matrix<const std::uint8_t> &codes) {
    const std::size_t n = columns.n_rows, d = columns.n_columns;
    require(codes.shape(0) == d && codes.shape(1) == n,
            "codes must match the columns and rows of x");
    for (std::size_t j = 0; j < d; ++j) {
        const std::uint8_t *column = codes.data() + j * n;
        require(*std::max_element(column, column + n) <= columns.n_codes[j],
                "a code must not exceed the number of codes, which means missing");
    }
}

// Codes (d, n) of rows that are not in memory; code c of column j has the ends lower[j, c] and
// upper[j, c].
ForestColumns coded_columns(Matrix<const std::uint8_t> codes, Vector<const std::uint32_t> n_codes,
                            Vector<const std::uint8_t> categorical, Matrix<const double> lower,
                            Matrix<const double> upper, bool random) {
    const std::size_t d = codes.shape(0), n = codes.shape(1), width = lower.shape(1);
    require(d > 0 && n > 0 && n < std::numeric_limits<std::uint32_t>::max(),
            "columns must be some, and their rows so many that 32 bits can number them");
    require(n_codes.shape(0) == d && categorical.shape(0) == d,
            "every column must be said to be categorical or not, and its codes be counted");
    require(lower.shape(0) == d && upper.shape(0) == d && upper.shape(1) == width,
            "every column must have the ends of its codes");
    ForestColumns columns;
    columns.n_rows = n;
    columns.n_columns = d;
    columns.n_codes.assign(n_codes.data(), n_codes.data() + d);
    columns.categorical.assign(categorical.data(), categorical.data() + d);
    for (std::size_t j = 0; j < d; ++j)
        require(columns.categorical[j] || columns.n_codes[j] <= width,
                "every code must have its ends");
    require_codes(columns, codes);
    columns.bins = nb::cast(codes);
    columns.ends = nb::make_tuple(lower, upper);
    columns.view = CodedColumns<std::uint8_t>{codes.data(),
                                              n,
                                              d,
                                              columns.n_codes.data(),
                                              columns.categorical.data(),
                                              {},
                                              lower.data(),
                                              upper.data(),
                                              width,
                                              random};
    return columns;
}

// Bins by their codes, column after column (d, n); the number of codes stands for missing values.
template <typename T>
ForestColumns binned_columns(StridedMatrix<const T> x, Matrix<const std::uint8_t> codes,
                             Vector<const std::uint32_t> n_codes,
                             Vector<const std::uint8_t> categorical) {
    ForestColumns columns = described(x, n_codes, categorical);
    const std::size_t n = columns.n_rows, d = columns.n_columns;
    require_codes(columns, codes);
    columns.bins = nb::cast(codes);
    columns.view = CodedColumns<std::uint8_t>{
        codes.data(), n, d, columns.n_codes.data(), columns.categorical.data(), given(x)};
    return columns;
}

// Ranks of the values of every column; categories keep their codes.
template <typename T>
ForestColumns ranked_columns(StridedMatrix<const T> x, Vector<const std::uint32_t> n_categories,
                             Vector<const std::uint8_t> categorical, int threads) {
    ForestColumns columns = described(x, n_categories, categorical);
    const std::size_t n = columns.n_rows, d = columns.n_columns;
    SortedColumns sorted = sort_columns(x, categorical, false, threads, false);
    bool known = true;
    for (std::size_t j = 0; j < d; ++j) {
        const std::vector<double> &values = sorted.values[j];
        if (!columns.categorical[j]) {
            columns.n_codes[j] = sorted.missing(j);
            continue;
        }
        known = known && (values.empty() || values.back() < columns.n_codes[j]);
        std::uint32_t *codes = sorted.codes.data() + j * n;
        for (std::size_t i = 0; known && i < n; ++i)
            codes[i] = codes[i] == sorted.missing(j) ? columns.n_codes[j]
                                                     : static_cast<std::uint32_t>(values[codes[i]]);
    }
    require(known, "categories must be given by their codes");
    columns.ranks = std::move(sorted.codes);
    columns.view = CodedColumns<std::uint32_t>{
        columns.ranks.data(), n, d, columns.n_codes.data(), columns.categorical.data(), given(x)};
    return columns;
}

// The values themselves, column after column. Rows are spread over threads, a few at a time so that
// the memory of a row is read in order and that of a column is written a cache line at a time.
template <typename T>
ForestColumns value_columns(StridedMatrix<const T> x, Vector<const std::uint32_t> n_categories,
                            Vector<const std::uint8_t> categorical, int threads) {
    ForestColumns columns = described(x, n_categories, categorical);
    const std::size_t n = columns.n_rows, d = columns.n_columns;
    constexpr std::size_t together = 8, rows_of_piece = 4096;
    const std::size_t n_pieces = (n + rows_of_piece - 1) / rows_of_piece;
    columns.values.resize(n * d);
    std::vector<std::uint8_t> has_missing(d, 0), missing_of_pieces(n_pieces * d, 0);
    const T *data = x.data();
    const std::int64_t down = x.stride(0), across = x.stride(1);
    const std::size_t wrong = [&] {
        nb::gil_scoped_release unlocked;
        for_each_piece(n_pieces, threads, [&](std::size_t piece) {
            std::uint8_t *missing = missing_of_pieces.data() + piece * d;
            const std::size_t end = std::min(n, (piece + 1) * rows_of_piece);
            for (std::size_t first = piece * rows_of_piece; first < end; first += together) {
                const std::size_t some = std::min(together, end - first);
                const T *from = data + static_cast<std::int64_t>(first) * down;
                for (std::size_t j = 0; j < d; ++j) {
                    double *to = columns.values.data() + j * n + first;
                    bool absent = false;
                    for (std::size_t i = 0; i < some; ++i) {
                        to[i] = static_cast<double>(from[static_cast<std::int64_t>(i) * down +
                                                         static_cast<std::int64_t>(j) * across]);
                        absent |= to[i] != to[i];
                    }
                    missing[j] |= absent;
                }
            }
        });
        std::size_t unknown = 0;
        for (std::size_t j = 0; j < d; ++j) {
            for (std::size_t piece = 0; piece < n_pieces; ++piece)
                has_missing[j] |= missing_of_pieces[piece * d + j];
            const double *column = columns.values.data() + j * n;
            for (std::size_t i = 0; columns.categorical[j] && i < n; ++i)
                unknown += column[i] < 0.0 || column[i] >= columns.n_codes[j];
        }
        return unknown;
    }();
    require(wrong == 0, "categories must be given by their codes");
    columns.view = ValueColumns{
        columns.values.data(), n, d, columns.n_codes.data(), columns.categorical.data(), given(x),
        std::move(has_missing)};
    return columns;
}

// Of sparse rows: the values, ranks of the values or, with `cuts`, bins.
template <typename T>
ForestColumns sparse_forest_columns(Vector<const std::int64_t> starts,
                                    Vector<const std::uint32_t> rows, Vector<const T> data,
                                    std::size_t n_rows, bool as_values, Vector<const double> cuts,
                                    Vector<const std::int64_t> cut_offsets, int threads) {
    ForestColumns columns;
    columns.sparse = std::make_unique<SparseData>();
    SparseData &held = *columns.sparse;
    held.sorted = sparse_columns(starts, rows, data, n_rows, !as_values, threads);
    const SortedColumns &sorted = held.sorted;
    const std::size_t n = columns.n_rows = n_rows, d = columns.n_columns = sorted.n_columns;
    require(cut_offsets.shape(0) == 0 || cut_offsets.shape(0) == d + 1,
            "cut_offsets must be empty or bound the cuts of every column");
    columns.categorical.assign(d, 0);
    columns.n_codes.assign(d, 0);
    held.has_missing.assign(d, 0);
    held.row_starts.assign(n + 1, 0);
    for (const Entry &entry : sorted.entries)
        ++held.row_starts[entry.row + 1];
    for (std::size_t i = 0; i < n; ++i)
        held.row_starts[i + 1] += held.row_starts[i];
    held.by_row.resize(sorted.entries.size());
    std::vector<std::size_t> next(held.row_starts.begin(), held.row_starts.end() - 1);
    for (std::uint32_t j = 0; j < d; ++j) {
        for (const Entry &entry : sorted.stored(j)) {
            held.by_row[next[entry.row]++] = {j, entry.row, entry.code};
            held.has_missing[j] |= entry.code == sorted.missing(j);
        }
        if (!as_values)
            columns.n_codes[j] = sorted.missing(j);
        if (cut_offsets.shape(0) == 0)
            continue;
        const std::int64_t begin = cut_offsets.data()[j], end = cut_offsets.data()[j + 1];
        require(0 <= begin && begin <= end && end - begin < 255 &&
                    static_cast<std::size_t>(end) <= cuts.shape(0),
                "a column has at most 254 cuts");
        std::vector<std::uint8_t> &bins = held.bins.emplace_back();
        for (const double value : sorted.values[j])
            bins.push_back(static_cast<std::uint8_t>(
                std::lower_bound(cuts.data() + begin, cuts.data() + end, value) -
                (cuts.data() + begin)));
        columns.n_codes[j] = static_cast<std::uint32_t>(end - begin + 1);
    }
    const auto view = [&](auto cell) {
        return SparseColumns<decltype(cell)>{&held,
                                             n,
                                             d,
                                             columns.n_codes.data(),
                                             columns.categorical.data(),
                                             held.has_missing.data()};
    };
    if (as_values)
        columns.view = view(double{});
    else
        columns.view = view(std::uint32_t{});
    return columns;
}

template <typename T> void bind(nb::module_ &module) {
    module.def("sparse_forest_columns", &sparse_forest_columns<T>, nb::arg("starts").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("data").noconvert(), nb::arg("n_rows"),
               nb::arg("as_values"), nb::arg("cuts").noconvert(),
               nb::arg("cut_offsets").noconvert(), nb::arg("threads"));
    module.def("binned_columns", &binned_columns<T>, nb::arg("x").noconvert(), nb::arg("codes"),
               nb::arg("n_codes"), nb::arg("categorical"));
    module.def("ranked_columns", &ranked_columns<T>, nb::arg("x").noconvert(),
               nb::arg("n_categories"), nb::arg("categorical"), nb::arg("threads"));
    module.def("value_columns", &value_columns<T>, nb::arg("x").noconvert(),
               nb::arg("n_categories"), nb::arg("categorical"), nb::arg("threads"));
}

} // namespace

void bind_forest_columns(nb::module_ &module) {
    nb::class_<ForestColumns>(module, "ForestColumns")
        .def_ro("n_rows", &ForestColumns::n_rows)
        .def_ro("n_columns", &ForestColumns::n_columns);
    bind<float>(module);
    bind<double>(module);
    module.def("coded_columns", &coded_columns, nb::arg("codes").noconvert(), nb::arg("n_codes"),
               nb::arg("categorical"), nb::arg("lower").noconvert(), nb::arg("upper").noconvert(),
               nb::arg("random") = false);
}

} // namespace thetahat
