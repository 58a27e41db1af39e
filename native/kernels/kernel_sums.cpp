// Kernel functions f_o(x) = Σ_j w_jo k(x, z_j) + b_o at many rows x, without their kernel matrix.
//
// Loop order: pieces of 64 rows, runs of 256 centres, four rows at a time (the last ones singly),
// groups of eight centres, columns. The sums of a row are added in the order of the centres,
// whatever the number of threads. The centres are given by columns, so that the inner loops use
// vector registers.
//
// Distances are ‖x‖² + ‖z‖² − 2·xᵀz, a third of the operations, where γ(‖x‖² + ‖z‖²) is so small
// that rounding has next to no influence on the kernel, and sums of squared differences elsewhere.

#include <algorithm>
#include <vector>

#include "core/views.hpp"
#include "kernels/exponentials.hpp"
#include "kernels/gram_rows.hpp"

namespace thetahat {

namespace smo {

namespace {

struct Expansion {
    const double *columns, *weights, *offsets;
    std::size_t d, m, outputs;
    Formula formula;
    const double *squares; // ‖z‖² of the centres
    double most;           // the largest γ‖z‖²
};

constexpr std::size_t wide = 8; // centres whose sums for four rows stay in registers

// Centres from..from+count by groups of eight, each by columns; a last group is filled with zeros.
void pack(const Expansion &e, std::size_t from, std::size_t count, double *packed) {
    for (std::size_t group = 0; group < count; group += wide)
        for (std::size_t c = 0; c < e.d; ++c, packed += wide) {
            const double *z = e.columns + c * e.m + from + group;
            const std::size_t some = std::min(wide, count - group);
            std::copy(z, z + some, packed);
            std::fill(packed + some, packed + wide, 0.0);
        }
}

template <bool distances> Two with_term(Two sum, Two x, Two z) {
    if constexpr (distances)
        return fused(x - z, x - z, sum);
    else
        return fused(x, z, sum);
}

// sums[r·run + j] = Σ_c (x_rc − z_jc)² or x_rc·z_jc for four rows and eight centres
template <bool distances>
void tile(const double *packed, std::size_t d, const double *x, double *sums) {
    const double *x0 = x, *x1 = x + d, *x2 = x1 + d, *x3 = x2 + d;
    Two a0 = {}, a1 = {}, a2 = {}, a3 = {}, b0 = {}, b1 = {}, b2 = {}, b3 = {};
    Two c0 = {}, c1 = {}, c2 = {}, c3 = {}, d0 = {}, d1 = {}, d2 = {}, d3 = {};
    for (std::size_t c = 0; c < d; ++c, packed += wide) {
        const Two z0 = load(packed), z1 = load(packed + 2), z2 = load(packed + 4),
                  z3 = load(packed + 6);
        const Two p = both(x0[c]), q = both(x1[c]), r = both(x2[c]), s = both(x3[c]);
        a0 = with_term<distances>(a0, p, z0), a1 = with_term<distances>(a1, p, z1);
        a2 = with_term<distances>(a2, p, z2), a3 = with_term<distances>(a3, p, z3);
        b0 = with_term<distances>(b0, q, z0), b1 = with_term<distances>(b1, q, z1);
        b2 = with_term<distances>(b2, q, z2), b3 = with_term<distances>(b3, q, z3);
        c0 = with_term<distances>(c0, r, z0), c1 = with_term<distances>(c1, r, z1);
        c2 = with_term<distances>(c2, r, z2), c3 = with_term<distances>(c3, r, z3);
        d0 = with_term<distances>(d0, s, z0), d1 = with_term<distances>(d1, s, z1);
        d2 = with_term<distances>(d2, s, z2), d3 = with_term<distances>(d3, s, z3);
    }
    const Two all[16] = {a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3};
    for (std::size_t row = 0; row < 4; ++row)
        std::memcpy(sums + row * run, all + 4 * row, wide * sizeof(double));
}

// Turns sums into kernel values, and adds their products with the weights to `sum`.
void add_values(const Expansion &e, double *values, std::size_t from, std::size_t count,
                double *sum) {
    if (e.formula.kind == Kind::rbf)
        for (std::size_t j = 0; j < count; j += 8) // whole eights: the run has room for them
            exponentials_of_eight(values + j, -e.formula.gamma);
    else if (e.formula.kind != Kind::linear)
        for (std::size_t j = 0; j < count; ++j)
            values[j] = e.formula(values[j]);
    const double *w = e.weights + from * e.outputs;
    if (e.outputs == 1) {
        double part[4] = {};
        std::size_t j = 0;
        for (; j + 4 <= count; j += 4)
            for (std::size_t l = 0; l < 4; ++l)
                part[l] += values[j + l] * w[j + l];
        for (; j < count; ++j)
            part[0] += values[j] * w[j];
        *sum += (part[0] + part[2]) + (part[1] + part[3]);
        return;
    }
    for (std::size_t j = 0; j < count; ++j)
        for (std::size_t o = 0; o < e.outputs; ++o)
            sum[o] += values[j] * w[j * e.outputs + o];
}

inline double square_of(const double *x, std::size_t d, std::size_t step) {
    double sum = 0.0;
    for (std::size_t c = 0; c < d; ++c)
        sum += x[c * step] * x[c * step];
    return sum;
}

// Products xᵀz become ‖x − z‖² = ‖x‖² + ‖z‖² − 2·xᵀz, which rounding could make negative.
inline void to_distances(double *sums, std::size_t count, double own, const double *squares) {
    for (std::size_t j = 0; j < count; ++j) {
        const double found = (own + squares[j]) - 2.0 * sums[j];
        sums[j] = found > 0.0 ? found : 0.0;
    }
}

constexpr double most_by_products = 32.0;

// A few rows; those beyond the fours are computed one by one.
void evaluate(const Expansion &e, const double *x, std::size_t rows, double *out) {
    alignas(16) double sums[4 * run];
    std::vector<double> packed(rows >= 4 ? run * e.d : 0);
    for (std::size_t i = 0; i < rows; ++i)
        std::copy(e.offsets, e.offsets + e.outputs, out + i * e.outputs);
    const bool distances = e.formula.kind == Kind::rbf;
    for (std::size_t from = 0; from < e.m; from += run) {
        const std::size_t count = std::min(run, e.m - from);
        if (rows >= 4)
            pack(e, from, count, packed.data());
        std::size_t i = 0;
        for (; i + 4 <= rows; i += 4) {
            bool by_products = distances;
            double own[4] = {};
            for (std::size_t r = 0; distances && r < 4; ++r) {
                own[r] = square_of(x + (i + r) * e.d, e.d, 1);
                by_products &= e.formula.gamma * own[r] + e.most <= most_by_products;
            }
            for (std::size_t j = 0; j < count; j += wide)
                if (distances && !by_products)
                    tile<true>(packed.data() + j * e.d, e.d, x + i * e.d, sums + j);
                else
                    tile<false>(packed.data() + j * e.d, e.d, x + i * e.d, sums + j);
            for (std::size_t r = 0; r < 4 && by_products; ++r)
                to_distances(sums + r * run, count, own[r], e.squares + from);
            for (std::size_t r = 0; r < 4; ++r)
                add_values(e, sums + r * run, from, count, out + (i + r) * e.outputs);
        }
        for (; i < rows; ++i) {
            std::fill(sums, sums + run, 0.0);
            if (distances)
                add_columns<true>(e.columns, e.m, e.d, x + i * e.d, 1, from, count, sums);
            else
                add_columns<false>(e.columns, e.m, e.d, x + i * e.d, 1, from, count, sums);
            add_values(e, sums, from, count, out + i * e.outputs);
        }
    }
}

void kernel_sums(Matrix<const double> columns, int kind, double gamma, double coef0, int degree,
                 Matrix<const double> weights, Vector<const double> offsets,
                 Matrix<const double> queries, Matrix<double> out, int threads) {
    const std::size_t n = queries.shape(0), d = columns.shape(0), m = columns.shape(1),
                      outputs = weights.shape(1);
    require(queries.shape(1) == d, "queries must have the columns of the centres");
    require(weights.shape(0) == m, "weights must have one row per centre");
    require(offsets.shape(0) == outputs && out.shape(0) == n && out.shape(1) == outputs,
            "out must have one row per query and one column per output");
    require(kind >= 0 && kind <= 3 && degree >= 0, "unknown kernel");
    const double *x = queries.data();
    double *to = out.data();
    nb::gil_scoped_release unlocked;
    const bool with_squares = static_cast<Kind>(kind) == Kind::rbf && n >= 4;
    std::vector<double> squares(with_squares ? m : 0);
    double most = 0.0;
    for (std::size_t j = 0; j < squares.size(); ++j) {
        squares[j] = square_of(columns.data() + j, d, m);
        most = std::max(most, gamma * squares[j]);
    }
    const Expansion e{columns.data(),
                      weights.data(),
                      offsets.data(),
                      d,
                      m,
                      outputs,
                      {static_cast<Kind>(kind), gamma, coef0, degree},
                      squares.data(),
                      most};
    constexpr std::size_t piece = 64;
    const bool share = n > piece && n * m * (d + 8) >= 1000000;
    for_each_piece((n + piece - 1) / piece, share ? threads : 1, [&](std::size_t p) {
        const std::size_t first = p * piece;
        evaluate(e, x + first * d, std::min(piece, n - first), to + first * outputs);
    });
}

} // namespace

} // namespace smo

void bind_kernel_sums(nb::module_ &module) {
    module.def("kernel_sums", &smo::kernel_sums, nb::arg("columns").noconvert(), nb::arg("kind"),
               nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
               nb::arg("weights").noconvert(), nb::arg("offsets").noconvert(),
               nb::arg("queries").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
