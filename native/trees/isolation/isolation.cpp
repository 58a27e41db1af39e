// Isolation trees: random splits of a few rows, until every row is alone or the depth is reached.
//
// A node draws columns without replacement until one is not constant on its rows, and a threshold
// that is uniform between the smallest and the largest value of that column. Columns known to be
// constant stand first in `columns`, those of a parent before those of its children, so that a node
// does not look at them again. A leaf holds the length of the path to it plus c(rows), the mean
// length of a path in a search tree of its rows.
//
// Rows with a missing value in the column of a split go to a random side; where a node has none,
// they follow the larger side. If all other values are equal, the split separates the missing ones.
//
// Loop order: the rows of a tree are copied column by column, then the nodes are split depth first.
// Determinism: one thread grows a tree, whose random numbers depend on its seed only, and the trees
// are joined in the order of their seeds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/arrays.hpp"
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

class IsolationGrowing {
  public:
    // values: one column of the drawn rows after another.
    IsolationGrowing(std::vector<double> &&values, std::size_t n, const std::uint32_t *names,
                     std::size_t n_columns, std::uint64_t seed, std::size_t max_depth)
        : values(std::move(values)), n(n), names(names), max_depth(max_depth), random(seed),
          rows(n), columns(n_columns) {
        std::iota(rows.begin(), rows.end(), 0u);
        std::iota(columns.begin(), columns.end(), 0u);
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
            const auto feature = static_cast<std::int32_t>(names[split.column]);
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

    // A random column that is not constant on the rows of the node, and a random threshold.
    bool find(Open &open, Split &split) {
        while (open.constants < columns.size()) {
            const std::size_t place =
                open.constants + random.below(columns.size() - open.constants);
            const std::size_t j = columns[place];
            const double *column = values.data() + j * n;
            double low = std::numeric_limits<double>::infinity(), high = -low;
            std::size_t missing = 0;
            for (std::size_t i = open.begin; i < open.end; ++i) {
                const double x = column[rows[i]];
                missing += x != x;
                low = x < low ? x : low;
                high = x > high ? x : high;
            }
            const bool varies = low < high, partly = missing > 0 && low <= high;
            if (!varies && !partly) {
                std::swap(columns[place], columns[open.constants++]);
                continue;
            }
            split = {j, low, false, missing > 0};
            if (varies) {
                const double u = random.uniform();
                const double threshold = low * (1.0 - u) + high * u;
                if (threshold >= low && threshold < high)
                    split.threshold = threshold;
                split.missing_left = missing > 0 && random.below(2) == 1;
            }
            return true;
        }
        return false;
    }

    // The place where the rows of the right side begin; the order within a side is kept.
    std::size_t divide(const Open &open, Split &split) {
        const double *column = values.data() + split.column * n;
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

    std::vector<double> values;
    std::size_t n;
    const std::uint32_t *names;
    std::size_t max_depth;
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

template <typename T>
nb::tuple grow_isolation_trees(Matrix<const T> x, Matrix<const std::uint32_t> rows,
                               Matrix<const std::uint32_t> columns,
                               Vector<const std::uint64_t> seeds, std::size_t max_depth,
                               std::size_t first_value, int threads) {
    const std::size_t n_trees = seeds.shape(0), n = rows.shape(1), k = columns.shape(1);
    const std::size_t d = x.shape(1);
    require(rows.shape(0) == n_trees && columns.shape(0) == n_trees && n >= 1 && k >= 1,
            "every tree needs its rows and its columns");
    require(d < (std::size_t{1} << 29), "x has too many columns");
    for (std::size_t i = 0; i < rows.size(); ++i)
        require(rows.data()[i] < x.shape(0), "rows must be numbers of rows of x");
    for (std::size_t i = 0; i < columns.size(); ++i)
        require(columns.data()[i] < d, "columns must be numbers of columns of x");

    std::vector<IsolationTree> grown(n_trees);
    {
        nb::gil_scoped_release unlocked;
        for_each_piece(n_trees, threads, [&](std::size_t t) {
            const std::uint32_t *drawn = rows.data() + t * n, *names = columns.data() + t * k;
            std::vector<double> values(n * k);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < k; ++j)
                    values[j * n + i] = static_cast<double>(x.data()[drawn[i] * d + names[j]]);
            grown[t] =
                IsolationGrowing(std::move(values), n, names, k, seeds.data()[t], max_depth).grow();
        });
    }
    return put_together(std::move(grown), first_value);
}

template <typename T> void define(nb::module_ &module) {
    module.def("grow_isolation_trees", &grow_isolation_trees<T>, nb::arg("x").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("columns").noconvert(),
               nb::arg("seeds").noconvert(), nb::arg("max_depth"), nb::arg("first_value"),
               nb::arg("threads"));
}

} // namespace

void bind_isolation(nb::module_ &module) {
    define<float>(module);
    define<double>(module);
}

} // namespace thetahat
