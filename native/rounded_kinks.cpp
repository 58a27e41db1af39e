// Losses that are the best of many lines, rounded off around a multiplier of every row:
//
//     ℓ_i(z) = max over lower_i ≤ m ≤ upper_i of m(y_i − z) − kink·|m| − curvature·m²/2
//     φ_i(z) = the same with −(m − anchor_i)²/(2·reach) under the maximum
//
// (hinge, squared hinge, ε-insensitive and its square). φ has a continuous slope −m_i, and where
// m_i is inside its box and off the kink it bends by 1/(curvature + 1/reach).
//
//     rounded_rows   m, w·m and w·φ″ of every row; the sums of w·φ, of w·ℓ, of the dual's terms
//                    w·(m·y − kink·|m| − curvature·m²/2), and of w·(m − anchor)²/(2·reach)
//     flat_step      a step along a direction at which the mean of φ has nearly no slope
//
// Every row is computed on its own. Sums are over chunks of rows in order, chunks added in pairs:
// one thread does it all, and blocks of rows are spread over threads by the caller.

#include <cmath>
#include <vector>

#include "kernels.hpp"
#include "pairwise_sum.hpp"

namespace thetahat {

namespace {

// What is beyond the kink: shifted by it towards 0, and 0 within it.
double beyond(double value, double kink) { return value - std::min(std::max(value, -kink), kink); }

double boxed(double m, double lower, double upper) { return std::min(std::max(m, lower), upper); }

void rounded_rows(Vector<const double> y, Vector<const double> z, Vector<const double> anchor,
                  Vector<const double> weight, Vector<const double> lower,
                  Vector<const double> upper, double kink, double curvature, double reach,
                  Vector<double> multipliers, Vector<double> pull, Vector<double> bend,
                  Vector<double> sums) {
    const std::size_t n = y.shape(0);
    require(z.shape(0) == n && anchor.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n,
            "z, anchor, lower and upper must have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    require(multipliers.shape(0) == n && pull.shape(0) == n && bend.shape(0) == n,
            "multipliers, pull and bend must have one entry per row");
    require(sums.shape(0) == 4, "sums must have four entries");
    const double *target = y.data(), *score = z.data(), *before = anchor.data();
    const double *lo = lower.data(), *hi = upper.data(), *w = weight.data();
    const bool weighted = weight.shape(0) != 0;
    double *m_out = multipliers.data(), *pull_out = pull.data(), *bend_out = bend.data();

    nb::gil_scoped_release unlocked;
    const double bent = curvature + 1.0 / reach;
    const bool curved = curvature > 0.0;
    PairwiseSum touching, plain, dual, travel;
    // Written here first, so that the compiler knows that nothing else is at the same place.
    double own[sum_rows], m[sum_rows], pulled[sum_rows], bends[sum_rows], part[4][sum_rows];
    std::fill_n(own, sum_rows, 1.0);
    for (std::size_t start = 0; start < n; start += sum_rows) {
        const std::size_t size = std::min(sum_rows, n - start);
        if (weighted)
            std::copy_n(w + start, size, own);
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t i = start + k;
            const double residual = target[i] - score[i], below = lo[i], above = hi[i];
            const double shifted = residual + before[i] / reach;
            const double free = beyond(shifted, kink) / bent;
            m[k] = boxed(free, below, above);
            const double cost = kink * std::abs(m[k]) + curvature / 2 * m[k] * m[k];
            const double moved = m[k] - before[i], far = moved * moved / (2 * reach);
            const bool inside = (free > below) & (free < above) & (std::abs(shifted) >= kink);
            pulled[k] = own[k] * m[k];
            bends[k] = inside ? own[k] / bent : 0.0;
            part[0][k] = own[k] * (m[k] * residual - cost - far);
            part[2][k] = own[k] * (m[k] * target[i] - cost);
            part[3][k] = own[k] * far;
        }
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t i = start + k;
            const double residual = target[i] - score[i], rest = beyond(residual, kink);
            // ℓ itself: without curvature the best multiplier is at an end of the box.
            const double end = rest > 0.0 ? hi[i] : rest < 0.0 ? lo[i] : rest;
            const double best = curved ? boxed(rest / curvature, lo[i], hi[i]) : end;
            const double cost = kink * std::abs(best) + curvature / 2 * best * best;
            part[1][k] = own[k] * (best * residual - cost);
        }
        std::copy_n(m, size, m_out + start);
        std::copy_n(pulled, size, pull_out + start);
        std::copy_n(bends, size, bend_out + start);
        touching.add(lane_sum(part[0], size));
        plain.add(lane_sum(part[1], size));
        dual.add(lane_sum(part[2], size));
        travel.add(lane_sum(part[3], size));
    }
    double *out = sums.data();
    out[0] = touching.total(), out[1] = plain.total();
    out[2] = dual.total(), out[3] = travel.total();
}

// The full step is tried first, then doubled or bracketed; inside the bracket by false position,
// with the end that stays put counted half so that both ends move.
template <typename Slope> double flat_point(const Slope &slope, double share) {
    constexpr double most_stretch = 1048576.0;
    constexpr int most_trials = 60;
    const double first = slope(0.0), enough = share * std::abs(first);
    double low = 0.0, low_slope = first, high = 1.0, high_slope = slope(high);
    while (high_slope < -enough && high < most_stretch) {
        low = high, low_slope = high_slope, high = 2 * high;
        high_slope = slope(high);
    }
    if (std::abs(high_slope) <= enough)
        return high;
    for (int trial = 0; trial < most_trials; ++trial) {
        double t = high - high_slope * (high - low) / (high_slope - low_slope);
        if (!(low < t && t < high))
            t = (low + high) / 2;
        const double found = slope(t);
        if (std::abs(found) <= enough)
            return t;
        if (found < 0.0)
            low = t, low_slope = found, high_slope /= 2;
        else
            high = t, high_slope = found, low_slope /= 2;
    }
    return high;
}

double flat_step(Vector<const double> y, Vector<const double> z, Vector<const double> across,
                 Vector<const double> anchor, Vector<const double> share,
                 Vector<const double> lower, Vector<const double> upper, double kink,
                 double curvature, double reach, double level, double rise, double flat) {
    const std::size_t n = y.shape(0);
    require(z.shape(0) == n && across.shape(0) == n && anchor.shape(0) == n &&
                share.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n,
            "z, across, anchor, share, lower and upper must have one entry per row");
    const double *target = y.data(), *score = z.data(), *along = across.data();
    const double *before = anchor.data(), *s = share.data();
    const double *lo = lower.data(), *hi = upper.data();

    nb::gil_scoped_release unlocked;
    const double bent = curvature + 1.0 / reach;
    std::vector<double> gap(n), pull(n);
    for (std::size_t i = 0; i < n; ++i) {
        gap[i] = target[i] - score[i] + before[i] / reach;
        pull[i] = s[i] * along[i];
    }
    const auto slope = [&](double t) {
        PairwiseSum pulled;
        double part[sum_rows];
        for (std::size_t start = 0; start < n; start += sum_rows) {
            const std::size_t size = std::min(sum_rows, n - start);
            for (std::size_t k = 0; k < size; ++k) {
                const std::size_t i = start + k;
                const double free = beyond(gap[i] - t * along[i], kink) / bent;
                part[k] = boxed(free, lo[i], hi[i]) * pull[i];
            }
            pulled.add(lane_sum(part, size));
        }
        return level + t * rise - pulled.total();
    };
    return flat_point(slope, flat);
}

} // namespace

void bind_rounded_kinks(nb::module_ &module) {
    module.def("rounded_rows", &rounded_rows, nb::arg("y").noconvert(), nb::arg("z").noconvert(),
               nb::arg("anchor").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("kink"),
               nb::arg("curvature"), nb::arg("reach"), nb::arg("multipliers").noconvert(),
               nb::arg("pull").noconvert(), nb::arg("bend").noconvert(),
               nb::arg("sums").noconvert());
    module.def("flat_step", &flat_step, nb::arg("y").noconvert(), nb::arg("z").noconvert(),
               nb::arg("across").noconvert(), nb::arg("anchor").noconvert(),
               nb::arg("share").noconvert(), nb::arg("lower").noconvert(),
               nb::arg("upper").noconvert(), nb::arg("kink"), nb::arg("curvature"),
               nb::arg("reach"), nb::arg("level"), nb::arg("rise"), nb::arg("flat"));
}

} // namespace thetahat
