// Forests: many trees grown in parallel, each on its own draw of the rows.
//
// A tree is a function of its seed, which determines the rows it draws and the columns and
// thresholds that its nodes try. Threads grow whole trees, and the trees are joined in the order of
// the seeds, so the bits do not depend on the number of threads. The GIL is released throughout.

#include <algorithm>
#include <string>

#include <nanobind/stl/string.h>

#include "core/views.hpp"
#include "trees/arrays.hpp"
#include "trees/forest/columns/forest_columns.hpp"
#include "trees/forest/forest_growing.hpp"
#include "trees/weight_unit.hpp"

namespace thetahat {

namespace {

using namespace trees;

// The trees one after the other: nodes, where each tree begins, rows of values and sets (numbered
// from `first_value` and `first_set` on), and of each leaf its count, weight and impurity.
// Last, the gains of the columns that each tree uses.
nb::tuple put_together(std::vector<GrownTree> &&grown, std::size_t width, std::size_t first_value,
                       std::size_t first_set) {
    std::size_t n_gains = 0, n_nodes = 0, n_leaves = 0, n_values = 0, n_sets = 0, words = 0,
                n_impurities = 0;
    for (const GrownTree &tree : grown) {
        n_nodes += tree.nodes.size();
        n_gains += tree.gains.size();
        n_leaves += tree.counts.size();
        n_impurities += tree.impurities.size();
        n_values += tree.values.size() / width;
        n_sets += tree.sets.size();
        for (const CategorySet &set : tree.sets)
            words = std::max(words, set.words.size());
    }
    require(first_value + n_values <= std::size_t{1} << 31 && first_set + n_sets <= std::size_t{1}
                                                                                        << 31,
            "a forest has at most 2^31 leaves with values of their own");
    std::vector<std::uint8_t> nodes(n_nodes * sizeof(PackedNode));
    std::vector<std::uint8_t> gains(n_gains * sizeof(ColumnGain));
    std::vector<std::int64_t> sizes;
    std::vector<double> values, weights, impurities;
    std::vector<std::uint32_t> counts, sets(n_sets * words, 0u);
    values.reserve(n_values * width);
    weights.reserve(n_leaves);
    impurities.reserve(n_impurities);
    counts.reserve(n_leaves);
    std::size_t node = 0, set = 0, gain = 0;
    for (GrownTree &tree : grown) {
        const auto own = static_cast<std::int32_t>(first_value + values.size() / width);
        for (PackedNode &packed : tree.nodes) {
            if (packed.feature < 0 && packed.child < 0)
                packed.child = own + (-1 - packed.child);
            else if (packed.feature >= 0 && packed.feature & categorical_flag)
                packed.threshold += static_cast<double>(first_set + set);
        }
        std::memcpy(nodes.data() + node * sizeof(PackedNode), tree.nodes.data(),
                    tree.nodes.size() * sizeof(PackedNode));
        node += tree.nodes.size();
        for (ColumnGain &of : tree.gains)
            of.tree = static_cast<std::int32_t>(sizes.size());
        if (!tree.gains.empty())
            std::memcpy(gains.data() + gain * sizeof(ColumnGain), tree.gains.data(),
                        tree.gains.size() * sizeof(ColumnGain));
        gain += tree.gains.size();
        sizes.push_back(static_cast<std::int64_t>(tree.nodes.size()));
        for (const CategorySet &of : tree.sets)
            std::copy(of.words.begin(), of.words.end(), sets.begin() + set++ * words);
        values.insert(values.end(), tree.values.begin(), tree.values.end());
        counts.insert(counts.end(), tree.counts.begin(), tree.counts.end());
        weights.insert(weights.end(), tree.weights.begin(), tree.weights.end());
        impurities.insert(impurities.end(), tree.impurities.begin(), tree.impurities.end());
        tree = GrownTree{};
    }
    return nb::make_tuple(
        owned(std::move(nodes), {n_nodes, sizeof(PackedNode)}),
        owned(std::move(sizes), {grown.size()}), owned(std::move(values), {n_values, width}),
        owned(std::move(sets), {n_sets, words}), owned(std::move(counts), {n_leaves}),
        owned(std::move(weights), {n_leaves}), owned(std::move(impurities), {n_impurities}),
        owned(std::move(gains), {n_gains, sizeof(ColumnGain)}));
}

nb::tuple grow_forest(const ForestColumns &columns, Vector<const std::int8_t> monotone,
                      Matrix<const double> y, Vector<const double> weight, std::size_t n_classes,
                      const std::string &criterion, Vector<const std::uint64_t> seeds,
                      std::size_t draws, bool balanced, bool replacement,
                      std::uint32_t max_features, std::uint32_t features_per_tree,
                      std::uint32_t max_candidates, std::size_t exact_rows, std::uint32_t max_depth,
                      std::size_t max_leaves, std::size_t min_split, std::size_t min_leaf,
                      double min_weight_share, double min_decrease, std::size_t first_value,
                      std::size_t first_set, int threads) {
    const std::size_t n = columns.n_rows, d = columns.n_columns;
    require(y.shape(0) == n && y.shape(1) >= 1, "y must have a row per row of the columns");
    require(weight.shape(0) == 0 || weight.shape(0) == n, "weight must be empty or match the rows");
    require(monotone.shape(0) == 0 || monotone.shape(0) == d,
            "monotone must be empty or name every column");
    require(1 <= features_per_tree && features_per_tree <= d && 1 <= max_features,
            "a tree and a node look at one column at least, and at none twice");
    const Potential potential = potential_of(criterion);
    require(counts_classes(potential) == (n_classes > 0), "criterion and targets must match");
    if (n_classes > 0)
        for (std::size_t i = 0; i < y.size(); ++i)
            require(y.data()[i] >= 0.0 && y.data()[i] < static_cast<double>(n_classes),
                    "classes must be given by their codes");
    require(monotone.shape(0) == 0 || (y.shape(1) == 1 && n_classes <= 2),
            "monotonic constraints need one output, and two classes at most");

    const ForestTargets targets{y.data(), n, y.shape(1), n_classes, potential};
    Growth growth;
    growth.max_depth = max_depth;
    growth.best_first = max_leaves > 0;
    if (max_leaves > 0)
        growth.max_leaves = max_leaves;
    const ForestRules rules{.max_features = max_features,
                            .features_per_tree = features_per_tree,
                            .max_candidates = max_candidates,
                            .exact_rows = exact_rows,
                            .min_split = min_split,
                            .min_leaf = min_leaf,
                            .min_weight_share = min_weight_share,
                            .min_decrease = min_decrease,
                            .monotone = monotone.shape(0) ? monotone.data() : nullptr,
                            .growth = growth};
    const UnitWeights unit(weight);
    const double *weights = unit.data();
    std::vector<GrownTree> grown;
    {
        nb::gil_scoped_release unlocked;
        const std::vector<double> cumulative = cumulative_weights(draws ? weights : nullptr, n);
        const RowDraw draw{weights, n, draws, cumulative, balanced, replacement};
        grown = std::visit(
            [&](const auto &view) {
                return grow_all(view, targets, rules, draw, seeds.data(), seeds.shape(0), threads);
            },
            columns.view);
    }
    for (GrownTree &tree : grown)
        for (double &of_leaf : tree.weights)
            of_leaf = unit.to_given(of_leaf);
    const std::size_t width = y.shape(1) * std::max<std::size_t>(n_classes, 1);
    return put_together(std::move(grown), width, first_value, first_set);
}

void drawn_counts(std::uint64_t seed, std::size_t draws, Vector<const double> weight,
                  Vector<std::uint32_t> out, bool replacement) {
    require(out.shape(0) > 0, "out must have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == out.shape(0),
            "weight must be empty or match the rows");
    std::vector<std::uint32_t> counts(out.shape(0));
    const double *weights = weight.shape(0) ? weight.data() : nullptr;
    if (replacement)
        draw_rows(seed, draws, cumulative_weights(weights, counts.size()), counts);
    else
        draw_distinct_rows(seed, draws, weights, counts);
    std::copy(counts.begin(), counts.end(), out.data());
}

} // namespace

void bind_forest(nb::module_ &module) {
    module.def("grow_forest", &grow_forest, nb::arg("columns"), nb::arg("monotone"), nb::arg("y"),
               nb::arg("weight"), nb::arg("n_classes"), nb::arg("criterion"), nb::arg("seeds"),
               nb::arg("draws"), nb::arg("balanced"), nb::arg("replacement"),
               nb::arg("max_features"), nb::arg("features_per_tree"), nb::arg("max_candidates"),
               nb::arg("exact_rows"), nb::arg("max_depth"), nb::arg("max_leaves"),
               nb::arg("min_split"), nb::arg("min_leaf"), nb::arg("min_weight_share"),
               nb::arg("min_decrease"), nb::arg("first_value"), nb::arg("first_set"),
               nb::arg("threads"));
    module.def("drawn_counts", &drawn_counts, nb::arg("seed"), nb::arg("draws"), nb::arg("weight"),
               nb::arg("out").noconvert(), nb::arg("replacement"));
}

} // namespace thetahat
