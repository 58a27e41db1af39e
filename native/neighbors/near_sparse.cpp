// Nearest sparse rows under the Euclidean and the Manhattan distance.
//
// For every query the sums g of near_filter.hpp are collected over the columns it has entries in,
// from the transposed rows, so that only common entries are visited. Each query writes its own part
// of the result, so the number of threads does not change a bit.

#include <algorithm>
#include <type_traits>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/near_filter.hpp"
#include "neighbors/within_result.hpp"

namespace thetahat {

namespace neighbors {

namespace {

constexpr std::size_t queries_together = 4;

template <typename T> struct Sparse {
    const T *values;
    const std::int32_t *columns, *start;
    std::size_t size(std::size_t i) const { return start[i + 1] - start[i]; }
};

struct Product {
    template <typename T> static T common(T q, T x) { return q * x; }
    static double term(double gap) { return gap * gap; }
};

struct Overlap {
    template <typename T> static T common(T q, T x) {
        return (q > 0) == (x > 0) ? std::min(std::fabs(q), std::fabs(x)) : T{0};
    }
    static double term(double gap) { return std::fabs(gap); }
};

// Columns in which both are zero add nothing, so the bits are those of dense rows.
template <typename Metric, typename T>
double measured(const Sparse<T> &queries, std::size_t i, const Sparse<T> &rows, std::size_t j) {
    const std::int32_t *a = queries.columns + queries.start[i], *b = rows.columns + rows.start[j];
    const std::int32_t *a_end = a + queries.size(i), *b_end = b + rows.size(j);
    const T *q = queries.values + queries.start[i], *x = rows.values + rows.start[j];
    double part[4] = {};
    while (a < a_end && b < b_end) {
        const std::int32_t column = std::min(*a, *b);
        double gap = 0.0;
        if (*a == column) {
            gap += static_cast<double>(*q++);
            ++a;
        }
        if (*b == column) {
            gap -= static_cast<double>(*x++);
            ++b;
        }
        part[column & 3] += Metric::term(gap);
    }
    for (; a < a_end; ++a)
        part[*a & 3] += Metric::term(static_cast<double>(*q++));
    for (; b < b_end; ++b)
        part[*b & 3] += Metric::term(static_cast<double>(*x++));
    return (part[0] + part[1]) + (part[2] + part[3]);
}

// As `measured`, for all n rows at once, from the transposed rows. Columns come in ascending order,
// so that every partial sum has its terms in the order of one row after the other.
template <typename Metric, typename T>
std::vector<double> measured_together(const Sparse<T> &queries, std::size_t i,
                                      const Sparse<T> &transposed, std::size_t n, std::size_t d) {
    std::vector<double> parts(4 * n, 0.0), gap(n);
    std::int32_t e = queries.start[i];
    for (std::size_t column = 0; column < d; ++column) {
        double *part = parts.data() + (column & 3) * n;
        const std::int32_t begin = transposed.start[column], end = transposed.start[column + 1];
        if (e < queries.start[i + 1] && static_cast<std::size_t>(queries.columns[e]) == column) {
            const double q = static_cast<double>(queries.values[e++]);
            std::fill(gap.begin(), gap.end(), q);
            for (std::int32_t t = begin; t < end; ++t)
                gap[transposed.columns[t]] -= static_cast<double>(transposed.values[t]);
            for (std::size_t j = 0; j < n; ++j)
                part[j] += Metric::term(gap[j]);
        } else {
            for (std::int32_t t = begin; t < end; ++t)
                part[transposed.columns[t]] +=
                    Metric::term(static_cast<double>(transposed.values[t]));
        }
    }
    for (std::size_t j = 0; j < n; ++j)
        gap[j] = (parts[j] + parts[n + j]) + (parts[2 * n + j] + parts[3 * n + j]);
    return gap;
}

template <typename Metric, typename T>
void collect(const Sparse<T> &queries, std::size_t i, const Sparse<T> &transposed, T *g,
             std::size_t n) {
    std::fill(g, g + n, T{0});
    for (std::int32_t e = queries.start[i]; e < queries.start[i + 1]; ++e) {
        const T q = queries.values[e];
        const std::int32_t column = queries.columns[e];
        for (std::int32_t t = transposed.start[column]; t < transposed.start[column + 1]; ++t)
            g[transposed.columns[t]] += Metric::common(q, transposed.values[t]);
    }
}

template <typename T> class SparseRows {
  public:
    using Values = Vector<const T>;
    using Indices = Vector<const std::int32_t>;

    SparseRows(Values x, Indices x_columns, Indices x_start, Values t, Indices t_rows,
               Indices t_start, Values low, double slack, bool absolute)
        : x_(x), t_(t), low_(low), x_columns_(x_columns), x_start_(x_start), t_rows_(t_rows),
          t_start_(t_start), slack_(slack), absolute_(absolute) {
        const std::size_t n = low.shape(0), d = t_start.shape(0) - 1;
        require(sound(x, x_columns, x_start, d) && sound(t, t_rows, t_start, n),
                "sparse rows must have ascending offsets and indices within their size");
        require(x_start.shape(0) == n + 1 && n > 0, "there must be one bound per row");
    }

    void nearest(Values q, Indices q_columns, Indices q_start, Vector<const double> query_low,
                 Matrix<double> distance, Matrix<std::int64_t> row, int threads) const {
        const Sparse<T> queries = checked(q, q_columns, q_start, query_low);
        const std::size_t m = query_low.shape(0), k = distance.shape(1);
        require(distance.shape(0) == m && row.shape(0) == m && row.shape(1) == k && k > 0,
                "distance and row must have one row per query and k columns");
        nb::gil_scoped_release unlocked;
        visit(queries, query_low.data(), m, threads, [&](auto each, std::size_t i, const T *g) {
            NearestList list(distance.data() + i * k, row.data() + i * k, k);
            list.clear();
            each(i, g, list);
            list.finish();
        });
    }

    nb::tuple within(Values q, Indices q_columns, Indices q_start, Vector<const double> query_low,
                     Vector<const double> radius, bool by_distance, std::size_t most,
                     int threads) const {
        const Sparse<T> queries = checked(q, q_columns, q_start, query_low);
        const std::size_t m = query_low.shape(0);
        require(radius.shape(0) == m, "there must be one radius per query");
        WithinResult result(m, low_.shape(0), most);
        {
            nb::gil_scoped_release unlocked;
            visit(queries, query_low.data(), m, threads, [&](auto each, std::size_t i, const T *g) {
                WithinList list{radius.data()[i]};
                each(i, g, list);
                result.take(i, list, by_distance);
            });
            result.join();
        }
        return result.arrays();
    }

  private:
    static bool sound(const Values &values, const Indices &columns, const Indices &start,
                      std::size_t width) {
        const std::size_t n = start.shape(0), entries = values.shape(0);
        if (n == 0 || columns.shape(0) != entries || start.data()[0] != 0 ||
            !std::is_sorted(start.data(), start.data() + n) ||
            static_cast<std::size_t>(start.data()[n - 1]) != entries)
            return false;
        return std::all_of(columns.data(), columns.data() + entries, [&](std::int32_t column) {
            return column >= 0 && static_cast<std::size_t>(column) < width;
        });
    }

    Sparse<T> checked(const Values &q, const Indices &columns, const Indices &start,
                      const Vector<const double> &query_low) const {
        require(sound(q, columns, start, t_start_.shape(0) - 1),
                "sparse queries must have ascending offsets and the columns of the rows");
        require(start.shape(0) == query_low.shape(0) + 1, "there must be one bound per query");
        return {q.data(), columns.data(), start.data()};
    }

    // work(each, query, g), where each(query, g, list) offers the rows to the list.
    template <typename Work>
    void visit(const Sparse<T> &queries, const double *query_low, std::size_t m, int threads,
               const Work &work) const {
        if (absolute_)
            run<Overlap>(queries, query_low, m, threads, work);
        else
            run<Product>(queries, query_low, m, threads, work);
    }

    // Whether so many rows pass the filter that it is faster to measure all of them together. A
    // step of the merge of two rows waits for the one before, and takes as long as several others.
    bool many_pass(const T *g, T limit, std::size_t query_size) const {
        const std::size_t n = low_.shape(0), entries = x_.shape(0);
        std::size_t passing = 0;
        for (std::size_t j = 0; j < n; ++j)
            passing += !(low_.data()[j] - 2 * g[j] > limit);
        const double merged = double(passing) * (double(query_size) + double(entries) / double(n));
        const double together = double(entries + t_start_.shape(0) + n * query_size);
        return 4 * merged > together;
    }

    template <typename Metric, typename Work>
    void run(const Sparse<T> &queries, const double *query_low, std::size_t m, int threads,
             const Work &work) const {
        const Sparse<T> rows{x_.data(), x_columns_.data(), x_start_.data()},
            transposed{t_.data(), t_rows_.data(), t_start_.data()};
        const std::size_t n = low_.shape(0);
        const auto each = [&]<typename List>(std::size_t i, const T *g, List &list) {
            const auto one = [&](std::size_t j) { return measured<Metric>(queries, i, rows, j); };
            const auto several = [&](const std::size_t *near, std::size_t count, double *to) {
                std::transform(near, near + count, to, one);
            };
            if constexpr (std::is_same_v<List, WithinList>) {
                const T limit = rounded_up<T>(list.worst() - query_low[i]);
                const auto offer = [&](const auto &measure) {
                    Offers offers(measure, list);
                    for_passing(g, low_.data(), n, limit, [&](std::size_t j) { offers.add(j); });
                    offers.flush();
                };
                if (!many_pass(g, limit, queries.size(i)))
                    return offer(several);
                const std::vector<double> all =
                    measured_together<Metric>(queries, i, transposed, n, t_start_.shape(0) - 1);
                offer([&](const std::size_t *near, std::size_t count, double *to) {
                    std::transform(near, near + count, to, [&](std::size_t j) { return all[j]; });
                });
            } else {
                NearCandidates<T> candidates(1, list.size());
                candidates.add(0, g, low_.data(), query_low[i], slack_, n, 0, several, list);
                candidates.finish(0, several, list);
            }
        };
        for_each_piece(
            (m + queries_together - 1) / queries_together, threads, [&](std::size_t piece) {
                std::vector<T> g(n);
                const std::size_t from = piece * queries_together;
                for (std::size_t i = from; i < std::min(m, from + queries_together); ++i) {
                    collect<Metric>(queries, i, transposed, g.data(), n);
                    work(each, i, g.data());
                }
            });
    }

    Values x_, t_, low_;
    Indices x_columns_, x_start_, t_rows_, t_start_;
    double slack_;
    bool absolute_;
};

template <typename T> void bind(nb::module_ &module, const char *name) {
    using Rows = SparseRows<T>;
    using Values = typename Rows::Values;
    using Indices = typename Rows::Indices;
    nb::class_<Rows>(module, name)
        .def(nb::init<Values, Indices, Indices, Values, Indices, Indices, Values, double, bool>(),
             nb::arg("data").noconvert(), nb::arg("columns").noconvert(),
             nb::arg("start").noconvert(), nb::arg("transposed_data").noconvert(),
             nb::arg("transposed_rows").noconvert(), nb::arg("transposed_start").noconvert(),
             nb::arg("low").noconvert(), nb::arg("slack"), nb::arg("absolute"))
        .def("nearest", &Rows::nearest, nb::arg("data").noconvert(), nb::arg("columns").noconvert(),
             nb::arg("start").noconvert(), nb::arg("query_low").noconvert(),
             nb::arg("distance").noconvert(), nb::arg("row").noconvert(), nb::arg("threads"))
        .def("within", &Rows::within, nb::arg("data").noconvert(), nb::arg("columns").noconvert(),
             nb::arg("start").noconvert(), nb::arg("query_low").noconvert(),
             nb::arg("radius").noconvert(), nb::arg("by_distance"), nb::arg("most"),
             nb::arg("threads"));
}

} // namespace

} // namespace neighbors

void bind_near_sparse(nb::module_ &module) {
    neighbors::bind<float>(module, "SparseRows32");
    neighbors::bind<double>(module, "SparseRows64");
}

} // namespace thetahat
