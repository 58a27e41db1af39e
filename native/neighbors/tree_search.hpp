// Search of a kd-tree: descend to the nearer child first, remember the other with the distance of
// its box, and come back to it only while it may hold a row near enough.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/metrics.hpp"

namespace thetahat::neighbors {

inline bool any(const WideMask &mask) {
    std::int64_t found = 0;
    for (std::size_t i = 0; i < wide_size; ++i)
        found |= mask[i];
    return found != 0;
}

// Offer the rows of some groups of a leaf to the list.
template <int D, typename Metric, typename List>
void scan(const KdTree &tree, const Metric &metric, const double *query, const Node &leaf,
          std::size_t first_group, std::size_t last_group, List &list) {
    const std::size_t d = D > 0 ? D : tree.d, n = leaf.end - leaf.begin;
    const double *points = tree.points.data() + (leaf.first_group + first_group) * 4 * d;
    for (std::size_t g = first_group; g < last_group; ++g, points += 4 * d) {
        double distances[4];
        WideMask near = {};
        const double worst = list.worst();
        for (std::size_t i = 0; i < 4; i += wide_size) {
            const Wide some = reduced<D, Wide>(
                metric, d, [&](std::size_t j) { return query[j] - load_wide(points + 4 * j + i); });
            near |= some <= worst;
            std::memcpy(distances + i, &some, sizeof some);
        }
        if (!any(near))
            continue;
        const std::uint32_t *rows = tree.order.data() + leaf.begin + 4 * g;
        const std::size_t some = std::min<std::size_t>(4, n - 4 * g);
        for (std::size_t i = 0; i < some; ++i)
            if (list.admits(distances[i], rows[i]))
                list.insert(distances[i], rows[i]);
    }
}

template <int D, typename Metric>
double to_box(const KdTree &tree, const Metric &metric, const double *query, std::size_t node) {
    const std::size_t d = D > 0 ? D : tree.d;
    const double *low = tree.box(node), *high = low + d;
    const auto gap = [&](std::size_t j) {
        const double below = low[j] - query[j], above = query[j] - high[j];
        const double outside = below > above ? below : above;
        return outside > 0.0 ? outside : 0.0;
    };
    if constexpr (D > 0)
        return metric.bound(reduced<D, double>(metric, d, gap));
    // The four partial sums of `reduced`, as many at once as a register holds.
    double part[4];
    for (std::size_t l = 0; l < 4; l += wide_size) {
        const Wide zero = {};
        Wide sum = {};
        for (std::size_t j = l; j + wide_size <= d; j += 4) {
            const Wide q = load_wide(query + j), below = load_wide(low + j) - q,
                       above = q - load_wide(high + j);
            const Wide outside = below > above ? below : above;
            sum = joined<Metric>(sum, metric.term(outside > 0.0 ? outside : zero));
        }
        std::memcpy(part + l, &sum, sizeof sum);
    }
    for (std::size_t j = d - d % wide_size; j < d; ++j)
        part[j % 4] = joined<Metric>(part[j % 4], metric.term(gap(j)));
    return metric.bound(
        joined<Metric>(joined<Metric>(part[0], part[1]), joined<Metric>(part[2], part[3])));
}

struct Branch {
    double bound;
    std::size_t node;
};

template <int D, typename Metric, typename List>
void search(const KdTree &tree, const Metric &metric, const double *query, List &list,
            std::vector<Branch> &waiting) {
    const auto may_help = [&](const Branch &branch) {
        return before(branch.bound, tree.nodes[branch.node].least, list.worst(), list.worst_row());
    };
    waiting.clear();
    waiting.push_back({0.0, 0});
    while (!waiting.empty()) {
        Branch branch = waiting.back();
        waiting.pop_back();
        while (may_help(branch)) {
            const Node &node = tree.nodes[branch.node];
            if (node.child < 0) {
                scan<D>(tree, metric, query, node, 0, (node.end - node.begin + 3) / 4, list);
                break;
            }
            const auto child = static_cast<std::size_t>(node.child);
            Branch near{to_box<D>(tree, metric, query, child), child},
                far{to_box<D>(tree, metric, query, child + 1), child + 1};
            if (before(far.bound, tree.nodes[far.node].least, near.bound,
                       tree.nodes[near.node].least))
                std::swap(near, far);
            if (may_help(far))
                waiting.push_back(far);
            branch = near;
        }
    }
}

// The leaf into which a row descends, by the nearer box.
template <typename Metric>
std::size_t leaf_near(const KdTree &tree, const Metric &metric, const double *query) {
    std::size_t at = 0;
    while (tree.nodes[at].child >= 0) {
        const auto child = static_cast<std::size_t>(tree.nodes[at].child);
        at = child +
             (to_box<0>(tree, metric, query, child + 1) < to_box<0>(tree, metric, query, child));
    }
    return at;
}

constexpr std::size_t worth_ordering = 1u << 10; // queries

// The queries in the order of the leaves they descend into; none if that is not worth it.
template <typename Metric>
std::vector<std::uint32_t> by_leaf(const KdTree &tree, const Metric &metric, const double *queries,
                                   std::size_t m, int threads) {
    if (m < worth_ordering || tree.n < worth_ordering || m >= (std::size_t{1} << 32))
        return {};
    const std::size_t d = tree.d, size = 1024;
    std::vector<std::uint32_t> place(m), order(m);
    for_each_piece((m + size - 1) / size, threads, [&](std::size_t piece) {
        for (std::size_t i = piece * size; i < std::min(m, (piece + 1) * size); ++i)
            place[i] = tree.nodes[leaf_near(tree, metric, queries + i * d)].first_group;
    });
    std::vector<std::uint32_t> start(tree.points.size() / (4 * d) + 1, 0);
    for (const std::uint32_t p : place)
        ++start[p];
    std::uint32_t before = 0;
    for (std::uint32_t &count : start)
        before += std::exchange(count, before);
    for (std::size_t i = 0; i < m; ++i)
        order[start[place[i]]++] = static_cast<std::uint32_t>(i);
    return order;
}

} // namespace thetahat::neighbors
