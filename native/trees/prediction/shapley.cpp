// Shapley values of trees: the share of every column in the prediction of a row.
//
// Where the columns of S are known, a row reaches a leaf with probability Π_j (o_j if j ∈ S, else
// z_j): o_j is 1 where the row goes the way of the leaf at all splits of column j, else 0, and z_j
// is the share of the training weight that goes that way. The Shapley value of column k in such a
// product is an integral,
//
//     φ_k = v·(o_k − z_k)·∫₀¹ Π_{j≠k} (o_j·t + z_j·(1 − t)) dt,
//
// of a polynomial of degree D − 1 for D columns on the path: Gauss-Legendre with ⌈D/2⌉ points is
// exact, and all factors are positive. With P(t) the product along the path to a leaf, the sums
// S = Σ_leaves v·P below an edge of column k serve all leaves below it: the edge adds
//
//     Σ_t w_t·S_t·[(o − z)/f_t − (o′ − z′)/f′_t],    f_t = o·t + z·(1 − t),
//
// with o′, z′, f′ those of the last edge of the same column above it, which the edge replaces. So a
// row costs O(nodes·D) for each tree. Nodes are visited in their order (parents first) for P, and
// backwards for S. Rows are distributed over threads; one thread works on a row, tree by tree, so
// that the bits do not depend on the number of threads.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/prediction/walk.hpp"

namespace thetahat {

namespace {

using namespace trees;

using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t piece_rows = 32; // rows for which the numbers of a tree are computed once

// Points t in (0, 1) and weights of Gauss-Legendre, exact for polynomials of degree < 2n.
struct Quadrature {
    explicit Quadrature(std::size_t n) : at(n), weight(n) {
        const double size = static_cast<double>(n);
        for (std::size_t i = 0; i < n; ++i) {
            double x =
                std::cos(3.14159265358979323846 * (static_cast<double>(i) + 0.75) / (size + 0.5));
            double slope = 1.0;
            for (int step = 0; step < 100; ++step) {
                double before = 1.0, value = x; // Legendre polynomials of degree 0 and 1
                for (std::size_t k = 2; k <= n; ++k) {
                    const double degree = static_cast<double>(k);
                    const double after =
                        ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree;
                    before = value, value = after;
                }
                slope = size * (x * value - before) / (x * x - 1.0);
                const double change = value / slope;
                x -= change;
                if (std::abs(change) <= 1e-16)
                    break;
            }
            at[i] = (1.0 - x) / 2.0;
            weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
    }
    std::vector<double> at, weight;
};

// What does not depend on the row: for every edge (named by the node below it), the factors of P
// and the terms of φ, for the three cases of (o′, o).
struct Paths {
    enum Case : std::uint8_t { stays, leaves, left, cut };
    // stays: 1 → 1, leaves: 1 → 0, left: 0 → 0; cut: no weight and no way there, nothing to add.

    Paths(const PackedNode *nodes, std::size_t n, const double *weights)
        : parent(n, -1), above(n, -1), z(n, 1.0), mass(n) {
        std::vector<std::int32_t> columns(n, 0); // different columns on the path
        std::size_t most = 1;
        for (std::size_t i = n; i-- > 0;)
            mass[i] = nodes[i].feature < 0 ? weights[i]
                                           : mass[static_cast<std::size_t>(nodes[i].child)] +
                                                 mass[static_cast<std::size_t>(nodes[i].child) + 1];
        for (std::size_t i = 0; i < n; ++i) {
            if (nodes[i].feature < 0)
                continue;
            const std::int32_t column = nodes[i].feature & feature_mask;
            auto same = static_cast<std::int32_t>(i);
            while (same > 0 && (nodes[parent[same]].feature & feature_mask) != column)
                same = parent[same];
            for (const auto c : {static_cast<std::size_t>(nodes[i].child),
                                 static_cast<std::size_t>(nodes[i].child) + 1}) {
                parent[c] = static_cast<std::int32_t>(i);
                above[c] = same > 0 ? same : -1;
                const double share = mass[i] > 0.0 ? mass[c] / mass[i] : 0.5;
                z[c] = share * (same > 0 ? z[static_cast<std::size_t>(same)] : 1.0);
                columns[c] = columns[i] + (same > 0 ? 0 : 1);
                most = std::max(most, static_cast<std::size_t>(columns[c]));
            }
        }
        const Quadrature points((most + 1) / 2);
        q = points.at.size();
        factor.resize(n * 3 * q), term.resize(n * 3 * q);
        for (std::size_t i = 1; i < n; ++i) {
            const double old = above[i] < 0 ? 1.0 : z[static_cast<std::size_t>(above[i])];
            for (const Case way : {stays, leaves, left})
                for (std::size_t k = 0; k < q; ++k) {
                    const double t = points.at[k], o = way == stays, before = way != left;
                    const double f = o * t + z[i] * (1.0 - t);
                    const double g = before * t + old * (1.0 - t);
                    const std::size_t place = (3 * i + way) * q + k;
                    // Where f is 0 the case is `cut`; where g is 0 it was so above.
                    factor[place] = g > 0.0 ? f / g : 0.0;
                    term[place] = f > 0.0 && g > 0.0
                                      ? points.weight[k] * ((o - z[i]) / f - (before - old) / g)
                                      : 0.0;
                }
        }
    }

    std::size_t q = 1;
    std::vector<std::int32_t> parent, above;
    std::vector<double> z, mass, factor, term;
};

struct Scratch {
    std::vector<Paths::Case> way;
    std::vector<double> product, sum;
};

// Adds the Shapley values of one row and one tree: out[column·stride + c].
template <typename T>
void explain(const Trees &trees, const PackedNode *nodes, std::size_t n, const Paths &paths,
             const double *values, std::size_t width, const T *row, double *out, std::size_t stride,
             Scratch &own) {
    const std::size_t q = paths.q;
    own.way.assign(n, Paths::cut);
    own.product.resize(n * q);
    own.sum.assign(n * q * width, 0.0);
    own.way[0] = Paths::stays;
    std::fill_n(own.product.begin(), q, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
        if (own.way[i] == Paths::cut)
            continue;
        const double *product = &own.product[i * q];
        if (nodes[i].feature < 0) {
            const double *value = values + static_cast<std::size_t>(nodes[i].child) * width;
            for (std::size_t c = 0; c < width; ++c)
                for (std::size_t k = 0; k < q; ++k)
                    own.sum[(i * width + c) * q + k] = value[c] * product[k];
            continue;
        }
        const auto taken = static_cast<std::size_t>(next(trees, nodes[i], row));
        for (const auto c : {static_cast<std::size_t>(nodes[i].child),
                             static_cast<std::size_t>(nodes[i].child) + 1}) {
            const std::int32_t above = paths.above[c];
            const bool before =
                above < 0 || own.way[static_cast<std::size_t>(above)] == Paths::stays;
            const bool now = before && c == taken;
            if (!now && paths.z[c] == 0.0)
                continue;
            const Paths::Case way = now ? Paths::stays : before ? Paths::leaves : Paths::left;
            own.way[c] = way;
            const double *factor = &paths.factor[(3 * c + way) * q];
            for (std::size_t k = 0; k < q; ++k)
                own.product[c * q + k] = product[k] * factor[k];
        }
    }
    for (std::size_t i = n; i-- > 1;) {
        if (own.way[i] == Paths::cut)
            continue;
        const auto up = static_cast<std::size_t>(paths.parent[i]);
        const double *term = &paths.term[(3 * i + own.way[i]) * q];
        double *share = out + static_cast<std::size_t>(nodes[up].feature & feature_mask) * stride;
        for (std::size_t c = 0; c < width; ++c) {
            const double *sum = &own.sum[(i * width + c) * q];
            double *to = &own.sum[(up * width + c) * q];
            double total = 0.0;
            for (std::size_t k = 0; k < q; ++k) {
                total += sum[k] * term[k];
                to[k] += sum[k];
            }
            share[c] += total;
        }
    }
}

// out[i, j, c] += the Shapley value of column j for row i and output c, and base[c] += the mean
// prediction: Σ_j out[i, j, c] + base[c] is the sum of the trees. `weights` has the training weight
// of every leaf in the place of its node. Width 1 and C outputs: tree t belongs to output t mod C.
template <typename T>
void shapley_of_trees(Matrix<const T> x, Nodes nodes, Vector<const std::int64_t> roots,
                      Matrix<const std::uint32_t> sets, Matrix<const double> values,
                      Vector<const double> weights, Cube out, Vector<double> base,
                      std::size_t n_features, int threads) {
    const Trees trees = view(nodes, roots, sets);
    const std::size_t n = x.shape(0), d = x.shape(1), width = values.shape(1), C = out.shape(2);
    require(d == n_features, "x must have the columns the trees were grown on");
    require(out.shape(0) == n && out.shape(1) == d, "out must have a row and a column per entry");
    require(width == C || width == 1, "leaves must hold one number, or one per output");
    require(base.shape(0) == C, "base must have one entry per output");
    require(weights.shape(0) == nodes.shape(0), "weights must have one entry per node");

    nb::gil_scoped_release unlocked;
    const auto tree_of = [&](std::size_t t) {
        const auto first = static_cast<std::size_t>(trees.roots[t]);
        return Paths(trees.nodes + first, static_cast<std::size_t>(trees.roots[t + 1]) - first,
                     weights.data() + first);
    };
    const auto output_of = [&](std::size_t t) { return width == C ? 0 : t % C; };
    for (std::size_t t = 0; t < trees.n_trees; ++t) {
        const PackedNode *tree = trees.nodes + trees.roots[t];
        const auto count = static_cast<std::size_t>(trees.roots[t + 1] - trees.roots[t]);
        double total = 0.0;
        for (std::size_t i = 0; i < count; ++i)
            total += tree[i].feature < 0 ? weights.data()[trees.roots[t] + i] : 0.0;
        for (std::size_t i = 0; i < count; ++i)
            if (tree[i].feature < 0)
                for (std::size_t c = 0; c < width; ++c)
                    base.data()[output_of(t) + c] +=
                        weights.data()[trees.roots[t] + i] / total *
                        values.data()[static_cast<std::size_t>(tree[i].child) * width + c];
    }
    for_each_piece((n + piece_rows - 1) / piece_rows, threads, [&](std::size_t piece) {
        const std::size_t first = piece * piece_rows, end = std::min(n, first + piece_rows);
        Scratch own;
        for (std::size_t t = 0; t < trees.n_trees; ++t) {
            const PackedNode *tree = trees.nodes + trees.roots[t];
            const auto count = static_cast<std::size_t>(trees.roots[t + 1] - trees.roots[t]);
            const Paths paths = tree_of(t);
            for (std::size_t i = first; i < end; ++i)
                explain(trees, tree, count, paths, values.data(), width, x.data() + i * d,
                        out.data() + i * d * C + output_of(t), C, own);
        }
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("shapley_of_trees", &shapley_of_trees<T>, nb::arg("x").noconvert(), nb::arg("nodes"),
               nb::arg("roots"), nb::arg("sets"), nb::arg("values"), nb::arg("weights"),
               nb::arg("out").noconvert(), nb::arg("base").noconvert(), nb::arg("n_features"),
               nb::arg("threads"));
}

} // namespace

void bind_shapley(nb::module_ &module) {
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
