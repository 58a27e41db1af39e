// The values of the leaves of a forest: means, or shares of classes.
//
// Leaves of one class refer to the row of that class, which all trees share, so that a tree with
// pure leaves stores no values. Other leaves add a row of their own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "trees/node_sums.hpp"
#include "trees/prediction/walk.hpp"
#include "trees/row_statistics.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

// The total gain of the splits of a tree on one column.
struct ColumnGain {
    double gain;
    std::int32_t tree, column;
};
static_assert(sizeof(ColumnGain) == 16);

// The stored parts of a tree.
struct GrownTree {
    std::vector<PackedNode> nodes{};     // a leaf's child as `LeafAnswer::row`
    std::vector<double> values{};        // of the leaves that have a row of their own
    std::vector<std::uint32_t> counts{}; // of the leaves, in the order of their nodes
    std::vector<double> weights{}, impurities{};
    std::vector<ColumnGain> gains{}; // of the columns that it uses
    std::vector<CategorySet> sets{};
};

struct LeafAnswer {
    std::int32_t row; // ≥ 0: one of the shared rows; −1 − i: row i of this tree
    std::uint32_t count;
    double weight;
    double impurity;
};

template <typename Stretch> LeafAnswer counted(const Stretch &rows) {
    LeafAnswer answer{0, static_cast<std::uint32_t>(rows.size()), 0.0, 0.0};
    for (std::size_t i = 0; i < rows.size(); ++i)
        answer.weight += rows[i].w;
    return answer;
}

inline std::int32_t own_row(std::vector<double> &values, std::span<const double> row) {
    const std::size_t place = values.size() / row.size();
    values.insert(values.end(), row.begin(), row.end());
    return -1 - static_cast<std::int32_t>(place);
}

// The mean of one output.
struct MeanOfOne {
    const OneSum &statistics;
    bool poisson;

    LeafAnswer of(const OneSum::Stretch &rows, const Bounds &bounds,
                  std::vector<double> &values) const {
        LeafAnswer answer = counted(rows);
        bool same = true;
        double sums[2] = {};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const OneSum::Row row = rows[i];
            same &= statistics.same(row, rows[0]);
            statistics.add(sums, row);
        }
        const double mean = same ? rows[0].y : statistics.centre + sums[1] / sums[0];
        for (std::size_t i = 0; !same && i < rows.size(); ++i) {
            const double y = rows[i].y, apart = y - mean;
            answer.impurity +=
                rows[i].w / answer.weight * (poisson ? x_log_share(y, mean) : apart * apart);
        }
        const double value[1] = {
            std::clamp(mean, statistics.centre + bounds.lower, statistics.centre + bounds.upper)};
        answer.row = own_row(values, value);
        return answer;
    }
};

// The shares of two classes.
struct SharesOfTwo {
    const OneSum &statistics;

    LeafAnswer of(const OneSum::Stretch &rows, const Bounds &bounds,
                  std::vector<double> &values) const {
        LeafAnswer answer = counted(rows);
        double sums[2] = {};
        for (std::size_t i = 0; i < rows.size(); ++i)
            statistics.add(sums, rows[i]);
        const double share = std::clamp(sums[1] / sums[0], bounds.lower, bounds.upper);
        const double shares[2] = {1.0 - share, share};
        answer.row = share == 0.0 ? 0 : share == 1.0 ? 1 : own_row(values, shares);
        return answer;
    }
};

// Means of several outputs.
struct MeansOfMany {
    const ManySums &statistics;
    bool poisson;

    LeafAnswer of(const ManySums::Stretch &rows, const Bounds &,
                  std::vector<double> &values) const {
        LeafAnswer answer = counted(rows);
        const std::size_t outputs = statistics.outputs;
        std::vector<double> sums(statistics.stride(), 0.0);
        bool same = true;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const ManySums::Row row = rows[i];
            same &= statistics.same(row, rows[0]);
            statistics.add(sums.data(), row);
        }
        const auto target = [&](const ManySums::Row &row, std::size_t k) {
            return statistics.y[row.at * outputs + k];
        };
        std::vector<double> means(outputs);
        for (std::size_t k = 0; k < outputs; ++k) {
            means[k] = same ? target(rows[0], k) : sums[1 + k] / sums[0];
            if (!same)
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    const ManySums::Row row = rows[i];
                    const double y = target(row, k), apart = y - means[k];
                    answer.impurity += row.w / answer.weight / static_cast<double>(outputs) *
                                       (poisson ? x_log_share(y, means[k]) : apart * apart);
                }
        }
        answer.row = own_row(values, means);
        return answer;
    }
};

// The shares of the classes of one output or of several.
struct SharesOfMany {
    const ManySums &statistics;

    LeafAnswer of(const ManySums::Stretch &rows, const Bounds &,
                  std::vector<double> &values) const {
        LeafAnswer answer = counted(rows);
        std::vector<double> sums(statistics.stride(), 0.0);
        bool same = true;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const ManySums::Row row = rows[i];
            same &= statistics.same(row, rows[0]);
            statistics.add(sums.data(), row);
        }
        if (same && statistics.outputs == 1) {
            answer.row = static_cast<std::int32_t>(statistics.slots[rows[0].at]);
            return answer;
        }
        for (std::size_t k = 1; k < sums.size(); ++k)
            sums[k] /= sums[0];
        answer.row = own_row(values, std::span<const double>(sums).subspan(1));
        return answer;
    }
};

// The mean of one output, or the shares of two classes.
struct AnswerOfOne {
    const OneSum &statistics;
    bool classes, poisson;

    bool has_impurity() const { return !classes; }
    LeafAnswer of(const OneSum::Stretch &rows, const Bounds &bounds,
                  std::vector<double> &values) const {
        return classes ? SharesOfTwo{statistics}.of(rows, bounds, values)
                       : MeanOfOne{statistics, poisson}.of(rows, bounds, values);
    }
};

// Means of several outputs, or the shares of their classes.
struct AnswerOfMany {
    const ManySums &statistics;
    bool poisson;

    bool has_impurity() const { return statistics.slots == nullptr; }
    LeafAnswer of(const ManySums::Stretch &rows, const Bounds &bounds,
                  std::vector<double> &values) const {
        return statistics.slots ? SharesOfMany{statistics}.of(rows, bounds, values)
                                : MeansOfMany{statistics, poisson}.of(rows, bounds, values);
    }
};

} // namespace thetahat::trees
