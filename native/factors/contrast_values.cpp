// The contrast of independent component analysis at many projections: u becomes w·g(u) in place,
// and the sum of w·g'(u) over each row of u is returned.
//
//     0, "logcosh":  g = tanh(a·u),       g' = a(1 − g²)
//     1, "exp":      g = u·e^(−u²/2),     g' = (1 − u²)e^(−u²/2)
//     2, "cube":     g = u³,              g' = 3u²
//
// tanh(x) = (1 − e)/(1 + e) with e = e^(−2|x|), to an absolute error of rounding.
//
// Loop order: rows of u, pieces of 256 columns, which stay in the first cache. Sums are added in
// eight lanes and then in the order of the pieces, on the calling thread, so that they depend on
// the shape of u alone.

#include <algorithm>
#include <cmath>

#include "core/views.hpp"
#include "neighbors/gaussian_values.hpp"

namespace thetahat {

namespace {

constexpr std::size_t piece = 256, lanes = 8;

// e^(rate·x) in place for exponents ≤ 0.
inline void exponentials(double *x, std::size_t n, double rate) {
    const double root = 2.50662827463100050242; // √(2π), which the values are divided by
    neighbors::gaussian_values(x, n, rate, 0.0, false);
    for (std::size_t i = 0; i < n; ++i)
        x[i] *= root;
}

inline void logcosh(double *u, double *slope, std::size_t n, double alpha) {
    double e[piece];
    for (std::size_t i = 0; i < n; ++i)
        e[i] = std::fabs(u[i]);
    exponentials(e, n, -2.0 * alpha);
    for (std::size_t i = 0; i < n; ++i) {
        const double size = (1.0 - e[i]) / (1.0 + e[i]);
        u[i] = std::copysign(size, u[i]);
        slope[i] = alpha * (1.0 - size * size);
    }
}

inline void gaussian(double *u, double *slope, std::size_t n) {
    double e[piece];
    for (std::size_t i = 0; i < n; ++i)
        e[i] = u[i] * u[i];
    exponentials(e, n, -0.5);
    for (std::size_t i = 0; i < n; ++i) {
        // Where e is 0, the square may be infinite.
        const double square = e[i] > 0.0 ? u[i] * u[i] : 0.0;
        u[i] *= e[i];
        slope[i] = (1.0 - square) * e[i];
    }
}

inline void cube(double *u, double *slope, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double square = u[i] * u[i];
        u[i] *= square;
        slope[i] = 3.0 * square;
    }
}

inline double total(const double *slope, std::size_t n) {
    double sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += slope[i + lane];
    double rest = 0.0;
    for (; i < n; ++i)
        rest += slope[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7])) + rest;
}

void contrast_values(Matrix<double> u, Vector<const double> weight, int kind, double alpha,
                     Vector<double> slopes) {
    const std::size_t rows = u.shape(0), n = u.shape(1);
    const bool weighted = weight.shape(0) > 0;
    require(slopes.shape(0) == rows, "slopes must have one entry per row of u");
    require(!weighted || weight.shape(0) == n, "weight must have one entry per column of u");
    require(kind >= 0 && kind <= 2, "kind must be 0, 1 or 2");
    double *values = u.data(), *out = slopes.data();
    const double *w = weight.data();

    nb::gil_scoped_release unlocked;
    double slope[piece];
    for (std::size_t row = 0; row < rows; ++row) {
        out[row] = 0.0;
        for (std::size_t start = 0; start < n; start += piece) {
            const std::size_t count = std::min(piece, n - start);
            double *at = values + row * n + start;
            if (kind == 0)
                logcosh(at, slope, count, alpha);
            else if (kind == 1)
                gaussian(at, slope, count);
            else
                cube(at, slope, count);
            if (weighted)
                for (std::size_t i = 0; i < count; ++i) {
                    at[i] *= w[start + i];
                    slope[i] *= w[start + i];
                }
            out[row] += total(slope, count);
        }
    }
}

} // namespace

void bind_contrast_values(nb::module_ &module) {
    module.def("contrast_values", &contrast_values, nb::arg("u").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("kind"), nb::arg("alpha"),
               nb::arg("slopes").noconvert());
}

} // namespace thetahat
