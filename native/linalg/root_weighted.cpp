// Rows with non-zero weight, times the roots of their weights: out[k] = √w_i · (x_i, 1) for the
// k-th i with w_i ≠ 0; the 1 is included if out has a column for it. The Gram matrix of out is Σ_i
// w_i x̃_i x̃_iᵀ.
//
// One pass, in the precision and memory order of the caller. Each entry is computed separately.
// Returns the number of rows, or −1 if a weight is negative.

#include <cmath>

#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T>
std::int64_t root_weighted(StridedMatrix<const T> x, Vector<const double> weight,
                           Matrix<double> out) {
    const std::size_t n = x.shape(0), d = x.shape(1), width = out.shape(1);
    require(weight.shape(0) == n, "weight must have one entry per row of x");
    require(out.shape(0) == n && (width == d || width == d + 1),
            "out must have the rows of x, and its columns or one more");
    const std::int64_t row = x.stride(0), column = x.stride(1);
    const T *source = x.data();
    const double *w = weight.data();
    double *to = out.data();

    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i)
        if (w[i] < 0.0)
            return -1;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (w[i] == 0.0)
            continue;
        const T *from = source + static_cast<std::int64_t>(i) * row;
        const double root = std::sqrt(w[i]);
        if (column == 1)
            for (std::size_t j = 0; j < d; ++j)
                to[j] = static_cast<double>(from[j]) * root;
        else
            for (std::size_t j = 0; j < d; ++j)
                to[j] = static_cast<double>(from[static_cast<std::int64_t>(j) * column]) * root;
        if (width > d)
            to[d] = root;
        to += width;
        ++count;
    }
    return count;
}

template <typename T> void bind(nb::module_ &module) {
    module.def("root_weighted", &root_weighted<T>, nb::arg("x").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("out").noconvert());
}

} // namespace

void bind_root_weighted(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
