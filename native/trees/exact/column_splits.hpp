// The best or a random split of a node along one column, with its gain and its place.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "trees/exact/random_split.hpp"
#include "trees/exact/scan.hpp"
#include "trees/exact/sorted_columns.hpp"
#include "trees/exact/sparse_scan.hpp"
#include "trees/exact/statistic_settings.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

// What an open leaf keeps.
struct NodeState {
    Summary summary{};
    double lower = -std::numeric_limits<double>::infinity(); // monotone bounds of its value
    double upper = std::numeric_limits<double>::infinity();
    std::uint64_t seed = 0;
    std::size_t first = 0, last = 0; // its entries, where the columns are sparse
};

// The memory that one thread uses.
struct SplitWorker {
    std::vector<double> scratch{};
    std::vector<OrderedRow> rows{};
    std::vector<Category> categories{};
    DrawnRows drawn{};
};

template <typename Measure> class ColumnSplits {
  public:
    using Worker = SplitWorker;

    ColumnSplits(const SortedColumns &columns, const Measure &measure, const Settings &settings,
                 const double &weight)
        : columns(columns), measure(measure), settings(settings), all(weight) {}

    int monotone(std::int32_t feature) const {
        return settings.monotone.empty() ? 0 : settings.monotone[static_cast<std::size_t>(feature)];
    }

    // The best split along column j, with the node's rows in its order; `code` of the split numbers
    // the last row on the left.
    Split best(Worker &worker, std::size_t j, const OrderedRow *rows, std::size_t n,
               const NodeState &node) const {
        const Summary &summary = node.summary;
        const double rounding = rounding_of(summary);
        auto running = measure.running(summary, worker.scratch.data());
        if (!columns.categorical[j]) {
            const Found best =
                scan_values(running, rows, n, limits(j, node), summary.weight, rounding);
            if (!best.exists())
                return {};
            const std::size_t next = best.place + 1;
            const bool last = next == n || rows[next].missing();
            return placed(
                best, j, node, static_cast<std::uint32_t>(best.place),
                last ? infinity
                     : between(columns.value(j, rows[best.place]), columns.value(j, rows[next])));
        }
        std::vector<Category> &categories = worker.categories;
        categories.clear();
        for (std::size_t i = 0; i < n && !rows[i].missing(); ++i) {
            if (i == 0 || rows[i].differs())
                categories.push_back({i, i, 0.0});
            ++categories.back().end;
        }
        const bool alone = !settings.category_subsets || !measure.ordered();
        const Found best = scan_categories(running, rows, n, categories, alone, limits(j, node),
                                           summary.weight, rounding);
        if (!best.exists())
            return {};
        Split split = scored(best, j, node,
                             alone ? 1.0 : real_share(measure.targets, categories, rows, summary));
        for (std::size_t c = alone ? best.place : 0; c <= best.place; ++c)
            split.left.add(columns.category(j, rows[categories[c].begin]));
        return split;
    }

    // The same, where only the values other than zero are stored.
    Split best(Worker &worker, std::size_t j, const SparseColumn &column,
               const NodeState &node) const {
        const Found best =
            scan_sparse(measure.running(node.summary, worker.scratch.data()), column,
                        limits(j, node), node.summary.weight, rounding_of(node.summary));
        if (!best.exists())
            return {};
        const std::vector<double> &values = columns.values[j];
        const std::uint32_t left = column.code(best.place);
        const bool last = best.place + 1 == column.n_items();
        return placed(best, j, node, left,
                      last ? infinity : between(values[left], values[column.code(best.place + 1)]));
    }

    Split random(Worker &worker, std::size_t j, const std::uint32_t *rows, std::size_t n,
                 const NodeState &node) const {
        Random random = random_of(j, node);
        Split drawn = draw_split(random, columns, j, rows, n, worker.drawn);
        const std::size_t n_left = worker.drawn.n_left;
        return random_scored(worker, j, node, drawn, n_left, n, [&](auto &running) {
            for (std::size_t i = 0; i < n_left; ++i)
                running.add(worker.drawn.rows[i]);
        });
    }

    Split random(Worker &worker, std::size_t j, const SparseColumn &column,
                 const NodeState &node) const {
        Random random = random_of(j, node);
        const std::size_t items = column.n_items();
        Split drawn;
        drawn.feature = static_cast<std::int32_t>(j);
        const std::uint32_t least = column.code(0), most = column.code(items - 1);
        drawn.missing_left = column.n_missing() > 0 && least < most && random.next() & 1;
        place_threshold(random, columns.values[j], least, most, drawn);
        std::size_t left = 0, n_left = drawn.missing_left ? column.n_missing() : 0;
        bool zeros_left = false;
        for (; left < items && column.code(left) <= drawn.code; ++left) {
            n_left += column.n_rows(left);
            zeros_left = zeros_left || column.is_zeros(left);
        }
        return random_scored(worker, j, node, drawn, n_left, column.n_rows(), [&](auto &running) {
            if (zeros_left) {
                running.all_but(column.from(left, !drawn.missing_left));
                return;
            }
            for (std::size_t item = 0; item < left; ++item)
                running.add(column.row(item));
            if (drawn.missing_left)
                for (const SparseEntry &entry : column.missing())
                    running.add(entry.row);
        });
    }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    double rounding_of(const Summary &summary) const {
        return summary.spread() / measure.unit() * 0x1p-30;
    }

    static Random random_of(std::size_t j, const NodeState &node) {
        return Random(node.seed ^ (j + 1) * 0xD1342543DE82EF95ULL);
    }

    Limits limits(std::size_t j, const NodeState &node) const {
        return {settings.min_leaf, settings.min_weight, monotone(static_cast<std::int32_t>(j)),
                node.lower, node.upper};
    }

    // The split that belongs to a score, of which `share` counts; the caller sets its place.
    Split scored(const Found &best, std::size_t j, const NodeState &node,
                 double share = 1.0) const {
        Split split;
        const double gain = share * measure.unit() * (best.score - measure.base(node.summary));
        split.gain = rounded_gain(gain, node.summary.spread()) / all;
        split.feature = static_cast<std::int32_t>(j);
        split.missing_left = best.missing_left;
        split.categorical = columns.categorical[j];
        return split;
    }

    // The split after a code; an infinite threshold if no value is beyond.
    Split placed(const Found &best, std::size_t j, const NodeState &node, std::uint32_t code,
                 double threshold) const {
        Split split = scored(best, j, node);
        split.code = code;
        split.threshold = threshold;
        return split;
    }

    // A number between two values: low ≤ t < high.
    double between(double low, double high) const {
        const double middle = 0.5 * low + 0.5 * high;
        return !settings.at_values && middle >= low && middle < high ? middle : low;
    }

    // A drawn split with its gain; `add_left` moves its rows to the left.
    template <typename AddLeft>
    Split random_scored(Worker &worker, std::size_t j, const NodeState &node, Split &drawn,
                        std::size_t n_left, std::size_t n, const AddLeft &add_left) const {
        if (n_left < settings.min_leaf || n - n_left < settings.min_leaf)
            return {};
        auto running = measure.running(node.summary, worker.scratch.data());
        running.start();
        add_left(running);
        const Limits limit = limits(j, node);
        Best<decltype(running)> best(running, limit, node.summary.weight, 0.0);
        best.offer(0, drawn.missing_left);
        if (!best.found.exists())
            return {};
        drawn.gain = scored(best.found, j, node).gain;
        return std::move(drawn);
    }

    const SortedColumns &columns;
    const Measure &measure;
    const Settings &settings;
    const double &all; // weight of the root
};

} // namespace thetahat::trees
