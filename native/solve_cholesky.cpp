// L Lᵀ x = b by two substitutions, x in place of b; L is lower triangular, row by row.
//
//     forward:  y_i = (b_i − Σ_{j<i} L_ij y_j) / L_ii        in four partial sums of fixed order
//     backward: x_i = y_i / L_ii, then y_j −= L_ij x_i for j < i
//
// Both read L row after row, each entry once: O(k²). One thread, so the bits are always the same.
//
// newton_direction finds L itself: x in place of g with H x = −g, by H = S L Lᵀ S where S² is the
// diagonal of H, so that units do not matter; O(k³). Where a pivot L_ii² is not above `least` it
// says false and leaves g alone. It reads the lower triangle of H. For a few dozen columns: it is
// done before the interpreter's lock could have changed hands, and so keeps it.

#include <cmath>
#include <vector>

#include "kernels.hpp"

namespace thetahat {

namespace {

void substitute(const double *l, double *v, std::size_t k) {
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

void solve_cholesky(Matrix<const double> factor, Vector<double> x) {
    const std::size_t k = x.shape(0);
    require(factor.shape(0) == k && factor.shape(1) == k,
            "factor must be square, x as long as its side");
    const double *l = factor.data();
    double *v = x.data();

    nb::gil_scoped_release unlocked;
    substitute(l, v, k);
}

bool newton_direction(Matrix<const double> hessian, Vector<double> gradient, double least) {
    const std::size_t k = gradient.shape(0);
    require(hessian.shape(0) == k && hessian.shape(1) == k,
            "hessian must be square, gradient as long as its side");
    const double *h = hessian.data();
    double *g = gradient.data();
    std::vector<double> scale(k), factor(k * k);
    for (std::size_t i = 0; i < k; ++i) {
        scale[i] = std::sqrt(h[i * k + i]);
        if (!(scale[i] > 0.0))
            return false;
    }
    for (std::size_t i = 0; i < k; ++i) {
        double *row = factor.data() + i * k;
        for (std::size_t j = 0; j <= i; ++j) {
            double entry = h[i * k + j] / scale[j] / scale[i];
            const double *other = factor.data() + j * k;
            for (std::size_t m = 0; m < j; ++m)
                entry -= row[m] * other[m];
            if (j < i)
                row[j] = entry / other[j];
            else if (entry > least)
                row[i] = std::sqrt(entry);
            else
                return false;
        }
    }
    for (std::size_t i = 0; i < k; ++i)
        g[i] /= -scale[i];
    substitute(factor.data(), g, k);
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
