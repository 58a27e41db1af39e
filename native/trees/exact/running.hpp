// The statistics of a node, and the running sums of its left part.
//
// A Measure describes nodes and makes running sums for them:
//
//     void describe(rows, n, Summary &, double *value)   weight, impurity, value of some rows
//     Running running(const Summary &, double *scratch)  all rows on the right
//     double unit(), base(const Summary &)               gain = unit · (score − base)
//     bool ordered()                                     the best subset of categories is a prefix
//                                                        of their order by mean
//     const Targets &targets
//
// and a Running moves rows to the left one by one: `add(row)`, then `score()`; larger is better.
// `all_but(entries)` moves all rows of the node to the left except those of the entries.
// Targets of squared errors are centred at the mean of the node as they are added, so that large
// targets lose no digits. Adding is O(1); scoring is O(1) for one output and any number of classes,
// else O(sums). Each running sum is made by one thread in the order of its rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/chosen_criterion.hpp"

namespace thetahat::trees {

// The targets of all rows: numbers, or classes known by their slots among the sums.
struct Targets {
    std::size_t outputs = 1;
    std::size_t classes = 0;            // per output; 0: numbers
    const double *y = nullptr;          // n × outputs, codes if classes
    const double *weights = nullptr;    // none: 1 for all
    std::vector<std::uint32_t> slots{}; // n × outputs

    std::size_t width() const { return classes > 0 ? outputs * classes : outputs; }
    double weight(std::uint32_t row) const { return weights ? weights[row] : 1.0; }
    const double *of(std::uint32_t row) const { return y + row * outputs; }
    const std::uint32_t *slots_of(std::uint32_t row) const { return slots.data() + row * outputs; }
};

struct Summary {
    std::size_t n_rows = 0;
    double weight = 0.0;
    double impurity = 0.0;
    bool pure = true;             // all targets are equal, so no split has a gain
    std::vector<double> centre{}; // means, where targets are centred
    std::vector<double> sums{};   // of the centred targets

    double spread() const { return weight * impurity; } // the largest possible gain
};

// Class counts and proportions of some rows.
template <typename Criterion>
void describe_classes(const Targets &targets, const Criterion &criterion, const std::uint32_t *rows,
                      std::size_t n, Summary &summary, double *value) {
    const std::size_t width = targets.width();
    summary.sums.assign(width, 0.0);
    summary.weight = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double w = targets.weight(rows[i]);
        const std::uint32_t *slot = targets.slots_of(rows[i]);
        summary.weight += w;
        for (std::size_t k = 0; k < targets.outputs; ++k)
            summary.sums[slot[k]] += w;
    }
    std::size_t filled = 0;
    for (std::size_t k = 0; k < width; ++k) {
        filled += summary.sums[k] > 0.0;
        value[k] = summary.sums[k] / summary.weight;
    }
    summary.pure = filled <= targets.outputs;
    summary.impurity = summary.pure ? 0.0
                                    : criterion.impurity(summary.sums.data(), summary.weight,
                                                         criterion.class_q(summary.weight));
}

// Means of some rows; `centred` sums are those of targets less their mean.
template <typename Criterion>
void describe_numbers(const Targets &targets, const Criterion &criterion, bool centred,
                      const std::uint32_t *rows, std::size_t n, Summary &summary, double *value) {
    const std::size_t outputs = targets.outputs;
    std::vector<double> sums(outputs, 0.0);
    summary.weight = 0.0;
    summary.pure = true;
    for (std::size_t i = 0; i < n; ++i) {
        const double w = targets.weight(rows[i]);
        const double *y = targets.of(rows[i]), *first = targets.of(rows[0]);
        summary.weight += w;
        for (std::size_t k = 0; k < outputs; ++k) {
            sums[k] += w * y[k];
            summary.pure = summary.pure && y[k] == first[k];
        }
    }
    for (std::size_t k = 0; k < outputs; ++k)
        value[k] = summary.pure ? targets.of(rows[0])[k] : sums[k] / summary.weight;
    summary.centre.assign(value, value + outputs);
    if (!centred) {
        std::fill(summary.centre.begin(), summary.centre.end(), 0.0);
        summary.sums = sums;
    } else
        summary.sums.assign(outputs, 0.0);
    double q = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double w = targets.weight(rows[i]);
        const double *y = targets.of(rows[i]);
        for (std::size_t k = 0; k < outputs; ++k) {
            const double apart = y[k] - summary.centre[k];
            if (centred)
                summary.sums[k] += w * apart;
            q += centred ? w * apart * apart : w * x_log_share(y[k], 1.0);
        }
    }
    summary.impurity =
        summary.pure ? 0.0 : criterion.impurity(summary.sums.data(), summary.weight, q);
}

// Squared error of one output, and Gini of two classes: half of it is the squared error of the
// second class's indicator.
template <bool Weighted> class MeanMeasure {
  public:
    explicit MeanMeasure(const Targets &targets) : targets(targets) {}

    class Running {
      public:
        Running(const Targets &targets, const Summary &node, double centre, double sum)
            : y(targets.y), w(targets.weights), centre(centre), sum(sum), all(node.weight) {}
        void start() { left = weight_left = 0.0; }
        void add(std::uint32_t row) {
            if constexpr (Weighted) {
                left += w[row] * (y[row] - centre);
                weight_left += w[row];
            } else {
                left += y[row] - centre;
                weight_left += 1.0;
            }
        }
        template <typename Entries> void all_but(const Entries &entries) {
            left = sum;
            weight_left = all;
            for (const auto &entry : entries) {
                const double weight = Weighted ? w[entry.row] : 1.0;
                left -= weight * (y[entry.row] - centre);
                weight_left -= weight;
            }
        }
        double score() const {
            const double apart = left * all - sum * weight_left;
            const double scale = all * (weight_left * (all - weight_left));
            return scale > 0.0 ? apart * apart / scale : -std::numeric_limits<double>::infinity();
        }
        double weight() const { return weight_left; }
        double left_value() const { return centre + left / weight_left; }
        double right_value() const { return centre + (sum - left) / (all - weight_left); }

      private:
        const double *y, *w;
        double centre, sum, all;
        double left = 0.0, weight_left = 0.0;
    };

    void describe(const std::uint32_t *rows, std::size_t n, Summary &summary, double *value) const {
        if (targets.classes > 0)
            describe_classes(targets, Squares<2>{2, 1}, rows, n, summary, value);
        else
            describe_numbers(targets, Squares<1>{1, 1}, true, rows, n, summary, value);
    }
    Running running(const Summary &node, double *) const {
        return targets.classes > 0 ? Running(targets, node, 0.0, node.sums[1])
                                   : Running(targets, node, node.centre[0], node.sums[0]);
    }
    double unit() const { return targets.classes > 0 ? 2.0 : 1.0; }
    double base(const Summary &) const { return 0.0; }
    bool ordered() const { return true; }
    std::size_t scratch(const Summary &) const { return 0; }

    const Targets &targets;
};

// Gini of many classes: Σ c_L² and Σ c_R² follow each row in O(1).
class GiniMeasure {
  public:
    explicit GiniMeasure(const Targets &targets) : targets(targets) {}

    class Running {
      public:
        Running(const Targets &targets, const Summary &node, double *scratch)
            : targets(targets), node(node), left(scratch), right(scratch + targets.width()) {}
        void start() {
            squares_left = squares_right = weight_left = 0.0;
            for (std::size_t k = 0; k < targets.width(); ++k) {
                left[k] = 0.0;
                right[k] = node.sums[k];
                squares_right += right[k] * right[k];
            }
        }
        void add(std::uint32_t row) {
            const double w = targets.weight(row);
            const std::uint32_t k = targets.slots[row];
            squares_left += w * (left[k] + left[k] + w);
            squares_right -= w * (right[k] + right[k] - w);
            left[k] += w;
            right[k] -= w;
            weight_left += w;
        }
        template <typename Entries> void all_but(const Entries &entries) {
            std::fill_n(right, targets.width(), 0.0);
            double weight_right = 0.0;
            for (const auto &entry : entries) {
                const double w = targets.weight(entry.row);
                right[targets.slots[entry.row]] += w;
                weight_right += w;
            }
            weight_left = node.weight - weight_right;
            squares_left = squares_right = 0.0;
            for (std::size_t k = 0; k < targets.width(); ++k) {
                left[k] = node.sums[k] - right[k];
                squares_left += left[k] * left[k];
                squares_right += right[k] * right[k];
            }
        }
        double score() const {
            const double weight_right = node.weight - weight_left;
            return weight_left > 0.0 && weight_right > 0.0
                       ? squares_left / weight_left + squares_right / weight_right
                       : -std::numeric_limits<double>::infinity();
        }
        double weight() const { return weight_left; }
        double left_value() const { return left[1] / weight_left; }
        double right_value() const { return right[1] / (node.weight - weight_left); }

      private:
        const Targets &targets;
        const Summary &node;
        double *left, *right;
        double squares_left = 0.0, squares_right = 0.0, weight_left = 0.0;
    };

    void describe(const std::uint32_t *rows, std::size_t n, Summary &summary, double *value) const {
        describe_classes(targets, Squares<>{targets.width(), 1}, rows, n, summary, value);
    }
    Running running(const Summary &node, double *scratch) const {
        return Running(targets, node, scratch);
    }
    double unit() const { return 1.0; }
    double base(const Summary &node) const {
        double squares = 0.0;
        for (const double count : node.sums)
            squares += count * count;
        return squares / node.weight;
    }
    bool ordered() const { return false; }
    std::size_t scratch(const Summary &) const { return 2 * targets.width(); }

    const Targets &targets;
};

// Any criterion of criteria.hpp over any number of outputs.
class SumsMeasure {
  public:
    SumsMeasure(const Targets &targets, Potential potential)
        : targets(targets), criterion(potential, targets.width(), targets.outputs),
          centred(potential == Potential::squared) {}

    class Running {
      public:
        Running(const Targets &targets, const ChosenCriterion &criterion, const Summary &node,
                double *scratch)
            : targets(targets), criterion(criterion), node(node), left(scratch) {}
        void start() {
            weight_left = 0.0;
            for (std::size_t k = 0; k < criterion.width(); ++k)
                left[k] = 0.0;
        }
        void add(std::uint32_t row) { move(row, targets.weight(row)); }
        template <typename Entries> void all_but(const Entries &entries) {
            weight_left = node.weight;
            std::copy_n(node.sums.data(), criterion.width(), left);
            for (const auto &entry : entries)
                move(entry.row, -targets.weight(entry.row));
        }
        double score() const {
            if (!(weight_left > 0.0 && node.weight - weight_left > 0.0))
                return -std::numeric_limits<double>::infinity();
            return criterion.score(left, weight_left, node.sums.data(), node.weight);
        }
        double weight() const { return weight_left; }
        // Of the single output, or of the second of two classes.
        double left_value() const { return offset() + left[place()] / weight_left; }
        double right_value() const {
            return offset() + (node.sums[place()] - left[place()]) / (node.weight - weight_left);
        }

      private:
        void move(std::uint32_t row, double w) {
            weight_left += w;
            if (targets.classes > 0) {
                const std::uint32_t *slot = targets.slots_of(row);
                for (std::size_t k = 0; k < targets.outputs; ++k)
                    left[slot[k]] += w;
            } else {
                const double *y = targets.of(row);
                for (std::size_t k = 0; k < targets.outputs; ++k)
                    left[k] += w * (y[k] - node.centre[k]);
            }
        }
        std::size_t place() const { return targets.classes > 0 ? 1 : 0; }
        double offset() const { return targets.classes > 0 ? 0.0 : node.centre[0]; }

        const Targets &targets;
        const ChosenCriterion &criterion;
        const Summary &node;
        double *left;
        double weight_left = 0.0;
    };

    void describe(const std::uint32_t *rows, std::size_t n, Summary &summary, double *value) const {
        if (targets.classes > 0)
            describe_classes(targets, criterion, rows, n, summary, value);
        else
            describe_numbers(targets, criterion, centred, rows, n, summary, value);
    }
    Running running(const Summary &node, double *scratch) const {
        return Running(targets, criterion, node, scratch);
    }
    double unit() const { return criterion.unit(); }
    double base(const Summary &node) const { return criterion.base(node.sums.data(), node.weight); }
    bool ordered() const { return targets.outputs == 1 && targets.classes <= 2; }
    std::size_t scratch(const Summary &) const { return criterion.width(); }

    const Targets &targets;

  private:
    ChosenCriterion criterion;
    bool centred;
};

} // namespace thetahat::trees
