// One tree of gradient boosting, and the values of its leaves.
//
//     value of a leaf = −Σ w·g / (Σ w·h + λ)
//
// Splits are found with gradients rounded to integers (packed_gradients.hpp). The numbers stored in
// the tree are sums of the unrounded gradients, over chunks of the rows of a leaf in ascending
// order, added chunk by chunk, so their bits depend on the data alone. Nodes above the leaves
// contain the sums of their children.
//
// `add_to_leaves` adds the number of a leaf to all its rows; `leaf_quantiles` computes weighted
// quantiles for each leaf, by selection instead of sorting if all rows have the same weight.

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/arrays.hpp"
#include "trees/gradient/checked_bins.hpp"
#include "trees/gradient/gradient_engine.hpp"
#include "trees/gradient/leaf_bounds.hpp"
#include "trees/gradient/local_rows.hpp"
#include "trees/gradient/node_values.hpp"

namespace thetahat {

namespace {

using namespace trees;

// Pieces of work: at most `sum_chunk` rows of one leaf.
struct Piece {
    std::size_t leaf, begin, end;
};

std::vector<Piece> pieces_of(const std::vector<std::int64_t> &bounds) {
    std::vector<Piece> pieces;
    for (std::size_t leaf = 0; leaf + 1 < bounds.size(); ++leaf) {
        const auto end = static_cast<std::size_t>(bounds[leaf + 1]);
        for (auto begin = static_cast<std::size_t>(bounds[leaf]); begin < end; begin += sum_chunk)
            pieces.push_back({leaf, begin, std::min(end, begin + sum_chunk)});
    }
    return pieces;
}

// Sums of the leaves, by node.
std::vector<LeafSums> leaf_sums(const Tree &tree, const Gradients &of,
                                const std::vector<std::uint32_t> &order,
                                const std::vector<ClosedLeaf> &leaves,
                                const std::vector<std::int64_t> &bounds, int threads) {
    const std::vector<Piece> pieces = pieces_of(bounds);
    std::vector<LeafSums> parts(pieces.size());
    for_each_piece(pieces.size(), threads, [&](std::size_t p) {
        LeafSums sums;
        for (std::size_t k = pieces[p].begin; k < pieces[p].end; ++k) {
            const std::size_t i = order[k];
            const double w = of.w(i), g = of.g(i), pull = w * g;
            sums.gradient += pull;
            sums.hessian += w * of.h(i);
            sums.weight += w;
            sums.squares += pull * g;
        }
        sums.count = static_cast<std::int64_t>(pieces[p].end - pieces[p].begin);
        parts[p] = sums;
    });
    std::vector<LeafSums> sums(tree.nodes.size());
    for (std::size_t p = 0; p < pieces.size(); ++p)
        sums[static_cast<std::size_t>(leaves[pieces[p].leaf].node)].add(parts[p]);
    return sums;
}

using Bytes = Matrix<const std::uint8_t>;

nb::tuple grow_on(const CodeRows &codes, Vector<const double> cuts,
                  Vector<const std::int64_t> cut_offsets, Vector<const std::uint8_t> lookup,
                  Vector<const std::int64_t> lookup_offsets, Vector<const std::uint32_t> rows,
                  Vector<const double> gradient, Vector<const double> hessian,
                  Vector<const double> weight, std::size_t max_leaves, std::size_t max_depth,
                  double min_split, double min_rows, double min_hessian, double min_gain, double l2,
                  bool rows_by_curvature, std::size_t max_features,
                  Vector<const std::int8_t> monotonic, Bytes groups, std::uint32_t seed,
                  int threads) {
    const std::size_t n = codes.n, d = codes.d;
    require(n > 0 && n < std::size_t{1} << 31, "there must be between 1 and 2^31 rows");
    require(gradient.shape(0) == n, "gradient must have one entry per row");
    require(hessian.shape(0) == 0 || hessian.shape(0) == n,
            "hessian must be empty or have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    const BinTable bins = checked_bins(d, cuts, cut_offsets, lookup, lookup_offsets);
    for (std::size_t j = 0; codes.sparse && j < d; ++j)
        require(codes.sparse->offsets[j + 1] - codes.sparse->offsets[j] == bins.n_bins[j] + 1,
                "sparse codes must be those of these bins");
    const GivenRules given{max_leaves,   max_depth, min_split, min_rows,
                           min_hessian,  min_gain,  l2,        rows_by_curvature,
                           max_features, monotonic, groups,    seed};
    const GradientRules rules = given.checked(d);
    std::vector<std::uint32_t> order(rows.shape(0) ? rows.shape(0) : n);
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = rows.shape(0) ? rows.data()[i] : static_cast<std::uint32_t>(i);
        require(order[i] < n && (i == 0 || order[i] > order[i - 1]),
                "rows must be ascending numbers of rows");
    }
    const Gradients gradients{gradient.data(), hessian.shape(0) ? hessian.data() : nullptr,
                              weight.shape(0) ? weight.data() : nullptr};
    Tree tree;
    std::vector<std::int32_t> nodes;
    std::vector<std::int64_t> bounds{0};
    {
        nb::gil_scoped_release unlocked;
        const int used = order.size() * d > 1u << 19 ? threads : 1;
        const PackedGradients packed =
            pack(gradients, rows.shape(0) ? order.data() : nullptr, order.size(), n, seed, used);
        LocalRows leaf_rows(codes, gradients, packed, order, rules, used);
        GradientEngine engine(leaf_rows, codes, bins, packed, rules, used);
        grow(engine, tree, given.growth(order.size()));
        std::sort(engine.leaves.begin(), engine.leaves.end(),
                  [](const ClosedLeaf &a, const ClosedLeaf &b) { return a.begin < b.begin; });
        for (const ClosedLeaf &leaf : engine.leaves) {
            nodes.push_back(leaf.node);
            bounds.push_back(static_cast<std::int64_t>(leaf.end));
        }
        std::vector<LeafSums> sums = leaf_sums(tree, gradients, order, engine.leaves, bounds, used);
        fill_nodes(tree, sums, engine.leaves, l2, packed.hessian_scale / packed.gradient_scale);
    }
    const std::size_t n_rows = order.size(), n_leaves = nodes.size();
    return nb::make_tuple(as_arrays(tree), owned(std::move(order), {n_rows}),
                          owned(std::move(nodes), {n_leaves}),
                          owned(std::move(bounds), {n_leaves + 1}));
}

// Arguments after the codes are those of `grow_on`.
template <typename... Arguments>
nb::tuple grow_gradient_tree(Bytes by_row, Bytes by_column, Arguments... arguments) {
    const std::size_t n = by_row.shape(0), d = by_column.shape(0);
    const bool twice = by_column.shape(1) > 0; // else by_column has d columns of no rows
    require((!twice || by_column.shape(1) == n) && by_row.shape(1) >= d && d > 0,
            "by_row must hold the codes of by_column, row by row");
    return grow_on({by_row.data(), by_row.shape(1), twice ? by_column.data() : nullptr, n, d},
                   arguments...);
}

template <typename... Arguments>
nb::tuple grow_sparse_gradient_tree(const SparseCodes &codes, Arguments... arguments) {
    return grow_on({nullptr, 0, nullptr, codes.n, codes.d, &codes}, arguments...);
}

// Codes of the entries other than zero of sparse rows, column by column.
SparseCodes sparse_codes(Vector<const std::int64_t> starts, Vector<const std::uint32_t> rows,
                         Vector<const std::uint8_t> codes, Vector<const std::int64_t> n_codes,
                         Vector<const std::uint8_t> zero, std::size_t n) {
    SparseCodes held;
    const std::size_t d = n_codes.shape(0), stored = rows.shape(0);
    require(n > 0 && n < std::size_t{1} << 31 && d > 0, "there must be rows and columns");
    require(starts.shape(0) == d + 1 && zero.shape(0) == d && codes.shape(0) == stored,
            "every column needs its entries, and a code of zero");
    held.n = n;
    held.d = d;
    held.column_starts.assign(starts.data(), starts.data() + d + 1);
    require(held.column_starts[0] == 0 && held.column_starts[d] == stored &&
                std::is_sorted(held.column_starts.begin(), held.column_starts.end()),
            "starts must bound every column");
    held.rows.assign(rows.data(), rows.data() + stored);
    held.codes.assign(codes.data(), codes.data() + stored);
    held.zero.assign(zero.data(), zero.data() + d);
    held.offsets.assign(d + 1, 0);
    held.row_starts.assign(n + 1, 0);
    for (std::size_t j = 0; j < d; ++j) {
        const std::int64_t width = n_codes.data()[j];
        require(width >= 2 && width <= 256 && held.zero[j] < width,
                "a column has between 1 and 255 bins, and a code for missing values");
        held.offsets[j + 1] = held.offsets[j] + static_cast<std::size_t>(width);
        for (std::size_t k = held.column_starts[j]; k < held.column_starts[j + 1]; ++k) {
            require(held.rows[k] < n && held.codes[k] < width, "an entry has no such row or code");
            ++held.row_starts[held.rows[k] + 1];
        }
    }
    require(held.offsets[d] < std::size_t{1} << 32, "there are too many bins");
    for (std::size_t i = 0; i < n; ++i)
        held.row_starts[i + 1] += held.row_starts[i];
    held.slots.resize(stored);
    held.columns.resize(stored);
    std::vector<std::size_t> next(held.row_starts.begin(), held.row_starts.end() - 1);
    for (std::size_t j = 0; j < d; ++j)
        for (std::size_t k = held.column_starts[j]; k < held.column_starts[j + 1]; ++k) {
            const std::size_t place = next[held.rows[k]]++;
            held.slots[place] = static_cast<std::uint32_t>(held.offsets[j] + held.codes[k]);
            held.columns[place] = static_cast<std::uint32_t>(j);
        }
    return held;
}

void add_to_leaves(Vector<const std::uint32_t> order, Vector<const std::int64_t> bounds,
                   Vector<const double> values, Matrix<double> out, std::size_t column,
                   int threads) {
    const std::vector<std::int64_t> ends = checked_bounds(order, bounds, out.shape(0));
    require(values.shape(0) + 1 == ends.size(), "values must have one entry per leaf");
    require(column < out.shape(1), "column must be one of out");
    const std::uint32_t *rows = order.data();
    const std::size_t width = out.shape(1);
    double *to = out.data() + column;
    const double *value = values.data();

    nb::gil_scoped_release unlocked;
    const std::vector<Piece> pieces = pieces_of(ends);
    for_each_piece(pieces.size(), order.shape(0) > 8 * sum_chunk ? threads : 1, [&](std::size_t p) {
        const double step = value[pieces[p].leaf];
        for (std::size_t k = pieces[p].begin; k < pieces[p].end; ++k)
            to[rows[k] * width] += step;
    });
}

template <typename... Arguments>
void bind_growth(nb::module_ &module, nb::tuple (*)(const CodeRows &, Arguments...)) {
    const auto define = [&](auto function, auto... codes) {
        module.def("grow_gradient_tree", function, codes..., nb::arg("cuts"),
                   nb::arg("cut_offsets"), nb::arg("lookup"), nb::arg("lookup_offsets"),
                   nb::arg("rows").noconvert(), nb::arg("gradient").noconvert(),
                   nb::arg("hessian").noconvert(), nb::arg("weight").noconvert(),
                   nb::arg("max_leaves"), nb::arg("max_depth"), nb::arg("min_split"),
                   nb::arg("min_rows"), nb::arg("min_hessian"), nb::arg("min_gain"), nb::arg("l2"),
                   nb::arg("rows_by_curvature"), nb::arg("max_features"), nb::arg("monotonic"),
                   nb::arg("groups"), nb::arg("seed"), nb::arg("threads"));
    };
    define(&grow_gradient_tree<Arguments...>, nb::arg("by_row").noconvert(),
           nb::arg("by_column").noconvert());
    define(&grow_sparse_gradient_tree<Arguments...>, nb::arg("codes"));
}

} // namespace

void bind_gradient_tree(nb::module_ &module) {
    bind_growth(module, &grow_on);
    nb::class_<SparseCodes>(module, "SparseCodes").def_ro("n_rows", &SparseCodes::n);
    module.def("sparse_bin_codes", &sparse_codes, nb::arg("starts").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("codes").noconvert(),
               nb::arg("n_codes").noconvert(), nb::arg("zero").noconvert(), nb::arg("n_rows"));
    module.def("add_to_leaves", &add_to_leaves, nb::arg("order").noconvert(), nb::arg("bounds"),
               nb::arg("values").noconvert(), nb::arg("out").noconvert(), nb::arg("column"),
               nb::arg("threads"));
}

} // namespace thetahat
