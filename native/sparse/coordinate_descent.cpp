// Cyclic coordinate descent on a quadratic with separable terms, in place:
//
//     ½ θᵀGθ − cᵀθ + Σ_j (l1_j |θ_j| + l2_j θ_j² / 2),   lower_j ≤ θ_j ≤ upper_j
//
// Invariant: gradient = Gθ − c throughout. Coordinates are visited in order by one thread; a
// coordinate costs O(1) when it does not move and O(d) when it does. Returns the largest
// |move|·√(curvature) of the last sweep: 0 exactly at the optimum.

#include <algorithm>
#include <cmath>

#include "core/views.hpp"
#include "sparse/coordinate_sweep.hpp"

namespace thetahat {

namespace {

struct Gradient {
    const double *gram;
    std::size_t d;
    double *gradient;

    double slope(std::size_t j) const { return -gradient[j]; }
    void move(std::size_t j, double by) {
        const double *row = gram + j * d;
        for (std::size_t k = 0; k < d; ++k)
            gradient[k] += by * row[k];
    }
};

double quadratic_sweeps(Matrix<const double> gram, Vector<const double> l1, Vector<const double> l2,
                        Vector<const double> lower, Vector<const double> upper,
                        Vector<double> theta, Vector<double> gradient, std::size_t sweeps) {
    const std::size_t d = theta.shape(0);
    require(gram.shape(0) == d && gram.shape(1) == d, "gram must be square, of the size of theta");
    require(l1.shape(0) == d && l2.shape(0) == d && lower.shape(0) == d && upper.shape(0) == d &&
                gradient.shape(0) == d,
            "l1, l2, lower, upper and gradient must have the size of theta");
    const Terms terms{l1.data(), l2.data(), lower.data()};

    nb::gil_scoped_release unlocked;
    double largest = 0.0;
    Gradient columns{gram.data(), d, gradient.data()};
    for (std::size_t at = 0; at < sweeps; ++at) {
        largest = 0.0;
        sweep(
            columns, d, [](std::size_t j) { return j; },
            [&](std::size_t j) { return columns.gram[j * d + j]; }, BoxTerms{terms, upper.data()},
            theta.data(),
            [&](std::size_t, double from, double to, double curvature) {
                largest = std::max(largest, std::abs(to - from) * std::sqrt(curvature));
            });
        if (largest == 0.0)
            break;
    }
    return largest;
}

} // namespace

void bind_coordinate_descent(nb::module_ &module) {
    module.def("quadratic_sweeps", &quadratic_sweeps, nb::arg("gram").noconvert(),
               nb::arg("l1").noconvert(), nb::arg("l2").noconvert(), nb::arg("lower").noconvert(),
               nb::arg("upper").noconvert(), nb::arg("theta").noconvert(),
               nb::arg("gradient").noconvert(), nb::arg("sweeps"));
}

} // namespace thetahat
