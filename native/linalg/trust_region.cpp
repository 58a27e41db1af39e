// The usual step of a trust region for least squares, with few parameters, in two short calls: the
// linearisation at a point, and the step inside a radius. Both do what trust_region.py and
// linearised.py do, in the same order of operations, and leave every unusual case to them: sizes
// near overflow, parameters held at a bound or crossing it, columns that are dependent.
//
// O(n d²) and O(d²), on one thread with a fixed order of sums.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "core/dots.hpp"
#include "core/views.hpp"
#include "linalg/tangent.hpp"

namespace thetahat {

namespace {

// The constants of linearised.py and trust_region.py.
constexpr double EPSILON = 2.220446049250313e-16;
constexpr double SMALLEST = 1e-140, LARGEST = 1e140;
constexpr double LONGEST_MEMORY = 1e8;
constexpr double FLOOR = 1e-4, NEARLY_THERE = 1e-4, EXACT = 1e-12;
constexpr double SHORTEST = 1e-100, CLOSE_ENOUGH = 0.05;
constexpr int MOST_TRIALS = 100;
constexpr double INFINITE = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;
using In = Vector<const double>;
using Out = Vector<double>;

double norm(const Numbers &x) { return std::sqrt(dot(x.data(), x.data(), x.size())); }

// x·V, for Vᵀ with one row per entry of x.
Numbers back(const Numbers &x, const double *basis) {
    const std::size_t d = x.size();
    Numbers found(d, 0.0);
    for (std::size_t k = 0; k < d; ++k)
        for (std::size_t j = 0; j < d; ++j)
            found[j] += x[k] * basis[k * d + j];
    return found;
}

bool all_kept(const double *values, std::size_t n, std::size_t d) {
    return values[d - 1] > EPSILON * static_cast<double>(std::max(n, d)) * values[0];
}

// `relative_offset` for columns that are independent; nothing where sizes overflow.
std::optional<double> offset(const Linearisation &at, const double *theta, const double *scale,
                             const TangentFactors &tangent) {
    const std::size_t n = at.n, d = at.d;
    const double explained = std::sqrt(dot(tangent.image, tangent.image, d));
    if (explained == 0.0)
        return 0.0;
    const double rest = n > d ? std::abs(tangent.triangle[d * (d + 1) + d]) : 0.0;
    const double far =
        rest > 0.0
            ? explained / rest * std::sqrt(static_cast<double>(n - d) / static_cast<double>(d))
            : INFINITE;
    Numbers units(d), sizes(d), inner(d);
    for (std::size_t j = 0; j < d; ++j) {
        for (std::size_t i = 0; i <= j; ++i)
            units[j] += tangent.triangle[i * (d + 1) + j] * tangent.triangle[i * (d + 1) + j];
        units[j] = std::sqrt(units[j]);
        sizes[j] = units[j] * std::abs(scale[j] * theta[j]);
        inner[j] = -tangent.image[j] / tangent.values[j];
    }
    const double size = norm(sizes);
    if (!std::isfinite(size))
        return std::nullopt;
    if (NEARLY_THERE < far && far < INFINITE && rest > EXACT * size)
        return far;
    const Numbers step = back(inner, tangent.basis);
    double change = size > 0.0 ? 0.0 : INFINITE;
    for (std::size_t j = 0; size > 0.0 && j < d; ++j)
        change = std::max(change, units[j] * std::abs(step[j]) / (sizes[j] + FLOOR * size));
    return std::min(far, change);
}

// Fills the scale and the factors, and returns the gap; nothing if the case is unusual.
std::optional<double> trust_region_place(StridedMatrix<const double> jacobian, In residuals,
                                         In theta, In low, In high, In before, Out scale,
                                         Matrix<double> triangle, Out values, Matrix<double> basis,
                                         Out image) {
    const std::size_t n = jacobian.shape(0), d = jacobian.shape(1);
    require(d > 0 && residuals.shape(0) == n, "residuals must have one entry per row");
    for (const auto *each : {&theta, &low, &high, &before})
        require(each->shape(0) == d, "theta and its bounds must have one entry per column");
    for (const auto *each : {&scale, &values, &image})
        require(each->shape(0) == d, "scale, values and image must have one entry per column");
    require(triangle.shape(0) == d + 1 && triangle.shape(1) == d + 1 && basis.shape(0) == d &&
                basis.shape(1) == d,
            "triangle and basis must be square");

    const Linearisation at{jacobian.data(), jacobian.stride(0), jacobian.stride(1), n, d,
                           residuals.data()};
    for (std::size_t j = 0; j < d; ++j) {
        const double *column = at.jacobian + static_cast<std::int64_t>(j) * at.column_stride;
        const double size = std::sqrt(
            at.row_stride == 1 ? dot(column, column, n) : sum_in_lanes(n, [&](std::size_t i) {
                const double entry = column[static_cast<std::int64_t>(i) * at.row_stride];
                return entry * entry;
            }));
        const double t = theta.data()[j];
        if (!(size > SMALLEST && size < LARGEST) || t <= low.data()[j] || t >= high.data()[j])
            return std::nullopt;
        scale.data()[j] = std::max(std::min(before.data()[j], LONGEST_MEMORY * size), size);
    }
    const TangentFactors tangent{triangle.data(), values.data(), basis.data(), image.data()};
    factor(at, scale.data(), tangent);
    if (!all_kept(values.data(), n, d))
        return std::nullopt;
    return offset(at, theta.data(), scale.data(), tangent);
}

// λ > 0 with ‖u(λ)‖ ≈ radius, by Newton's method on 1/‖u‖ inside a shrinking bracket.
double damping_of(const Numbers &values, const Numbers &image, double radius) {
    const std::size_t d = values.size();
    Numbers inner(d);
    for (std::size_t k = 0; k < d; ++k)
        inner[k] = values[k] * image[k];
    double low = 0.0, high = norm(inner) / radius, damping = 1e-3 * high;
    for (int trial = 0; trial < MOST_TRIALS; ++trial) {
        for (std::size_t k = 0; k < d; ++k)
            inner[k] = values[k] * image[k] / (values[k] * values[k] + damping);
        const double length = norm(inner);
        if (std::abs(length - radius) <= CLOSE_ENOUGH * radius)
            break;
        if (length > radius)
            low = std::max(low, damping);
        else
            high = std::min(high, damping);
        double slope = 0.0;
        for (std::size_t k = 0; k < d; ++k)
            slope += inner[k] / length * (inner[k] / length) / (values[k] * values[k] + damping);
        damping += (length - radius) / radius / slope;
        if (!(low < damping && damping < high))
            damping = std::sqrt(std::max(low, 1e-4 * high) * high);
    }
    return damping;
}

// Fills the step and the point after it; returns its length, the damping and the decrease that the
// linearisation predicts, or nothing if a bound is crossed.
std::optional<std::tuple<double, double, double>>
trust_region_step(In values, Matrix<const double> basis, In image, In scale, In theta, In low,
                  In high, double radius, Out move, Out moved) {
    const std::size_t d = values.shape(0);
    require(d > 0 && basis.shape(0) == d && basis.shape(1) == d, "basis must be square");
    for (const auto *each : {&image, &scale, &theta, &low, &high})
        require(each->shape(0) == d, "there must be one entry per parameter");
    require(move.shape(0) == d && moved.shape(0) == d, "there must be one entry per parameter");

    Numbers inner(d);
    for (std::size_t k = 0; k < d; ++k)
        inner[k] = -image.data()[k] / values.data()[k];
    double length = norm(inner), damping = 0.0;
    double predicted = dot(image.data(), image.data(), d) / 2.0;
    if (!(length <= radius)) {
        // Dividing s and g by their largest entries prevents squares from underflowing.
        Numbers s(d), g(d);
        const double top = values.data()[0];
        double size = 0.0;
        for (std::size_t k = 0; k < d; ++k)
            size = std::max(size, std::abs(image.data()[k]));
        const double unit = size / top;
        if (!std::isfinite(unit) || !(unit > 0.0))
            return std::nullopt;
        for (std::size_t k = 0; k < d; ++k)
            s[k] = values.data()[k] / top, g[k] = image.data()[k] / size;
        damping = damping_of(s, g, std::max(radius / unit, SHORTEST));
        predicted = 0.0;
        for (std::size_t k = 0; k < d; ++k) {
            inner[k] = -s[k] * g[k] / (s[k] * s[k] + damping);
            predicted += inner[k] * inner[k] * (s[k] * s[k] + 2.0 * damping);
            inner[k] *= unit;
        }
        predicted = predicted / 2.0 * size * size;
        length = norm(inner);
        damping *= top * top;
    }
    const Numbers found = back(inner, basis.data());
    for (std::size_t j = 0; j < d; ++j) {
        const double t = theta.data()[j], step = found[j] / scale.data()[j];
        if (!(step >= low.data()[j] - t && step <= high.data()[j] - t))
            return std::nullopt;
        move.data()[j] = step;
        moved.data()[j] = std::clamp(t + step, low.data()[j], high.data()[j]);
    }
    return std::make_tuple(length, damping, predicted);
}

} // namespace

void bind_trust_region(nb::module_ &module) {
    module.def("trust_region_place", &trust_region_place, nb::arg("jacobian").noconvert(),
               nb::arg("residuals").noconvert(), nb::arg("theta").noconvert(),
               nb::arg("low").noconvert(), nb::arg("high").noconvert(),
               nb::arg("before").noconvert(), nb::arg("scale").noconvert(),
               nb::arg("triangle").noconvert(), nb::arg("values").noconvert(),
               nb::arg("basis").noconvert(), nb::arg("image").noconvert());
    module.def("trust_region_step", &trust_region_step, nb::arg("values").noconvert(),
               nb::arg("basis").noconvert(), nb::arg("image").noconvert(),
               nb::arg("scale").noconvert(), nb::arg("theta").noconvert(),
               nb::arg("low").noconvert(), nb::arg("high").noconvert(), nb::arg("radius"),
               nb::arg("move").noconvert(), nb::arg("moved").noconvert());
}

} // namespace thetahat
