// Slope and curvature of the losses of class scores together, with one exponential for each score,
// for the Newton steps of boosting.
//
//     logistic_slopes   ∂ℓ = σ(z) − y,            ∂²ℓ = σ(1 − σ)
//     softmax_slopes    ∂ℓ = p − onehot(y),       ∂²ℓ = p(1 − p)  (the diagonal)
//     softmax_losses    ℓ = log Σ e^{z_c − z_y},  ∂ℓ = p − onehot(y),  for networks
//
// Only e^{−|z|} and e^{z_c − max} are computed; small slopes are quotients of sums of positive
// terms, not differences. Every row is computed separately, so the number of threads changes no
// bit.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/exponential.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t chunk = 4096;

template <typename T>
void logistic_slopes(Vector<const T> y, Vector<const double> z, Vector<double> slope,
                     Vector<double> curvature, int threads) {
    const std::size_t n = z.shape(0);
    require(y.shape(0) == n && slope.shape(0) == n && curvature.shape(0) == n,
            "y, slope and curvature must have the size of z");
    const T *label = y.data();
    const double *score = z.data();
    double *pull = slope.data(), *bend = curvature.data();

    nb::gil_scoped_release unlocked;
    for_each_piece((n + chunk - 1) / chunk, threads, [&](std::size_t piece) {
        const std::size_t end = std::min(n, (piece + 1) * chunk);
        for (std::size_t i = piece * chunk; i < end; ++i) {
            const double t = score[i], one = static_cast<double>(label[i]);
            const double rest = exponential_below(-std::abs(t));
            const double up = t > 0 ? 1.0 : rest, down = t > 0 ? rest : 1.0;
            const double all = 1.0 + rest;
            pull[i] = ((1.0 - one) * up - one * down) / all;
            bend[i] = rest / (all * all);
        }
    });
}

template <typename T>
void softmax_slopes(Vector<const T> y, Matrix<const double> z, Matrix<double> slope,
                    Matrix<double> curvature, int threads) {
    const std::size_t n = z.shape(0), k = z.shape(1);
    require(y.shape(0) == n, "y must have one entry per row of z");
    require(slope.shape(0) == n && slope.shape(1) == k && curvature.shape(0) == n &&
                curvature.shape(1) == k,
            "slope and curvature must have the shape of z");
    require(k > 0, "z must have a column for each class");
    const T *label = y.data();
    for (std::size_t i = 0; i < n; ++i)
        require(label[i] >= 0 && label[i] < static_cast<T>(k), "y must index the columns of z");

    nb::gil_scoped_release unlocked;
    for_each_piece((n + chunk - 1) / chunk, threads, [&](std::size_t piece) {
        const std::size_t end = std::min(n, (piece + 1) * chunk);
        for (std::size_t i = piece * chunk; i < end; ++i) {
            const double *score = z.data() + i * k;
            double *share = slope.data() + i * k, *bend = curvature.data() + i * k;
            const auto right = static_cast<std::size_t>(label[i]);
            const double largest = *std::max_element(score, score + k);
            for (std::size_t c = 0; c < k; ++c)
                share[c] = exponential_below(score[c] - largest);
            double total = 0.0;
            for (std::size_t c = 0; c < k; ++c)
                total += share[c];
            double others = 0.0;
            for (std::size_t c = 0; c < k; ++c) {
                const double rest = total - share[c];
                if (c != right)
                    others += share[c];
                bend[c] = share[c] * rest / (total * total);
            }
            for (std::size_t c = 0; c < k; ++c)
                share[c] /= total;
            share[right] = -others / total;
        }
    });
}

// Computed in double precision for both types, one exponential for each score.
template <typename T, typename Z>
void softmax_losses(Vector<const T> y, Matrix<const Z> z, Vector<Z> value, Matrix<Z> slope,
                    int threads) {
    const std::size_t n = z.shape(0), k = z.shape(1);
    require(y.shape(0) == n && value.shape(0) == n && slope.shape(0) == n && slope.shape(1) == k,
            "y, value and slope must have the rows of z");
    const T *label = y.data();
    for (std::size_t i = 0; i < n; ++i)
        require(label[i] >= 0 && label[i] < static_cast<T>(k), "y must hold numbers of columns");

    nb::gil_scoped_release unlocked;
    for_each_piece((n + chunk - 1) / chunk, threads, [&](std::size_t piece) {
        const std::size_t end = std::min(n, (piece + 1) * chunk);
        // Some rows at a time, so that the exponentials of few classes fill wide registers too.
        const std::size_t rows = std::max<std::size_t>(1, 512 / std::max<std::size_t>(1, k));
        std::vector<double> share(rows * k), top(rows);
        for (std::size_t first = piece * chunk; first < end; first += rows) {
            const std::size_t count = std::min(rows, end - first);
            const Z *scores = z.data() + first * k;
            for (std::size_t i = 0; i < count; ++i) {
                const Z *score = scores + i * k;
                Z largest = score[0];
                for (std::size_t c = 1; c < k; ++c)
                    largest = std::max(largest, score[c]);
                top[i] = static_cast<double>(largest);
                for (std::size_t c = 0; c < k; ++c)
                    share[i * k + c] = static_cast<double>(score[c]) - top[i];
            }
            double *each = share.data();
            for (std::size_t e = 0; e < count * k; ++e)
                each[e] = exponential_below(each[e]);
            for (std::size_t i = 0; i < count; ++i, each += k) {
                const auto right = static_cast<std::size_t>(label[first + i]);
                double total = 0.0;
                for (std::size_t c = 0; c < k; ++c)
                    total += each[c];
                const double own = each[right];
                each[right] = 0.0;
                double others = 0.0;
                for (std::size_t c = 0; c < k; ++c)
                    others += each[c];
                // With the true class on top, log1p keeps the digits of small losses.
                const double behind = top[i] - static_cast<double>(scores[i * k + right]);
                value.data()[first + i] =
                    static_cast<Z>(behind == 0.0 ? std::log1p(others) : behind + std::log(total));
                each[right] = own;
                Z *pull = slope.data() + (first + i) * k;
                for (std::size_t c = 0; c < k; ++c)
                    pull[c] = static_cast<Z>(each[c] / total);
                pull[right] = static_cast<Z>(-others / total);
            }
        }
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("softmax_losses", &softmax_losses<T, double>, nb::arg("y").noconvert(),
               nb::arg("z").noconvert(), nb::arg("value").noconvert(), nb::arg("slope").noconvert(),
               nb::arg("threads"));
    module.def("softmax_losses", &softmax_losses<T, float>, nb::arg("y").noconvert(),
               nb::arg("z").noconvert(), nb::arg("value").noconvert(), nb::arg("slope").noconvert(),
               nb::arg("threads"));
    module.def("logistic_slopes", &logistic_slopes<T>, nb::arg("y").noconvert(),
               nb::arg("z").noconvert(), nb::arg("slope").noconvert(),
               nb::arg("curvature").noconvert(), nb::arg("threads"));
    module.def("softmax_slopes", &softmax_slopes<T>, nb::arg("y").noconvert(),
               nb::arg("z").noconvert(), nb::arg("slope").noconvert(),
               nb::arg("curvature").noconvert(), nb::arg("threads"));
}

} // namespace

void bind_class_slopes(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
