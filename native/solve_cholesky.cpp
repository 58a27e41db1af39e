// L Lᵀ x = b by two substitutions, x in place of b; L is lower triangular, row by row.
//
//     forward:  y_i = (b_i − Σ_{j<i} L_ij y_j) / L_ii        in four partial sums of fixed order
//     backward: x_i = y_i / L_ii, then y_j −= L_ij x_i for j < i
//
// Both read L row after row, each entry once: O(k²). One thread, so the bits are always the same.

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

} // namespace

void bind_solve_cholesky(nb::module_ &module) {
    module.def("solve_cholesky", &solve_cholesky, nb::arg("factor").noconvert(),
               nb::arg("x").noconvert());
}

} // namespace thetahat
