// Many trees grown in parallel, each on its own draw of the rows.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "trees/forest/drawn_rows.hpp"
#include "trees/forest/forest_rules.hpp"
#include "trees/forest/forest_targets.hpp"
#include "trees/forest/leaf_answers.hpp"

namespace thetahat::trees {

// The weights of the rows of one tree.
struct RowDraw {
    const double *weight; // null: all 1
    std::size_t n, draws; // 0 draws: every row, with its weight
    const std::vector<double> &cumulative;
    bool balanced;    // class weights are balanced within every draw
    bool replacement; // else distinct rows, which keep their weights

    std::vector<double> weights(std::uint64_t seed, const ForestTargets &targets) const {
        std::vector<double> weights(n, 1.0);
        if (draws == 0) {
            if (weight)
                std::copy(weight, weight + n, weights.begin());
            return weights;
        }
        std::vector<std::uint32_t> counts(n);
        if (replacement)
            draw_rows(seed, draws, cumulative, counts);
        else
            draw_distinct_rows(seed, draws, weight, counts);
        for (std::size_t i = 0; i < n; ++i)
            weights[i] = counts[i] * (replacement || !weight ? 1.0 : weight[i]);
        if (balanced)
            balance(std::vector<double>(weights), weights, targets);
        return weights;
    }

    void balance(const std::vector<double> &drawn, std::vector<double> &weights,
                 const ForestTargets &targets) const {
        const double total = std::accumulate(drawn.begin(), drawn.end(), 0.0);
        for (std::size_t k = 0; k < targets.outputs; ++k) {
            const auto code = [&](std::size_t i) {
                return static_cast<std::size_t>(targets.y[i * targets.outputs + k]);
            };
            std::vector<double> of_class(targets.classes, 0.0);
            for (std::size_t i = 0; i < n; ++i)
                of_class[code(i)] += drawn[i];
            double present = 0.0;
            for (const double count : of_class)
                present += count > 0.0;
            for (std::size_t i = 0; i < n; ++i)
                if (drawn[i] > 0.0)
                    weights[i] *= total / (present * of_class[code(i)]);
        }
    }
};

// One tree per seed, which determines all its random numbers. Threads grow whole trees.
template <typename Columns>
std::vector<GrownTree> grow_all(const Columns &columns, const ForestTargets &targets,
                                const ForestRules &rules, const RowDraw &draw,
                                const std::uint64_t *seeds, std::size_t n_trees, int threads);

} // namespace thetahat::trees
