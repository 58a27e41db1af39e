// Orthogonal matching pursuit for many targets, on the Gram matrix G = XᵀX and c = Xᵀy:
//
//     j ← argmax_{j not in A} |c_j − (Gβ)_j|,   A ← A + j,   β_A ← G_AA⁻¹ c_A
//
// Invariants: L Lᵀ = G_AA grows by one row per step; L z = c_A, so that ‖y − Xβ‖² = ‖y‖² − ‖z‖²;
// slope = c − Gβ is computed again at every step, so errors do not accumulate. A step costs O(|A|
// d). A column that depends linearly on A, or is uncorrelated with the residual up to rounding, is
// never chosen. Each target is computed by one thread, independently of the others, so the bits do
// not depend on the distribution over threads.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/views.hpp"
#include "linalg/cholesky_factor.hpp"

namespace thetahat {

namespace {

constexpr double DEPENDENT = 1e-13; // share of x_j outside the span of A that is rounding error
constexpr double UNCORRELATED = 64 * std::numeric_limits<double>::epsilon();

void matching_pursuit(Matrix<const double> gram, Matrix<const double> correlation,
                      Vector<const double> squares, std::size_t most, double tolerance,
                      Matrix<double> coef, Vector<double> residual, Vector<std::int64_t> steps,
                      Matrix<double> path) {
    const std::size_t d = gram.shape(0), targets = correlation.shape(0);
    require(gram.shape(1) == d && correlation.shape(1) == d && coef.shape(1) == d,
            "gram must be square, correlation and coef as wide as it");
    require(squares.shape(0) == targets && coef.shape(0) == targets &&
                residual.shape(0) == targets && steps.shape(0) == targets,
            "squares, coef, residual and steps must have one entry per target");
    require(most <= d, "no more steps than columns");
    require(path.shape(0) == 0 || (path.shape(0) == targets * most && path.shape(1) == d),
            "path must be empty, or one row per target and step");
    const double *g = gram.data();
    const bool keeps_path = path.shape(0) != 0;

    nb::gil_scoped_release unlocked;
    std::vector<double> slope(d), z(most), beta(most);
    CholeskyFactor factor;
    std::vector<std::size_t> active(most);
    std::vector<char> closed(d);
    for (std::size_t t = 0; t < targets; ++t) {
        const double *c = correlation.data() + t * d;
        const double total = squares.data()[t];
        double left = total;
        std::size_t size = 0;
        factor.shrink(0);
        std::copy(c, c + d, slope.begin());
        std::fill(closed.begin(), closed.end(), 0);
        while (size < most && left > tolerance) {
            std::size_t best = d;
            double largest = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                const double size_of = std::abs(slope[j]);
                if (!closed[j] && size_of > largest) {
                    largest = size_of;
                    best = j;
                }
            }
            if (best == d)
                break; // the residual is orthogonal to every column
            closed[best] = 1;
            const double *column = g + best * d;
            const double square = column[best];
            if (!(largest > UNCORRELATED * std::sqrt(square * total)))
                continue;
            double *products = factor.next();
            for (std::size_t a = 0; a < size; ++a)
                products[a] = column[active[a]];
            if (!factor.append(square, DEPENDENT))
                continue;
            z[size] = slope[best] / factor.pivot(size);
            left = std::max(0.0, left - z[size] * z[size]);
            active[size++] = best;

            std::copy_n(z.begin(), size, beta.begin());
            factor.backward(beta.data());
            std::copy(c, c + d, slope.begin());
            double *__restrict running = slope.data();
            for (std::size_t a = 0; a < size; ++a) {
                const double *taken = g + active[a] * d;
                const double share = beta[a];
                for (std::size_t j = 0; j < d; ++j)
                    running[j] -= share * taken[j];
            }
            if (keeps_path) {
                double *out = path.data() + (t * most + size - 1) * d;
                for (std::size_t a = 0; a < size; ++a)
                    out[active[a]] = beta[a];
            }
        }
        for (std::size_t a = 0; a < size; ++a)
            coef.data()[t * d + active[a]] = beta[a];
        residual.data()[t] = left;
        steps.data()[t] = static_cast<std::int64_t>(size);
    }
}

} // namespace

void bind_matching_pursuit(nb::module_ &module) {
    module.def("matching_pursuit", &matching_pursuit, nb::arg("gram").noconvert(),
               nb::arg("correlation").noconvert(), nb::arg("squares").noconvert(), nb::arg("most"),
               nb::arg("tolerance"), nb::arg("coef").noconvert(), nb::arg("residual").noconvert(),
               nb::arg("steps").noconvert(), nb::arg("path").noconvert());
}

} // namespace thetahat
