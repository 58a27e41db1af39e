// Bounds of the distances between boxes of a kd-tree, and visits of what lies within a radius.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "neighbors/nearest_list.hpp"
#include "neighbors/tree_search.hpp"

namespace thetahat::cluster {

using neighbors::Branch;
using neighbors::KdTree;
using neighbors::Node;

struct LeafRows { // the rows of a leaf, one after the other, and what is known of them
    std::vector<double> rows{}, sums{};
    std::vector<Branch> waiting{};

    void load(const KdTree &tree, const double *all, const Node &leaf) {
        rows.resize((leaf.end - leaf.begin) * tree.d);
        for (std::size_t i = 0; i < leaf.end - leaf.begin; ++i) {
            const double *from = all + tree.d * tree.order[leaf.begin + i];
            std::copy(from, from + tree.d, rows.data() + i * tree.d);
        }
    }
};

// The leaves in the order of their rows in the tree.
inline std::vector<std::size_t> leaves_of(const KdTree &tree) {
    std::vector<std::size_t> leaves;
    for (std::size_t node = 0; node < tree.nodes.size(); ++node)
        if (tree.nodes[node].child < 0 && tree.nodes[node].end > tree.nodes[node].begin)
            leaves.push_back(node);
    std::sort(leaves.begin(), leaves.end(), [&](std::size_t a, std::size_t b) {
        return tree.nodes[a].begin < tree.nodes[b].begin;
    });
    return leaves;
}

// The largest reduced distance that a sum over the farthest ends of boxes allows.
template <typename Metric> double ceiling(const Metric &, double sum) {
    if constexpr (!Metric::bounded_by_boxes)
        return std::numeric_limits<double>::infinity();
    return std::is_same_v<Metric, neighbors::Powers> ? sum * (1.0 + 1e-14) : sum;
}

struct Span { // bounds of the distances between two boxes, or a row and a box
    double least, most;
};
constexpr Span nowhere{std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::infinity()};

template <int D, typename Metric>
Span between(const Metric &metric, std::size_t d, const double *low, const double *high,
             const double *other_low, const double *other_high) {
    const auto gap = [&](std::size_t j) {
        const double outside = std::max(other_low[j] - high[j], low[j] - other_high[j]);
        return outside > 0.0 ? outside : 0.0;
    };
    const auto reach = [&](std::size_t j) {
        return std::max(other_high[j] - low[j], high[j] - other_low[j]);
    };
    return {metric.bound(neighbors::reduced<D, double>(metric, d, gap)),
            ceiling(metric, neighbors::reduced<D, double>(metric, d, reach))};
}

// use(place) for the rows of a leaf within the radius, until it returns false.
template <int D, typename Metric, typename Use>
void scan_within(const KdTree &tree, const Metric &metric, double radius, const double *query,
                 const Node &leaf, const Use &use) {
    const std::size_t d = D > 0 ? D : tree.d;
    const double *points = tree.points.data() + leaf.first_group * 4 * d;
    for (std::size_t place = leaf.begin; place < leaf.end; place += 4, points += 4 * d) {
        double distances[4];
        for (std::size_t k = 0; k < 4; k += wide_size) {
            const Wide some = neighbors::reduced<D, Wide>(
                metric, d, [&](std::size_t j) { return query[j] - load_wide(points + 4 * j + k); });
            std::memcpy(distances + k, &some, sizeof some);
        }
        const std::size_t n = std::min<std::size_t>(4, leaf.end - place);
        for (std::size_t k = 0; k < n; ++k)
            if (distances[k] <= radius && !use(place + k))
                return;
    }
}

// visit(node, bounds) for nodes that may lie within the radius, nearer ones first; it returns
// whether the children are wanted, too.
template <typename Bounds, typename Visit>
void walk_within(const KdTree &tree, double radius, std::vector<Branch> &waiting,
                 const Bounds &bounds, const Visit &visit) {
    waiting.clear();
    waiting.push_back({0.0, 0});
    while (!waiting.empty()) {
        const std::size_t node = waiting.back().node;
        waiting.pop_back();
        const Span span = bounds(node);
        if (!(span.least <= radius) || !visit(node, span))
            continue;
        const auto child = static_cast<std::size_t>(tree.nodes[node].child);
        const Branch first{bounds(child).least, child}, second{bounds(child + 1).least, child + 1};
        const bool swap = second.bound < first.bound;
        for (const Branch &branch : {swap ? first : second, swap ? second : first})
            if (branch.bound <= radius)
                waiting.push_back(branch);
    }
}

} // namespace thetahat::cluster
