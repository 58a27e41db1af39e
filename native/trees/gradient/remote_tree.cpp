// One tree of gradient boosting whose rows are on other machines.
//
// There: `gradient_sums` gives the sums from which the scales of the integers follow,
// `gradient_words` the integers of the rows, and `leaf_histograms` their sums by column and code.
// Here: `gradient_scales`, and `grow_from_histograms`, which grows the tree from merged sums and
// calls `divide` for those of further leaves. Each function uses one thread for the rows, in their
// order; merging words is exact.

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/arrays.hpp"
#include "trees/gradient/checked_bins.hpp"
#include "trees/gradient/remote_rows.hpp"

namespace thetahat {

namespace {

using namespace trees;

template <typename T> using Cube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Sums = std::tuple<double, double, double, double, bool>;
using Scales = std::tuple<double, double, bool, bool, bool, bool, std::int64_t>;

constexpr std::size_t n_facts = 6; // Σ w·g, Σ w·h, Σ w, Σ w·g², Σ w², number of rows

Gradients checked(const Vector<const double> &gradient, const Vector<const double> &hessian,
                  const Vector<const double> &weight) {
    const std::size_t n = gradient.shape(0);
    require(hessian.shape(0) == 0 || hessian.shape(0) == n,
            "hessian must be empty or have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    return {gradient.data(), hessian.shape(0) ? hessian.data() : nullptr,
            weight.shape(0) ? weight.data() : nullptr};
}

Sums gradient_sums(Vector<const double> gradient, Vector<const double> hessian,
                   Vector<const double> weight) {
    const GradientSums sums =
        sums_of(checked(gradient, hessian, weight), nullptr, gradient.shape(0), 1);
    return {sums.gradient, sums.hessian, sums.weight, sums.largest, sums.whole};
}

Scales gradient_scales(const Sums &sums, std::size_t n_rows, bool counts) {
    const auto &[gradient, hessian, weight, largest, whole] = sums;
    const PackedScales scales =
        scales_of({gradient, hessian, weight, largest, whole}, n_rows, counts);
    return {scales.gradient_scale, scales.hessian_scale, scales.counts,         scales.whole,
            scales.exact_counts,   scales.dither,        scales.largest_hessian};
}

PackedScales scales_from(const Scales &given) {
    const auto &[gradient, hessian, counts, whole, exact, dither, largest] = given;
    return {gradient, hessian, counts, whole, exact, dither, largest};
}

nb::object gradient_words(Vector<const double> gradient, Vector<const double> hessian,
                          Vector<const double> weight, const Scales &scales, std::uint32_t first,
                          std::uint32_t seed) {
    const Gradients gradients = checked(gradient, hessian, weight);
    std::vector<std::int64_t> words(gradient.shape(0));
    pack_words(gradients, nullptr, words.size(), scales_from(scales), first, seed, 1, words.data());
    const std::size_t n = words.size();
    return owned(std::move(words), {n});
}

// Histograms of the leaves whose rows are rows[bounds[k]:bounds[k + 1]]: sums of words, and of
// weights (1 where `weight` is empty) if `with_weights`.
nb::tuple leaf_histograms(Matrix<const std::uint8_t> by_row, std::size_t d, std::size_t stride,
                          Vector<const std::uint32_t> rows, Vector<const std::int64_t> bounds,
                          Vector<const std::int64_t> words, Vector<const double> weight,
                          bool with_weights) {
    const std::size_t n = by_row.shape(0), n_leaves = bounds.shape(0) ? bounds.shape(0) - 1 : 0;
    require(d > 0 && d <= by_row.shape(1) && stride >= 2 && stride <= 256,
            "by_row must hold the codes of all columns");
    require(words.shape(0) == n && (weight.shape(0) == 0 || weight.shape(0) == n),
            "there must be one word and one weight per row");
    for (std::size_t k = 0; k < n_leaves; ++k)
        require(0 <= bounds.data()[k] && bounds.data()[k] <= bounds.data()[k + 1] &&
                    static_cast<std::size_t>(bounds.data()[k + 1]) <= rows.shape(0),
                "bounds must be places in rows, in ascending order");
    for (std::size_t i = 0; i < rows.shape(0); ++i)
        require(rows.data()[i] < n, "rows must be numbers of rows");
    const CodeRows codes{by_row.data(), by_row.shape(1), nullptr, n, d};
    const std::size_t size = d * stride, n_weighted = with_weights ? n_leaves : 0;
    std::vector<std::int64_t> sums(n_leaves * size);
    std::vector<double> weights(n_weighted * size);
    {
        nb::gil_scoped_release unlocked;
        // A code beyond the stride would be written behind the histogram.
        std::vector<std::int64_t> own(size + most_codes);
        std::vector<double> counted(n_weighted ? size + most_codes : 0);
        for (std::size_t k = 0; k < n_leaves; ++k) {
            const auto begin = static_cast<std::size_t>(bounds.data()[k]);
            const auto end = static_cast<std::size_t>(bounds.data()[k + 1]);
            std::fill(own.begin(), own.end(), 0);
            for (std::size_t first = 0; first < d; first += columns_at_once)
                accumulate(codes, rows.data() + begin, end - begin, words.data(), first,
                           std::min(d, first + columns_at_once), stride, own.data());
            std::copy(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(size),
                      sums.begin() + static_cast<std::ptrdiff_t>(k * size));
            if (!with_weights)
                continue;
            std::fill(counted.begin(), counted.end(), 0.0);
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t row = rows.data()[i];
                const double w = weight.shape(0) ? weight.data()[row] : 1.0;
                for (std::size_t j = 0; j < d; ++j)
                    counted[j * stride + codes.at(row, j)] += w;
            }
            std::copy(counted.begin(), counted.begin() + static_cast<std::ptrdiff_t>(size),
                      weights.begin() + static_cast<std::ptrdiff_t>(k * size));
        }
    }
    return nb::make_tuple(owned(std::move(sums), {n_leaves, d, stride}),
                          owned(std::move(weights), {n_weighted, d, stride}));
}

RemoteLeaf leaf_from(const double *facts) {
    RemoteLeaf leaf;
    leaf.sums = {facts[0], facts[1], facts[2], facts[3], static_cast<std::int64_t>(facts[5])};
    leaf.squared_weights = facts[4];
    return leaf;
}

// `facts` of every child, and histograms of those that were wanted.
std::vector<RemoteLeaf> leaves_from(nb::handle answer, const std::vector<Side> &sides,
                                    std::size_t d, std::size_t stride, bool weighted) {
    const auto [facts, words, weights] =
        nb::cast<std::tuple<Cube<const double>, Cube<const std::int64_t>, Cube<const double>>>(
            answer);
    const auto n_counted = static_cast<std::size_t>(
        std::count_if(sides.begin(), sides.end(), [](Side side) { return side != Side::none; }));
    require(facts.shape(0) == sides.size() && facts.shape(1) == 2 && facts.shape(2) == n_facts,
            "divide must give the sums of both children of every leaf");
    require(words.shape(0) == n_counted && words.shape(1) == d && words.shape(2) == stride,
            "divide must give the histograms that were asked for");
    require(weights.shape(0) == (weighted ? n_counted : 0) && weights.shape(1) == d &&
                weights.shape(2) == stride,
            "divide must give the weights by code of the same leaves");
    std::vector<RemoteLeaf> leaves;
    std::size_t at = 0;
    const std::size_t size = d * stride;
    for (std::size_t k = 0; k < sides.size(); ++k) {
        for (std::size_t side = 0; side < 2; ++side)
            leaves.push_back(leaf_from(facts.data() + (2 * k + side) * n_facts));
        if (sides[k] == Side::none)
            continue;
        RemoteLeaf &leaf = leaves[2 * k + (sides[k] == Side::right)];
        leaf.counted = true;
        leaf.words.assign(words.data() + at * size, words.data() + (at + 1) * size);
        if (weighted)
            leaf.weights.assign(weights.data() + at * size, weights.data() + (at + 1) * size);
        ++at;
    }
    return leaves;
}

template <typename T> nb::object array_of(const std::vector<Proposal> &leaves, T Proposal::*field) {
    std::vector<T> numbers;
    for (const Proposal &leaf : leaves)
        numbers.push_back(leaf.*field);
    return owned(std::move(numbers), {leaves.size()});
}

nb::tuple
grow_from_histograms(Vector<const double> cuts, Vector<const std::int64_t> cut_offsets,
                     Vector<const std::uint8_t> lookup, Vector<const std::int64_t> lookup_offsets,
                     Vector<const double> facts, Cube<const std::int64_t> words,
                     Cube<const double> weights, const Scales &given_scales, std::size_t max_leaves,
                     std::size_t max_depth, double min_split, double min_rows, double min_hessian,
                     double min_gain, double l2, bool rows_by_curvature, std::size_t max_features,
                     Vector<const std::int8_t> monotonic, Matrix<const std::uint8_t> groups,
                     std::uint32_t seed, nb::callable divide) {
    const std::size_t d = words.shape(1), stride = words.shape(2), size = d * stride;
    const BinTable bins = checked_bins(d, cuts, cut_offsets, lookup, lookup_offsets);
    const GivenRules given{max_leaves,   max_depth, min_split, min_rows,
                           min_hessian,  min_gain,  l2,        rows_by_curvature,
                           max_features, monotonic, groups,    seed};
    const GradientRules rules = given.checked(d);
    require(stride == 1 + *std::max_element(bins.n_bins.begin(), bins.n_bins.end()),
            "histograms must have one sum per code");
    PackedGradients packed{scales_from(given_scales)};
    const bool weighted = !packed.counts && !rows_by_curvature;
    require(facts.shape(0) == n_facts && words.shape(0) == 1 &&
                weights.shape(0) == (weighted ? 1u : 0u) && weights.shape(1) == d &&
                weights.shape(2) == stride,
            "the root needs its sums, its histogram and its weights by code");
    RemoteLeaf root = leaf_from(facts.data());
    require(root.sums.count > 0, "there must be rows");
    root.words.assign(words.data(), words.data() + size);
    if (weighted)
        root.weights.assign(weights.data(), weights.data() + size);
    const Growth growth = given.growth(static_cast<std::size_t>(root.sums.count));
    RemoteRows rows(
        std::move(root), d, stride, growth,
        [&](const std::vector<Proposal> &leaves, const std::vector<Side> &sides) {
            std::vector<std::uint8_t> goes_left, wanted;
            for (const Proposal &leaf : leaves)
                goes_left.insert(goes_left.end(), leaf.goes_left.begin(), leaf.goes_left.end());
            for (const Side side : sides)
                wanted.push_back(static_cast<std::uint8_t>(side));
            const nb::object answer =
                divide(array_of(leaves, &Proposal::place), array_of(leaves, &Proposal::feature),
                       owned(std::move(goes_left), {leaves.size(), most_codes}),
                       owned(std::move(wanted), {leaves.size()}));
            return leaves_from(answer, sides, d, stride, weighted);
        });
    const CodeRows codes{nullptr, 0, nullptr, 0, d};
    Tree tree;
    GradientEngine engine(rows, codes, bins, packed, rules, 1);
    grow(engine, tree, growth);
    std::vector<LeafSums> sums(tree.nodes.size());
    std::vector<std::int32_t> nodes; // of the tree, by place
    for (const RemoteLeaf &leaf : rows.leaves()) {
        nodes.push_back(leaf.node >= 0 ? leaf.node : nodes[static_cast<std::size_t>(leaf.parent)]);
        if (leaf.node >= 0 && tree.nodes[static_cast<std::size_t>(leaf.node)].left == none)
            sums[static_cast<std::size_t>(leaf.node)] = leaf.sums;
    }
    fill_nodes(tree, sums, engine.leaves, l2, packed.hessian_scale / packed.gradient_scale);
    const std::size_t n_places = nodes.size();
    return nb::make_tuple(as_arrays(tree), owned(std::move(nodes), {n_places}));
}

} // namespace

void bind_remote_tree(nb::module_ &module) {
    module.def("gradient_sums", &gradient_sums, nb::arg("gradient").noconvert(),
               nb::arg("hessian").noconvert(), nb::arg("weight").noconvert());
    module.def("gradient_scales", &gradient_scales, nb::arg("sums"), nb::arg("n_rows"),
               nb::arg("counts"));
    module.def("gradient_words", &gradient_words, nb::arg("gradient").noconvert(),
               nb::arg("hessian").noconvert(), nb::arg("weight").noconvert(), nb::arg("scales"),
               nb::arg("first"), nb::arg("seed"));
    module.def("leaf_histograms", &leaf_histograms, nb::arg("by_row").noconvert(),
               nb::arg("n_columns"), nb::arg("stride"), nb::arg("rows").noconvert(),
               nb::arg("bounds"), nb::arg("words").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("with_weights"));
    module.def("grow_from_histograms", &grow_from_histograms, nb::arg("cuts"),
               nb::arg("cut_offsets"), nb::arg("lookup"), nb::arg("lookup_offsets"),
               nb::arg("facts"), nb::arg("words"), nb::arg("weights"), nb::arg("scales"),
               nb::arg("max_leaves"), nb::arg("max_depth"), nb::arg("min_split"),
               nb::arg("min_rows"), nb::arg("min_hessian"), nb::arg("min_gain"), nb::arg("l2"),
               nb::arg("rows_by_curvature"), nb::arg("max_features"), nb::arg("monotonic"),
               nb::arg("groups"), nb::arg("seed"), nb::arg("divide"));
}

} // namespace thetahat
