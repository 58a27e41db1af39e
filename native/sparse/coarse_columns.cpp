// Slopes of all columns from one byte per entry, and from the entries themselves where bytes are
// not accurate enough. With integers |q_ij| ≤ 127 and |p_i| ≤ 32767, and steps s_j and t for the
// largest,
//
//     x_ij − mean_j = s_j q_ij + e_ij,  |e_ij| ≤ s_j/2,      r_i = t p_i + f_i,  |f_i| ≤ t/2,
//     |Σ_i (x_ij − mean_j) r_i − s_j t Σ_i q_ij p_i| ≤ s_j (‖r‖₁ + 127 n t)/2 = slack_j.
//
// survey_columns computes q and s, with Σ_i w_i (x_ij − mean_j)² and the slopes of a first r, while
// a column is in the nearest cache. slopes_near returns the approximate slope and its slack if
// |slope| + slack_j < near_j; otherwise the exact slope with slack 0.
//
// Sums of integers are exact. Other sums belong to one column each and have a fixed order, so the
// caller may distribute blocks of columns [first, last) over threads without changing a bit.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/dots.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr double LEVELS = 127.0, FINE_LEVELS = 32767.0;
constexpr std::size_t EXACT = 512;        // 127 · 32767 · 512 is still below 2³¹
constexpr double ROUNDING = 1e-9;         // more than the relative rounding error of the bounds
constexpr double SMALLEST_LEVEL = 1e-290; // below it, 1/t is not finite

struct Survey {
    double squares, slope, most;
};

// Σ w (a − centre)², Σ a r and max |a − centre|, in one sweep and with partial sums.
Survey survey_of(const auto *a, double centre, const double *w, const double *r, std::size_t n) {
    constexpr std::size_t LANES = 16;
    double squares[LANES] = {}, slopes[LANES] = {}, most[LANES] = {};
    const auto heed = [&](std::size_t lane, std::size_t i) {
        const double entry = static_cast<double>(a[i]), apart = entry - centre;
        const double size = std::abs(apart);
        squares[lane] += apart * apart * w[i];
        slopes[lane] += entry * r[i];
        most[lane] = size > most[lane] ? size : most[lane];
    };
    std::size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (std::size_t l = 0; l < LANES; ++l)
            heed(l, i + l);
    for (std::size_t l = 0; i < n; ++i, ++l)
        heed(l, i);
    for (std::size_t half = LANES / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l) {
            squares[l] += squares[l + half];
            slopes[l] += slopes[l + half];
            most[l] = std::max(most[l], most[l + half]);
        }
    return {squares[0], slopes[0], most[0]};
}

// The nearest integers to scale·(a_i − centre), which are at most `most` in size.
template <typename Level>
void round_to_levels(const auto *a, double centre, double scale, double most, Level *__restrict out,
                     std::size_t n) {
    const double up = most + 1.5; // makes all numbers positive, because the cast truncates
    const auto down = static_cast<std::int32_t>(most + 1.0);
    for (std::size_t i = 0; i < n; ++i) {
        const double level = (static_cast<double>(a[i]) - centre) * scale + up;
        out[i] = static_cast<Level>(static_cast<std::int32_t>(level) - down);
    }
}

std::int64_t dot_of_levels(const std::int8_t *q, const std::int16_t *p, std::size_t n) {
    std::int64_t total = 0;
    for (std::size_t at = 0; at < n; at += EXACT) {
        const std::size_t end = std::min(n, at + EXACT);
        std::int32_t sum = 0;
        for (std::size_t i = at; i < end; ++i)
            sum += static_cast<std::int32_t>(q[i]) * static_cast<std::int32_t>(p[i]);
        total += sum;
    }
    return total;
}

template <typename T>
void require_columns(const StridedMatrix<const T> &x, const Vector<const double> &mean,
                     const Vector<const double> &r, std::size_t first, std::size_t last) {
    require(x.stride(0) == 1 || x.shape(0) <= 1, "columns must be contiguous");
    require(mean.shape(0) == x.shape(1), "mean must have one entry per column");
    require(r.shape(0) == x.shape(0), "r must have one entry per row");
    require(first <= last && last <= x.shape(1), "columns are out of range");
}

template <typename T>
void survey_columns(StridedMatrix<const T> x, Vector<const double> mean,
                    Vector<const double> weight, Vector<const double> r, std::size_t first,
                    std::size_t last, Vector<double> squares, Vector<double> slopes,
                    Vector<double> steps, Matrix<std::int8_t> levels) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require_columns(x, mean, r, first, last);
    require(weight.shape(0) == n, "weight must have one entry per row");
    require(squares.shape(0) == d && slopes.shape(0) == d && steps.shape(0) == d,
            "squares, slopes and steps must have one entry per column");
    require(levels.shape(0) == d && levels.shape(1) == n, "levels must have a row per column");
    const T *start = x.data();
    const std::int64_t across = x.stride(1);
    const double *residual = r.data();
    nb::gil_scoped_release unlocked;
    const double sum = sum_in_lanes(n, [residual](std::size_t i) { return residual[i]; });
    for (std::size_t j = first; j < last; ++j) {
        const T *column = start + static_cast<std::int64_t>(j) * across;
        const double centre = mean.data()[j];
        const auto [square, slope, most] = survey_of(column, centre, weight.data(), residual, n);
        squares.data()[j] = square;
        slopes.data()[j] = slope - centre * sum;
        // Infinite entries and NaN are visible in the squares.
        const bool usable = most > SMALLEST_LEVEL && std::isfinite(square);
        steps.data()[j] = usable ? most / LEVELS : 0.0;
        std::int8_t *row = levels.data() + j * n;
        if (usable)
            round_to_levels(column, centre, LEVELS / most, LEVELS, row, n);
        else
            std::fill(row, row + n, std::int8_t{0});
    }
}

template <typename T>
void slopes_near(StridedMatrix<const T> x, Vector<const double> mean,
                 Matrix<const std::int8_t> levels, Vector<const double> steps,
                 Vector<const double> r, Vector<const double> near, std::size_t first,
                 std::size_t last, Vector<double> slopes, Vector<double> slack) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require_columns(x, mean, r, first, last);
    require(levels.shape(0) == d && levels.shape(1) == n, "levels must have a row per column");
    require(steps.shape(0) == d && near.shape(0) == d && slopes.shape(0) == d &&
                slack.shape(0) == d,
            "steps, near, slopes and slack must have one entry per column");
    const T *start = x.data();
    const std::int64_t across = x.stride(1);
    const double *residual = r.data();
    nb::gil_scoped_release unlocked;
    const auto entry = [residual](std::size_t i) { return residual[i]; };
    const double sum = sum_in_lanes(n, entry);
    const double sizes = sum_in_lanes(n, [&](std::size_t i) { return std::abs(entry(i)); });
    double most = 0.0;
    for (std::size_t i = 0; i < n; ++i)
        most = std::max(most, std::abs(residual[i]));
    const double step = most / FINE_LEVELS;
    const bool usable = most > SMALLEST_LEVEL && std::isfinite(sizes);
    std::vector<std::int16_t> fine(usable ? n : 0);
    if (usable)
        round_to_levels(residual, 0.0, FINE_LEVELS / most, FINE_LEVELS, fine.data(), n);
    const double doubt = (sizes + LEVELS * static_cast<double>(n) * step) / 2.0 * (1.0 + ROUNDING);
    for (std::size_t j = first; j < last; ++j) {
        if (usable && near.data()[j] > 0.0) {
            const std::int64_t product = dot_of_levels(levels.data() + j * n, fine.data(), n);
            slopes.data()[j] = steps.data()[j] * step * static_cast<double>(product);
            slack.data()[j] = steps.data()[j] * doubt;
            if (std::abs(slopes.data()[j]) + slack.data()[j] < near.data()[j])
                continue;
        }
        const T *column = start + static_cast<std::int64_t>(j) * across;
        slopes.data()[j] = dot(column, residual, n) - mean.data()[j] * sum;
        slack.data()[j] = 0.0;
    }
}

template <typename T> void bind(nb::module_ &module) {
    module.def("survey_columns", &survey_columns<T>, nb::arg("x").noconvert(), nb::arg("mean"),
               nb::arg("weight"), nb::arg("r"), nb::arg("first"), nb::arg("last"),
               nb::arg("squares").noconvert(), nb::arg("slopes").noconvert(),
               nb::arg("steps").noconvert(), nb::arg("levels").noconvert());
    module.def("slopes_near", &slopes_near<T>, nb::arg("x").noconvert(), nb::arg("mean"),
               nb::arg("levels").noconvert(), nb::arg("steps"), nb::arg("r"), nb::arg("near"),
               nb::arg("first"), nb::arg("last"), nb::arg("slopes").noconvert(),
               nb::arg("slack").noconvert());
}

} // namespace

void bind_coarse_columns(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
