// L Lᵀ x = b by two substitutions, x in place of b; L is lower triangular, row by row.
//
//     forward:  y_i = (b_i − Σ_{j<i} L_ij y_j) / L_ii        in four partial sums of fixed order
//     backward: x_i = y_i / L_ii, then y_j −= L_ij x_i for j < i
//
// Both read L row after row, each entry once: O(k²). One thread, so the bits are always the same.
//
// newton_direction factors H itself: x in place of g with H x = −g, by H = S L D Lᵀ S with S powers
// of two near the roots of the diagonal, so that units do not matter and nothing is rounded by
// them; a diagonal H is solved exactly. O(k³), in a fixed order. Where a pivot D_i is not above
// `least` of the diagonal it says false and leaves g alone. It reads the lower triangle of H. For a
// few dozen columns: it is done before the interpreter's lock could have changed hands, and so
// keeps it.

#include <cmath>
#include <vector>

#include "kernels.hpp"

namespace thetahat {

namespace {

void solve_cholesky(Matrix<const double> factor, Vector<double> x) {
    const std::size_t k = x.shape(0);
    require(factor.shape(0) == k && factor.shape(1) == k,
            "factor must be square, x as long as its side");
    const double *l = factor.data();
    double *v = x.data();

    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < k; ++i) {
        const double *row = l + i * k;
        double sums[4] = {0.0, 0.0, 0.0, 0.0};
        std::size_t j = 0;
        for (; j + 4 <= i; j += 4)
            for (std::size_t part = 0; part < 4; ++part)
                sums[part] += row[j + part] * v[j + part];
        for (; j < i; ++j)
            sums[0] += row[j] * v[j];
        v[i] = (v[i] - ((sums[0] + sums[1]) + (sums[2] + sums[3]))) / row[i];
    }
    for (std::size_t i = k; i-- > 0;) {
        const double *row = l + i * k;
        const double here = v[i] /= row[i];
        for (std::size_t j = 0; j < i; ++j)
            v[j] -= row[j] * here;
    }
}

bool newton_direction(Matrix<const double> hessian, Vector<double> gradient, double least) {
    const std::size_t k = gradient.shape(0);
    require(hessian.shape(0) == k && hessian.shape(1) == k,
            "hessian must be square, gradient as long as its side");
    const double *h = hessian.data();
    double *g = gradient.data();
    std::vector<double> scale(k), factor(k * k), pivot(k), scaled(k);
    for (std::size_t i = 0; i < k; ++i) {
        const double diagonal = h[i * k + i];
        if (!(diagonal > 0.0 && std::isfinite(diagonal)))
            return false;
        scale[i] = std::ldexp(1.0, std::ilogb(diagonal) / 2);
    }
    for (std::size_t i = 0; i < k; ++i) {
        double *row = factor.data() + i * k;
        const double diagonal = h[i * k + i] / scale[i] / scale[i];
        pivot[i] = diagonal;
        for (std::size_t j = 0; j < i; ++j) { // scaled = row · D, while the row grows
            const double *other = factor.data() + j * k;
            scaled[j] = h[i * k + j] / scale[i] / scale[j];
            for (std::size_t m = 0; m < j; ++m)
                scaled[j] -= scaled[m] * other[m];
            row[j] = scaled[j] / pivot[j];
            pivot[i] -= scaled[j] * row[j];
        }
        if (!(pivot[i] > least * diagonal))
            return false;
    }
    for (std::size_t i = 0; i < k; ++i) {
        const double *row = factor.data() + i * k;
        g[i] /= -scale[i];
        for (std::size_t j = 0; j < i; ++j)
            g[i] -= row[j] * g[j];
    }
    for (std::size_t i = 0; i < k; ++i)
        g[i] /= pivot[i];
    for (std::size_t i = k; i-- > 0;)
        for (std::size_t j = 0; j < i; ++j)
            g[j] -= factor[i * k + j] * g[i];
    for (std::size_t i = 0; i < k; ++i)
        g[i] /= scale[i];
    return true;
}

} // namespace

void bind_solve_cholesky(nb::module_ &module) {
    module.def("solve_cholesky", &solve_cholesky, nb::arg("factor").noconvert(),
               nb::arg("x").noconvert());
    module.def("newton_direction", &newton_direction, nb::arg("hessian").noconvert(),
               nb::arg("gradient").noconvert(), nb::arg("least"));
}

} // namespace thetahat
