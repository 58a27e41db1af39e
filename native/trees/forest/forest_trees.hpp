// How `grow_all` grows its trees, for one kind of search. Included where it is made for columns.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>

#include "core/parallel.hpp"
#include "trees/forest/forest_growing.hpp"
#include "trees/forest/forest_tree.hpp"

namespace thetahat::trees {

// `Search<Statistics, Criterion>` for these targets.
template <template <typename, typename> typename Search, typename Columns>
std::vector<GrownTree> grow_each(const Columns &columns, const ForestTargets &targets,
                                 const ForestRules &rules, const RowDraw &draw,
                                 const std::uint64_t *seeds, std::size_t n_trees, int threads) {
    std::vector<GrownTree> grown(n_trees);
    std::vector<std::exception_ptr> failures(n_trees);
    with_targets(targets, [&]<typename Statistics, typename Criterion, typename Answer>(
                              const Statistics &statistics, const Criterion &criterion,
                              const Answer &answer) {
        using Tree = ForestTree<Search<Statistics, Criterion>, Answer>;
        const std::size_t workers = std::min<std::size_t>(n_trees, std::max(1, threads));
        std::atomic<std::size_t> next{0};
        for_each_piece(workers, threads, [&](std::size_t) {
            std::optional<Tree> tree; // created once per worker
            for (std::size_t t = next++; t < n_trees; t = next++)
                try {
                    if (!tree)
                        tree.emplace(columns, statistics, criterion, answer, rules);
                    grown[t] = tree->grow_on(seeds[t], draw.weights(seeds[t], targets));
                } catch (...) {
                    failures[t] = std::current_exception();
                }
        });
    });
    for (const std::exception_ptr &failure : failures)
        if (failure)
            std::rethrow_exception(failure);
    return grown;
}

} // namespace thetahat::trees
