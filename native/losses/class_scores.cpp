// Losses of class scores, row by row: value and slope together, with one exponential for each
// score.
//
//     logistic_rows   ℓ = log(1 + e^z) − y·z,            ∂ℓ/∂z = σ(z) − y
//     softmax_rows    ℓ = log Σ_c e^{z_c} − z_y,         ∂ℓ/∂z = softmax(z) − onehot(y)
//
// Only e^{−|z|} and e^{z_c − max} are computed, so nothing overflows. Small slopes keep their
// digits, because they are quotients of sums of positive terms, not differences. Every row is
// computed separately, in one pass, so there is no order of sums over rows.

#include <cmath>

#include "kernels.hpp"

namespace thetahat {

namespace {

template <typename T>
void logistic_rows(Vector<const T> y, Vector<const double> z, Vector<double> value,
                   Vector<double> slope) {
    const std::size_t n = z.shape(0);
    require(y.shape(0) == n && value.shape(0) == n && slope.shape(0) == n,
            "y, value and slope must have the size of z");
    const T *label = y.data();
    const double *score = z.data();
    double *loss = value.data(), *pull = slope.data();

    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i) {
        const double t = score[i], one = static_cast<double>(label[i]);
        const double rest = std::exp(-std::abs(t));
        const double up = t > 0 ? 1.0 : rest, down = t > 0 ? rest : 1.0;
        loss[i] = (t > 0 ? t : 0.0) - one * t + std::log1p(rest);
        pull[i] = ((1.0 - one) * up - one * down) / (1.0 + rest);
    }
}

template <typename T>
void softmax_rows(Vector<const T> y, Matrix<const double> z, Vector<double> value,
                  Matrix<double> slope) {
    const std::size_t n = z.shape(0), k = z.shape(1);
    require(y.shape(0) == n && value.shape(0) == n, "y and value must have one entry per row of z");
    require(slope.shape(0) == n && slope.shape(1) == k, "slope must have the shape of z");
    require(k > 0, "z must have a column for each class");
    const T *label = y.data();
    for (std::size_t i = 0; i < n; ++i)
        require(label[i] >= 0 && label[i] < static_cast<T>(k), "y must index the columns of z");
    double *loss = value.data();

    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i) {
        const double *score = z.data() + i * k;
        double *share = slope.data() + i * k;
        const std::size_t right = static_cast<std::size_t>(label[i]);
        std::size_t top = 0;
        for (std::size_t c = 1; c < k; ++c)
            if (score[c] > score[top])
                top = c;
        const double largest = score[top];
        double beside = 0.0; // Σ of all exponentials but the largest, which is 1
        for (std::size_t c = 0; c < k; ++c) {
            share[c] = std::exp(score[c] - largest);
            if (c != top)
                beside += share[c];
        }
        loss[i] = (largest - score[right]) + std::log1p(beside);
        const double total = 1.0 + beside;
        double others = 0.0;
        for (std::size_t c = 0; c < k; ++c) {
            if (c != right)
                others += share[c];
            share[c] /= total;
        }
        share[right] = -others / total;
    }
}

template <typename T> void bind(nb::module_ &module) {
    module.def("logistic_rows", &logistic_rows<T>, nb::arg("y").noconvert(),
               nb::arg("z").noconvert(), nb::arg("value").noconvert(),
               nb::arg("slope").noconvert());
    module.def("softmax_rows", &softmax_rows<T>, nb::arg("y").noconvert(), nb::arg("z").noconvert(),
               nb::arg("value").noconvert(), nb::arg("slope").noconvert());
}

} // namespace

void bind_class_scores(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
