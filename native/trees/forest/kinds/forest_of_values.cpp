// Forests on values: one random split of each column that a node tries.

#include "trees/forest/random_search.hpp"

#include "trees/forest/forest_trees.hpp"

namespace thetahat::trees {

template <typename Statistics, typename Criterion>
using Search = RandomSearch<ValueColumns, Statistics, Criterion>;

template <>
std::vector<GrownTree> grow_all(const ValueColumns &columns, const ForestTargets &targets,
                                const ForestRules &rules, const RowDraw &draw,
                                const std::uint64_t *seeds, std::size_t n_trees, int threads) {
    return grow_each<Search>(columns, targets, rules, draw, seeds, n_trees, threads);
}

} // namespace thetahat::trees
