// One pass of the perceptron over the rows, in their order.
//
//     perceptron_pass(rows, signs, weights)                   w ← w + yᵢxᵢ
//     kernel_perceptron_pass(K, constant, signs, steps, f, counts)   f ← f + sᵢ(Kᵢ + c)
//
// after every row i with sign f(xᵢ) ≠ yᵢ, where f(x) = wᵀx ≤ 0 counts as negative. Both return the
// number of mistakes. Steps follow each other, so that there is one thread; sums have a fixed
// order.

#include <cmath>

#include "core/dots.hpp"
#include "core/interrupts.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

std::size_t perceptron_pass(Matrix<const double> rows, Vector<const double> signs,
                            Vector<double> weights) {
    const std::size_t n = rows.shape(0), d = rows.shape(1);
    require(signs.shape(0) == n && weights.shape(0) == d,
            "there must be one sign per row and one weight per column");
    const double *sign = signs.data();
    double *w = weights.data();
    nb::gil_scoped_release unlocked;
    InterruptionPoint interruption;
    std::size_t mistakes = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double *x = rows.data() + i * d;
        interruption.after(static_cast<double>(d));
        if ((dot(x, w, d) > 0.0) == (sign[i] > 0.0))
            continue;
        for (std::size_t j = 0; j < d; ++j)
            w[j] += sign[i] * x[j];
        ++mistakes;
    }
    return mistakes;
}

std::size_t kernel_perceptron_pass(Matrix<const double> K, double constant,
                                   Vector<const double> signs, Vector<const double> steps,
                                   Vector<double> values, Vector<double> counts) {
    const std::size_t n = K.shape(0);
    require(K.shape(1) == n && signs.shape(0) == n && steps.shape(0) == n && values.shape(0) == n &&
                counts.shape(0) == n,
            "K must be square, with one sign, step, value and count per row");
    const double *sign = signs.data(), *step = steps.data();
    double *f = values.data(), *count = counts.data();
    nb::gil_scoped_release unlocked;
    InterruptionPoint interruption;
    std::size_t mistakes = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if ((f[i] > 0.0) == (sign[i] > 0.0))
            continue;
        interruption.after(static_cast<double>(n));
        const double *row = K.data() + i * n;
        for (std::size_t j = 0; j < n; ++j)
            f[j] += step[i] * (row[j] + constant);
        count[i] += 1.0;
        ++mistakes;
    }
    return mistakes;
}

} // namespace

void bind_perceptron_pass(nb::module_ &module) {
    module.def("perceptron_pass", &perceptron_pass, nb::arg("rows").noconvert(),
               nb::arg("signs").noconvert(), nb::arg("weights").noconvert());
    module.def("kernel_perceptron_pass", &kernel_perceptron_pass, nb::arg("K").noconvert(),
               nb::arg("constant"), nb::arg("signs").noconvert(), nb::arg("steps").noconvert(),
               nb::arg("values").noconvert(), nb::arg("counts").noconvert());
}

} // namespace thetahat
