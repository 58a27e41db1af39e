// Forests: many trees side by side, each on its own draw of the rows.
//
// A tree is a function of its seed: the rows it draws, the columns and thresholds its nodes look
// at. Threads take whole trees, and what they grew is put together in the order of the seeds, so
// the bits do not depend on the number of threads. The GIL is released throughout.

#include <exception>
#include <string>

#include <nanobind/stl/string.h>

#include "../kernels.hpp"
#include "../parallel.hpp"
#include "arrays.hpp"
#include "drawn_rows.hpp"
#include "forest_tree.hpp"

namespace thetahat {

namespace {

using namespace trees;

// The criteria of two classes, from the weight of the second alone.
struct GiniOfTwo : Squares<1> {
    double unit() const { return 2.0; } // both classes deviate by the same
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

// use(statistics, criterion, answer) for the targets at hand.
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

// The weights of the rows of one tree.
struct RowDraw {
    const double *weight; // null: all 1
    std::size_t n, draws; // 0 draws: every row, as often as it weighs
    const std::vector<double> &cumulative;
    bool balanced; // classes weigh the same in every draw

    std::vector<double> weights(std::uint64_t seed, const ForestTargets &targets) const {
        std::vector<double> weights(n, 1.0);
        if (draws == 0) {
            if (weight)
                std::copy(weight, weight + n, weights.begin());
            return weights;
        }
        std::vector<std::uint32_t> counts(n);
        draw_rows(seed, draws, cumulative, counts);
        std::copy(counts.begin(), counts.end(), weights.begin());
        if (balanced)
            balance(counts, weights, targets);
        return weights;
    }

    void balance(const std::vector<std::uint32_t> &counts, std::vector<double> &weights,
                 const ForestTargets &targets) const {
        for (std::size_t k = 0; k < targets.outputs; ++k) {
            const auto code = [&](std::size_t i) {
                return static_cast<std::size_t>(targets.y[i * targets.outputs + k]);
            };
            std::vector<double> of_class(targets.classes, 0.0);
            for (std::size_t i = 0; i < n; ++i)
                of_class[code(i)] += counts[i];
            double present = 0.0;
            for (const double count : of_class)
                present += count > 0.0;
            for (std::size_t i = 0; i < n; ++i)
                if (counts[i])
                    weights[i] *= static_cast<double>(draws) / (present * of_class[code(i)]);
        }
    }
};

template <typename Code>
std::vector<GrownTree> grow_all(const CodedColumns<Code> &columns, const ForestTargets &targets,
                                const ForestRules &rules, const RowDraw &draw,
                                const std::uint64_t *seeds, std::size_t n_trees, int threads) {
    std::vector<GrownTree> grown(n_trees);
    std::vector<std::exception_ptr> failures(n_trees);
    with_targets(targets, [&](const auto &statistics, const auto &criterion, const auto &answer) {
        for_each_piece(n_trees, threads, [&](std::size_t t) {
            try {
                ForestTree engine(columns, statistics, criterion, answer, rules);
                grown[t] = engine.grow_on(seeds[t], draw.weights(seeds[t], targets));
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

// The trees one after the other: nodes, where each tree begins, rows of values and sets (numbered
// from `first_value` and `first_set` on), and of each leaf its count, weight and impurity.
nb::tuple put_together(std::vector<GrownTree> &&grown, std::size_t width, std::size_t n_columns,
                       std::size_t first_value, std::size_t first_set) {
    std::size_t n_nodes = 0, n_leaves = 0, n_values = 0, n_sets = 0, words = 0, n_impurities = 0;
    for (const GrownTree &tree : grown) {
        n_nodes += tree.nodes.size();
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
    std::vector<std::int64_t> sizes;
    std::vector<double> values, weights, impurities, gains;
    std::vector<std::uint32_t> counts, sets(n_sets * words, 0u);
    values.reserve(n_values * width);
    weights.reserve(n_leaves);
    impurities.reserve(n_impurities);
    counts.reserve(n_leaves);
    gains.reserve(grown.size() * n_columns);
    std::size_t node = 0, set = 0;
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
        sizes.push_back(static_cast<std::int64_t>(tree.nodes.size()));
        for (const CategorySet &of : tree.sets)
            std::copy(of.words.begin(), of.words.end(), sets.begin() + set++ * words);
        values.insert(values.end(), tree.values.begin(), tree.values.end());
        counts.insert(counts.end(), tree.counts.begin(), tree.counts.end());
        weights.insert(weights.end(), tree.weights.begin(), tree.weights.end());
        impurities.insert(impurities.end(), tree.impurities.begin(), tree.impurities.end());
        gains.insert(gains.end(), tree.gains.begin(), tree.gains.end());
        tree = GrownTree{};
    }
    return nb::make_tuple(
        owned(std::move(nodes), {n_nodes, sizeof(PackedNode)}),
        owned(std::move(sizes), {grown.size()}), owned(std::move(values), {n_values, width}),
        owned(std::move(sets), {n_sets, words}), owned(std::move(counts), {n_leaves}),
        owned(std::move(weights), {n_leaves}), owned(std::move(impurities), {n_impurities}),
        owned(std::move(gains), {grown.size(), n_columns}));
}

template <typename Code>
nb::tuple
grow_forest(Matrix<const Code> codes, Vector<const std::uint32_t> n_codes,
            Vector<const std::int64_t> first, Vector<const double> lowest,
            Vector<const double> highest, Vector<const std::uint8_t> categorical,
            Vector<const std::int8_t> monotone, Matrix<const double> y, Vector<const double> weight,
            std::size_t n_classes, const std::string &criterion, Vector<const std::uint64_t> seeds,
            std::size_t draws, bool balanced, std::uint32_t max_features,
            std::uint32_t features_per_tree, std::uint32_t max_candidates, bool random_thresholds,
            std::uint32_t max_depth, std::size_t max_leaves, std::size_t min_split,
            std::size_t min_leaf, double min_weight_share, double min_decrease,
            std::size_t first_value, std::size_t first_set, int threads) {
    const std::size_t d = codes.shape(0), n = codes.shape(1);
    require(d > 0 && n > 0 && n < std::numeric_limits<std::uint32_t>::max(),
            "codes must have columns, and rows that 32 bits can number");
    require(n_codes.shape(0) == d && categorical.shape(0) == d && first.shape(0) == d + 1,
            "n_codes, categorical and first must describe every column");
    require(lowest.shape(0) == highest.shape(0), "every code needs both bounds");
    for (std::size_t j = 0; j < d; ++j) {
        const std::int64_t begin = first.data()[j], end = first.data()[j + 1];
        require(0 <= begin && begin <= end && static_cast<std::size_t>(end) <= lowest.shape(0) &&
                    static_cast<std::uint64_t>(end - begin) >= n_codes.data()[j],
                "every code needs both bounds");
        const Code *column = codes.data() + j * n;
        require(*std::max_element(column, column + n) <= n_codes.data()[j],
                "a code must not exceed the number of codes, which means missing");
    }
    require(y.shape(0) == n && y.shape(1) >= 1, "y must have a row per row of codes");
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

    const CodedColumns<Code> columns{
        codes.data(),      n, d, n_codes.data(), first.data(), lowest.data(), highest.data(),
        categorical.data()};
    const ForestTargets targets{y.data(), n, y.shape(1), n_classes, potential};
    Growth growth;
    growth.max_depth = max_depth;
    growth.best_first = max_leaves > 0;
    if (max_leaves > 0)
        growth.max_leaves = max_leaves;
    const ForestRules rules{max_features,
                            features_per_tree,
                            max_candidates,
                            random_thresholds,
                            min_split,
                            min_leaf,
                            min_weight_share,
                            min_decrease,
                            monotone.shape(0) ? monotone.data() : nullptr,
                            growth};
    const double *weights = weight.shape(0) ? weight.data() : nullptr;
    std::vector<GrownTree> grown;
    {
        nb::gil_scoped_release unlocked;
        const std::vector<double> cumulative = cumulative_weights(draws ? weights : nullptr, n);
        const RowDraw draw{weights, n, draws, cumulative, balanced};
        grown = grow_all(columns, targets, rules, draw, seeds.data(), seeds.shape(0), threads);
    }
    const std::size_t width = y.shape(1) * std::max<std::size_t>(n_classes, 1);
    return put_together(std::move(grown), width, d, first_value, first_set);
}

void drawn_counts(std::uint64_t seed, std::size_t draws, Vector<const double> weight,
                  Vector<std::uint32_t> out) {
    require(out.shape(0) > 0, "out must have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == out.shape(0),
            "weight must be empty or match the rows");
    std::vector<std::uint32_t> counts(out.shape(0));
    const double *weights = weight.shape(0) ? weight.data() : nullptr;
    draw_rows(seed, draws, cumulative_weights(weights, counts.size()), counts);
    std::copy(counts.begin(), counts.end(), out.data());
}

template <typename Code> void bind(nb::module_ &module) {
    module.def("grow_forest", &grow_forest<Code>, nb::arg("codes").noconvert(), nb::arg("n_codes"),
               nb::arg("first"), nb::arg("lowest"), nb::arg("highest"), nb::arg("categorical"),
               nb::arg("monotone"), nb::arg("y"), nb::arg("weight"), nb::arg("n_classes"),
               nb::arg("criterion"), nb::arg("seeds"), nb::arg("draws"), nb::arg("balanced"),
               nb::arg("max_features"), nb::arg("features_per_tree"), nb::arg("max_candidates"),
               nb::arg("random_thresholds"), nb::arg("max_depth"), nb::arg("max_leaves"),
               nb::arg("min_split"), nb::arg("min_leaf"), nb::arg("min_weight_share"),
               nb::arg("min_decrease"), nb::arg("first_value"), nb::arg("first_set"),
               nb::arg("threads"));
}

} // namespace

void bind_forest(nb::module_ &module) {
    bind<std::uint8_t>(module);
    bind<std::uint32_t>(module);
    module.def("drawn_counts", &drawn_counts, nb::arg("seed"), nb::arg("draws"), nb::arg("weight"),
               nb::arg("out").noconvert());
}

} // namespace thetahat
