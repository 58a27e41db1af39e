// Nearest rows from matrix products: ‖q − x‖² = ‖q‖² + ‖x‖² − 2 qᵀx, for blocks of queries and rows
// whose products qᵀx are given; near_filter.hpp says how they are used.
//
// Neighbours come in the arrays `distance` and `row`, which are empty (infinity) before the first
// block of rows and in the order of NearestList between the blocks.

#include <algorithm>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/metrics.hpp"
#include "neighbors/near_filter.hpp"
#include "neighbors/within_result.hpp"

namespace thetahat {

namespace neighbors {

namespace {

// Σ (q_j − x_j)² in float64, with the partial sums of metrics.hpp.
template <typename T> double squared_distance(const T *q, const T *x, std::size_t d) {
    Double4 part = {};
    std::size_t j = 0;
    for (; j + 4 <= d; j += 4) {
        const Double4 gap = load4(q + j) - load4(x + j);
        part += gap * gap;
    }
    for (std::size_t l = 0; j < d; ++j, ++l) {
        const double gap = static_cast<double>(q[j]) - static_cast<double>(x[j]);
        part[l] = part[l] + gap * gap;
    }
    return sum_of(part);
}

void check_block(std::size_t m, std::size_t n, std::size_t n_low, std::size_t n_query_low,
                 std::size_t first, std::size_t n_rows) {
    require(n_low == n && n_query_low == m, "products must be queries × rows of this block");
    require(first + n <= n_rows, "the block must lie within the rows");
}

// The products may be of less precision (P) than the rows (T).
template <typename P, typename T>
void near_products(Matrix<const P> products, Vector<const P> low, Vector<const double> query_low,
                   double slack, std::size_t first, Matrix<const T> queries, Matrix<const T> rows,
                   Matrix<double> distance, Matrix<std::int64_t> row) {
    const std::size_t m = products.shape(0), n = products.shape(1), d = rows.shape(1),
                      k = distance.shape(1);
    check_block(m, n, low.shape(0), query_low.shape(0), first, rows.shape(0));
    require(distance.shape(0) == m && row.shape(0) == m && row.shape(1) == k && k > 0,
            "distance and row must have one row per query and k columns");
    require(queries.shape(0) == m && queries.shape(1) == d,
            "queries must have the columns of the rows");
    const Bounds<P> bounds{low.data(), slack};
    nb::gil_scoped_release unlocked;
    std::vector<P> best(k <= longest_bounded_list && n >= k ? k : 0);
    for (std::size_t i = 0; i < m; ++i) {
        const P *g = products.data() + i * n;
        const T *query = queries.data() + i * d;
        NearestList list(distance.data() + i * k, row.data() + i * k, k);
        double most = infinity;
        if (first == 0) {
            list.clear();
            if (!best.empty())
                most = bounds.kth_upper(g, query_low.data()[i], n, best);
        }
        refine(
            g, low.data(), query_low.data()[i], n, first, most,
            [&](std::size_t j) { return squared_distance(query, rows.data() + j * d, d); }, list);
    }
}

// All rows within a (squared) radius of every query, from the products with all rows.
template <typename T>
nb::tuple within_products(Matrix<const T> products, Vector<const T> low,
                          Vector<const double> query_low, Matrix<const T> queries,
                          Matrix<const T> rows, Vector<const double> radius, bool by_distance,
                          std::size_t most) {
    const std::size_t m = products.shape(0), n = products.shape(1), d = rows.shape(1);
    check_block(m, n, low.shape(0), query_low.shape(0), 0, rows.shape(0));
    require(queries.shape(0) == m && queries.shape(1) == d && radius.shape(0) == m,
            "queries must have the columns of the rows, and a radius each");
    WithinResult result(m, n, most);
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < m; ++i) {
            const T *query = queries.data() + i * d;
            WithinList list{radius.data()[i]};
            refine(
                products.data() + i * n, low.data(), query_low.data()[i], n, 0, infinity,
                [&](std::size_t j) { return squared_distance(query, rows.data() + j * d, d); },
                list);
            result.take(i, list, by_distance);
        }
        result.join();
    }
    return result.arrays();
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

template <typename P, typename T> void bind_near(nb::module_ &module) {
    module.def("near_products", &near_products<P, T>, nb::arg("products").noconvert(),
               nb::arg("low").noconvert(), nb::arg("query_low").noconvert(), nb::arg("slack"),
               nb::arg("first"), nb::arg("queries").noconvert(), nb::arg("rows").noconvert(),
               nb::arg("distance").noconvert(), nb::arg("row").noconvert());
}

template <typename T> void bind(nb::module_ &module) {
    module.def("within_products", &within_products<T>, nb::arg("products").noconvert(),
               nb::arg("low").noconvert(), nb::arg("query_low").noconvert(),
               nb::arg("queries").noconvert(), nb::arg("rows").noconvert(),
               nb::arg("radius").noconvert(), nb::arg("by_distance"), nb::arg("most"));
}

} // namespace

} // namespace neighbors

void bind_near_products(nb::module_ &module) {
    neighbors::bind_near<float, float>(module);
    neighbors::bind_near<float, double>(module);
    neighbors::bind_near<double, double>(module);
    neighbors::bind<float>(module);
    neighbors::bind<double>(module);
    module.def("finish_lists", &neighbors::finish_lists, nb::arg("distance").noconvert(),
               nb::arg("row").noconvert());
    module.def("smallest_per_row", &neighbors::smallest_per_row, nb::arg("given").noconvert(),
               nb::arg("distance").noconvert(), nb::arg("row").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
