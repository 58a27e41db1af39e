// Growing one tree on sorted columns, by any criterion of criteria.hpp or by absolute errors.
//
// The top of the tree is grown node by node, with its columns distributed over threads. The
// subtrees below are grown in parallel, each by one thread, and attached in the order in which they
// were postponed. If the order of growth matters (best first), the whole tree is grown node by
// node.

#include <algorithm>
#include <cmath>
#include <string>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/views.hpp"
#include "trees/arrays.hpp"
#include "trees/exact/absolute.hpp"
#include "trees/exact/statistic_engine.hpp"
#include "trees/weight_unit.hpp"

namespace thetahat {

namespace {

using namespace trees;

constexpr const char *absolute_error = "absolute_error";

// Replace a leaf of a tree by another tree.
void graft(Tree &tree, std::int32_t leaf, Tree &&branch) {
    const auto shift = static_cast<std::int32_t>(tree.nodes.size()) - 1;
    const auto first_set = static_cast<std::int32_t>(tree.sets.size());
    for (Node &node : branch.nodes) {
        if (node.feature == none)
            continue;
        node.left += shift;
        if (node.set != none)
            node.set += first_set;
    }
    tree.nodes[static_cast<std::size_t>(leaf)] = branch.nodes[0];
    tree.nodes.insert(tree.nodes.end(), branch.nodes.begin() + 1, branch.nodes.end());
    tree.values.insert(tree.values.end(),
                       branch.values.begin() + static_cast<std::ptrdiff_t>(branch.width),
                       branch.values.end());
    std::move(branch.sets.begin(), branch.sets.end(), std::back_inserter(tree.sets));
}

template <typename Measure>
void grow_with(Field &field, const Measure &measure, const Settings &settings, const Growth &growth,
               Tree &tree) {
    using Engine = StatisticEngine<Measure>;
    const bool whole = growth.best_first || growth.max_leaves < field.rows.size();
    const std::size_t postpone_below = whole ? 0
                                       : field.columns.sparse
                                           ? shared_work
                                           : shared_work / field.columns.n_columns + 1;
    Engine engine(field, measure, settings, postpone_below, settings.threads);
    grow(engine, tree, growth);

    auto &roots = engine.postponed;
    std::vector<Tree> branches(roots.size(), Tree{tree.width});
    const std::size_t workers = std::min<std::size_t>(roots.size(), settings.threads);
    std::atomic<std::size_t> next{0};
    for_each_piece(workers, settings.threads, [&](std::size_t) {
        Engine below(field, measure, settings, 0, 1);
        for (std::size_t b = next++; b < roots.size(); b = next++) {
            below.start = &roots[b];
            grow(below, branches[b], growth);
        }
    });
    for (std::size_t b = 0; b < roots.size(); ++b)
        graft(tree, roots[b].node, std::move(branches[b]));
}

// The rows of positive weight of a stretch, which may take its place.
void keep_weighted(const OrderedRow *from, std::size_t n, const Targets &targets, OrderedRow *to) {
    StretchWriter kept(to);
    for (std::size_t i = 0; i < n; ++i)
        kept.offer(from[i], targets.weight(from[i].number()) > 0.0);
    kept.finish();
}

// Rows of positive weight, and the columns without the other rows.
void enter_rows(Field &field, const Targets &targets, int threads, OrderedRow *own) {
    const SortedColumns &columns = field.columns;
    const std::size_t n = columns.n_rows;
    field.rows.reserve(n);
    for (std::uint32_t row = 0; row < n; ++row)
        if (targets.weight(row) > 0.0)
            field.rows.push_back(row);
    field.goes_left.assign(n, 0);
    if (columns.sparse) {
        field.sparse.reserve(columns.entries.size());
        for (std::uint32_t j = 0; j < columns.n_columns; ++j)
            for (const Entry &entry : columns.stored(j))
                if (targets.weight(entry.row) > 0.0)
                    field.sparse.push_back({j, entry.row, entry.code});
        return;
    }
    if (!columns.ordered)
        return;
    field.own = own;
    if (own) {
        field.root_in_columns = false;
        for_each_piece(field.rows.size() < n ? columns.n_columns : 0, threads, [&](std::size_t j) {
            keep_weighted(field.column(j), n, targets, field.column(j));
        });
        return;
    }
    field.root_in_columns = field.rows.size() == n;
    // Not initialised, so that a stump, which does not use it, does not touch the memory.
    field.order = std::make_unique_for_overwrite<OrderedRow[]>(n * columns.n_columns);
    if (field.root_in_columns)
        return;
    for_each_piece(columns.n_columns, threads, [&](std::size_t j) {
        keep_weighted(columns.column(j), n, targets, field.column(j));
    });
}

Tree grow_on(const SortedColumns &columns, const Targets &targets, const std::string &criterion,
             const Settings &settings, const Growth &growth, OrderedRow *own) {
    Field field(columns);
    enter_rows(field, targets, settings.threads, own);
    Tree tree{targets.width()};
    const auto grow_by = [&](const auto &measure) {
        grow_with(field, measure, settings, growth, tree);
    };
    if (criterion == absolute_error) {
        std::vector<std::uint32_t> ranks(columns.n_rows * targets.outputs);
        grow_by(AbsoluteMeasure(targets, ranks.data()));
        return tree;
    }
    const Potential potential = potential_of(criterion);
    const bool one_output = targets.outputs == 1;
    if (potential == Potential::squared && one_output)
        targets.weights ? grow_by(MeanMeasure<true>(targets))
                        : grow_by(MeanMeasure<false>(targets));
    else if (potential == Potential::gini && one_output && targets.classes == 2)
        targets.weights ? grow_by(MeanMeasure<true>(targets))
                        : grow_by(MeanMeasure<false>(targets));
    else if (potential == Potential::gini && one_output)
        grow_by(GiniMeasure(targets));
    else
        grow_by(SumsMeasure(targets, potential));
    return tree;
}

// Targets as slots of the sums; invalid classes raise an error.
void enter_classes(Targets &targets, std::size_t n) {
    targets.slots.resize(n * targets.outputs);
    for (std::size_t i = 0; i < targets.slots.size(); ++i) {
        const double code = targets.y[i];
        require(code >= 0.0 && code < static_cast<double>(targets.classes) &&
                    code == std::floor(code),
                "targets must be the codes of classes");
        targets.slots[i] = static_cast<std::uint32_t>(i % targets.outputs * targets.classes +
                                                      static_cast<std::size_t>(code));
    }
}

nb::tuple grow_statistic_tree(SortedColumns &columns, Matrix<const double> y,
                              Vector<const double> weight, const std::string &criterion,
                              std::size_t n_classes, std::size_t max_depth, std::size_t max_leaves,
                              bool best_first, std::size_t min_split, std::size_t min_leaf,
                              double min_weight, double min_decrease, double min_gain,
                              std::size_t max_features, bool at_values, bool category_subsets,
                              Vector<const std::int8_t> monotone, std::uint64_t seed, int threads,
                              bool random_ties, bool use_up) {
    require(columns.sparse || !columns.ordered || !columns.order.empty(),
            "another tree has used up these columns");
    const std::size_t n = columns.n_rows, d = columns.n_columns;
    require(y.shape(0) == n && y.shape(1) >= 1, "y must have one row per row of the columns");
    require(weight.shape(0) == n || weight.shape(0) == 0,
            "weight must have one entry per row, or none");
    require(monotone.shape(0) == d || monotone.shape(0) == 0,
            "monotone must have one entry per column, or none");
    require(max_features >= 1 && min_leaf >= 1, "max_features and min_leaf must be at least 1");
    const bool of_classes = criterion != absolute_error && counts_classes(potential_of(criterion));
    require(of_classes == (n_classes > 0),
            "gini, entropy and error take classes, the other criteria numbers");
    Targets targets;
    targets.outputs = y.shape(1);
    targets.classes = n_classes;
    targets.y = y.data();
    const UnitWeights weights(weight);
    targets.weights = weights.data();
    bool finite = true;
    for (std::size_t i = 0; i < n * targets.outputs; ++i)
        finite = finite && std::isfinite(targets.y[i]);
    require(finite, "targets must be finite");
    if (n_classes > 0)
        enter_classes(targets, n);

    Settings settings;
    settings.min_split = min_split;
    settings.min_leaf = min_leaf;
    settings.min_weight = weights.from_given(min_weight);
    settings.min_decrease = min_decrease;
    settings.min_gain = min_gain;
    settings.max_features = max_features;
    settings.at_values = at_values;
    settings.category_subsets = category_subsets;
    settings.random_ties = random_ties;
    settings.seed = seed;
    settings.threads = std::max(1, threads);
    settings.monotone.assign(monotone.data(), monotone.data() + monotone.shape(0));
    require(settings.monotone.empty() || targets.width() == 1 ||
                (n_classes == 2 && y.shape(1) == 1),
            "monotone columns need one output of numbers or two classes");
    Growth growth;
    growth.max_depth =
        static_cast<std::uint32_t>(std::min<std::size_t>(max_depth, growth.max_depth));
    growth.max_leaves = std::max<std::size_t>(1, max_leaves);
    growth.best_first = best_first;
    Tree tree;
    {
        nb::gil_scoped_release unlocked;
        const bool own = use_up && columns.ordered && !columns.sparse;
        tree = grow_on(columns, targets, criterion, settings, growth,
                       own ? columns.order.data() : nullptr);
        if (own)
            columns.order = {};
    }
    for (Node &node : tree.nodes)
        node.weight = weights.to_given(node.weight);
    return as_arrays(tree);
}

} // namespace

void bind_statistic_tree(nb::module_ &module) {
    module.def("grow_statistic_tree", &grow_statistic_tree, nb::arg("columns"), nb::arg("y"),
               nb::arg("weight"), nb::kw_only(), nb::arg("criterion"), nb::arg("n_classes"),
               nb::arg("max_depth"), nb::arg("max_leaves"), nb::arg("best_first"),
               nb::arg("min_split"), nb::arg("min_leaf"), nb::arg("min_weight"),
               nb::arg("min_decrease"), nb::arg("min_gain"), nb::arg("max_features"),
               nb::arg("at_values"), nb::arg("category_subsets"), nb::arg("monotone"),
               nb::arg("seed"), nb::arg("threads"), nb::arg("random_ties") = false,
               nb::arg("use_up") = false);
}

} // namespace thetahat
