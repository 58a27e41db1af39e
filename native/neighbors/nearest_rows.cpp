// The nearest rows of every query, and all rows within a radius, by a kd-tree or a scan.
//
//     NearestRows(rows, ...).nearest(queries, distance, row, threads)
//     NearestRows(rows, ...).within(queries, radius, by_distance, ...) → counts, row, distance
//     NearestRows(rows, ...).moments(queries, ...)  sums of the rows around each query
//
// Distances are reduced ones (see metrics.hpp). Queries are visited leaf by leaf, so that those in
// turn find the same nodes in the cache; a tree of one leaf is scanned block by block for several
// queries at once. Each query writes its own part of the result, and the order of neighbours is
// total, so the bits depend neither on threads nor on the tree.

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/density_sums.hpp"
#include "neighbors/local_moments.hpp"
#include "neighbors/nearest_list.hpp"
#include "neighbors/tree_search.hpp"
#include "neighbors/within_result.hpp"

namespace thetahat {

namespace neighbors {

constexpr std::size_t queries_per_piece = 64;
constexpr std::size_t scanned_together = 16;    // queries
constexpr std::size_t scanned_bytes = 1u << 17; // of points, while they are in the cache
constexpr double worth_sharing = 2e4;           // multiplications, about ten microseconds

class NearestRows {
  public:
    NearestRows(Matrix<const double> rows, std::size_t leaf_size, double p, bool counts_differences,
                bool alternating, bool random, std::uint64_t seed, int threads)
        : p_(p), counts_differences_(counts_differences) {
        const std::size_t n = rows.shape(0), d = rows.shape(1);
        require(n > 0 && d > 0, "there must be at least one row and one column");
        require(n < (std::size_t{1} << 30), "there must be less than 2^30 rows");
        require(leaf_size > 0, "leaf_size must be positive");
        require(p > 0.0, "p must be positive");
        const double *from = rows.data();
        const Construction plan{counts_differences ? n : leaf_size,
                                alternating ? Axis::alternating : Axis::widest,
                                random ? Pivot::random : Pivot::median, seed};
        nb::gil_scoped_release unlocked;
        tree_ = std::make_shared<const KdTree>(from, n, d, plan, threads);
    }

    std::size_t n_nodes() const { return tree_->nodes.size(); }

    std::size_t depth() const {
        std::vector<std::size_t> level(n_nodes(), 0);
        std::size_t deepest = 0;
        for (std::size_t i = 0; i < n_nodes(); ++i) // children come after their parent
            if (const std::int32_t child = tree_->nodes[i].child; child >= 0) {
                level[child] = level[child + 1] = level[i] + 1;
                deepest = std::max(deepest, level[i] + 1);
            }
        return deepest;
    }

    void nearest(Matrix<const double> queries, Matrix<double> distance, Matrix<std::int64_t> row,
                 int threads) const {
        const std::size_t m = queries.shape(0), k = distance.shape(1);
        require(queries.shape(1) == tree_->d, "queries must have the columns of the rows");
        require(distance.shape(0) == m && row.shape(0) == m && row.shape(1) == k,
                "distance and row must have one row per query and k columns");
        require(k >= 1 && k <= tree_->n, "k must be at least 1 and at most the number of rows");
        const double *from = queries.data();
        double *distances = distance.data();
        std::int64_t *rows = row.data();
        nb::gil_scoped_release unlocked;
        const auto list = [&](std::size_t i) {
            return NearestList(distances + i * k, rows + i * k, k);
        };
        visit(
            from, m, threads,
            [&](auto go) {
                go([&](std::size_t i) {
                    NearestList found = list(i);
                    found.clear();
                    return found;
                });
            },
            [](std::size_t, NearestList &found) { found.finish(); });
    }

    nb::tuple within(Matrix<const double> queries, Vector<const double> radius, bool by_distance,
                     std::size_t most, int threads) const {
        check_radii(queries, radius);
        const std::size_t m = queries.shape(0);
        const double *from = queries.data(), *radii = radius.data();
        WithinResult result(m, tree_->n, most);
        {
            nb::gil_scoped_release unlocked;
            visit(
                from, m, threads,
                [&](auto go) { go([&](std::size_t i) { return WithinList{radii[i]}; }); },
                [&](std::size_t i, WithinList &list) { result.take(i, list, by_distance); });
            result.join();
        }
        return result.arrays();
    }

    // The number of rows within the radius of every query.
    void count(Matrix<const double> queries, Vector<const double> radius,
               Vector<std::int64_t> counts, int threads) const {
        check_radii(queries, radius);
        const std::size_t m = queries.shape(0);
        require(counts.shape(0) == m, "there must be one count per query");
        const double *from = queries.data(), *radii = radius.data();
        std::int64_t *numbers = counts.data();
        nb::gil_scoped_release unlocked;
        visit(
            from, m, threads,
            [&](auto go) { go([&](std::size_t i) { return CountList{radii[i]}; }); },
            [&](std::size_t i, CountList &list) { numbers[i] = list.count; });
    }

    // A and B of every query, added to what the arrays hold; see local_moments.hpp. Of A only the
    // upper triangle is written.
    void moments(Matrix<const double> queries, Vector<const double> limits,
                 Vector<const double> widths, Matrix<const double> centres,
                 Matrix<const double> features, Vector<const double> weights,
                 Matrix<const double> values, Vector<const std::int64_t> parent,
                 Vector<const std::int64_t> column, int kernel, double power, double factor,
                 bool squared, Matrix<double> a, Matrix<double> b, int threads) const {
        const std::size_t m = queries.shape(0), n = tree_->n, q = features.shape(1);
        const std::size_t p = parent.shape(0), t = values.shape(1);
        require(queries.shape(1) == tree_->d, "queries must have the columns of the rows");
        require(limits.shape(0) == m && widths.shape(0) == m && centres.shape(0) == m,
                "limits, widths and centres must have one entry per query");
        require(features.shape(0) == n && weights.shape(0) == n && values.shape(0) == n,
                "features, weights and values must have one entry per row");
        require(centres.shape(1) == q, "centres must have the columns of the features");
        require(p >= 1 && column.shape(0) == p, "parent and column must have one entry per term");
        for (std::size_t k = 1; k < p; ++k)
            require(parent.data()[k] >= 0 && parent.data()[k] < static_cast<std::int64_t>(k) &&
                        column.data()[k] >= 0 && column.data()[k] < static_cast<std::int64_t>(q),
                    "a term must be the product of an earlier one and a column");
        require(a.shape(0) == m && b.shape(0) == m && a.shape(1) == p * p && b.shape(1) == p * t,
                "a and b must have one row per query");
        require(kernel >= 0 && kernel < n_smoothing_kernels, "the smoothing kernel is not known");
        const MomentPlan plan{
            kernel,        power,           factor,         squared,      p, q, t, parent.data(),
            column.data(), features.data(), weights.data(), values.data()};
        const double *from = queries.data(), *limit = limits.data(), *width = widths.data(),
                     *centre = centres.data();
        double *first = a.data(), *second = b.data();
        nb::gil_scoped_release unlocked;
        visit(
            from, m, threads,
            [&](auto go) {
                go([&](std::size_t i) {
                    return LocalMoments(plan, limit[i], width[i], centre + i * q, first + i * p * p,
                                        second + i * p * t);
                });
            },
            [](std::size_t, LocalMoments &sums) { sums.flush(); });
    }

    // The same rows with weights, for sums of a kernel over all of them.
    DensitySums density_sums(Vector<const double> weights) const {
        require(weights.shape(0) == tree_->n, "there must be one weight per row");
        require(!counts_differences_, "numbers of differences have no bounds on boxes");
        return DensitySums(tree_, p_, weights.data());
    }

  private:
    void check_radii(const Matrix<const double> &queries,
                     const Vector<const double> &radius) const {
        require(queries.shape(1) == tree_->d, "queries must have the columns of the rows");
        require(radius.shape(0) == queries.shape(0), "there must be one radius per query");
    }

    // Search for every query with a list of its own, then finish(query, list).
    template <typename Start, typename Finish>
    void visit(const double *queries, std::size_t m, int threads, const Start &start,
               const Finish &finish) const {
        start([&](const auto &list) {
            with_metric(p_, counts_differences_, tree_->d, [&](auto d, const auto &metric) {
                run<decltype(d)::value>(metric, queries, m, threads, list, finish);
            });
        });
    }

    template <int D, typename Metric, typename NewList, typename Finish>
    void run(const Metric &metric, const double *queries, std::size_t m, int threads,
             const NewList &list, const Finish &finish) const {
        const KdTree &tree = *tree_;
        const std::size_t d = tree.d;
        // A search visits some hundred rows, and about twenty more with every doubling.
        const double each = tree.is_one_leaf() ? double(tree.n) * double(d) : 200.0 * double(d);
        if (double(m) * each < worth_sharing)
            threads = 1;
        if (tree.is_one_leaf()) {
            const std::size_t block = std::max<std::size_t>(1, scanned_bytes / (32 * d));
            const std::size_t groups = (tree.n + 3) / 4;
            for_each_piece((m + scanned_together - 1) / scanned_together, threads,
                           [&](std::size_t piece) {
                               const std::size_t from = piece * scanned_together,
                                                 to = std::min(m, from + scanned_together);
                               std::vector<decltype(list(from))> lists;
                               for (std::size_t i = from; i < to; ++i)
                                   lists.push_back(list(i));
                               for (std::size_t g = 0; g < groups; g += block)
                                   for (std::size_t i = from; i < to; ++i)
                                       scan<D>(tree, metric, queries + i * d, tree.nodes[0], g,
                                               std::min(groups, g + block), lists[i - from]);
                               for (std::size_t i = from; i < to; ++i)
                                   finish(i, lists[i - from]);
                           });
            return;
        }
        const std::vector<std::uint32_t> order = by_leaf(tree, metric, queries, m, threads);
        const std::size_t size = m < 4 * queries_per_piece ? 8 : queries_per_piece;
        for_each_piece((m + size - 1) / size, threads, [&](std::size_t piece) {
            std::vector<Branch> waiting;
            for (std::size_t place = piece * size; place < std::min(m, (piece + 1) * size);
                 ++place) {
                const std::size_t i = order.empty() ? place : order[place];
                auto found = list(i);
                search<D>(tree, metric, queries + i * d, found, waiting);
                finish(i, found);
            }
        });
    }

    double p_;
    bool counts_differences_;
    std::shared_ptr<const KdTree> tree_;
};

} // namespace neighbors

void bind_nearest_rows(nb::module_ &module) {
    using neighbors::NearestRows;
    nb::class_<NearestRows>(module, "NearestRows")
        .def(nb::init<Matrix<const double>, std::size_t, double, bool, bool, bool, std::uint64_t,
                      int>(),
             nb::arg("rows").noconvert(), nb::arg("leaf_size"), nb::arg("p"),
             nb::arg("counts_differences"), nb::arg("alternating"), nb::arg("random"),
             nb::arg("seed"), nb::arg("threads"))
        .def_prop_ro("n_nodes", &NearestRows::n_nodes)
        .def_prop_ro("depth", &NearestRows::depth)
        .def("density_sums", &NearestRows::density_sums, nb::arg("weights").noconvert())
        .def("nearest", &NearestRows::nearest, nb::arg("queries").noconvert(),
             nb::arg("distance").noconvert(), nb::arg("row").noconvert(), nb::arg("threads"))
        .def("within", &NearestRows::within, nb::arg("queries").noconvert(),
             nb::arg("radius").noconvert(), nb::arg("by_distance"), nb::arg("most"),
             nb::arg("threads"))
        .def("count", &NearestRows::count, nb::arg("queries").noconvert(),
             nb::arg("radius").noconvert(), nb::arg("counts").noconvert(), nb::arg("threads"))
        .def("moments", &NearestRows::moments, nb::arg("queries").noconvert(),
             nb::arg("limits").noconvert(), nb::arg("widths").noconvert(),
             nb::arg("centres").noconvert(), nb::arg("features").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("values").noconvert(),
             nb::arg("parent").noconvert(), nb::arg("column").noconvert(), nb::arg("kernel"),
             nb::arg("power"), nb::arg("factor"), nb::arg("squared"), nb::arg("a").noconvert(),
             nb::arg("b").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
