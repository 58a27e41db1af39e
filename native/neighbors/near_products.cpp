// Nearest rows from matrix products: ‖q − x‖² = ‖q‖² + ‖x‖² − 2 qᵀx, for blocks of queries and rows
// whose products qᵀx are given; near_filter.hpp says how they are used.
//
// Neighbours come in the arrays `distance` and `row`, which hold those that have been measured, in
// the order of NearestList, until `measure_candidates` measures the others after the last block.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/metrics.hpp"
#include "neighbors/near_filter.hpp"
#include "neighbors/within_result.hpp"

namespace thetahat {

namespace neighbors {

namespace {

constexpr std::size_t measured_together = 4;

// Σ_j (q_j − x_j)² in float64 of several rows x, with the partial sums of metrics.hpp.
template <typename T>
void squared_distances(const T *q, const T *const (&x)[measured_together], std::size_t d,
                       double *distance) {
    Double4 part[measured_together] = {};
    std::size_t j = 0;
    for (; j + 4 <= d; j += 4) {
        const Double4 own = load4(q + j);
        for (std::size_t r = 0; r < measured_together; ++r) {
            const Double4 gap = own - load4(x[r] + j);
            part[r] += gap * gap;
        }
    }
    for (std::size_t r = 0; r < measured_together; ++r) {
        for (std::size_t l = 0; j + l < d; ++l) {
            const double gap = static_cast<double>(q[j + l]) - static_cast<double>(x[r][j + l]);
            part[r][l] = part[r][l] + gap * gap;
        }
        distance[r] = sum_of(part[r]);
    }
}

// The squared distances of a query to some of the rows.
template <typename T> struct Measure {
    const T *query, *rows;
    std::size_t d;

    void operator()(const std::size_t *near, std::size_t count, double *distance) const {
        for (std::size_t i = 0; i < count; i += measured_together) {
            const T *some[measured_together];
            for (std::size_t r = 0; r < measured_together; ++r)
                some[r] = rows + near[std::min(i + r, count - 1)] * d;
            double found[measured_together];
            squared_distances(query, some, d, found);
            std::copy(found, found + std::min(measured_together, count - i), distance + i);
        }
    }
};

void check_block(std::size_t m, std::size_t n, std::size_t n_low, std::size_t n_query_low,
                 std::size_t first, std::size_t n_rows) {
    require(n_low == n && n_query_low == m, "products must be queries × rows of this block");
    require(first + n <= n_rows, "the block must lie within the rows");
}

template <typename P>
void check_lists(const NearCandidates<P> &candidates, std::size_t m, const Matrix<double> &distance,
                 const Matrix<std::int64_t> &row) {
    require(candidates.n_queries() == m, "there must be candidates for every query");
    require(distance.shape(0) == m && row.shape(0) == m && row.shape(1) == distance.shape(1) &&
                distance.shape(1) > 0,
            "distance and row must have one row per query and k columns");
}

// The products may be of less precision (P) than the rows (T).
template <typename P, typename T>
void near_products(Matrix<const P> products, Vector<const P> low, Vector<const double> query_low,
                   double slack, std::size_t first, Matrix<const T> queries, Matrix<const T> rows,
                   NearCandidates<P> &candidates, Matrix<double> distance,
                   Matrix<std::int64_t> row) {
    const std::size_t m = products.shape(0), n = products.shape(1), d = rows.shape(1),
                      k = distance.shape(1);
    check_block(m, n, low.shape(0), query_low.shape(0), first, rows.shape(0));
    check_lists(candidates, m, distance, row);
    require(queries.shape(0) == m && queries.shape(1) == d,
            "queries must have the columns of the rows");
    require(first + n <= std::numeric_limits<std::uint32_t>::max(),
            "there must be less than 2^32 rows");
    candidates.expect(first + n);
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < m; ++i) {
        const Measure<T> measure{queries.data() + i * d, rows.data(), d};
        NearestList list(distance.data() + i * k, row.data() + i * k, k);
        if (first == 0)
            list.clear();
        candidates.add(i, products.data() + i * n, low.data(), query_low.data()[i], slack, n, first,
                       measure, list);
    }
}

// Measure the rows that wait after the last block, and order the lists.
template <typename P, typename T>
void measure_candidates(NearCandidates<P> &candidates, Matrix<const T> queries,
                        Matrix<const T> rows, Matrix<double> distance, Matrix<std::int64_t> row) {
    const std::size_t m = queries.shape(0), d = queries.shape(1), k = distance.shape(1);
    check_lists(candidates, m, distance, row);
    require(rows.shape(1) == d, "queries must have the columns of the rows");
    require(rows.shape(0) >= candidates.n_rows(), "the rows must be those of the blocks");
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < m; ++i) {
        const Measure<T> measure{queries.data() + i * d, rows.data(), d};
        NearestList list(distance.data() + i * k, row.data() + i * k, k);
        candidates.finish(i, measure, list);
        list.finish();
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
            const Measure<T> measure{queries.data() + i * d, rows.data(), d};
            WithinList list{radius.data()[i]};
            Offers offers(measure, list);
            for_passing(products.data() + i * n, low.data(), n,
                        rounded_up<T>(radius.data()[i] - query_low.data()[i]),
                        [&](std::size_t j) { offers.add(j); });
            offers.flush();
            result.take(i, list, by_distance);
        }
        result.join();
    }
    return result.arrays();
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

template <typename P> void bind_candidates(nb::module_ &module, const char *name) {
    nb::class_<NearCandidates<P>>(module, name)
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("n_queries"), nb::arg("k"));
}

template <typename P, typename T> void bind_near(nb::module_ &module) {
    module.def("near_products", &near_products<P, T>, nb::arg("products").noconvert(),
               nb::arg("low").noconvert(), nb::arg("query_low").noconvert(), nb::arg("slack"),
               nb::arg("first"), nb::arg("queries").noconvert(), nb::arg("rows").noconvert(),
               nb::arg("candidates"), nb::arg("distance").noconvert(), nb::arg("row").noconvert());
    module.def("measure_candidates", &measure_candidates<P, T>, nb::arg("candidates"),
               nb::arg("queries").noconvert(), nb::arg("rows").noconvert(),
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
    neighbors::bind_candidates<float>(module, "NearCandidates32");
    neighbors::bind_candidates<double>(module, "NearCandidates64");
    neighbors::bind_near<float, float>(module);
    neighbors::bind_near<float, double>(module);
    neighbors::bind_near<double, double>(module);
    neighbors::bind<float>(module);
    neighbors::bind<double>(module);
    module.def("smallest_per_row", &neighbors::smallest_per_row, nb::arg("given").noconvert(),
               nb::arg("distance").noconvert(), nb::arg("row").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
