// Isolation trees: random splits of a few rows, until every row is alone or the depth is reached.
//
// A node draws columns without replacement until one is not constant on its rows, and a threshold
// that is uniform between the smallest and the largest value of that column. Columns that are
// constant on all rows of the tree are never drawn, so that sparse rows, whose columns without
// entries are not looked at, give the tree of the same dense rows. Columns known to be constant in
// a node stand first in `columns`, those of a parent before those of its children, so that a node
// does not look at them again. A leaf holds the length of the path to it plus c(rows), the mean
// length of a path in a search tree of its rows.
//
// Rows with a missing value in the column of a split go to a random side; where a node has none,
// they follow the larger side. If all other values are equal, the split separates the missing ones.
//
// Loop order: the rows of a tree are collected column by column, then the nodes are split depth
// first. Determinism: one thread grows a tree, whose random numbers depend on its seed only, and
// the trees are joined in the order of their seeds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/arrays.hpp"
#include "trees/isolation/drawn_columns.hpp"
#include "trees/prediction/walk.hpp"
#include "trees/random.hpp"

namespace thetahat {
namespace {
using namespace trees;

struct IsolationTree {
    std::vector<PackedNode> nodes{};
    std::vector<double> lengths{}; // of the leaves, in the order of their nodes
    std::vector<std::uint64_t> counts{};
};

// Mean length of an unsuccessful search in a binary search tree of n rows.
double mean_path(std::size_t n) {
    constexpr double euler = 0.57721566490153286;
    if (n <= 2)
        return n == 2 ? 1.0 : 0.0;
    const double last = static_cast<double>(n) - 1.0;
    return 2.0 * (std::log(last) + euler) - 2.0 * last / static_cast<double>(n);
}

template <typename Columns> class IsolationGrowing {
  public:
    IsolationGrowing(Columns &&drawn, std::uint64_t seed, std::size_t max_depth)
        : drawn(std::move(drawn)), n(this->drawn.n_rows()), max_depth(max_depth), random(seed),
          rows(n) {
        std::iota(rows.begin(), rows.end(), 0u);
        for (std::size_t j = 0; j < this->drawn.n_columns(); ++j)
            if (this->drawn.extent(j).splits())
                columns.push_back(static_cast<std::uint32_t>(j));
    }

    IsolationTree grow() {
        IsolationTree tree;
        std::vector<Open> spans{{0, n, 0, 0, 0}}, stack{spans[0]};
        tree.nodes.push_back(PackedNode{});
        while (!stack.empty()) {
            Open open = stack.back();
            stack.pop_back();
            Split split{};
            if (open.depth >= max_depth || open.end - open.begin <= 1 || !find(open, split)) {
                tree.nodes[open.node].feature = -1;
                continue;
            }
            const std::size_t middle = divide(open, split);
            const auto child = static_cast<std::int32_t>(tree.nodes.size());
            const auto feature = static_cast<std::int32_t>(drawn.name(split.column));
            tree.nodes[open.node] = {split.threshold,
                                     feature | (split.missing_left ? missing_left_flag : 0), child};
            const auto at = static_cast<std::size_t>(child);
            const Open left{open.begin, middle, open.depth + 1, open.constants, at};
            const Open right{middle, open.end, open.depth + 1, open.constants, at + 1};
            tree.nodes.resize(at + 2);
            spans.insert(spans.end(), {left, right});
            stack.insert(stack.end(), {right, left});
        }
        for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
            if (tree.nodes[node].feature >= 0)
                continue;
            const std::size_t count = spans[node].end - spans[node].begin;
            tree.nodes[node].child = static_cast<std::int32_t>(tree.lengths.size());
            tree.lengths.push_back(static_cast<double>(spans[node].depth) + mean_path(count));
            tree.counts.push_back(count);
        }
        return tree;
    }

  private:
    struct Open {
        std::size_t begin, end, depth, constants, node;
    };
    struct Split {
        std::size_t column;
        double threshold;
        bool missing_left, has_missing;
    };

    Extent extent(std::size_t j, std::size_t begin, std::size_t end) {
        const double *column = drawn.column(j);
        Extent found;
        for (std::size_t i = begin; i < end; ++i)
            found.add(column[rows[i]]);
        return found;
    }

    // A random column that is not constant on the rows of the node, and a random threshold.
    bool find(Open &open, Split &split) {
        while (open.constants < columns.size()) {
            const std::size_t place =
                open.constants + random.below(columns.size() - open.constants);
            const std::size_t j = columns[place];
            const Extent found = extent(j, open.begin, open.end);
            if (!found.splits()) {
                std::swap(columns[place], columns[open.constants++]);
                continue;
            }
            split = {j, found.low, false, found.missing > 0};
            if (found.varies()) {
                const double u = random.uniform();
                const double threshold = found.low * (1.0 - u) + found.high * u;
                if (threshold >= found.low && threshold < found.high)
                    split.threshold = threshold;
                split.missing_left = found.missing > 0 && random.below(2) == 1;
            }
            return true;
        }
        return false;
    }

    // The place where the rows of the right side begin; the order within a side is kept.
    std::size_t divide(const Open &open, Split &split) {
        const double *column = drawn.column(split.column);
        const auto first = rows.begin() + static_cast<std::ptrdiff_t>(open.begin);
        const auto last = rows.begin() + static_cast<std::ptrdiff_t>(open.end);
        const auto middle = std::stable_partition(first, last, [&](std::uint32_t row) {
            const double x = column[row];
            return x != x ? split.missing_left : x <= split.threshold;
        });
        if (!split.has_missing)
            split.missing_left = middle - first > last - middle;
        return static_cast<std::size_t>(middle - rows.begin());
    }

    Columns drawn;
    std::size_t n, max_depth;
    Random random;
    std::vector<std::uint32_t> rows, columns;
};

nb::tuple put_together(std::vector<IsolationTree> &&grown, std::size_t first_value) {
    std::vector<std::uint8_t> nodes;
    std::vector<std::int64_t> sizes;
    std::vector<double> lengths;
    std::vector<std::uint64_t> counts;
    for (IsolationTree &tree : grown) {
        for (PackedNode &node : tree.nodes)
            if (node.feature < 0)
                node.child += static_cast<std::int32_t>(first_value + lengths.size());
        const auto *bytes = reinterpret_cast<const std::uint8_t *>(tree.nodes.data());
        nodes.insert(nodes.end(), bytes, bytes + tree.nodes.size() * sizeof(PackedNode));
        sizes.push_back(static_cast<std::int64_t>(tree.nodes.size()));
        lengths.insert(lengths.end(), tree.lengths.begin(), tree.lengths.end());
        counts.insert(counts.end(), tree.counts.begin(), tree.counts.end());
        tree = IsolationTree{};
    }
    const std::size_t n_nodes = nodes.size() / sizeof(PackedNode), n_leaves = counts.size();
    return nb::make_tuple(owned(std::move(nodes), {n_nodes, sizeof(PackedNode)}),
                          owned(std::move(sizes), {grown.size()}),
                          owned(std::move(lengths), {n_leaves, 1}),
                          owned(std::move(counts), {n_leaves}));
}

// The draws of all trees: the rows of each, and the columns of each or those that all share.
struct Draws {
    Matrix<const std::uint32_t> rows, columns;
    Vector<const std::uint64_t> seeds;

    std::size_t n_trees() const { return seeds.shape(0); }
    std::size_t size() const { return rows.shape(1); }
    std::size_t width() const { return columns.shape(1); }
    const std::uint32_t *rows_of(std::size_t t) const { return rows.data() + t * size(); }
    const std::uint32_t *columns_of(std::size_t t) const {
        return columns.data() + (columns.shape(0) == 1 ? 0 : t * width());
    }
    void check(std::size_t n, std::size_t d) const {
        const bool own = columns.shape(0) == n_trees() || columns.shape(0) == 1;
        require(rows.shape(0) == n_trees() && own && size() >= 1 && width() >= 1,
                "every tree needs its rows and its columns");
        require(d < (std::size_t{1} << 29), "x has too many columns");
        for (std::size_t i = 0; i < rows.size(); ++i)
            require(rows.data()[i] < n, "rows must be numbers of rows of x");
        for (std::size_t i = 0; i < columns.size(); ++i)
            require(columns.data()[i] < d, "columns must be numbers of columns of x");
    }
};

template <typename Collect>
nb::tuple grow_trees(const Draws &draws, std::size_t max_depth, std::size_t first_value,
                     int threads, Collect collect) {
    std::vector<IsolationTree> grown(draws.n_trees());
    {
        nb::gil_scoped_release unlocked;
        for_each_piece(draws.n_trees(), threads, [&](std::size_t t) {
            IsolationGrowing growing{collect(draws.rows_of(t), draws.columns_of(t)),
                                     draws.seeds.data()[t], max_depth};
            grown[t] = growing.grow();
        });
    }
    return put_together(std::move(grown), first_value);
}

template <typename T>
nb::tuple grow_isolation_trees(Matrix<const T> x, Matrix<const std::uint32_t> rows,
                               Matrix<const std::uint32_t> columns,
                               Vector<const std::uint64_t> seeds, std::size_t max_depth,
                               std::size_t first_value, int threads) {
    const Draws draws{rows, columns, seeds};
    draws.check(x.shape(0), x.shape(1));
    const std::size_t n = draws.size(), k = draws.width();
    return grow_trees(draws, max_depth, first_value, threads, [&](auto *drawn, auto *names) {
        return DenseColumns(x.data(), x.shape(1), drawn, n, names, k);
    });
}

template <typename T, typename I>
nb::tuple
grow_sparse_isolation_trees(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr,
                            std::size_t n_columns, Matrix<const std::uint32_t> rows,
                            Matrix<const std::uint32_t> columns, Vector<const std::uint64_t> seeds,
                            std::size_t max_depth, std::size_t first_value, int threads) {
    const Draws draws{rows, columns, seeds};
    require(indptr.shape(0) > 0, "x needs the ends of its rows");
    draws.check(indptr.shape(0) - 1, n_columns);
    require(data.shape(0) == indices.shape(0), "every entry needs a column");
    bool sound = indptr.data()[0] == 0, known = true, ascend = true;
    for (std::size_t i = 0; i + 1 < indptr.shape(0); ++i)
        sound = sound && indptr.data()[i] <= indptr.data()[i + 1];
    require(sound && static_cast<std::size_t>(indptr.data()[indptr.shape(0) - 1]) <= data.shape(0),
            "indptr must begin with 0, not decrease, and end with the entries");
    for (std::size_t i = 0; i < indices.shape(0); ++i)
        known = known && static_cast<std::size_t>(indices.data()[i]) < n_columns;
    require(known, "an entry names a column that does not exist");
    for (std::size_t i = 0; i < columns.size(); ++i)
        ascend = ascend && (i % draws.width() == 0 || columns.data()[i - 1] < columns.data()[i]);
    require(ascend, "the columns of a tree must be ascending");
    const SparseRows<T, I> x{data.data(), indices.data(), indptr.data()};
    const std::size_t n = draws.size(), k = draws.width();
    return grow_trees(draws, max_depth, first_value, threads, [&](auto *drawn, auto *names) {
        return SparseColumns(x, drawn, n, names, k, n_columns);
    });
}

template <typename T> void define(nb::module_ &module) {
    module.def("grow_isolation_trees", &grow_isolation_trees<T>, nb::arg("x").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("columns").noconvert(),
               nb::arg("seeds").noconvert(), nb::arg("max_depth"), nb::arg("first_value"),
               nb::arg("threads"));
}

template <typename T, typename I> void define_sparse(nb::module_ &module) {
    module.def("grow_sparse_isolation_trees", &grow_sparse_isolation_trees<T, I>,
               nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
               nb::arg("indptr").noconvert(), nb::arg("n_columns"), nb::arg("rows").noconvert(),
               nb::arg("columns").noconvert(), nb::arg("seeds").noconvert(), nb::arg("max_depth"),
               nb::arg("first_value"), nb::arg("threads"));
}

} // namespace

void bind_isolation(nb::module_ &module) {
    define<float>(module);
    define<double>(module);
    define_sparse<float, std::int32_t>(module);
    define_sparse<double, std::int32_t>(module);
    define_sparse<float, std::int64_t>(module);
    define_sparse<double, std::int64_t>(module);
}

} // namespace thetahat
