// Leave-one-out errors of ridge regression, summed over rows, for many penalties at once:
//
//     total[a] += Σ_i w_i · (e_ia / (1 − w_i · h_ia))²,
//     e_ia = y_i − Σ_r fitted[i, r] · fit_basis[r, a],
//     h_ia = Σ_r leverage[i, r] · basis[r, a] + h_0
//
// Both families of functions of a are given by a few columns per row, so that no array of size
// rows × penalties is stored. Rows are added in order by one thread.

#include <algorithm>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T>
void leave_one_out_sums(Vector<const double> y, Matrix<const T> fitted,
                        Matrix<const double> fit_basis, Matrix<const T> leverage,
                        Matrix<const double> basis, Vector<const double> weight, double base,
                        double smallest, Vector<double> total) {
    const std::size_t n = y.shape(0), columns = total.shape(0);
    const std::size_t p = fitted.shape(1), q = leverage.shape(1);
    require(fitted.shape(0) == n && leverage.shape(0) == n,
            "fitted and leverage must have the rows of y");
    require(fit_basis.shape(0) == p && fit_basis.shape(1) == columns && basis.shape(0) == q &&
                basis.shape(1) == columns,
            "the bases must have one row per column of their factors and one column per penalty");
    require(weight.shape(0) == 0 || weight.shape(0) == n, "weight must be empty or one per row");
    const double *target = y.data(), *w = weight.data();
    const double *fits = fit_basis.data(), *shares = basis.data();
    const T *f = fitted.data(), *h = leverage.data();
    const bool weighted = weight.shape(0) != 0;
    double *sum = total.data();

    nb::gil_scoped_release unlocked;
    std::vector<double> errors(columns), remainders(columns), sums(sum, sum + columns);
    // Local arrays that do not overlap, so that the loops over the penalties can be vectorised.
    double *__restrict error = errors.data(), *__restrict kept = remainders.data();
    double *__restrict running = sums.data();
    for (std::size_t i = 0; i < n; ++i) {
        const double mass = weighted ? w[i] : 1.0;
        std::fill_n(error, columns, target[i]);
        std::fill_n(kept, columns, 1.0 - mass * base);
        for (std::size_t r = 0; r < p; ++r) {
            const double value = static_cast<double>(f[i * p + r]);
            for (std::size_t a = 0; a < columns; ++a)
                error[a] -= value * fits[r * columns + a];
        }
        for (std::size_t r = 0; r < q; ++r) {
            const double value = mass * static_cast<double>(h[i * q + r]);
            for (std::size_t a = 0; a < columns; ++a)
                kept[a] -= value * shares[r * columns + a];
        }
        for (std::size_t a = 0; a < columns; ++a) {
            const double left_out = error[a] / std::max(kept[a], smallest);
            running[a] += mass * left_out * left_out;
        }
    }
    std::copy(sums.begin(), sums.end(), sum);
}

template <typename T> void bind(nb::module_ &module) {
    module.def("leave_one_out_sums", &leave_one_out_sums<T>, nb::arg("y").noconvert(),
               nb::arg("fitted").noconvert(), nb::arg("fit_basis").noconvert(),
               nb::arg("leverage").noconvert(), nb::arg("basis").noconvert(), nb::arg("weight"),
               nb::arg("base"), nb::arg("smallest"), nb::arg("total").noconvert());
}

} // namespace

void bind_leave_one_out(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
