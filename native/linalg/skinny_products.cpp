// X·B and Xᵀ·W for factors B and W of few columns; see core/skinny.hpp.
//
// The caller gives every thread its own rows, and adds sums over rows in their order.

#include <algorithm>

#include "core/skinny.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T>
void row_products(Matrix<const T> rows, Matrix<const T> factor, Matrix<T> found) {
    const std::size_t n = rows.shape(0), d = rows.shape(1), k = factor.shape(1);
    require(factor.shape(0) == d, "factor must have one row per column of the rows");
    require(found.shape(0) == n && found.shape(1) == k, "found must have the shape of the product");
    nb::gil_scoped_release unlocked;
    std::fill_n(found.data(), n * k, T(0));
    add_row_products(rows.data(), n, d, factor.data(), k, found.data());
}

template <typename T>
void column_products(Matrix<const T> rows, Matrix<const T> factor, Matrix<T> found) {
    const std::size_t n = rows.shape(0), d = rows.shape(1), k = factor.shape(1);
    require(factor.shape(0) == n, "factor must have one row per row");
    require(found.shape(0) == d && found.shape(1) == k, "found must have the shape of the product");
    nb::gil_scoped_release unlocked;
    std::fill_n(found.data(), d * k, T(0));
    add_column_products(rows.data(), n, d, factor.data(), k, found.data());
}

template <typename T> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("row_products", &row_products<T>, array("rows"), array("factor"), array("found"));
    module.def("column_products", &column_products<T>, array("rows"), array("factor"),
               array("found"));
}

} // namespace

void bind_skinny_products(nb::module_ &module) {
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
