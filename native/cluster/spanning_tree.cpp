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
#include "core/simd4.hpp"
#include "neighbors/metrics.hpp"

namespace thetahat {

namespace cluster {

namespace {

// Prim's steps. fill(i, first, last, lengths) measures row i from the rows at some places, and
// move(from, to) puts the row at one place to another. The rows outside of the tree have the first
// places: the last of them takes the place of one that is added.
class Prim {
  public:
    Prim(std::size_t n, const double *core)
        : left_(n), core_(core), row_(n), from_(padded(n), 0), length_(padded(n), infinity),
          new_(padded(n), infinity), cores_(core == nullptr ? 0 : padded(n), 0.0),
          least_(padded(n) / block + 1) {
        for (std::size_t i = 0; i < n; ++i)
            row_[i] = static_cast<std::int64_t>(i);
        if (core != nullptr)
            std::copy(core, core + n, cores_.begin());
    }

    template <typename Fill, typename Move>
    void run(double work, int threads, const Fill &fill, const Move &move, Edges &edges) {
        InterruptionPoint point;
        std::int64_t row = 0;
        take(0, move);
        while (left_ > 0) {
            const std::size_t size = 2048, pieces = (left_ + size - 1) / size;
            const int used = double(left_) * work < worth_sharing ? 1 : threads;
            for_each_piece(pieces, used, [&](std::size_t piece) {
                const std::size_t first = piece * size, last = std::min(left_, first + size);
                fill(static_cast<std::size_t>(row), first, last, new_.data());
                update(row, first, last);
            });
            const std::size_t best = nearest();
            edges.add(row_[best], from_[best], length_[best]);
            point.after(double(left_) * (4.0 + work));
            row = row_[best];
            take(best, move);
        }
    }

  private:
    static constexpr std::size_t block = 64;
    static std::size_t padded(std::size_t n) { return (n + block - 1) / block * block; }

    // Remove the row at a place from those outside of the tree.
    template <typename Move> void take(std::size_t place, const Move &move) {
        const std::size_t last = --left_;
        if (place != last) {
            row_[place] = row_[last], from_[place] = from_[last];
            length_[place] = length_[last];
            if (core_ != nullptr)
                cores_[place] = cores_[last];
            move(last, place);
        }
        length_[last] = new_[last] = infinity;
    }

    // Compare the rows at some places, the first a multiple of `block`, with a row of the tree.
    void update(std::int64_t row, std::size_t first, std::size_t last) {
        for (std::size_t begin = first; begin < last; begin += block) {
            Wide least = Wide{} + infinity;
            for (std::size_t i = begin; i < begin + block; i += wide_size) {
                Wide length = load_wide(new_.data() + i);
                if (core_ != nullptr) {
                    length = larger(length, Wide{} + core_[row]);
                    length = larger(length, load_wide(cores_.data() + i));
                }
                const Wide known = load_wide(length_.data() + i);
                WideMask from;
                std::memcpy(&from, from_.data() + i, sizeof from);
                const WideMask nearer = (WideMask)(length < known) |
                                        ((WideMask)(length == known) & (WideMask)(row < from));
                const Wide now = chosen(nearer, length, known);
                from = (nearer & row) | (~nearer & from);
                std::memcpy(length_.data() + i, &now, sizeof now);
                std::memcpy(from_.data() + i, &from, sizeof from);
                least = chosen((WideMask)(now < least), now, least);
            }
            double &found = least_[begin / block] = least[0];
            for (std::size_t k = 1; k < wide_size; ++k)
                found = std::min(found, least[k]);
        }
    }

    // The place of the next row.
    std::size_t nearest() const {
        const std::size_t blocks = (left_ + block - 1) / block;
        const double least =
            *std::min_element(least_.begin(), least_.begin() + static_cast<std::ptrdiff_t>(blocks));
        std::size_t best = left_;
        for (std::size_t part = 0; part < blocks; ++part)
            for (std::size_t i = part * block;
                 least_[part] == least && i < std::min(left_, (part + 1) * block); ++i)
                if (length_[i] == least &&
                    (best == left_ ||
                     shorter(row_[i], {least, from_[i]}, row_[best], {least, from_[best]})))
                    best = i;
        return best;
    }

    static Wide chosen(const WideMask &mask, const Wide &a, const Wide &b) {
        return (Wide)((mask & (WideMask)a) | (~mask & (WideMask)b));
    }
    static Wide larger(const Wide &a, const Wide &b) { return chosen((WideMask)(a > b), a, b); }

    std::size_t left_;
    const double *core_;
    std::vector<std::int64_t> row_, from_;     // a row, and the row of the tree nearest to it
    std::vector<double> length_, new_, cores_; // how far that is; how far the row added last is
    std::vector<double> least_;                // the smallest length of every block
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
    const auto move = [&](std::size_t last, std::size_t to) {
        for (std::size_t j = 0; j < d; ++j)
            points[to / 4 * 4 * d + 4 * j + to % 4] = points[last / 4 * 4 * d + 4 * j + last % 4];
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
        Prim(n, cores).run(double(d), threads, fill, move, edges);
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
            to[k] = values[n * a - a * (a + 1) / 2 + (b - a - 1)];
        }
    };
    const auto move = [&](std::size_t last, std::size_t to) { rows[to] = rows[last]; };
    Prim(n, cores).run(0.0, 1, fill, move, edges);
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
