// Kernel functions f_o(x) = Σ_j w_jo k(x, z_j) + b_o at many rows x, without their kernel matrix.
//
// Loop order: pieces of 64 rows, runs of 256 centres, four rows at a time (the last ones singly),
// groups of eight centres, columns. The sums of a row are added in the order of the centres,
// whatever the number of threads. The centres are given by columns, so that the inner loops use
// vector registers.

#include <bit>
#include <vector>

#include "kernels.hpp"
#include "kernels/gram_rows.hpp"

namespace thetahat {

namespace smo {

namespace {

using Two = double __attribute__((vector_size(2 * sizeof(double))));
using Words = std::uint64_t __attribute__((vector_size(2 * sizeof(double))));

inline Two load(const double *from) {
    Two two;
    std::memcpy(&two, from, sizeof two);
    return two;
}

// exponential_below of exponential.hpp, for two numbers
inline Two exponential_of_two(Two x) {
    const Two lowest = {-708.0, -708.0}, zero = {};
    const double shift = 6755399441055744.0;
    const Two kept = x < lowest ? lowest : x;
    const Two shifted = kept * 1.44269504088896340736 + shift;
    const Two k = shifted - shift;
    const Two r = (kept - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    Two sum = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    const Words power = (std::bit_cast<Words>(shifted) + 1023u) << 52;
    return x < lowest ? zero : sum * std::bit_cast<Two>(power);
}

struct Expansion {
    const double *columns, *weights, *offsets;
    std::size_t d, m, outputs;
    Formula formula;
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

// sums[r·run + j] = Σ_c (x_rc − z_jc)² or x_rc·z_jc for four rows and eight centres
template <bool distances>
void tile(const double *packed, std::size_t d, const double *x, double *sums) {
    const double *x0 = x, *x1 = x + d, *x2 = x1 + d, *x3 = x2 + d;
    Two a0 = {}, a1 = {}, a2 = {}, a3 = {}, b0 = {}, b1 = {}, b2 = {}, b3 = {};
    Two c0 = {}, c1 = {}, c2 = {}, c3 = {}, d0 = {}, d1 = {}, d2 = {}, d3 = {};
    for (std::size_t c = 0; c < d; ++c, packed += wide) {
        const Two z0 = load(packed), z1 = load(packed + 2), z2 = load(packed + 4),
                  z3 = load(packed + 6);
        const Two p = {x0[c], x0[c]}, q = {x1[c], x1[c]}, r = {x2[c], x2[c]}, s = {x3[c], x3[c]};
        a0 += term<distances>(p, z0), a1 += term<distances>(p, z1);
        a2 += term<distances>(p, z2), a3 += term<distances>(p, z3);
        b0 += term<distances>(q, z0), b1 += term<distances>(q, z1);
        b2 += term<distances>(q, z2), b3 += term<distances>(q, z3);
        c0 += term<distances>(r, z0), c1 += term<distances>(r, z1);
        c2 += term<distances>(r, z2), c3 += term<distances>(r, z3);
        d0 += term<distances>(s, z0), d1 += term<distances>(s, z1);
        d2 += term<distances>(s, z2), d3 += term<distances>(s, z3);
    }
    const Two all[16] = {a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3};
    for (std::size_t row = 0; row < 4; ++row)
        std::memcpy(sums + row * run, all + 4 * row, wide * sizeof(double));
}

// Turns sums into kernel values, and adds their products with the weights to `sum`.
void add_values(const Expansion &e, double *values, std::size_t from, std::size_t count,
                double *sum) {
    if (e.formula.kind == Kind::rbf)
        for (std::size_t j = 0; j < count; j += 4) { // whole fours: the run has room for them
            const Two first = exponential_of_two(-e.formula.gamma * load(values + j));
            const Two second = exponential_of_two(-e.formula.gamma * load(values + j + 2));
            std::memcpy(values + j, &first, sizeof first);
            std::memcpy(values + j + 2, &second, sizeof second);
        }
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
            for (std::size_t j = 0; j < count; j += wide)
                if (distances)
                    tile<true>(packed.data() + j * e.d, e.d, x + i * e.d, sums + j);
                else
                    tile<false>(packed.data() + j * e.d, e.d, x + i * e.d, sums + j);
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
    const Expansion e{columns.data(),
                      weights.data(),
                      offsets.data(),
                      d,
                      m,
                      outputs,
                      {static_cast<Kind>(kind), gamma, coef0, degree}};
    const double *x = queries.data();
    double *to = out.data();
    nb::gil_scoped_release unlocked;
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
