// Construction of a kd-tree.
//
// With the median as pivot, the number of rows alone gives the nodes, so that threads divide the
// nodes of a level, and later whole subtrees, each in its own range of every array. With a random
// pivot one thread makes all nodes. Values are compared with the row number as tie-break, so the
// tree does not depend on the number of threads.

#include "neighbors/kd_tree.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "core/parallel.hpp"

namespace thetahat::neighbors {

namespace {

constexpr std::size_t group = 4;
constexpr std::size_t worth_sharing = 4096; // rows
constexpr std::size_t shared_levels = 4;

struct Key {
    double value;
    std::uint32_t row;
    bool operator<(const Key &other) const {
        return value < other.value || (value == other.value && row < other.row);
    }
};

class Builder {
  public:
    Builder(KdTree &tree, const double *rows, const Construction &plan, int threads)
        : tree_(tree), rows_(rows), plan_(plan), threads_(threads), keys_(tree.n),
          random_(plan.seed) {}

    void build() {
        tree_.order.resize(tree_.n);
        for (std::size_t i = 0; i < tree_.n; ++i)
            tree_.order[i] = static_cast<std::uint32_t>(i);
        if (plan_.pivot == Pivot::median)
            build_balanced();
        else
            build_at_random();
        pack();
    }

  private:
    // Nodes are numbered level by level, so the children of node i are 2i + 1 and 2i + 2.
    void build_balanced() {
        std::size_t levels = 0;
        while ((tree_.n >> levels) >= 2 && (tree_.n - 1) >> levels >= plan_.leaf_size)
            ++levels;
        make_room((std::size_t{2} << levels) - 1);
        tree_.nodes[0] = {-1, 0, static_cast<std::uint32_t>(tree_.n), 0, no_row_};
        const std::size_t shared =
            tree_.n < worth_sharing || threads_ < 2 ? 0 : std::min(levels, shared_levels);
        for (std::size_t level = 0; level < shared; ++level) {
            const std::size_t first = (std::size_t{1} << level) - 1;
            for_each_piece(std::size_t{1} << level, threads_, [&](std::size_t piece) {
                box(first + piece);
                divide(first + piece, level, 2 * (first + piece) + 1);
            });
        }
        const std::size_t first = (std::size_t{1} << shared) - 1;
        for_each_piece(std::size_t{1} << shared, threads_,
                       [&](std::size_t piece) { subtree(first + piece, shared, levels); });
        for (std::size_t i = first; i-- > 0;) // nodes above the subtrees
            tree_.nodes[i].least =
                std::min(tree_.nodes[2 * i + 1].least, tree_.nodes[2 * i + 2].least);
    }

    void subtree(std::size_t node, std::size_t level, std::size_t levels) {
        box(node);
        if (level == levels)
            return;
        const std::size_t child = 2 * node + 1;
        divide(node, level, child);
        subtree(child, level + 1, levels);
        subtree(child + 1, level + 1, levels);
    }

    void build_at_random() {
        make_room(1);
        tree_.nodes[0] = {-1, 0, static_cast<std::uint32_t>(tree_.n), 0, no_row_};
        std::vector<std::pair<std::size_t, std::size_t>> open{{0, 0}};
        while (!open.empty()) {
            const auto [node, level] = open.back();
            open.pop_back();
            box(node);
            if (tree_.nodes[node].end - tree_.nodes[node].begin <= plan_.leaf_size)
                continue;
            const std::size_t child = tree_.nodes.size();
            make_room(child + 2);
            divide(node, level, child);
            open.push_back({child + 1, level + 1});
            open.push_back({child, level + 1});
        }
    }

    void make_room(std::size_t n_nodes) {
        tree_.nodes.resize(n_nodes);
        tree_.boxes.resize(2 * tree_.d * n_nodes);
    }

    // The box around the rows of a node, and the smallest of them.
    void box(std::size_t node) {
        Node &of = tree_.nodes[node];
        const std::size_t d = tree_.d;
        double *bounds = tree_.boxes.data() + 2 * d * node;
        std::fill(bounds, bounds + d, std::numeric_limits<double>::infinity());
        std::fill(bounds + d, bounds + 2 * d, -std::numeric_limits<double>::infinity());
        std::int64_t least = no_row_;
        for (std::size_t i = of.begin; i < of.end; ++i) {
            const double *x = rows_ + d * tree_.order[i];
            least = std::min<std::int64_t>(least, tree_.order[i]);
            for (std::size_t j = 0; j < d; ++j) {
                bounds[j] = std::min(bounds[j], x[j]);
                bounds[d + j] = std::max(bounds[d + j], x[j]);
            }
        }
        of.least = least;
    }

    void divide(std::size_t node, std::size_t level, std::size_t child) {
        Node &of = tree_.nodes[node];
        const std::size_t n = of.end - of.begin, axis = axis_of(node, level), left = left_part(n);
        Key *keys = keys_.data() + of.begin;
        std::uint32_t *order = tree_.order.data() + of.begin;
        for (std::size_t i = 0; i < n; ++i)
            keys[i] = {rows_[tree_.d * order[i] + axis], order[i]};
        if (left < n)
            std::nth_element(keys, keys + left, keys + n);
        for (std::size_t i = 0; i < n; ++i)
            order[i] = keys[i].row;
        of.child = static_cast<std::int32_t>(child);
        const auto middle = of.begin + static_cast<std::uint32_t>(left);
        tree_.nodes[child] = {-1, of.begin, middle, 0, no_row_};
        tree_.nodes[child + 1] = {-1, middle, of.end, 0, no_row_};
    }

    std::size_t axis_of(std::size_t node, std::size_t level) const {
        if (plan_.axis == Axis::alternating)
            return level % tree_.d;
        const double *bounds = tree_.box(node);
        std::size_t widest = 0;
        double width = -1.0;
        for (std::size_t j = 0; j < tree_.d; ++j)
            // Halves, because the difference of two large numbers may not be finite.
            if (const double w = 0.5 * bounds[tree_.d + j] - 0.5 * bounds[j]; w > width) {
                width = w;
                widest = j;
            }
        return widest;
    }

    // Whole groups on the left, where the leaves are large enough to have several.
    std::size_t left_part(std::size_t n) {
        if (plan_.pivot == Pivot::random)
            return 1 + static_cast<std::size_t>(random_() % (n - 1));
        return n >= 16 ? (n / 2 + group / 2) / group * group : n / 2;
    }

    // Points of each leaf, filled up with infinity, which is near to no row.
    void pack() {
        std::size_t groups = 0;
        for (Node &node : tree_.nodes)
            if (node.child < 0) {
                node.first_group = static_cast<std::uint32_t>(groups);
                groups += (node.end - node.begin + group - 1) / group;
            }
        const std::size_t d = tree_.d;
        tree_.points.assign(groups * group * d, std::numeric_limits<double>::infinity());
        for (const Node &node : tree_.nodes)
            if (node.child < 0)
                for (std::size_t i = 0; i < node.end - node.begin; ++i) {
                    const double *x = rows_ + d * tree_.order[node.begin + i];
                    double *to = tree_.points.data() + (node.first_group + i / group) * group * d +
                                 i % group;
                    for (std::size_t j = 0; j < d; ++j)
                        to[group * j] = x[j];
                }
    }

    static constexpr std::int64_t no_row_ = std::numeric_limits<std::int64_t>::max();
    KdTree &tree_;
    const double *rows_;
    const Construction &plan_;
    int threads_;
    std::vector<Key> keys_;
    std::mt19937_64 random_;
};

} // namespace

KdTree::KdTree(const double *rows, std::size_t n, std::size_t d, const Construction &plan,
               int threads)
    : n(n), d(d) {
    Builder(*this, rows, plan, threads).build();
}

} // namespace thetahat::neighbors
