// The losses of one raw prediction z in the kernels: ℓ(y, z), ∂ℓ/∂z and ∂²ℓ/∂z².
//
// y is ±1 for the losses of the margin m = y·z, 0 or 1 for `logistic`, a count for `poisson`, an
// amount for `gamma` and `tweedie`, and a number for the others. `knee` is δ, ε or the power. Only
// e^x with x ≤ 0 and log(1 + x) with 0 ≤ x ≤ 1 are computed, so nothing overflows; small slopes are
// quotients of sums of positive terms.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/exponential.hpp"
#include "core/logarithm.hpp"

namespace thetahat {

enum Loss : int {
    hinge,
    squared_hinge,
    sign_logistic,
    class_huber,
    perceptron,
    squared,
    huber,
    epsilon_insensitive,
    squared_epsilon_insensitive,
    logistic,
    poisson,
    gamma,
    tweedie,
    n_losses
};

struct Value {
    double loss, slope, curvature;
};

// Which exponential is used: that of the standard library is fastest for a single number, the
// polynomials for loops over many.
struct OneByOne {
    static double exponential(double x) { return std::exp(x); }
    static double logarithm(double x) { return std::log1p(x); }
};
struct SideBySide {
    static double exponential(double x) { return exponential_below(x); }
    static double logarithm(double x) { return log_one_plus(x); }
};

// e^t, and the factors of its value and slope. Beyond t ≈ 354, where e^{2t} overflows, it continues
// as its second-order expansion.
struct Growth {
    double rate, value, slope;
};

template <typename Functions> [[gnu::always_inline]] inline Growth growth(double t) {
    constexpr double largest_exponent = 354.891356446692;
    const double kept = std::min(t, largest_exponent), beyond = t - kept;
    const double small = Functions::exponential(-std::abs(kept));
    const double rate = kept > 0.0 ? 1.0 / small : small;
    return {rate, rate * (1.0 + beyond + beyond * beyond / 2.0), rate * (1.0 + beyond)};
}

// Always inlined: only then can the compiler vectorise a loop over it and omit unused results.
template <Loss loss, typename Functions>
[[gnu::always_inline]] inline Value loss_at(double knee, double y, double z) {
    if constexpr (loss == hinge) {
        const double lack = 1.0 - y * z;
        return {std::max(lack, 0.0), lack > 0.0 ? -y : 0.0, 0.0};
    } else if constexpr (loss == squared_hinge) {
        const double lack = std::max(1.0 - y * z, 0.0);
        return {lack * lack, -2.0 * y * lack, lack > 0.0 ? 2.0 : 0.0};
    } else if constexpr (loss == sign_logistic) {
        const double margin = y * z, tail = Functions::exponential(-std::abs(margin));
        const double all = 1.0 + tail, wrong = (margin > 0.0 ? tail : 1.0) / all;
        return {std::max(-margin, 0.0) + Functions::logarithm(tail), -y * wrong,
                tail / (all * all)};
    } else if constexpr (loss == class_huber) {
        const double margin = y * z, lack = std::clamp(1.0 - margin, 0.0, 2.0);
        return {lack * lack + 4.0 * std::max(-1.0 - margin, 0.0), -2.0 * y * lack,
                std::abs(margin) < 1.0 ? 2.0 : 0.0};
    } else if constexpr (loss == perceptron) {
        const double margin = y * z; // 0 counts as an error, so that the first row can move w = 0
        return {margin > 0.0 ? 0.0 : -margin, margin > 0.0 ? 0.0 : -y, 0.0};
    } else if constexpr (loss == squared) {
        const double r = z - y;
        return {r * r / 2.0, r, 1.0};
    } else if constexpr (loss == huber) {
        const double r = z - y, core = std::min(std::abs(r), knee);
        return {core * (std::abs(r) - core / 2.0), std::copysign(core, r),
                std::abs(r) <= knee ? 1.0 : 0.0};
    } else if constexpr (loss == epsilon_insensitive) {
        const double r = z - y, excess = std::abs(r) - knee;
        return {std::max(excess, 0.0), excess > 0.0 ? std::copysign(1.0, r) : 0.0, 0.0};
    } else if constexpr (loss == squared_epsilon_insensitive) {
        const double r = z - y, excess = std::max(std::abs(r) - knee, 0.0);
        return {excess * excess / 2.0, std::copysign(excess, r), std::abs(r) >= knee ? 1.0 : 0.0};
    } else if constexpr (loss == logistic) {
        const double rest = Functions::exponential(-std::abs(z)), all = 1.0 + rest;
        const double up = z > 0.0 ? 1.0 : rest, down = z > 0.0 ? rest : 1.0;
        return {std::max(z, 0.0) - y * z + Functions::logarithm(rest),
                ((1.0 - y) * up - y * down) / all, rest / (all * all)};
    } else if constexpr (loss == poisson) {
        const Growth mean = growth<Functions>(z);
        return {mean.value - y * z, mean.slope - y, mean.rate};
    } else if constexpr (loss == gamma) {
        const Growth inverse = growth<Functions>(-z);
        return {z + y * inverse.value, 1.0 - y * inverse.slope, y * inverse.rate};
    } else {
        static_assert(loss == tweedie);
        const double above_one = knee - 1.0, below_two = 2.0 - knee;
        const Growth near = growth<Functions>(-above_one * z),
                     far = growth<Functions>(below_two * z);
        return {y / above_one * near.value + far.value / below_two, far.slope - y * near.slope,
                above_one * y * near.rate + below_two * far.rate};
    }
}

// call(known), with the number of a loss as a compile-time constant.
template <Loss loss> using Known = std::integral_constant<Loss, loss>;

template <typename Call> auto with_loss(int loss, const Call &call) {
    switch (loss) {
    case hinge:
        return call(Known<hinge>{});
    case squared_hinge:
        return call(Known<squared_hinge>{});
    case sign_logistic:
        return call(Known<sign_logistic>{});
    case class_huber:
        return call(Known<class_huber>{});
    case perceptron:
        return call(Known<perceptron>{});
    case squared:
        return call(Known<squared>{});
    case huber:
        return call(Known<huber>{});
    case epsilon_insensitive:
        return call(Known<epsilon_insensitive>{});
    case squared_epsilon_insensitive:
        return call(Known<squared_epsilon_insensitive>{});
    case logistic:
        return call(Known<logistic>{});
    case poisson:
        return call(Known<poisson>{});
    case gamma:
        return call(Known<gamma>{});
    default:
        return call(Known<tweedie>{});
    }
}

} // namespace thetahat
