// Prediction with trees: every row is followed from the root of every tree to a leaf.
//
//     out[i, c] += Σ_t values[leaf_t(x_i), c]         leaves that hold one number per column
//     out[i, t mod C] += values[leaf_t(x_i), 0]       trees that belong to one column each
//
// Rows descend one tree in small groups, one step each in turn, so that memory latencies of one row
// are hidden behind the others; a row that has reached its leaf is replaced by the next. For small
// trees, leaves are excluded instead (small_trees.hpp). Blocks of rows are distributed over
// threads. Each entry of `out` is summed by one thread in the order of the trees, so the bits do
// not depend on the number of threads.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/prediction/small_trees.hpp"
#include "trees/prediction/walk.hpp"

namespace thetahat {

namespace {

using namespace trees;

constexpr std::size_t group = 8;         // rows that descend together
constexpr std::int64_t small_tree = 512; // nodes
constexpr std::size_t many_nodes = 1 << 14;
constexpr std::size_t block = 1024; // rows per piece of work, which fit in the cache

// One step of a row that may have arrived, without a branch.
template <typename T>
inline std::int32_t step(const PackedNode *nodes, std::int32_t at, const T *row) {
    const PackedNode &node = nodes[at];
    const std::int32_t inner = ~(node.feature >> 31); // all bits, or none at a leaf
    const T x = row[node.feature & feature_mask & inner];
    const bool missing_left = (x != x) & ((node.feature & missing_left_flag) != 0);
    const bool left = (static_cast<double>(x) <= node.threshold) | missing_left;
    return ((node.child + (left ? 0 : 1)) & inner) | (at & ~inner);
}

// Like `descend`, for small trees without categories: all rows of a group take a step until none is
// at an inner node. Waiting rows cost less than mispredicted branches.
template <typename T>
std::size_t descend_in_step(const PackedNode *nodes, const T *x, std::size_t d, std::size_t n,
                            std::int32_t *leaves) {
    std::size_t i = 0;
    for (; i + group <= n; i += group) {
        std::int32_t at[group] = {};
        const T *rows = x + i * d;
        for (bool walking = true; walking;) {
            std::int32_t open = 0;
            for (std::size_t k = 0; k < group; ++k) {
                at[k] = step(nodes, at[k], rows + k * d);
                open |= ~nodes[at[k]].feature;
            }
            walking = open < 0; // the sign bit: some row is at an inner node
        }
        for (std::size_t k = 0; k < group; ++k)
            leaves[i + k] = at[k];
    }
    return i;
}

// leaves[k] = the node at which row first + k ends.
template <typename T>
void descend(const Trees &trees, std::size_t tree, const T *x, std::size_t d, std::size_t n,
             std::int32_t *leaves) {
    const PackedNode *nodes = trees.nodes + trees.roots[tree];
    if (trees.words == 0 && trees.roots[tree + 1] - trees.roots[tree] <= small_tree) {
        const std::size_t done = descend_in_step(nodes, x, d, n, leaves);
        x += done * d, leaves += done, n -= done;
    }
    const auto rest = [&](std::size_t row, std::int32_t at) {
        while (nodes[at].feature >= 0)
            at = next(trees, nodes[at], x + row * d);
        leaves[row] = at;
    };
    if (n < group) {
        for (std::size_t row = 0; row < n; ++row)
            rest(row, 0);
        return;
    }
    std::int32_t at[group] = {};
    std::size_t row[group];
    std::iota(row, row + group, std::size_t{0});
    std::size_t ahead = group; // the next row to start
    for (std::size_t k = 0;; k = k + 1 == group ? 0 : k + 1) {
        const PackedNode &node = nodes[at[k]];
        if (node.feature >= 0) {
            at[k] = next(trees, node, x + row[k] * d);
            continue;
        }
        leaves[row[k]] = at[k];
        at[k] = 0;
        if (ahead == n)
            break;
        row[k] = ahead++;
    }
    for (std::size_t k = 0; k < group; ++k)
        rest(row[k], at[k]);
}

// How the rows of a call are followed from the roots to the leaves, depending on the size of trees.
class Walk {
  public:
    Walk(const Trees &trees, std::size_t n, std::size_t d, int threads) : trees_(trees) {
        const auto n_nodes = static_cast<std::size_t>(trees.roots[trees.n_trees]);
        if (n >= block / 8 && n_nodes >= d && all_small()) {
            small_.emplace(trees.nodes, trees.roots, trees.n_trees);
            const std::size_t fit = near_bytes / (sizeof(double) * std::max<std::size_t>(d, 1));
            rows_per_piece_ = std::clamp(fit / group * group, 2 * group, block);
        } else if (n_nodes > many_nodes) {
            // Nodes should stay in the cache, so many rows pass one tree before the next, but
            // every thread needs work.
            const std::size_t share = n / static_cast<std::size_t>(std::max(1, threads)) + 1;
            rows_per_piece_ = std::clamp(share, block, 32 * block);
        }
    }
    std::size_t rows_per_piece() const { return rows_per_piece_; }
    std::size_t n_pieces(std::size_t n) const {
        return (n + rows_per_piece_ - 1) / rows_per_piece_;
    }

    // visit(t, leaves) for every tree in turn, with the nodes at which n rows end.
    template <typename T, typename Visit>
    void over(const T *x, std::size_t d, std::size_t n, const Visit &visit) const {
        std::vector<std::int32_t> leaves(n);
        ColumnsOfRows columns;
        if (small_)
            columns.take(x, d, n);
        for (std::size_t t = 0; t < trees_.n_trees; ++t) {
            if (small_)
                small_->descend(t, columns, n, leaves.data());
            else
                descend(trees_, t, x, d, n, leaves.data());
            visit(t, leaves.data());
        }
    }

  private:
    static constexpr std::size_t near_bytes = 1 << 15;

    bool all_small() const {
        bool small = trees_.words == 0;
        for (std::size_t t = 0; small && t < trees_.n_trees; ++t)
            small = trees_.roots[t + 1] - trees_.roots[t] <= SmallTrees::most_nodes;
        return small;
    }

    const Trees &trees_;
    std::optional<SmallTrees> small_{};
    std::size_t rows_per_piece_ = block;
};

// Whether each node but the root is the child of one node before it, so that every path ends and
// no node is met twice. `child(i)` is the first child, nothing at a leaf.
template <typename Child> void check_children(std::int64_t n, const Child &child) {
    std::vector<bool> has_parent(static_cast<std::size_t>(n), false);
    for (std::int64_t i = 0; i < n; ++i) {
        const std::optional<std::int64_t> left = child(i);
        if (!left)
            continue;
        require(*left > i && *left + 1 < n, "children must follow their parent within the tree");
        for (const std::int64_t c : {*left, *left + 1}) {
            require(!has_parent[static_cast<std::size_t>(c)], "a node must have one parent");
            has_parent[static_cast<std::size_t>(c)] = true;
        }
    }
}

// Checks of one tree as arrays with an entry per node.
void check_nodes(Vector<const std::int32_t> feature, Vector<const std::int32_t> left,
                 Vector<const std::int32_t> category_set, std::size_t n_sets,
                 std::size_t n_features) {
    const std::size_t n = feature.shape(0);
    require(n > 0, "every tree needs a node");
    require(left.shape(0) == n && category_set.shape(0) == n,
            "left and category_set must have one entry per node");
    for (std::size_t i = 0; i < n; ++i) {
        require(feature.data()[i] < 0 || static_cast<std::size_t>(feature.data()[i]) < n_features,
                "a node must name a column");
        require(category_set.data()[i] < 0 ||
                    static_cast<std::size_t>(category_set.data()[i]) < n_sets,
                "a categorical node must name a category set");
        require((feature.data()[i] < 0) == (left.data()[i] < 0),
                "a node must have a column and children, or neither");
    }
    check_children(static_cast<std::int64_t>(n),
                   [&](std::int64_t i) -> std::optional<std::int64_t> {
                       return feature.data()[i] < 0 ? std::nullopt
                                                    : std::optional<std::int64_t>(left.data()[i]);
                   });
}

// Checks of the structure of trees, made once, when trees are joined or read from a file.
void check_trees(Nodes nodes, Vector<const std::int64_t> roots, Matrix<const std::uint32_t> sets,
                 std::size_t n_values, std::size_t n_features) {
    const Trees trees = view(nodes, roots, sets);
    const auto n_nodes = static_cast<std::int64_t>(nodes.shape(0));
    require(roots.data()[0] == 0 && roots.data()[trees.n_trees] == n_nodes,
            "roots must begin at 0 and end at the number of nodes");
    for (std::size_t t = 0; t < trees.n_trees; ++t) {
        const std::int64_t begin = trees.roots[t], end = trees.roots[t + 1];
        require(begin < end && end <= n_nodes, "every tree needs a node");
        for (std::int64_t i = 0; i < end - begin; ++i) {
            const PackedNode &node = trees.nodes[begin + i];
            if (node.feature < 0) {
                require(node.child >= 0 && static_cast<std::size_t>(node.child) < n_values,
                        "a leaf must name a row of the values");
                continue;
            }
            require(static_cast<std::size_t>(node.feature & feature_mask) < n_features,
                    "a node must name a column");
            if (node.feature & categorical_flag)
                require(node.threshold >= 0.0 &&
                            node.threshold < static_cast<double>(sets.shape(0)) &&
                            node.threshold == std::floor(node.threshold),
                        "a categorical node must name a category set");
        }
        check_children(end - begin, [&](std::int64_t i) -> std::optional<std::int64_t> {
            const PackedNode &node = trees.nodes[begin + i];
            return node.feature < 0 ? std::nullopt : std::optional<std::int64_t>(node.child);
        });
    }
}

template <typename T>
void sum_of_trees(Matrix<const T> x, Nodes nodes, Vector<const std::int64_t> roots,
                  Matrix<const std::uint32_t> sets, Matrix<const double> values, Matrix<double> out,
                  std::size_t n_features, int threads) {
    const Trees trees = view(nodes, roots, sets);
    require(x.shape(1) == n_features, "x must have the columns the trees were grown on");
    const std::size_t n = x.shape(0), d = x.shape(1), width = values.shape(1), c = out.shape(1);
    require(out.shape(0) == n, "out must have one row per row of x");
    require(width == c || (width == 1 && c > 0),
            "leaves must hold one number, or one per column of out");
    const T *rows = x.data();
    const double *value = values.data();
    double *sums = out.data();

    nb::gil_scoped_release unlocked;
    const Walk walk(trees, n, d, threads);
    for_each_piece(walk.n_pieces(n), threads, [&](std::size_t piece) {
        const std::size_t first = piece * walk.rows_per_piece(),
                          count = std::min(walk.rows_per_piece(), n - first);
        walk.over(rows + first * d, d, count, [&](std::size_t t, const std::int32_t *leaves) {
            const PackedNode *tree = trees.nodes + trees.roots[t];
            for (std::size_t i = 0; i < count; ++i) {
                const double *from =
                    value + static_cast<std::size_t>(tree[leaves[i]].child) * width;
                double *to = sums + (first + i) * c;
                if (width == c)
                    for (std::size_t k = 0; k < c; ++k)
                        to[k] += from[k];
                else
                    to[t % c] += *from;
            }
        });
    });
}

// Like `sum_of_trees`, but each tree only for the rows on which it was not grown (`grown_on` is 0);
// `votes` counts the trees that were used for a row.
template <typename T>
void sum_out_of_bag(Matrix<const T> x, Nodes nodes, Vector<const std::int64_t> roots,
                    Matrix<const std::uint32_t> sets, Matrix<const double> values,
                    Matrix<const std::uint8_t> grown_on, Matrix<double> out,
                    Vector<std::int64_t> votes, std::size_t n_features, int threads) {
    const Trees trees = view(nodes, roots, sets);
    require(x.shape(1) == n_features, "x must have the columns the trees were grown on");
    const std::size_t n = x.shape(0), d = x.shape(1), width = values.shape(1);
    require(out.shape(0) == n && out.shape(1) == width && votes.shape(0) == n,
            "out and votes must have one row per row of x");
    require(grown_on.shape(0) == trees.n_trees && grown_on.shape(1) == n,
            "grown_on must have one row per tree and one column per row of x");
    const T *rows = x.data();

    nb::gil_scoped_release unlocked;
    const Walk walk(trees, n, d, threads);
    for_each_piece(walk.n_pieces(n), threads, [&](std::size_t piece) {
        const std::size_t first = piece * walk.rows_per_piece(),
                          count = std::min(walk.rows_per_piece(), n - first);
        walk.over(rows + first * d, d, count, [&](std::size_t t, const std::int32_t *leaves) {
            const PackedNode *tree = trees.nodes + trees.roots[t];
            for (std::size_t i = 0; i < count; ++i) {
                if (grown_on.data()[t * n + first + i])
                    continue;
                const auto row = static_cast<std::size_t>(tree[leaves[i]].child);
                for (std::size_t k = 0; k < width; ++k)
                    out.data()[(first + i) * width + k] += values.data()[row * width + k];
                ++votes.data()[first + i];
            }
        });
    });
}

template <typename T>
void leaves_of_trees(Matrix<const T> x, Nodes nodes, Vector<const std::int64_t> roots,
                     Matrix<const std::uint32_t> sets, Matrix<std::int32_t> out,
                     std::size_t n_features, int threads) {
    const Trees trees = view(nodes, roots, sets);
    require(x.shape(1) == n_features, "x must have the columns the trees were grown on");
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(out.shape(0) == trees.n_trees && out.shape(1) == n,
            "out must have one row per tree and one column per row of x");
    const T *rows = x.data();
    std::int32_t *leaf = out.data();

    nb::gil_scoped_release unlocked;
    const Walk walk(trees, n, d, threads);
    for_each_piece(walk.n_pieces(n), threads, [&](std::size_t piece) {
        const std::size_t first = piece * walk.rows_per_piece(),
                          count = std::min(walk.rows_per_piece(), n - first);
        walk.over(rows + first * d, d, count, [&](std::size_t t, const std::int32_t *leaves) {
            std::copy_n(leaves, count, leaf + t * n + first);
        });
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("sum_of_trees", &sum_of_trees<T>, nb::arg("x").noconvert(), nb::arg("nodes"),
               nb::arg("roots"), nb::arg("sets"), nb::arg("values"), nb::arg("out").noconvert(),
               nb::arg("n_features"), nb::arg("threads"));
    module.def("sum_out_of_bag", &sum_out_of_bag<T>, nb::arg("x").noconvert(), nb::arg("nodes"),
               nb::arg("roots"), nb::arg("sets"), nb::arg("values"), nb::arg("grown_on"),
               nb::arg("out").noconvert(), nb::arg("votes").noconvert(), nb::arg("n_features"),
               nb::arg("threads"));
    module.def("leaves_of_trees", &leaves_of_trees<T>, nb::arg("x").noconvert(), nb::arg("nodes"),
               nb::arg("roots"), nb::arg("sets"), nb::arg("out").noconvert(), nb::arg("n_features"),
               nb::arg("threads"));
}

} // namespace

void bind_walk(nb::module_ &module) {
    module.def("check_nodes", &check_nodes, nb::arg("feature"), nb::arg("left"),
               nb::arg("category_set"), nb::arg("n_sets"), nb::arg("n_features"));
    module.def("check_trees", &check_trees, nb::arg("nodes"), nb::arg("roots"), nb::arg("sets"),
               nb::arg("n_values"), nb::arg("n_features"));
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
