// The minimum spanning tree of rows, or of given dissimilarities, by Prim's steps in O(n) memory.
//
//     spanning_tree_all    over rows, O(n² d) time
//     spanning_tree_given  over the upper triangle of dissimilarities, O(n²) time
//
// The row nearest to the tree is added next; the others are measured from it in pieces of a fixed
// size. Edges have a total order (see spanning_edges.hpp). With core distances c, the length of an
// edge is max(d(x, y), c(x), c(y)). Lengths are reduced distances (see neighbors/metrics.hpp).

#include <numeric>

#include "cluster/linkage.hpp"
#include "cluster/spanning_edges.hpp"
#include "core/interrupts.hpp"
#include "core/parallel.hpp"
#include "neighbors/metrics.hpp"

namespace thetahat {

namespace cluster {

namespace {

// The nearest row outside of the tree, with the row of the tree that it is nearest to.
struct Outside {
    std::int64_t row, from;
    double length;
};

// Prim's steps. fill(i, first, last, lengths) measures row i from some of the rows that are left;
// keep(rows) forgets the others.
class Prim {
  public:
    explicit Prim(std::size_t n) : left_(n) {
        for (std::size_t i = 0; i < n; ++i)
            left_[i] = {static_cast<std::int64_t>(i), 0, infinity};
    }

    template <typename Fill, typename Keep>
    void run(double work, int threads, const double *core, const Fill &fill, const Keep &keep,
             Edges &edges) {
        std::size_t built = left_.size(), n_left = built - 1;
        InterruptionPoint point;
        std::int64_t row = 0;
        in_tree_.assign(built, 0);
        in_tree_[0] = 1;
        while (n_left > 0) {
            const std::size_t n = left_.size(), size = 2048, pieces = (n + size - 1) / size;
            lengths_.resize(n);
            best_.assign(pieces, n);
            const int used = double(n) * work < worth_sharing ? 1 : threads;
            for_each_piece(pieces, used, [&](std::size_t piece) {
                const std::size_t from = piece * size, to = std::min(n, from + size);
                fill(static_cast<std::size_t>(row), from, to, lengths_.data());
                best_[piece] = update(row, from, to, core);
            });
            std::size_t best = n;
            for (const std::size_t place : best_)
                if (place < n && (best == n || nearer(left_[place], left_[best])))
                    best = place;
            edges.add(left_[best].row, left_[best].from, left_[best].length);
            point.after(double(n) * (4.0 + work));
            row = left_[best].row;
            in_tree_[best] = 1;
            if (--n_left * 2 <= n && n > 64) {
                std::vector<std::size_t> kept;
                for (std::size_t i = 0; i < n; ++i)
                    if (!in_tree_[i]) {
                        left_[kept.size()] = left_[i];
                        kept.push_back(i);
                    }
                left_.resize(kept.size());
                in_tree_.assign(kept.size(), 0);
                keep(kept);
            }
        }
    }

  private:
    static bool nearer(const Outside &a, const Outside &b) {
        return shorter(a.row, {a.length, a.from}, b.row, {b.length, b.from});
    }

    std::size_t update(std::int64_t row, std::size_t from, std::size_t to, const double *core) {
        std::size_t best = left_.size();
        for (std::size_t i = from; i < to; ++i) {
            if (in_tree_[i])
                continue;
            Outside &at = left_[i];
            double length = lengths_[i];
            if (core != nullptr)
                length = std::max({length, core[row], core[at.row]});
            if (length < at.length || (length == at.length && row < at.from))
                at.length = length, at.from = row;
            if (best == left_.size() || nearer(at, left_[best]))
                best = i;
        }
        return best;
    }

    std::vector<Outside> left_;
    std::vector<char> in_tree_{};
    std::vector<double> lengths_{};
    std::vector<std::size_t> best_{};
};

void spanning_tree_all(Matrix<const double> rows, double p, bool counts_differences,
                       Vector<const double> core, Vector<std::int64_t> left,
                       Vector<std::int64_t> right, Vector<double> length, int threads) {
    const std::size_t n = rows.shape(0), d = rows.shape(1);
    require(n > 0 && d > 0, "there must be at least one row and one column");
    require(p > 0.0, "p must be positive");
    Edges edges(left, right, length, n);
    const double *cores = core_of(core, n), *from = rows.data();
    nb::gil_scoped_release unlocked;
    // Rows four by four, as in the leaves of a kd-tree.
    std::vector<double> points((n + 3) / 4 * 4 * d, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < d; ++j)
            points[i / 4 * 4 * d + 4 * j + i % 4] = from[i * d + j];
    const auto keep = [&](const std::vector<std::size_t> &kept) {
        for (std::size_t i = 0; i < kept.size(); ++i) // no row moves towards the end
            for (std::size_t j = 0; j < d; ++j)
                points[i / 4 * 4 * d + 4 * j + i % 4] =
                    points[kept[i] / 4 * 4 * d + 4 * j + kept[i] % 4];
    };
    neighbors::with_metric(p, counts_differences, 0, [&](auto, const auto &metric) {
        const auto fill = [&](std::size_t row, std::size_t first, std::size_t last, double *to) {
            const double *query = from + row * d;
            for (std::size_t i = first; i < last; i += 4) { // pieces begin at whole groups
                const double *group = points.data() + i * d;
                double lengths[4];
                for (std::size_t k = 0; k < 4; k += wide_size) {
                    const Wide some = neighbors::reduced<0, Wide>(metric, d, [&](std::size_t j) {
                        return query[j] - load_wide(group + 4 * j + k);
                    });
                    std::memcpy(lengths + k, &some, sizeof some);
                }
                std::copy(lengths, lengths + std::min<std::size_t>(4, last - i), to + i);
            }
        };
        Prim(n).run(double(d), threads, cores, fill, keep, edges);
    });
    edges.sort();
}

void spanning_tree_given(Vector<const double> triangle, Vector<const double> core,
                         Vector<std::int64_t> left, Vector<std::int64_t> right,
                         Vector<double> length) {
    const std::size_t n = left.shape(0) + 1;
    require(triangle.shape(0) == n * (n - 1) / 2, "there must be n(n - 1)/2 dissimilarities");
    Edges edges(left, right, length, n);
    const double *cores = core_of(core, n), *values = triangle.data();
    nb::gil_scoped_release unlocked;
    std::vector<std::size_t> rows(n);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    const auto fill = [&](std::size_t row, std::size_t first, std::size_t last, double *to) {
        for (std::size_t k = first; k < last; ++k) {
            const std::size_t a = std::min(row, rows[k]), b = std::max(row, rows[k]);
            to[k] = a == b ? 0.0 : values[n * a - a * (a + 1) / 2 + (b - a - 1)];
        }
    };
    const auto keep = [&](const std::vector<std::size_t> &kept) {
        for (std::size_t i = 0; i < kept.size(); ++i)
            rows[i] = rows[kept[i]];
    };
    Prim(n).run(0.0, 1, cores, fill, keep, edges);
    edges.sort();
}

} // namespace

} // namespace cluster

void bind_spanning_tree(nb::module_ &module) {
    module.def("spanning_tree_all", &cluster::spanning_tree_all, nb::arg("rows").noconvert(),
               nb::arg("p"), nb::arg("counts_differences"), nb::arg("core").noconvert(),
               nb::arg("left").noconvert(), nb::arg("right").noconvert(),
               nb::arg("length").noconvert(), nb::arg("threads"));
    module.def("spanning_tree_given", &cluster::spanning_tree_given,
               nb::arg("triangle").noconvert(), nb::arg("core").noconvert(),
               nb::arg("left").noconvert(), nb::arg("right").noconvert(),
               nb::arg("length").noconvert());
}

} // namespace thetahat
