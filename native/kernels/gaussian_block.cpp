// Gaussian kernels e^(−γ‖x − z‖²) from the inner products xᵀz of many rows, in place.
//
// Loop order: rows, groups of eight columns. Distances are ‖x‖² + ‖z‖² − 2·xᵀz, and 0 where
// rounding makes them negative. One pass over the block replaces five; every entry is computed by
// itself, so that the result does not depend on the number of threads that compute other blocks.

#include <algorithm>

#include "core/views.hpp"
#include "kernels/exponentials.hpp"

namespace thetahat {

namespace smo {

namespace {

void gaussian_block(Matrix<double> products, Vector<const double> of_rows,
                    Vector<const double> of_columns, double gamma) {
    const std::size_t n = products.shape(0), m = products.shape(1);
    require(of_rows.shape(0) == n && of_columns.shape(0) == m,
            "there must be one squared norm per row and per column of products");
    require(gamma >= 0.0, "gamma must not be negative");
    const double *row_square = of_rows.data(), *column_square = of_columns.data();
    double *all = products.data();
    nb::gil_scoped_release unlocked;
    constexpr std::size_t wide = 8;
    for (std::size_t i = 0; i < n; ++i) {
        double *row = all + i * m;
        const double own = row_square[i];
        for (std::size_t j = 0; j < m; j += wide) {
            const std::size_t some = std::min(wide, m - j);
            alignas(16) double values[wide] = {};
            for (std::size_t k = 0; k < some; ++k) {
                const double found = (own + column_square[j + k]) - 2.0 * row[j + k];
                values[k] = found < 0.0 ? 0.0 : found; // NaN stays
            }
            exponentials_of_eight(values, -gamma);
            std::copy(values, values + some, row + j);
        }
    }
}

} // namespace

} // namespace smo

void bind_gaussian_block(nb::module_ &module) {
    module.def("gaussian_block", &smo::gaussian_block, nb::arg("products").noconvert(),
               nb::arg("of_rows").noconvert(), nb::arg("of_columns").noconvert(), nb::arg("gamma"));
}

} // namespace thetahat
