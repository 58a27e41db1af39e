// The targets of a forest, and the statistics, criterion and leaf values that belong to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trees/chosen_criterion.hpp"
#include "trees/forest/leaf_answers.hpp"
#include "trees/row_statistics.hpp"

namespace thetahat::trees {

// Squared errors of one output; with unit 2, Gini of two classes from the weight of the second
// class alone, because both classes have the same deviations.
struct SquaresOfOne : Squares<1> {
    double factor;

    double unit() const { return factor; }
};

// The targets, and the number of classes of each output; 0 classes: a regression.
struct ForestTargets {
    const double *y; // n × outputs; classes by their codes
    std::size_t n, outputs;
    std::size_t classes;
    Potential potential;
};

// use(statistics, criterion, answer) for these targets. Every combination of types is compiled for
// every kind of columns, so there are only three; criteria that spend their time in logarithms are
// chosen by a switch.
template <typename Use> void with_targets(const ForestTargets &targets, const Use &use) {
    const std::size_t outputs = targets.outputs, classes = targets.classes;
    const Potential potential = targets.potential;
    const bool poisson = potential == Potential::poisson;
    if (outputs == 1 && classes <= 2) {
        OneSum one{targets.y, 0.0};
        const AnswerOfOne answer{one, classes > 0, poisson};
        if (potential != Potential::squared && potential != Potential::gini)
            return use(one,
                       ChosenOfOne{{potential, classes > 0 ? std::size_t{2} : 1, 1}, classes > 0},
                       answer);
        for (std::size_t i = 0; classes == 0 && i < targets.n; ++i)
            one.centre += (targets.y[i] - one.centre) / static_cast<double>(i + 1);
        return use(one, SquaresOfOne{{1, 1}, classes > 0 ? 2.0 : 1.0}, answer);
    }
    ManySums many{nullptr, targets.y, outputs, outputs * std::max<std::size_t>(classes, 1)};
    std::vector<std::uint32_t> slots(classes > 0 ? targets.n * outputs : 0);
    for (std::size_t i = 0; i < slots.size(); ++i)
        slots[i] = static_cast<std::uint32_t>(i % outputs * classes +
                                              static_cast<std::size_t>(targets.y[i]));
    if (classes > 0)
        many.slots = slots.data();
    use(many, ChosenCriterion{potential, many.n_sums, outputs}, AnswerOfMany{many, poisson});
}

} // namespace thetahat::trees
