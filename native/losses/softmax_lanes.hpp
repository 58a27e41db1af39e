// The softmax loss of some rows side by side: ℓ = log Σ_c e^{z_c − z_y} and ∂ℓ/∂z = p − onehot(y).
//
// The scores of `side` rows are held class by class, so that every step is a loop over rows, which
// fills wide registers even with few classes. Only e^{z_c − max} is computed; small slopes are
// quotients of sums of positive terms, and log1p keeps the digits of small losses. Rows do not
// affect each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/exponential.hpp"
#include "core/logarithm.hpp"

namespace thetahat {

struct SoftmaxLanes {
    static constexpr std::size_t side = 64;
    std::size_t k;
    std::vector<double> by_class; // scores, then slopes: entry c·side + r
    std::size_t right[side] = {};
    double weight[side] = {}, value[side];

    explicit SoftmaxLanes(std::size_t classes) : k(classes), by_class(classes * side) {}

    // Scores (count, k) of at most `side` rows; the rest of the lanes get score and weight 0.
    template <typename Z, typename Label>
    void read(const Z *scores, const Label *label, const double *weights, std::size_t count) {
        for (std::size_t r = 0; r < side; ++r) {
            right[r] = r < count ? static_cast<std::size_t>(label[r]) : 0;
            weight[r] = r >= count ? 0.0 : weights != nullptr ? weights[r] : 1.0;
        }
        for (std::size_t c = 0; c < k; ++c) {
            double *to = by_class.data() + c * side;
            for (std::size_t r = 0; r < count; ++r)
                to[r] = static_cast<double>(scores[r * k + c]);
            std::fill(to + count, to + side, 0.0);
        }
    }

    // Replaces scores by weight·slope, and sets `value` to weight·ℓ.
    void losses() {
        double top[side], behind[side], own[side], others[side], total[side], scale[side];
        double *const all = by_class.data();
        std::copy_n(all, side, top);
        for (std::size_t c = 1; c < k; ++c) {
            const double *z = all + c * side;
            for (std::size_t r = 0; r < side; ++r)
                top[r] = z[r] > top[r] ? z[r] : top[r];
        }
        for (std::size_t r = 0; r < side; ++r)
            behind[r] = top[r] - all[right[r] * side + r];
        for (std::size_t c = 0; c < k; ++c) {
            double *z = all + c * side;
            for (std::size_t r = 0; r < side; ++r)
                z[r] = exponential_below(z[r] - top[r]);
        }
        for (std::size_t r = 0; r < side; ++r) {
            own[r] = all[right[r] * side + r];
            all[right[r] * side + r] = 0.0;
        }
        std::fill_n(others, side, 0.0);
        for (std::size_t c = 0; c < k; ++c) {
            const double *z = all + c * side;
            for (std::size_t r = 0; r < side; ++r)
                others[r] += z[r];
        }
        for (std::size_t r = 0; r < side; ++r) {
            total[r] = others[r] + own[r];
            scale[r] = weight[r] / total[r];
        }
        for (std::size_t c = 0; c < k; ++c) {
            double *z = all + c * side;
            for (std::size_t r = 0; r < side; ++r)
                z[r] *= scale[r];
        }
        for (std::size_t r = 0; r < side; ++r)
            all[right[r] * side + r] = -others[r] * scale[r];
        for (std::size_t r = 0; r < side; r += 4) {
            const Double4 logarithm = log_of(load4(total + r));
            for (std::size_t l = 0; l < 4; ++l) {
                // log(1 + x) = log(u)·x/(u − 1) with u the rounded 1 + x
                const double x = others[r + l], rest = total[r + l] - 1.0;
                const double on_top = rest == 0.0 ? x : logarithm[l] * (x / rest);
                const bool is_top = behind[r + l] == 0.0 && own[r + l] == 1.0;
                const double loss = is_top ? on_top : behind[r + l] + logarithm[l];
                value[r + l] = weight[r + l] * (total[r + l] == total[r + l] ? loss : total[r + l]);
            }
        }
    }

    // The sum over all lanes, in a fixed order.
    static double sum(const double *of) {
        constexpr std::size_t parts = 16;
        double part[parts] = {};
        for (std::size_t r = 0; r < side; r += parts)
            for (std::size_t l = 0; l < parts; ++l)
                part[l] += of[r + l];
        for (std::size_t half = parts / 2; half > 0; half /= 2)
            for (std::size_t l = 0; l < half; ++l)
                part[l] += part[l + half];
        return part[0];
    }

    // The slopes as (count, k).
    template <typename Z> void write(Z *slopes, std::size_t count) const {
        for (std::size_t c = 0; c < k; ++c) {
            const double *from = by_class.data() + c * side;
            for (std::size_t r = 0; r < count; ++r)
                slopes[r * k + c] = static_cast<Z>(from[r]);
        }
    }
};

} // namespace thetahat
