// A random split of a node by one column of values: a threshold uniform between the least and the
// greatest value of its rows, or a random half of its categories.
//
// Rows with missing values go to a random side; if all values are equal, the split separates the
// missing ones. Values are compared directly, so the column need not be sorted. The rows of a node
// are read twice, in their order, by one thread: for the extremes, and for the sums of the left
// side.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "trees/exact/random_rules.hpp"
#include "trees/forest/columns/sparse_cells.hpp"
#include "trees/forest/columns/value_columns.hpp"
#include "trees/node_sums.hpp"

namespace thetahat::trees {

template <typename Columns_, typename Statistics_, typename Criterion> class RandomSearch {
  public:
    using Columns = Columns_;
    using Statistics = Statistics_;

    RandomSearch(const Columns &columns, const Statistics &statistics, const Criterion &criterion,
                 const ForestRules &rules)
        : columns_(columns), statistics_(statistics), rules_(rules),
          node_(statistics, criterion, rules), left_(statistics.stride()),
          seen_(*std::max_element(columns.n_codes, columns.n_codes + columns.n_columns)) {}

    NodeSums<Statistics, Criterion> &node() { return node_; }
    const Sides &sides() const { return sides_; }

    // Try a split by column j, whose values of the node's rows are `value(i)`; keep it in `best` if
    // it beats that. False when all rows have the same value.
    template <typename ValueOf>
    bool consider(std::uint32_t j, std::uint32_t n_codes, const ValueOf &value, Random &random,
                  Candidate &best) {
        const std::size_t m = node_.rows().size();
        if (values_.size() < m)
            values_.resize(m);
        Candidate found;
        found.feature = static_cast<std::int32_t>(j);
        if (columns_.categorical[j])
            return consider_categories(n_codes, value, random, found, best);
        const auto [low, high] = extremes(value);
        const std::size_t absent = columns_.has_missing[j] ? n_missing() : 0;
        if (!draw(random, low, high, absent, m, found))
            return false;
        const double t = found.threshold;
        if (found.missing_left)
            keep_if_better([t](const auto &x) { return (x <= t) | (x != x); }, found, best);
        else
            keep_if_better([t](const auto &x) { return x <= t; }, found, best);
        return true;
    }

    // The same, of sparse cells.
    bool consider(std::uint32_t j, std::uint32_t, const SparseCells<double> &cells, Random &random,
                  Candidate &best) {
        double low = cells.n_zeros > 0 ? 0.0 : std::numeric_limits<double>::infinity(),
               high = cells.n_zeros > 0 ? 0.0 : -low;
        std::size_t absent = 0;
        for (std::size_t k = 0; k < cells.n; ++k) {
            const double x = cells.cell[k];
            low = x < low ? x : low;
            high = x > high ? x : high;
            absent += x != x;
        }
        const std::size_t m = node_.rows().size();
        Candidate found;
        found.feature = static_cast<std::int32_t>(j);
        if (!draw(random, low, high, absent, m, found))
            return false;
        // Of the side without the zeros, whose sums are those of the node less these.
        const bool zeros_left = cells.n_zeros > 0 && 0.0 <= found.threshold;
        std::size_t rows = 0;
        std::fill(left_.begin(), left_.end(), 0.0);
        for (std::size_t k = 0; k < cells.n; ++k) {
            const double x = cells.cell[k];
            if ((x <= found.threshold || (x != x && found.missing_left)) == zeros_left)
                continue;
            statistics_.add(left_.data(), node_.rows()[cells.place[k]]);
            ++rows;
        }
        if (zeros_left) {
            for (std::size_t k = 0; k < left_.size(); ++k)
                left_[k] = node_.all()[k] - left_[k];
            rows = m - rows;
        }
        keep_if_better(rows, found, best);
        return true;
    }

  private:
    // A random threshold between two values; false if all rows have the same value.
    bool draw(Random &random, double low, double high, std::size_t absent, std::size_t m,
              Candidate &found) const {
        found.has_missing = absent > 0;
        if (low < high) {
            found.threshold = draw_threshold(random, low, high);
            found.missing_left = absent > 0 && (random.next() & 1);
        } else if (absent > 0 && absent < m) {
            found.threshold = std::numeric_limits<double>::infinity();
        } else {
            return false;
        }
        return true;
    }

    // The least and the greatest value without missing ones, in four independent parts, so that
    // comparisons do not depend on each other.
    template <typename ValueOf> std::pair<double, double> extremes(const ValueOf &value) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double low[4] = {infinity, infinity, infinity, infinity};
        double high[4] = {-infinity, -infinity, -infinity, -infinity};
        const std::size_t m = node_.rows().size();
        double *values = values_.data();
        const auto take = [&](std::size_t i, std::size_t k) {
            const double x = values[i] = value(i);
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        };
        std::size_t i = 0;
        for (; i + 4 <= m; i += 4)
            for (std::size_t k = 0; k < 4; ++k)
                take(i + k, k);
        for (; i < m; ++i)
            take(i, 0);
        return {std::min(std::min(low[0], low[1]), std::min(low[2], low[3])),
                std::max(std::max(high[0], high[1]), std::max(high[2], high[3]))};
    }

    std::size_t n_missing() const {
        std::size_t n = 0;
        for (std::size_t i = 0; i < node_.rows().size(); ++i)
            n += values_[i] != values_[i];
        return n;
    }

    // At least one category on each side; the others and missing values go to random sides.
    template <typename ValueOf>
    bool consider_categories(std::uint32_t n_codes, const ValueOf &value, Random &random,
                             Candidate &found, Candidate &best) {
        const std::size_t m = node_.rows().size();
        std::size_t absent = 0;
        for (std::size_t i = 0; i < m; ++i) {
            const double x = values_[i] = value(i);
            if (x == x)
                seen_[static_cast<std::size_t>(x)] = 1;
            else
                ++absent;
        }
        codes_.clear();
        for (std::uint32_t code = 0; code < n_codes; ++code)
            if (std::exchange(seen_[code], std::uint8_t{0}))
                codes_.push_back(code);
        if (codes_.size() + (absent > 0) < 2)
            return false;
        found.has_missing = absent > 0;
        found.missing_left = absent > 0 && codes_.size() > 1 && (random.next() & 1);
        const CategorySet left = draw_categories(random, codes_);
        // From here on, the value of a row is whether it goes left.
        for (std::size_t i = 0; i < m; ++i) {
            const double x = values_[i];
            values_[i] = x == x ? left.holds(static_cast<std::uint32_t>(x)) : found.missing_left;
        }
        const auto goes_left = [](const auto &left) { return left > 0.0; };
        if (keep_if_better(goes_left, found, best)) {
            sides_ = Sides{};
            for (const std::uint32_t code : codes_)
                (left.holds(code) ? sides_.left : sides_.right).push_back(code);
        }
        return true;
    }

    template <typename GoesLeft>
    bool keep_if_better(const GoesLeft &goes_left, Candidate &found, Candidate &best) {
        statistics_.total(node_.rows(), values_.data(), left_.data(), goes_left);
        std::size_t rows = 0;
        if (rules_.min_leaf > 1)
            for (std::size_t i = 0; i < node_.rows().size(); ++i)
                rows += goes_left(values_[i]) ? 1 : 0;
        return keep_if_better(rows, found, best);
    }

    // By the sums of the left side.
    bool keep_if_better(std::size_t rows, Candidate &found, Candidate &best) {
        found.weight_left = left_[0];
        if (!node_.allows(found.feature, left_[0], left_[1], rows))
            return false;
        found.gain = node_.gain(left_.data());
        if (!node_.beats(found, best))
            return false;
        best = found;
        return true;
    }

    const Columns &columns_;
    const Statistics &statistics_;
    const ForestRules &rules_;
    NodeSums<Statistics, Criterion> node_;
    Sides sides_{}; // of the best split by categories

    // Of the column.
    std::vector<double> values_{}, left_;
    std::vector<std::uint8_t> seen_;
    std::vector<std::uint32_t> codes_{};
};

} // namespace thetahat::trees
