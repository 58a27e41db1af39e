// One step of Adam for all parameters, in place:
//
//     m ← β₁m + (1 − β₁)g,   v ← β₂v + (1 − β₂)g²,   θ ← θ − η (m/c₁)/(√(v/c₂) + ε)
//
// with the corrections c = 1 − βᵗ for the start at 0. Each entry is read and written once, where
// array operations would make a dozen passes. Entries do not depend on each other, and one thread
// does them all: a step is a few ten microseconds for the networks that run on a CPU.

#include <cmath>

#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T>
void adam_step(Vector<const T> gradient, Vector<T> theta, Vector<T> first, Vector<T> second,
               double rate, double beta1, double beta2, double correction1, double correction2,
               double epsilon) {
    const std::size_t n = theta.shape(0);
    require(gradient.shape(0) == n && first.shape(0) == n && second.shape(0) == n,
            "gradient, first and second must have the size of theta");
    require(correction1 > 0 && correction2 > 0, "the corrections must be positive");
    const T *__restrict g = gradient.data();
    T *__restrict to = theta.data(), *__restrict m = first.data(), *__restrict v = second.data();
    const T keep1 = static_cast<T>(beta1), new1 = static_cast<T>(1 - beta1);
    const T keep2 = static_cast<T>(beta2), new2 = static_cast<T>(1 - beta2);
    const T step = static_cast<T>(rate / correction1);
    const T scale = static_cast<T>(1 / std::sqrt(correction2)), tiny = static_cast<T>(epsilon);

    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i) {
        m[i] = keep1 * m[i] + new1 * g[i];
        v[i] = keep2 * v[i] + new2 * g[i] * g[i];
        to[i] -= step * m[i] / (std::sqrt(v[i]) * scale + tiny);
    }
}

template <typename T> void bind(nb::module_ &module) {
    module.def("adam_step", &adam_step<T>, nb::arg("gradient").noconvert(),
               nb::arg("theta").noconvert(), nb::arg("first").noconvert(),
               nb::arg("second").noconvert(), nb::arg("rate"), nb::arg("beta1"), nb::arg("beta2"),
               nb::arg("correction1"), nb::arg("correction2"), nb::arg("epsilon"));
}

} // namespace

void bind_adam_step(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
