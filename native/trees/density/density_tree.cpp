// Python interface of density trees: growing a tree, and the Gaussian responses of its leaves.

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/arrays.hpp"
#include "trees/density/density_engine.hpp"

namespace thetahat {

namespace {

using namespace trees;

constexpr std::size_t block = 256; // rows per piece of work

nb::tuple grow_density(Matrix<const double> columns, Matrix<const double> rows,
                       Vector<const double> weight, Vector<const double> low,
                       Vector<const double> high, int score, bool full, bool exact, bool oblique,
                       std::size_t candidates, std::uint64_t seed, double prior, double min_weight,
                       double min_gain, std::size_t max_leaves, std::size_t max_depth,
                       int threads) {
    const std::size_t d = columns.shape(0), n = columns.shape(1);
    require(n >= 1 && d >= 1, "a density needs a row and a column");
    require(n <= std::numeric_limits<std::int32_t>::max(), "too many rows for one tree");
    require(d <= std::numeric_limits<std::int32_t>::max() / 2, "too many columns for one tree");
    require(weight.shape(0) == n, "weight must have one entry per row");
    require(low.shape(0) == d && high.shape(0) == d, "the box must have one side per column");
    require(score >= 0 && score <= 2, "there are three scores");
    const bool needs_rows = oblique || score == static_cast<int>(DensityScore::entropy);
    require(!needs_rows || (rows.shape(0) == n && rows.shape(1) == d),
            "rows must be the columns by rows");
    require(!oblique || (score == static_cast<int>(DensityScore::entropy) && !exact),
            "oblique splits are random and scored by their entropy");
    require(prior > 0.0, "the prior spread must be positive");
    require(exact || candidates >= 1, "a random search needs a candidate");

    Tree tree;
    const DensityRows data{columns.data(), rows.data(), weight.data(), n, d};
    const DensitySearch search{static_cast<DensityScore>(score),
                               full,
                               exact,
                               oblique,
                               candidates,
                               seed,
                               prior,
                               min_weight,
                               min_gain,
                               threads};
    Growth growth;
    growth.max_leaves = max_leaves;
    growth.max_depth = static_cast<std::uint32_t>(
        std::min<std::size_t>(max_depth, std::numeric_limits<std::uint32_t>::max()));
    growth.best_first = true;
    std::vector<double> directions;
    {
        nb::gil_scoped_release unlocked;
        DensityEngine engine(data, search, low.data(), high.data());
        grow(engine, tree, growth);
        directions = std::move(engine.directions);
    }
    const std::size_t n_directions = directions.size() / d;
    return nb::make_tuple(as_arrays(tree), owned(std::move(directions), {n_directions, d}));
}

// log N(x; μ_l, L_l·L_lᵀ) up to log_scale[l], by forward substitution; `y` is a buffer of size d.
template <typename T>
double log_gaussian(const T *x, const double *mean, const double *factor, bool full, std::size_t d,
                    double log_scale, double *y) {
    double length = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
        double rest = static_cast<double>(x[k]) - mean[k];
        for (std::size_t j = 0; full && j < k; ++j)
            rest -= factor[k * d + j] * y[j];
        y[k] = rest / factor[full ? k * d + k : k];
        length += y[k] * y[k];
    }
    return log_scale - 0.5 * length;
}

// out[i] = log Σ_t exp(log_scale[l] − ½‖L_l⁻¹(x_i − μ_l)‖²) with l = leaf[t, i]; a row without a
// leaf (l < 0) adds nothing. Terms are relative to the largest so far, so no sum over- or
// underflows. Every entry is computed by one thread, in the order of the trees.
template <typename T>
void gaussian_leaves(Matrix<const T> x, Matrix<const std::int32_t> leaf, Matrix<const double> means,
                     Matrix<const double> factors, Vector<const double> log_scale,
                     Vector<double> out, int threads) {
    const std::size_t n = x.shape(0), d = x.shape(1), n_leaves = means.shape(0);
    const std::size_t n_trees = leaf.shape(0);
    require(leaf.shape(1) == n && out.shape(0) == n, "leaf and out must have one entry per row");
    require(means.shape(1) == d, "means must have the columns of x");
    require(factors.shape(0) == n_leaves && (factors.shape(1) == d * d || factors.shape(1) == d),
            "factors must hold a triangle or a diagonal per leaf");
    require(log_scale.shape(0) == n_leaves, "log_scale must have one entry per leaf");
    for (std::size_t i = 0; i < n_trees * n; ++i)
        require(leaf.data()[i] < 0 || static_cast<std::size_t>(leaf.data()[i]) < n_leaves,
                "leaf must name a row of the means");
    const bool full = factors.shape(1) == d * d && d > 1;
    const std::size_t pieces = (n + block - 1) / block;
    const std::size_t lanes = std::min(pieces, static_cast<std::size_t>(std::max(1, threads)));
    std::vector<double> spare(lanes * d);

    nb::gil_scoped_release unlocked;
    for_each_piece(lanes, threads, [&](std::size_t lane) {
        for (std::size_t piece = lane; piece < pieces; piece += lanes)
            for (std::size_t i = piece * block; i < std::min(n, (piece + 1) * block); ++i) {
                double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
                for (std::size_t t = 0; t < n_trees; ++t) {
                    const std::int32_t at = leaf.data()[t * n + i];
                    if (at < 0)
                        continue;
                    const auto l = static_cast<std::size_t>(at);
                    const double term = log_gaussian(x.data() + i * d, means.data() + l * d,
                                                     factors.data() + l * factors.shape(1), full, d,
                                                     log_scale.data()[l], spare.data() + lane * d);
                    if (term > largest) {
                        sum = sum * std::exp(largest - term) + 1.0;
                        largest = term;
                    } else if (term > -std::numeric_limits<double>::infinity()) {
                        sum += std::exp(term - largest);
                    }
                }
                out.data()[i] = largest + std::log(sum);
            }
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("gaussian_leaves", &gaussian_leaves<T>, nb::arg("x").noconvert(), nb::arg("leaf"),
               nb::arg("means"), nb::arg("factors"), nb::arg("log_scale"),
               nb::arg("out").noconvert(), nb::arg("threads"));
}

} // namespace

void bind_density_tree(nb::module_ &module) {
    module.def("grow_density", &grow_density, nb::arg("columns").noconvert(), nb::arg("rows"),
               nb::arg("weight"), nb::arg("low"), nb::arg("high"), nb::arg("score"),
               nb::arg("full"), nb::arg("exact"), nb::arg("oblique"), nb::arg("candidates"),
               nb::arg("seed"), nb::arg("prior"), nb::arg("min_weight"), nb::arg("min_gain"),
               nb::arg("max_leaves"), nb::arg("max_depth"), nb::arg("threads"));
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
