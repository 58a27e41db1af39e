// Newton's method on a mean of losses over rows plus a ridge penalty, for few parameters, without
// calls of Python between the steps:
//
//     F(θ) = Σ w ℓ(y, x̃ᵀθ)/total + ½ Σ_j ridge_j θ_j²,    θ ← θ − t H⁻¹∇F,    t = 1, ½, ¼, …
//
// until the largest entry of ∇F is at most `tolerance`. A step is accepted by the same rule, with
// the same constants, as in the general method (`line_search.py`): Armijo's rule, or a smaller
// gradient if F changes only by rounding. θ is changed in place. Returns F and the gap at the start
// and at the end, the number of steps, and how the run ended. O(n d²) for each step; one thread
// with a fixed order of sums.
//
// If a step would be shorter than `shortest` of the full one, or makes no progress, the run ends
// with NO_DIRECTION, and the general method continues: with a parabola above F it has a second
// direction to try. `shortest` is 0 if there is no such parabola.
//
// newton_direction computes only the direction, for a given H. It is so short that it keeps the
// interpreter's lock.

#include <algorithm>
#include <nanobind/stl/tuple.h>

#include "core/views.hpp"
#include "linalg/newton_direction.hpp"
#include "losses/row_sums.hpp"

namespace thetahat {

namespace {

constexpr double SHARE = 1e-4; // of the predicted decrease
constexpr int MOST_HALVINGS = 60;
constexpr double ROUNDING = 8.0 * 2.220446049250313e-16;

enum Ending { CONVERGED, STEPS_EXHAUSTED, STALLED, NO_DIRECTION };

bool newton_direction_of(Matrix<const double> hessian, Vector<double> gradient, double least) {
    const std::size_t k = gradient.shape(0);
    require(hessian.shape(0) == k && hessian.shape(1) == k,
            "hessian must be square, gradient as long as its side");
    return newton_direction(hessian.data(), gradient.data(), k, least);
}

double largest(const std::vector<double> &entries) {
    double most = 0.0;
    for (const double entry : entries)
        most = entry != entry ? entry : std::max(most, std::abs(entry));
    return most;
}

template <typename T> struct RidgeRows {
    LossRows<T> rows;
    const double *ridge;
    double total;

    double value_and_gradient(const std::vector<double> &theta, std::vector<double> &gradient) {
        rows.theta = theta.data();
        double value = sum_losses(rows, gradient.data()) / total;
        for (std::size_t j = 0; j < theta.size(); ++j) {
            value += 0.5 * ridge[j] * theta[j] * theta[j];
            gradient[j] = gradient[j] / total + ridge[j] * theta[j];
        }
        return value;
    }

    void hessian(const std::vector<double> &theta, std::vector<double> &out) {
        const std::size_t k = theta.size();
        rows.theta = theta.data();
        sum_curvatures(rows, out.data());
        for (double &entry : out)
            entry /= total;
        for (std::size_t j = 0; j < k; ++j)
            out[j * (k + 1)] += ridge[j];
    }
};

using Told = std::tuple<double, double, double, double, std::int64_t, int>;

template <typename T>
Told compiled_newton(StridedMatrix<const T> x, Vector<const double> y, Vector<const double> weight,
                     Vector<double> theta, double constant, int loss, double knee,
                     Vector<const double> ridge, double total, double tolerance,
                     std::int64_t max_steps, double least, double shortest) {
    const std::size_t k = theta.shape(0);
    require(ridge.shape(0) == k, "ridge must have the size of theta");
    require(total > 0.0, "total must be positive");
    const Vector<const double> parameters(theta);
    RidgeRows<T> F{{x, y, weight, parameters, constant, loss, knee}, ridge.data(), total};

    nb::gil_scoped_release unlocked;
    std::vector<double> here(theta.data(), theta.data() + k), there(k), slope(k), next(k);
    std::vector<double> direction(k), hessian(k * k);
    double value = F.value_and_gradient(here, slope), gap = largest(slope);
    const double first_value = value, first_gap = gap;
    std::int64_t steps = 0;
    const auto step = [&] { // one, or why there is none
        F.hessian(here, hessian);
        direction = slope;
        if (!newton_direction(hessian.data(), direction.data(), k, least))
            return NO_DIRECTION;
        double fall = 0.0;
        for (std::size_t j = 0; j < k; ++j)
            fall += slope[j] * direction[j];
        double length = 1.0;
        for (int halving = 0; fall < 0.0 && halving < MOST_HALVINGS; ++halving, length /= 2.0) {
            for (std::size_t j = 0; j < k; ++j)
                there[j] = here[j] + length * direction[j];
            const double reached = F.value_and_gradient(there, next), rest = largest(next);
            const double promised = length * fall, rounding = ROUNDING * std::abs(value);
            const bool falls = reached <= value + SHARE * promised && reached < value;
            const bool settles = std::abs(promised) <= rounding && reached <= value + rounding;
            if (!std::isfinite(reached) || !(falls || (settles && rest < gap)))
                continue;
            if (length < shortest)
                return NO_DIRECTION;
            here.swap(there);
            slope.swap(next);
            value = reached;
            gap = rest;
            return CONVERGED;
        }
        return shortest > 0.0 ? NO_DIRECTION : STALLED;
    };
    Ending ending = CONVERGED;
    while (ending == CONVERGED && std::isfinite(value) && !(gap <= tolerance)) {
        ending = steps < max_steps ? step() : STEPS_EXHAUSTED;
        steps += ending == CONVERGED;
    }
    std::copy(here.begin(), here.end(), theta.data());
    return {first_value, first_gap, value, gap, steps, ending};
}

template <typename T> void bind(nb::module_ &module) {
    module.def("compiled_newton", &compiled_newton<T>, nb::arg("x").noconvert(),
               nb::arg("y").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("theta").noconvert(), nb::arg("constant"), nb::arg("loss"), nb::arg("knee"),
               nb::arg("ridge").noconvert(), nb::arg("total"), nb::arg("tolerance"),
               nb::arg("max_steps"), nb::arg("least"), nb::arg("shortest"));
}

} // namespace

void bind_compiled_newton(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
    module.def("newton_direction", &newton_direction_of, nb::arg("hessian").noconvert(),
               nb::arg("gradient").noconvert(), nb::arg("least"));
}

} // namespace thetahat
