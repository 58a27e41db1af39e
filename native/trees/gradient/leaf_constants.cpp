// The best constant of every leaf, for losses of residuals that are not squared.
//
//     c = argmin Σ w·ℓ(x − c)    ℓ of quantiles, or Huber's: t²/2 while |t| ≤ δ, δ·(|t| − δ/2)
//     beyond
//
// One thread processes a leaf: the numbers of its rows are copied contiguously, in the order of the
// rows, so the bits do not depend on the threads.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/gradient/leaf_bounds.hpp"

namespace thetahat {

namespace {

constexpr double tie = 1e-12; // share of the total up to which cumulative weights are equal

// The middle of all c with Σ_{x<c} w ≤ level·Σw ≤ Σ_{x≤c} w, as the best constant of that loss.
double quantile(std::vector<double> &values, double level) {
    const auto n = static_cast<double>(values.size());
    const double at = level * n, slack = tie * n;
    const auto last = values.size() - 1;
    // Of ranks counted from 1, those that reach the level, and the next above.
    const auto low = static_cast<std::size_t>(
        std::clamp(std::ceil(at - slack) - 1.0, 0.0, static_cast<double>(last)));
    const auto high = static_cast<std::size_t>(
        std::clamp(std::floor(at + slack), 0.0, static_cast<double>(last)));
    std::nth_element(values.begin(), values.begin() + low, values.end());
    const double lower = values[low];
    if (high <= low)
        return lower;
    const double upper = *std::min_element(values.begin() + low + 1, values.end());
    return lower + (upper - lower) / 2;
}

double quantile(std::vector<std::pair<double, double>> &weighted, double level) {
    std::sort(weighted.begin(), weighted.end());
    double total = 0.0;
    for (const auto &[value, weight] : weighted)
        total += weight;
    double below = 0.0, lower = weighted.back().first;
    bool reached = false;
    for (const auto &[value, weight] : weighted) {
        if (reached && weight > 0.0)
            return below <= (level + tie) * total ? lower + (value - lower) / 2 : lower;
        below += weight;
        if (!reached && below >= (level - tie) * total && weight > 0.0) {
            lower = value;
            reached = true;
        }
    }
    return lower;
}

// The minimum of Huber's loss, starting from the median. Its slope is piecewise linear, so Newton's
// steps end at the root; a step that leaves the bracket of the root is replaced by bisection.
double huber_constant(const std::vector<std::pair<double, double>> &weighted, double delta,
                      double start) {
    constexpr int most_steps = 200;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double c = start, low = -infinity, high = infinity, reach = delta;
    for (int step = 0; step < most_steps; ++step) {
        double pull = 0.0, bend = 0.0;
        for (const auto &[value, weight] : weighted) {
            const double apart = value - c;
            pull += weight * std::clamp(apart, -delta, delta);
            bend += std::abs(apart) <= delta ? weight : 0.0;
        }
        if (pull == 0.0)
            break;
        (pull > 0.0 ? low : high) = c;
        double next = c + pull / bend; // infinite if the curvature is 0
        if (!(next > low && next < high)) {
            const bool held = std::isfinite(low) && std::isfinite(high);
            next = held ? low + (high - low) / 2 : c + std::copysign(reach, pull);
            reach *= 2.0;
        }
        const double move = std::abs(next - c);
        c = next;
        if (!(move > 1e-13 * (delta + std::abs(c))))
            break;
    }
    return c;
}

// found(own) for every leaf; `own` holds the values and weights of its rows.
template <typename Find>
void of_each_leaf(const Vector<const std::uint32_t> &order,
                  const Vector<const std::int64_t> &bounds, const Vector<const double> &values,
                  const Vector<const double> &weight, const Vector<double> &out, int threads,
                  const Find &find) {
    const std::vector<std::int64_t> ends = checked_bounds(order, bounds, values.shape(0));
    require(out.shape(0) + 1 == ends.size(), "out must have one entry per leaf");
    require(weight.shape(0) == 0 || weight.shape(0) == values.shape(0),
            "weight must be empty or have one entry per row");
    const std::uint32_t *rows = order.data();
    const double *value = values.data(), *w = weight.shape(0) ? weight.data() : nullptr;
    double *found = out.data();

    nb::gil_scoped_release unlocked;
    for_each_piece(ends.size() - 1, threads, [&](std::size_t leaf) {
        const auto begin = static_cast<std::size_t>(ends[leaf]);
        const auto end = static_cast<std::size_t>(ends[leaf + 1]);
        found[leaf] = 0.0;
        if (begin < end)
            found[leaf] = find(rows + begin, end - begin, value, w);
    });
}

std::vector<double> plain(const std::uint32_t *rows, std::size_t n, const double *value) {
    std::vector<double> own(n);
    for (std::size_t k = 0; k < n; ++k)
        own[k] = value[rows[k]];
    return own;
}

std::vector<std::pair<double, double>> weighted(const std::uint32_t *rows, std::size_t n,
                                                const double *value, const double *w) {
    std::vector<std::pair<double, double>> own(n);
    for (std::size_t k = 0; k < n; ++k)
        own[k] = {value[rows[k]], w ? w[rows[k]] : 1.0};
    return own;
}

double leaf_quantile(const std::uint32_t *rows, std::size_t n, const double *value, const double *w,
                     double level) {
    if (w) {
        auto own = weighted(rows, n, value, w);
        return quantile(own, level);
    }
    auto own = plain(rows, n, value);
    return quantile(own, level);
}

void leaf_quantiles(Vector<const std::uint32_t> order, Vector<const std::int64_t> bounds,
                    Vector<const double> values, Vector<const double> weight, double level,
                    Vector<double> out, int threads) {
    require(level >= 0.0 && level <= 1.0, "level must lie between 0 and 1");
    of_each_leaf(order, bounds, values, weight, out, threads,
                 [=](const std::uint32_t *rows, std::size_t n, const double *value,
                     const double *w) { return leaf_quantile(rows, n, value, w, level); });
}

void leaf_hubers(Vector<const std::uint32_t> order, Vector<const std::int64_t> bounds,
                 Vector<const double> values, Vector<const double> weight, double delta,
                 Vector<double> out, int threads) {
    require(delta > 0.0, "delta must be positive");
    of_each_leaf(
        order, bounds, values, weight, out, threads,
        [=](const std::uint32_t *rows, std::size_t n, const double *value, const double *w) {
            const double median = leaf_quantile(rows, n, value, w, 0.5);
            return huber_constant(weighted(rows, n, value, w), delta, median);
        });
}

} // namespace

void bind_leaf_constants(nb::module_ &module) {
    module.def("leaf_quantiles", &leaf_quantiles, nb::arg("order").noconvert(), nb::arg("bounds"),
               nb::arg("values").noconvert(), nb::arg("weight").noconvert(), nb::arg("level"),
               nb::arg("out").noconvert(), nb::arg("threads"));
    module.def("leaf_hubers", &leaf_hubers, nb::arg("order").noconvert(), nb::arg("bounds"),
               nb::arg("values").noconvert(), nb::arg("weight").noconvert(), nb::arg("delta"),
               nb::arg("out").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
