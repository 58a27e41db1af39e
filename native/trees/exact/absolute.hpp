// Absolute errors: the cost of a side is Σ w·|y − m| with m its weighted median.
//
// A node sorts its targets once. Prefix sums of w and of w·y in that order are kept in
// binary-indexed trees: rows that go left are added to the left tree, and the sums of the right
// side are those of the node minus the left ones. A median is found by descending the tree, and
// with A and B the weight and the sum of the targets below it
//
//     Σ w·|y − m| = S − 2·B + m·(2·A − W),
//
// so adding and scoring are O(log n): O(n·log n) per column and level, with exact medians.
#pragma once

#include <bit>
#include <numeric>

#include "trees/exact/running.hpp"

namespace thetahat::trees {

// Prefix sums of (weight, weight · target) by rank: n + 1 pairs of numbers.
struct Prefixes {
    struct Pair {
        double weight, sum;
    };

    static Pair read(const double *tree, std::size_t i) { return {tree[2 * i], tree[2 * i + 1]}; }

    static void add(double *tree, std::size_t n, std::size_t rank, double weight, double sum) {
        for (std::size_t i = rank + 1; i <= n; i += i & (~i + 1)) {
            tree[2 * i] += weight;
            tree[2 * i + 1] += sum;
        }
        tree[1] += sum; // of all rows
    }

    // The last rank before which the weight is < half (or ≤ half), and the sums below it;
    // `at(i)` reads node i.
    template <typename At>
    static std::size_t descend(std::size_t n, double half, bool beyond, Pair &below, const At &at) {
        std::size_t place = 0;
        below = {0.0, 0.0};
        for (std::size_t step = std::bit_floor(n); step > 0; step /= 2) {
            if (place + step > n)
                continue;
            const Pair next = at(place + step);
            const double weight = below.weight + next.weight;
            if (beyond ? weight <= half : weight < half) {
                place += step;
                below = {weight, below.sum + next.sum};
            }
        }
        return std::min(place, n - 1);
    }
};

class AbsoluteMeasure {
    using Pair = Prefixes::Pair;

  public:
    // `ranks` has a place for every row and output; nodes own those of their rows.
    AbsoluteMeasure(const Targets &targets, std::uint32_t *ranks)
        : targets(targets), ranks(ranks) {}

    class Running {
      public:
        Running(const Targets &targets, const std::uint32_t *ranks, const Summary &node,
                double *scratch)
            : targets(targets), ranks(ranks), node(node), n(node.n_rows), left(scratch) {}
        void start() {
            weight_left = 0.0;
            std::fill_n(left, targets.outputs * 2 * (n + 1), 0.0);
        }
        void add(std::uint32_t row) { move(row, targets.weight(row)); }
        template <typename Entries> void all_but(const Entries &entries) {
            weight_left = node.weight;
            for (std::size_t k = 0; k < targets.outputs; ++k)
                std::copy_n(all(k), 2 * (n + 1), left + k * 2 * (n + 1));
            for (const auto &entry : entries)
                move(entry.row, -targets.weight(entry.row));
        }
        double score() const {
            const double weight_right = node.weight - weight_left;
            if (!(weight_left > 0.0 && weight_right > 0.0))
                return -std::numeric_limits<double>::infinity();
            double cost = 0.0;
            for (std::size_t k = 0; k < targets.outputs; ++k) {
                const double *part = left + k * 2 * (n + 1), *whole = all(k);
                cost += cost_of(k, weight_left, part[1],
                                [&](std::size_t i) { return Prefixes::read(part, i); });
                cost += cost_of(k, weight_right, whole[1] - part[1],
                                [&](std::size_t i) { return rest(whole, part, i); });
            }
            return -cost;
        }
        double weight() const { return weight_left; }
        double left_value() const {
            return median(weight_left, [&](std::size_t i) { return Prefixes::read(left, i); });
        }
        double right_value() const {
            return median(node.weight - weight_left,
                          [&](std::size_t i) { return rest(all(0), left, i); });
        }

      private:
        void move(std::uint32_t row, double w) {
            weight_left += w;
            for (std::size_t k = 0; k < targets.outputs; ++k)
                Prefixes::add(left + k * 2 * (n + 1), n, ranks[row * targets.outputs + k], w,
                              w * targets.of(row)[k]);
        }
        static Pair rest(const double *whole, const double *part, std::size_t i) {
            const Pair all = Prefixes::read(whole, i), taken = Prefixes::read(part, i);
            return {all.weight - taken.weight, all.sum - taken.sum};
        }
        const double *values(std::size_t k) const { return node.sums.data() + k * (3 * n + 2); }
        const double *all(std::size_t k) const { return values(k) + n; }
        template <typename At>
        double cost_of(std::size_t k, double weight, double sum, const At &at) const {
            Pair below;
            const double middle = values(k)[Prefixes::descend(n, 0.5 * weight, false, below, at)];
            return std::max(0.0, sum - 2.0 * below.sum + middle * (2.0 * below.weight - weight));
        }
        template <typename At> double median(double weight, const At &at) const {
            Pair below;
            const double low = values(0)[Prefixes::descend(n, 0.5 * weight, false, below, at)];
            const double high = values(0)[Prefixes::descend(n, 0.5 * weight, true, below, at)];
            return 0.5 * low + 0.5 * high;
        }

        const Targets &targets;
        const std::uint32_t *ranks;
        const Summary &node;
        std::size_t n;
        double *left;
        double weight_left = 0.0;
    };

    void describe(const std::uint32_t *rows, std::size_t n, Summary &summary, double *value) const {
        const std::size_t outputs = targets.outputs;
        summary.n_rows = n;
        summary.weight = 0.0;
        summary.pure = true;
        for (std::size_t i = 0; i < n; ++i) {
            summary.weight += targets.weight(rows[i]);
            for (std::size_t k = 0; k < outputs; ++k)
                summary.pure = summary.pure && targets.of(rows[i])[k] == targets.of(rows[0])[k];
        }
        summary.sums.assign(outputs * (3 * n + 2), 0.0);
        std::vector<std::uint32_t> order(rows, rows + n);
        double cost = 0.0;
        for (std::size_t k = 0; k < outputs; ++k) {
            double *values = summary.sums.data() + k * (3 * n + 2);
            double *tree = values + n;
            std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
                const double ya = targets.of(a)[k], yb = targets.of(b)[k];
                return ya != yb ? ya < yb : a < b;
            });
            double low = 0.0, high = 0.0, before = 0.0;
            const double half = 0.5 * summary.weight;
            bool above = false;
            for (std::size_t i = 0; i < n; ++i) {
                const double w = targets.weight(order[i]), y = targets.of(order[i])[k];
                values[i] = y;
                ranks[order[i] * outputs + k] = static_cast<std::uint32_t>(i);
                Prefixes::add(tree, n, i, w, w * y);
                if (before < half)
                    low = y;
                before += w;
                if (!above && (before > half || i + 1 == n)) {
                    high = y;
                    above = true;
                }
            }
            value[k] = 0.5 * low + 0.5 * high;
            for (std::size_t i = 0; i < n; ++i)
                cost += targets.weight(order[i]) * std::abs(values[i] - value[k]);
        }
        summary.impurity = summary.pure ? 0.0 : cost * unit() / summary.weight;
    }
    Running running(const Summary &node, double *scratch) const {
        return Running(targets, ranks, node, scratch);
    }
    double unit() const { return 1.0 / static_cast<double>(targets.outputs); }
    double base(const Summary &node) const { return -node.spread() / unit(); }
    bool ordered() const { return targets.outputs == 1; }
    std::size_t scratch(const Summary &node) const {
        return targets.outputs * 2 * (node.n_rows + 1);
    }

    const Targets &targets;

  private:
    std::uint32_t *ranks;
};

} // namespace thetahat::trees
