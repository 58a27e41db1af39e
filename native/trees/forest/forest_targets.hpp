// The targets of a forest, and the statistics, criterion and leaf values that belong to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/criteria.hpp"
#include "trees/forest/leaf_answers.hpp"
#include "trees/row_statistics.hpp"

namespace thetahat::trees {

// The criteria of two classes, from the weight of the second class alone.
struct GiniOfTwo : Squares<1> {
    double unit() const { return 2.0; } // both classes have the same deviations
};

template <typename OfShares> struct OfTwo {
    OfShares criterion;

    double unit() const { return criterion.unit(); }
    double base(const double *all, double w) const {
        const double both[2] = {w - all[0], all[0]};
        return criterion.base(both, w);
    }
    double score(const double *left, double w_left, const double *all, double w) const {
        const double both_left[2] = {w_left - left[0], left[0]}, both[2] = {w - all[0], all[0]};
        return criterion.score(both_left, w_left, both, w);
    }
};

// The targets, and the number of classes of each output; 0 classes: a regression.
struct ForestTargets {
    const double *y; // n × outputs; classes by their codes
    std::size_t n, outputs;
    std::size_t classes;
    Potential potential;
};

// use(statistics, criterion, answer) for these targets.
template <typename Use> void with_targets(const ForestTargets &targets, const Use &use) {
    const std::size_t outputs = targets.outputs;
    const bool poisson = targets.potential == Potential::poisson;
    if (outputs == 1 && targets.classes <= 2) {
        OneSum one{targets.y, 0.0};
        if (targets.classes > 0) {
            const SharesOfTwo answer{one};
            if (targets.potential == Potential::gini)
                return use(one, GiniOfTwo{{1, 1}}, answer);
            if (targets.potential == Potential::entropy)
                return use(one, OfTwo<Logarithms<2>>{{2, 1}}, answer);
            return use(one, OfTwo<Majorities>{{2, 1}}, answer);
        }
        if (poisson)
            return use(one, Logarithms<1>{1, 1, true}, MeanOfOne{one, true});
        for (std::size_t i = 0; i < targets.n; ++i)
            one.centre += (targets.y[i] - one.centre) / static_cast<double>(i + 1);
        return use(one, Squares<1>{1, 1}, MeanOfOne{one, false});
    }
    ManySums many{nullptr, targets.y, outputs, outputs * std::max<std::size_t>(targets.classes, 1)};
    const std::size_t width = many.n_sums;
    if (targets.classes > 0) {
        std::vector<std::uint32_t> slots(targets.n * outputs);
        for (std::size_t i = 0; i < slots.size(); ++i)
            slots[i] = static_cast<std::uint32_t>(i % outputs * targets.classes +
                                                  static_cast<std::size_t>(targets.y[i]));
        many.slots = slots.data();
        const SharesOfMany answer{many};
        if (targets.potential == Potential::gini)
            return use(many, Squares<>{width, outputs}, answer);
        if (targets.potential == Potential::entropy)
            return use(many, Logarithms<>{width, outputs}, answer);
        return use(many, Majorities{width, outputs}, answer);
    }
    const MeansOfMany answer{many, poisson};
    if (poisson)
        return use(many, Logarithms<>{width, outputs, true}, answer);
    if (targets.potential == Potential::friedman)
        return use(many, MeanDifference{width, outputs}, answer);
    return use(many, Squares<>{width, outputs}, answer);
}

} // namespace thetahat::trees
