// Cyclic coordinate descent on a quadratic with separable terms, in place:
//
//     ½ θᵀGθ − cᵀθ + Σ_j (l1_j |θ_j| + l2_j θ_j² / 2),   lower_j ≤ θ_j ≤ upper_j
//
// Invariant: gradient = Gθ − c throughout. Coordinates are visited in order by one thread; a
// coordinate costs O(1) when it does not move and O(d) when it does. Returns the largest
// |move|·√(curvature) of the last sweep: 0 exactly at the optimum.

#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace thetahat {

namespace {

double soft_threshold(double value, double threshold) {
    return value > threshold ? value - threshold : value < -threshold ? value + threshold : 0.0;
}

double quadratic_sweeps(Matrix<const double> gram, Vector<const double> l1, Vector<const double> l2,
                        Vector<const double> lower, Vector<const double> upper,
                        Vector<double> theta, Vector<double> gradient, std::size_t sweeps) {
    const std::size_t d = theta.shape(0);
    require(gram.shape(0) == d && gram.shape(1) == d, "gram must be square, of the size of theta");
    require(l1.shape(0) == d && l2.shape(0) == d && lower.shape(0) == d && upper.shape(0) == d &&
                gradient.shape(0) == d,
            "l1, l2, lower, upper and gradient must have the size of theta");
    const double *g = gram.data();
    double *t = theta.data(), *slope = gradient.data();
    const double *a = l1.data(), *b = l2.data(), *lo = lower.data(), *hi = upper.data();

    nb::gil_scoped_release unlocked;
    double largest = 0.0;
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
        largest = 0.0;
        for (std::size_t j = 0; j < d; ++j) {
            const double *row = g + j * d;
            const double curvature = row[j] + b[j];
            if (!(curvature > 0.0))
                continue; // a column of zeros: θ_j does not affect the fit and keeps its value
            const double free = soft_threshold(row[j] * t[j] - slope[j], a[j]) / curvature;
            const double moved = std::clamp(free, lo[j], hi[j]) - t[j];
            if (moved == 0.0)
                continue;
            t[j] += moved;
            for (std::size_t k = 0; k < d; ++k)
                slope[k] += moved * row[k];
            largest = std::max(largest, std::abs(moved) * std::sqrt(curvature));
        }
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
