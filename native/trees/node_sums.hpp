// A node while its splits are tried: the sums of its rows, and the gain of a split.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "trees/bounds.hpp"
#include "trees/criteria.hpp"
#include "trees/forest/forest_rules.hpp"
#include "trees/row_statistics.hpp"

namespace thetahat::trees {

// A candidate split. In an ordered column the rows up to a code or a threshold go left; in a
// categorical one, the categories in `Sides` of the search.
struct Candidate {
    double gain = -std::numeric_limits<double>::infinity();
    double share = 1.0; // of the gain that is more than chance
    std::int32_t feature = none;
    std::uint32_t last_left = 0, first_right = 0; // the codes on both sides of the threshold
    double threshold = std::numeric_limits<double>::quiet_NaN(); // NaN: between these codes
    double weight_left = 0.0;
    bool missing_left = false;
    bool has_missing = false;

    bool exists() const { return feature != none; }
    double worth() const { return gain * share; } // by which candidates are compared
};

// The categories of a node that go left and right.
struct Sides {
    std::vector<std::uint32_t> left{}, right{};
};

template <typename Statistics, typename Criterion> class NodeSums {
  public:
    using Stretch = typename Statistics::Stretch;

    NodeSums(const Statistics &statistics, const Criterion &criterion, const ForestRules &rules)
        : statistics_(statistics), criterion_(criterion), rules_(rules), all_(statistics.stride()) {
    }

    // Start with a node; false if all its targets are equal.
    bool open(const Stretch &rows, double min_weight, const Bounds &bounds) {
        rows_ = rows;
        min_weight_ = min_weight;
        bounds_ = bounds;
        bool differ = false;
        for (std::size_t i = 1; i < rows.size() && !differ; ++i)
            differ = !statistics_.same(rows[i], rows[0]);
        if (!differ)
            return false;
        statistics_.total(rows, all_.data());
        base_ = criterion_.base(all_.data() + 1, all_[0]);
        if constexpr (std::is_same_v<Statistics, OneSum>)
            spread_ = statistics_.spread(rows, all_[1] / all_[0]);
        return true;
    }

    const Stretch &rows() const { return rows_; }
    const std::vector<double> &all() const { return all_; }
    double weight() const { return all_[0]; }

    double gain_of(double score) const { return criterion_.unit() * (score - base_); }
    double gain(const double *left) const {
        return gain_of(criterion_.score(left + 1, left[0], all_.data() + 1, all_[0]));
    }

    // Whether both sides have enough rows and weight and the right order; `sum`: first left sum.
    bool allows(std::int32_t feature, double left, double sum, std::size_t rows_left) const {
        const double right = all_[0] - left;
        if (rules_.min_leaf > 1 &&
            (rows_left < rules_.min_leaf || rows_.size() - rows_left < rules_.min_leaf))
            return false;
        if (!(left > 0.0 && right > 0.0) || left < min_weight_ || right < min_weight_)
            return false;
        if constexpr (std::is_same_v<Statistics, OneSum>)
            if (rules_.monotone && rules_.monotone[feature] != 0)
                return in_order(sum, left, rules_.monotone[feature]);
        return true;
    }

    // Larger gain. Splits that divide the rows in the same way have the same gain up to rounding,
    // and then the first one is kept: their order was drawn and does not depend on the order of
    // sums.
    bool beats(const Candidate &found, const Candidate &best) const {
        const double blur = 1e-9 * std::abs(best.worth()) + 1e-13 * std::abs(base_);
        return found.gain > -std::numeric_limits<double>::infinity() &&
               (!best.exists() || found.worth() > best.worth() + blur);
    }

    // Whether no split can be better, because both sides are pure. (Only for two classes and
    // squared errors; it is not used with other criteria.)
    bool unbeatable(const Candidate &best) const {
        if constexpr (std::is_same_v<Statistics, OneSum> &&
                      std::is_base_of_v<Squares<1>, Criterion>)
            return best.worth() >= (1.0 - 1e-9) * criterion_.unit() * spread_;
        return false;
    }

  private:
    bool in_order(double sum_left, double left, int sign) const {
        const double a = sum_left / left, b = (all_[1] - sum_left) / (all_[0] - left);
        return (a - b) * sign <= 0.0 && std::min(a, b) >= bounds_.lower &&
               std::max(a, b) <= bounds_.upper;
    }

    const Statistics &statistics_;
    const Criterion &criterion_;
    const ForestRules &rules_;
    Stretch rows_{};
    double min_weight_ = 0.0, base_ = 0.0, spread_ = 0.0;
    Bounds bounds_{};
    std::vector<double> all_;
};

} // namespace thetahat::trees
