// Least angle regression for many targets, on the Gram matrix G and c = Xᵀy: row by row of `coef`.
//
// The columns A with the largest correlation with the residual share one absolute correlation C.
// β_A moves along w = G_AA⁻¹ s (s the signs), which lowers the correlations of all of them equally,
// until another column reaches the same correlation:
//
//     γ = min⁺ over j not in A of (C − r_j)/(1 − a_j), (C + r_j)/(1 + a_j),   a = G_·A w
//
// or until C = 0, the least-squares fit on A. Invariant: r = c − Gβ. A step costs
// O(|A|² + |A| d). Each target is computed by one thread, independently of the others.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

void least_angles(Matrix<const double> gram, Matrix<const double> correlation, std::size_t most,
                  Matrix<double> coef) {
    const std::size_t d = gram.shape(0), targets = correlation.shape(0);
    require(gram.shape(1) == d && correlation.shape(1) == d && coef.shape(1) == d,
            "gram must be square, correlation and coef as wide as it");
    require(coef.shape(0) == targets, "coef must have the rows of correlation");
    require(most <= d, "no more steps than columns");
    const double *g = gram.data();

    nb::gil_scoped_release unlocked;
    std::vector<double> slope(d), along(d), factor(most * most), w(most), sign(most);
    std::vector<std::size_t> active(most);
    std::vector<char> closed(d);
    for (std::size_t t = 0; t < targets; ++t) {
        const double *c = correlation.data() + t * d;
        double *beta = coef.data() + t * d;
        std::copy(c, c + d, slope.begin());
        std::fill(closed.begin(), closed.end(), 0);
        double scale = 0.0;
        for (std::size_t j = 0; j < d; ++j)
            scale = std::max(scale, std::abs(c[j]));
        std::size_t size = 0;
        while (size < most) {
            std::size_t best = d;
            double largest = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                const double here = std::abs(slope[j]);
                if (!closed[j] && here > largest) {
                    largest = here;
                    best = j;
                }
            }
            if (best == d || !(largest > 1e-13 * scale))
                break;
            closed[best] = 1;
            double square = g[best * d + best];
            for (std::size_t a = 0; a < size; ++a) {
                double sum = g[best * d + active[a]];
                for (std::size_t b = 0; b < a; ++b)
                    sum -= factor[a * most + b] * factor[size * most + b];
                sum /= factor[a * most + a];
                factor[size * most + a] = sum;
                square -= sum * sum;
            }
            if (!(square > 1e-13 * g[best * d + best]))
                continue; // depends linearly on the chosen columns
            factor[size * most + size] = std::sqrt(square);
            sign[size] = slope[best] > 0.0 ? 1.0 : -1.0;
            active[size++] = best;

            for (std::size_t a = 0; a < size; ++a) {
                double sum = sign[a];
                for (std::size_t b = 0; b < a; ++b)
                    sum -= factor[a * most + b] * w[b];
                w[a] = sum / factor[a * most + a];
            }
            for (std::size_t a = size; a-- > 0;) {
                double sum = w[a];
                for (std::size_t b = a + 1; b < size; ++b)
                    sum -= factor[b * most + a] * w[b];
                w[a] = sum / factor[a * most + a];
            }
            std::fill(along.begin(), along.end(), 0.0);
            for (std::size_t a = 0; a < size; ++a)
                for (std::size_t j = 0; j < d; ++j)
                    along[j] += w[a] * g[active[a] * d + j];
            double step = largest; // all the way to the least-squares fit on A
            for (std::size_t j = 0; j < d; ++j) {
                if (closed[j])
                    continue;
                const double rising = (largest - slope[j]) / (1.0 - along[j]);
                const double falling = (largest + slope[j]) / (1.0 + along[j]);
                if (rising > 1e-14 * scale && rising < step)
                    step = rising;
                if (falling > 1e-14 * scale && falling < step)
                    step = falling;
            }
            for (std::size_t a = 0; a < size; ++a)
                beta[active[a]] += step * w[a];
            for (std::size_t j = 0; j < d; ++j)
                slope[j] -= step * along[j];
        }
    }
}

} // namespace

void bind_least_angles(nb::module_ &module) {
    module.def("least_angles", &least_angles, nb::arg("gram").noconvert(),
               nb::arg("correlation").noconvert(), nb::arg("most"), nb::arg("coef").noconvert());
}

} // namespace thetahat
