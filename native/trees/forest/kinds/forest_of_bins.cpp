// Forests on bins: the best split between bins of each column that a node tries.

#include "trees/forest/forest_trees.hpp"
#include "trees/forest/split_search.hpp"

namespace thetahat::trees {

template <typename Statistics, typename Criterion>
using Search = SplitSearch<CodedColumns<std::uint8_t>, Statistics, Criterion>;

template <>
std::vector<GrownTree> grow_all(const CodedColumns<std::uint8_t> &columns,
                                const ForestTargets &targets, const ForestRules &rules,
                                const RowDraw &draw, const std::uint64_t *seeds,
                                std::size_t n_trees, int threads) {
    return grow_each<Search>(columns, targets, rules, draw, seeds, n_trees, threads);
}

} // namespace thetahat::trees
