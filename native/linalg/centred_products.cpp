// Sums of products of columns, moved from a provisional centre to the mean, in place:
//
//     offset = first / weight,    products ← products − weight · offset offsetᵀ,
//
// where `first` and `products` are the weighted sums of rows and of their products. Returns the
// largest factor by which a diagonal entry shrinks: from 1 to 1/ε, where no digit is left and what
// remains may be negative. Every entry is worked out alone, and symmetric products stay symmetric
// to the bit.

#include <algorithm>
#include <limits>

#include "core/views.hpp"

namespace thetahat {

namespace {

double centre_products(Matrix<double> products, Vector<const double> first, double weight,
                       Vector<double> offset) {
    const std::size_t d = products.shape(0);
    require(products.shape(1) == d && first.shape(0) == d && offset.shape(0) == d,
            "products must be square, of the size of first and offset");
    const double *sums = first.data();
    double *rows = products.data(), *apart = offset.data();

    nb::gil_scoped_release unlocked;
    for (std::size_t j = 0; j < d; ++j)
        apart[j] = weight > 0.0 ? sums[j] / weight : 0.0;
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    double shrunk = 1.0;
    for (std::size_t i = 0; i < d; ++i) {
        double *__restrict row = rows + i * d;
        const double before = row[i], here = apart[i];
        for (std::size_t j = 0; j < d; ++j)
            row[j] -= weight * (here * apart[j]);
        if (before > 0.0)
            shrunk = std::max(shrunk, before / std::max(row[i], epsilon * before));
    }
    return shrunk;
}

} // namespace

void bind_centred_products(nb::module_ &module) {
    module.def("centre_products", &centre_products, nb::arg("products").noconvert(),
               nb::arg("first"), nb::arg("weight"), nb::arg("offset").noconvert());
}

} // namespace thetahat
