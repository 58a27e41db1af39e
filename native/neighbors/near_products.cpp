// Nearest rows from matrix products: ‖q − x‖² = ‖q‖² + ‖x‖² − 2 qᵀx, for blocks of queries and rows
// whose products qᵀx are given.
//
// The products carry rounding errors, so they serve as a filter only. `low[j]` = (1 − c)·‖x_j‖²,
// with c beyond all rounding of the formula, makes low[j] − 2 qᵀx_j + (1 − c)·‖q‖² a lower bound of
// ‖q − x_j‖². A row whose bound does not exceed the distance of the farthest kept row is measured
// anew, Σ (q_j − x_j)² in float64 as metrics.hpp defines it: the result has the bits of a scan. The
// test is written so that a bound that overflowed (NaN) passes.
//
// Neighbours come in the arrays `distance` and `row`, which are empty (infinity) before the first
// block of rows and in the order of NearestList between the blocks.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"
#include "kernels.hpp"
#include "neighbors/metrics.hpp"
#include "neighbors/nearest_list.hpp"

namespace thetahat {

namespace neighbors {

namespace {

template <typename T> struct DenseRows {
    const T *queries, *rows;
    std::size_t d;
    double distance(std::size_t i, std::size_t j) const {
        const T *q = queries + i * d, *x = rows + j * d;
        return reduced<0, double>(Squares{}, d, [&](std::size_t c) {
            return static_cast<double>(q[c]) - static_cast<double>(x[c]);
        });
    }
};

template <typename T> struct SparseRow {
    const T *values;
    const std::int32_t *columns;
    std::size_t size;
};

template <typename T> struct SparseRows {
    const T *q_data, *x_data;
    const std::int32_t *q_columns, *q_start, *x_columns, *x_start;
    static SparseRow<T> row(const T *data, const std::int32_t *columns, const std::int32_t *start,
                            std::size_t i) {
        return {data + start[i], columns + start[i],
                static_cast<std::size_t>(start[i + 1] - start[i])};
    }
    // Columns in which both are zero add nothing, so the bits are those of dense rows.
    double distance(std::size_t i, std::size_t j) const {
        const SparseRow<T> q = row(q_data, q_columns, q_start, i),
                           x = row(x_data, x_columns, x_start, j);
        double part[4] = {};
        for (std::size_t a = 0, b = 0; a < q.size || b < x.size;) {
            const std::int32_t none = std::numeric_limits<std::int32_t>::max(),
                               left = a < q.size ? q.columns[a] : none,
                               right = b < x.size ? x.columns[b] : none,
                               column = std::min(left, right);
            double gap = 0.0;
            if (left == column)
                gap += static_cast<double>(q.values[a++]);
            if (right == column)
                gap -= static_cast<double>(x.values[b++]);
            part[column & 3] += gap * gap;
        }
        return (part[0] + part[1]) + (part[2] + part[3]);
    }
};

// The smallest number of type T that is not less.
template <typename T> T rounded_up(double value) {
    const T near = static_cast<T>(value);
    return static_cast<double>(near) < value
               ? std::nextafter(near, std::numeric_limits<T>::infinity())
               : near;
}

template <typename T, typename Rows>
void refine(const T *products, const T *low, const double *query_low, std::size_t m, std::size_t n,
            std::size_t first, const Rows &rows, double *distance, std::int64_t *row,
            std::size_t k) {
    constexpr std::size_t chunk = 64; // looked at as a whole before one by one
    for (std::size_t i = 0; i < m; ++i) {
        NearestList list(distance + i * k, row + i * k, k);
        if (first == 0)
            list.clear();
        const T *g = products + i * n;
        const auto limit = [&] { return rounded_up<T>(list.worst() - query_low[i]); };
        T most = limit();
        for (std::size_t j = 0; j < n; j += chunk) {
            const std::size_t end = std::min(n, j + chunk);
            int passing = 0;
            for (std::size_t c = j; c < end; ++c)
                passing |= !(low[c] - 2 * g[c] > most);
            if (!passing)
                continue;
            for (std::size_t c = j; c < end; ++c) {
                if (low[c] - 2 * g[c] > most)
                    continue;
                const double exact = rows.distance(i, first + c);
                const auto number = static_cast<std::int64_t>(first + c);
                if (list.admits(exact, number)) {
                    list.insert(exact, number);
                    most = limit();
                }
            }
        }
    }
}

void check_block(std::size_t m, std::size_t n, std::size_t n_low, std::size_t n_query_low,
                 std::size_t first, std::size_t n_rows, const Matrix<double> &distance,
                 const Matrix<std::int64_t> &row) {
    require(n_low == n && n_query_low == m, "products must be queries × rows of this block");
    require(first + n <= n_rows, "the block must lie within the rows");
    require(distance.shape(0) == m && row.shape(0) == m && row.shape(1) == distance.shape(1) &&
                distance.shape(1) > 0,
            "distance and row must have one row per query and k columns");
}

template <typename T>
void near_products(Matrix<const T> products, Vector<const T> low, Vector<const double> query_low,
                   std::size_t first, Matrix<const T> queries, Matrix<const T> rows,
                   Matrix<double> distance, Matrix<std::int64_t> row) {
    const std::size_t m = products.shape(0), n = products.shape(1);
    check_block(m, n, low.shape(0), query_low.shape(0), first, rows.shape(0), distance, row);
    require(queries.shape(0) == m && queries.shape(1) == rows.shape(1),
            "queries must have the columns of the rows");
    const DenseRows<T> all{queries.data(), rows.data(), rows.shape(1)};
    nb::gil_scoped_release unlocked;
    refine(products.data(), low.data(), query_low.data(), m, n, first, all, distance.data(),
           row.data(), distance.shape(1));
}

// Offsets that ascend and stay within the entries.
bool sound(const Vector<const std::int32_t> &start, std::size_t entries) {
    const std::int32_t *offsets = start.data();
    const std::size_t n = start.shape(0);
    return n > 0 && offsets[0] >= 0 && std::is_sorted(offsets, offsets + n) &&
           static_cast<std::size_t>(offsets[n - 1]) <= entries;
}

template <typename T>
void near_sparse_products(Matrix<const T> products, Vector<const T> low,
                          Vector<const double> query_low, std::size_t first, Vector<const T> q_data,
                          Vector<const std::int32_t> q_columns, Vector<const std::int32_t> q_start,
                          Vector<const T> x_data, Vector<const std::int32_t> x_columns,
                          Vector<const std::int32_t> x_start, Matrix<double> distance,
                          Matrix<std::int64_t> row) {
    const std::size_t m = products.shape(0), n = products.shape(1);
    require(sound(q_start, q_data.shape(0)) && q_data.shape(0) == q_columns.shape(0) &&
                sound(x_start, x_data.shape(0)) && x_data.shape(0) == x_columns.shape(0),
            "sparse rows must have ascending offsets within their entries");
    require(q_start.shape(0) == m + 1, "there must be one sparse query per row of products");
    check_block(m, n, low.shape(0), query_low.shape(0), first, x_start.shape(0) - 1, distance, row);
    const SparseRows<T> all{q_data.data(),  x_data.data(),    q_columns.data(),
                            q_start.data(), x_columns.data(), x_start.data()};
    nb::gil_scoped_release unlocked;
    refine(products.data(), low.data(), query_low.data(), m, n, first, all, distance.data(),
           row.data(), distance.shape(1));
}

// Order the lists after the last block.
void finish_lists(Matrix<double> distance, Matrix<std::int64_t> row) {
    const std::size_t m = distance.shape(0), k = distance.shape(1);
    require(row.shape(0) == m && row.shape(1) == k, "distance and row must have one shape");
    for (std::size_t i = 0; i < m; ++i)
        NearestList(distance.data() + i * k, row.data() + i * k, k).finish();
}

// The k smallest numbers of every row of a matrix, and their columns.
void smallest_per_row(Matrix<const double> given, Matrix<double> distance, Matrix<std::int64_t> row,
                      int threads) {
    const std::size_t m = given.shape(0), n = given.shape(1), k = distance.shape(1);
    require(distance.shape(0) == m && row.shape(0) == m && row.shape(1) == k,
            "distance and row must have one row per query and k columns");
    require(k >= 1 && k <= n, "k must be at least 1 and at most the number of columns");
    const double *from = given.data();
    double *distances = distance.data();
    std::int64_t *rows = row.data();
    nb::gil_scoped_release unlocked;
    for_each_piece((m + 15) / 16, n * m < 20000 ? 1 : threads, [&](std::size_t piece) {
        for (std::size_t i = piece * 16; i < std::min(m, piece * 16 + 16); ++i) {
            NearestList list(distances + i * k, rows + i * k, k);
            list.clear();
            for (std::size_t j = 0; j < n; ++j)
                if (list.admits(from[i * n + j], static_cast<std::int64_t>(j)))
                    list.insert(from[i * n + j], static_cast<std::int64_t>(j));
            list.finish();
        }
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("near_products", &near_products<T>, nb::arg("products").noconvert(),
               nb::arg("low").noconvert(), nb::arg("query_low").noconvert(), nb::arg("first"),
               nb::arg("queries").noconvert(), nb::arg("rows").noconvert(),
               nb::arg("distance").noconvert(), nb::arg("row").noconvert());
    module.def("near_sparse_products", &near_sparse_products<T>, nb::arg("products").noconvert(),
               nb::arg("low").noconvert(), nb::arg("query_low").noconvert(), nb::arg("first"),
               nb::arg("q_data").noconvert(), nb::arg("q_columns").noconvert(),
               nb::arg("q_start").noconvert(), nb::arg("x_data").noconvert(),
               nb::arg("x_columns").noconvert(), nb::arg("x_start").noconvert(),
               nb::arg("distance").noconvert(), nb::arg("row").noconvert());
}

} // namespace

} // namespace neighbors

void bind_near_products(nb::module_ &module) {
    neighbors::bind<float>(module);
    neighbors::bind<double>(module);
    module.def("finish_lists", &neighbors::finish_lists, nb::arg("distance").noconvert(),
               nb::arg("row").noconvert());
    module.def("smallest_per_row", &neighbors::smallest_per_row, nb::arg("given").noconvert(),
               nb::arg("distance").noconvert(), nb::arg("row").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
