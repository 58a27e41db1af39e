// The elementwise passes of a dense layer with rectified units, and of a step, each one pass over
// the memory where array operations need several.
//
//     rectify         x ← σ(x + b),  σ(t) = t for t ≥ 0 and leak·t below; NaN stays NaN
//     pull_rectified  δ ← δ ∘ σ′,    σ′ = 1 where x > 0 and leak elsewhere;  sums = Σ_rows δ
//     add_slopes      g₀ ← g₀ + g₁ + … + l2·θ, the last for the first entries only
//
// One thread does each pass: rows are added in their order, so that the number of threads changes
// no bit. The caller runs pieces of a batch in parallel.

#include <algorithm>

#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T> void rectify(Matrix<T> x, Vector<const T> bias, double leak) {
    const std::size_t n = x.shape(0), k = x.shape(1);
    require(bias.shape(0) == k, "bias must have one entry per column of x");
    const T *__restrict b = bias.data();
    T *__restrict row = x.data();
    const T slope = static_cast<T>(leak);

    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i, row += k) {
        if (leak == 0.0) // not 0·t, which is NaN at −∞
            for (std::size_t j = 0; j < k; ++j) {
                const T t = row[j] + b[j];
                row[j] = t < T(0) ? T(0) : t;
            }
        else
            for (std::size_t j = 0; j < k; ++j) {
                const T t = row[j] + b[j];
                row[j] = t < T(0) ? slope * t : t;
            }
    }
}

template <typename T>
void pull_rectified(Matrix<const T> x, Matrix<T> slope, Vector<T> sums, double leak) {
    const std::size_t n = x.shape(0), k = x.shape(1);
    require(slope.shape(0) == n && slope.shape(1) == k && sums.shape(0) == k,
            "slope must have the shape of x, and sums one entry per column");
    const T *outputs = x.data();
    T *slopes = slope.data(), *__restrict sum = sums.data();
    const T below = static_cast<T>(leak);

    nb::gil_scoped_release unlocked;
    std::fill_n(sum, k, T(0));
    constexpr std::size_t tile = 64;
    T factor[tile]; // apart from the product, so that compilers vectorise both loops
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t first = 0; first < k; first += tile) {
            const std::size_t count = std::min(tile, k - first);
            const T *__restrict out = outputs + i * k + first;
            T *__restrict pulled = slopes + i * k + first;
            for (std::size_t j = 0; j < count; ++j)
                factor[j] = out[j] > T(0) ? T(1) : below;
            for (std::size_t j = 0; j < count; ++j) {
                pulled[j] *= factor[j];
                sum[first + j] += pulled[j];
            }
        }
}

template <typename T>
void add_slopes(Matrix<T> gradients, std::size_t used, Vector<const T> theta, std::size_t penalised,
                double l2) {
    const std::size_t n = gradients.shape(1);
    require(used >= 1 && used <= gradients.shape(0), "used must be a number of rows of gradients");
    require(theta.shape(0) == n && penalised <= n, "theta must have the size of a gradient");
    T *__restrict total = gradients.data();
    const T *__restrict at = theta.data();
    const T strength = static_cast<T>(l2);

    nb::gil_scoped_release unlocked;
    for (std::size_t piece = 1; piece < used; ++piece) {
        const T *__restrict more = gradients.data() + piece * n;
        for (std::size_t i = 0; i < n; ++i)
            total[i] += more[i];
    }
    if (l2 != 0.0)
        for (std::size_t i = 0; i < penalised; ++i)
            total[i] += strength * at[i];
}

template <typename T> void bind(nb::module_ &module) {
    module.def("rectify", &rectify<T>, nb::arg("x").noconvert(), nb::arg("bias").noconvert(),
               nb::arg("leak"));
    module.def("pull_rectified", &pull_rectified<T>, nb::arg("x").noconvert(),
               nb::arg("slope").noconvert(), nb::arg("sums").noconvert(), nb::arg("leak"));
    module.def("add_slopes", &add_slopes<T>, nb::arg("gradients").noconvert(), nb::arg("used"),
               nb::arg("theta").noconvert(), nb::arg("penalised"), nb::arg("l2"));
}

} // namespace

void bind_dense_pass(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
