// Residuals and gradient of least squares in twice the working precision, for iterative refinement:
//
//     r_i = y_i − Σ_j z_ij γ_j − γ_0,   gradient_j += Σ_i w_i z_ij r_i,   gradient_d += Σ_i w_i r_i
//
// with z = (x − centre) · scale. Every sum and product keeps its rounding error (Dekker's and
// Knuth's error-free transformations), so the gradient is as accurate as if it were computed with
// about 32 digits and rounded. Rows are added in order by one thread, so the order of sums does not
// depend on the threads. Needs strict IEEE arithmetic: this file must not be built with
// -ffast-math.

#include <cmath>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

// value + error, with |error| at most half a unit in the last place of value.
struct Twofold {
    double value = 0.0, error = 0.0;
};

inline Twofold difference(double a, double b) {
    const double s = a - b, t = s - a;
    return {s, (a - (s - t)) - (b + t)};
}

inline void add(Twofold &sum, double value, double error) {
    const double s = sum.value + value, t = s - sum.value;
    sum.error += ((sum.value - (s - t)) + (value - t)) + error;
    sum.value = s;
}

inline void add_product(Twofold &sum, Twofold a, Twofold b) {
    const double p = a.value * b.value;
    const double e = std::fma(a.value, b.value, -p);
    add(sum, p, e + (a.value * b.error + a.error * b.value));
}

template <typename T>
void compensated_gradient(StridedMatrix<const T> x, StridedMatrix<const double> y,
                          Vector<const double> weight, Vector<const double> centre,
                          Vector<const double> scale, Matrix<const double> gamma,
                          Matrix<double> gradient, Matrix<double> gradient_error) {
    const std::size_t n = x.shape(0), d = x.shape(1), k = y.shape(1);
    require(y.shape(0) == n, "y must have the rows of x");
    require(weight.shape(0) == 0 || weight.shape(0) == n, "weight must be empty or one per row");
    require(centre.shape(0) == d + k && scale.shape(0) == d + k,
            "centre and scale must have one entry per column of x and y");
    require(gamma.shape(0) == d + 1 && gamma.shape(1) == k, "gamma must be (d + 1, k)");
    require(gradient.shape(0) == k && gradient.shape(1) == d + 1 && gradient_error.shape(0) == k &&
                gradient_error.shape(1) == d + 1,
            "gradient and gradient_error must be (k, d + 1)");
    const std::int64_t x_row = x.stride(0), x_column = x.stride(1);
    const std::int64_t y_row = y.stride(0), y_column = y.stride(1);
    const double *c = centre.data(), *s = scale.data(), *g = gamma.data(), *w = weight.data();
    const bool weighted = weight.shape(0) != 0;

    nb::gil_scoped_release unlocked;
    std::vector<double> value(d), error(d);
    for (std::size_t i = 0; i < n; ++i) {
        const T *row = x.data() + static_cast<std::int64_t>(i) * x_row;
        for (std::size_t j = 0; j < d; ++j) {
            const double entry = static_cast<double>(row[static_cast<std::int64_t>(j) * x_column]);
            const Twofold z = difference(entry, c[j]);
            value[j] = z.value * s[j]; // powers of two: exact
            error[j] = z.error * s[j];
        }
        for (std::size_t l = 0; l < k; ++l) {
            const double target = y.data()[static_cast<std::int64_t>(i) * y_row +
                                           static_cast<std::int64_t>(l) * y_column];
            Twofold r = difference(target, c[d + l]);
            r = {r.value * s[d + l], r.error * s[d + l]};
            add(r, -g[d * k + l], 0.0);
            for (std::size_t j = 0; j < d; ++j)
                add_product(r, {-value[j], -error[j]}, {g[j * k + l], 0.0});
            if (weighted) {
                Twofold scaled;
                add_product(scaled, r, {w[i], 0.0});
                r = scaled;
            }
            double *sum = gradient.data() + l * (d + 1);
            double *carry = gradient_error.data() + l * (d + 1);
            for (std::size_t j = 0; j < d; ++j) {
                Twofold total{sum[j], carry[j]};
                add_product(total, {value[j], error[j]}, r);
                sum[j] = total.value;
                carry[j] = total.error;
            }
            Twofold total{sum[d], carry[d]};
            add(total, r.value, r.error);
            sum[d] = total.value;
            carry[d] = total.error;
        }
    }
}

template <typename T> void bind(nb::module_ &module) {
    module.def("compensated_gradient", &compensated_gradient<T>, nb::arg("x").noconvert(),
               nb::arg("y").noconvert(), nb::arg("weight"), nb::arg("centre"), nb::arg("scale"),
               nb::arg("gamma").noconvert(), nb::arg("gradient").noconvert(),
               nb::arg("gradient_error").noconvert());
}

} // namespace

void bind_refine(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
