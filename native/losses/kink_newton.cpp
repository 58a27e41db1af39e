// All rounds of the augmented Lagrangian method in one call, for few parameters and dense rows: the
// steps and constants of `augmented_lagrangian.py`, on the passes of smoothed_kinks.cpp.
//
// Each Newton step and each new anchor counts as a step. θ and the dual variables are changed in
// place. Returns F and the duality gap at the start and at the end, the number of steps, and how
// the run ended; after NO_DIRECTION (a singular Hessian) the general method continues. One thread
// with a fixed order of sums.

#include <nanobind/stl/tuple.h>

#include "core/interrupts.hpp"
#include "linalg/newton_direction.hpp"
#include "losses/smoothed_kinks.hpp"

namespace thetahat {

namespace {

constexpr double ENOUGH = 0.05, FLAT = 0.1, SETTLED = 1e-12, SMALLEST = 1e-200, FARTHEST = 1e10;
constexpr int EASY = 4, MOST_AT_REST = 2;

enum Ending { CONVERGED, STEPS_EXHAUSTED, STALLED, NO_DIRECTION };

// F smoothed at θ, its derivatives, F itself, and bounds from the dual.
struct Touch {
    std::vector<double> theta, gradient, hessian, multipliers, raw;
    double value, primal, gap, travel;
};

template <typename T> struct SmoothedRisk {
    LinearRows<T> rows;
    Rounding of; // anchor and reach change
    const double *strengths;
    double strength, total;

    Touch at(std::vector<double> theta, const std::vector<double> &anchor, double reach) {
        const std::size_t size = rows.size;
        Touch found;
        found.gradient.resize(size), found.hessian.resize(size * size);
        found.multipliers.resize(rows.n), found.raw.resize(rows.n);
        of.anchor = anchor.data(), of.reach = reach;
        double sums[4];
        std::vector<double> pull(size);
        round_rows(rows, of, theta.data(), found.raw.data(), found.multipliers.data(), sums,
                   pull.data(), found.hessian.data());
        for (double &entry : found.hessian)
            entry /= total;
        double shrinkage = 0.0, squares = 0.0, balance = 0.0, level = 0.0;
        for (std::size_t j = 0; j < size; ++j) {
            pull[j] /= total;
            found.hessian[j * (size + 1)] += strengths[j];
            shrinkage += strengths[j] * theta[j] * theta[j] / 2;
            found.gradient[j] = strengths[j] * theta[j] - pull[j];
            if (strengths[j] > 0.0)
                squares += pull[j] * pull[j];
            else
                balance = pull[j], level = theta[j];
        }
        found.value = sums[0] / total + shrinkage;
        found.primal = sums[1] / total + shrinkage;
        const double dual = sums[2] / total - squares / (2 * strength);
        // If Σ s·m is not exactly 0, D is a bound for this intercept only; add what it can cost.
        found.gap = std::max(0.0, found.primal - dual - balance * level) +
                    std::abs(balance) * (1.0 + std::abs(level));
        found.travel = sums[3] / total;
        found.theta = std::move(theta);
        return found;
    }

    double length(const Touch &here, const std::vector<double> &direction,
                  const std::vector<double> &anchor, double reach) const {
        const std::size_t n = rows.n;
        std::vector<double> along(n), gap(n), pull(n);
        for (std::size_t start = 0; start < n; start += rows.chunk())
            rows.scores(start, std::min(rows.chunk(), n - start), direction.data(),
                        along.data() + start);
        for (std::size_t i = 0; i < n; ++i) {
            gap[i] = of.y[i] - here.raw[i] + anchor[i] / reach;
            pull[i] = (of.weight != nullptr ? of.weight[i] : 1.0) / total * along[i];
        }
        double level = 0.0, rise = 0.0;
        for (std::size_t j = 0; j < rows.size; ++j) {
            level += strengths[j] * direction[j] * here.theta[j];
            rise += strengths[j] * direction[j] * direction[j];
        }
        const Box box{of.lower, of.upper, of.kink, of.curvature + 1.0 / reach};
        return flat_length(gap, pull, along.data(), box, level, rise, FLAT);
    }
};

double largest(const std::vector<double> &entries) {
    double most = 0.0;
    for (const double entry : entries)
        most = entry != entry ? entry : std::max(most, std::abs(entry));
    return most;
}

using Told = std::tuple<double, double, double, double, std::int64_t, int>;

template <typename T>
Told kink_newton(StridedMatrix<const T> x, Vector<double> theta, double constant,
                 Vector<const double> y, Vector<const double> weight, Vector<const double> lower,
                 Vector<const double> upper, double kink, double curvature,
                 Vector<const double> strengths, double strength, double total, double growth,
                 double rounding_share, double least, double tolerance, std::int64_t max_steps,
                 Vector<double> multipliers) {
    const LinearRows<T> rows(x, theta.shape(0), constant);
    require(multipliers.shape(0) == rows.n, "multipliers must have one entry per row");
    require(strengths.shape(0) == rows.size, "strengths must have the size of theta");
    require(total > 0.0 && strength > 0.0, "total and strength must be positive");
    const Vector<const double> none(multipliers);
    SmoothedRisk<T> risk{rows,
                         Rounding(rows.n, y, none, weight, lower, upper, kink, curvature, 1.0),
                         strengths.data(), strength, total};

    nb::gil_scoped_release unlocked;
    InterruptionPoint interruption;
    const double work = static_cast<double>(rows.n) * static_cast<double>(rows.size * rows.size);
    std::vector<double> anchor(rows.n, 0.0), start(theta.data(), theta.data() + rows.size);
    double reach = 0.5 / std::max(risk.at(start, anchor, 1.0).primal, SMALLEST);
    const double farthest = FARTHEST * reach;
    Touch here = risk.at(std::move(start), anchor, reach);
    const double first_value = here.primal, first_gap = here.gap;
    std::int64_t steps = 0;
    int in_round = 0, at_rest = 0;
    bool lost = false;
    // One step towards the minimum of the smoothed objective; false if it is reached.
    const auto advance = [&] {
        const double slope = largest(here.gradient);
        if (slope == 0.0)
            return false;
        std::vector<double> direction = here.gradient;
        if (!newton_direction(here.hessian.data(), direction.data(), rows.size, least)) {
            lost = true;
            return false;
        }
        double promised = 0.0;
        for (std::size_t j = 0; j < rows.size; ++j)
            promised -= direction[j] * here.gradient[j] / 2;
        const double rounding = rounding_share * std::abs(here.primal);
        if (promised <= ENOUGH * here.travel && here.travel > rounding)
            return false;
        const bool is_blunt = promised <= rounding;
        const double length = is_blunt ? 1.0 : risk.length(here, direction, anchor, reach);
        for (std::size_t j = 0; j < rows.size; ++j)
            direction[j] = here.theta[j] + length * direction[j];
        Touch there = risk.at(std::move(direction), anchor, reach);
        if (is_blunt ? !(largest(there.gradient) < slope / 2) : !(there.value < here.value))
            return false;
        here = std::move(there);
        return true;
    };
    Ending ending = CONVERGED;
    while (ending == CONVERGED && std::isfinite(here.primal) && !(here.gap <= tolerance)) {
        if (steps >= max_steps) {
            ending = STEPS_EXHAUSTED;
            break;
        }
        interruption.after(work);
        if (advance()) {
            ++in_round, ++steps;
            continue;
        }
        if (lost) {
            ending = NO_DIRECTION;
            break;
        }
        const bool settled = here.gap <= SETTLED * std::abs(here.primal);
        at_rest = settled || reach >= farthest ? at_rest + 1 : 0;
        if (at_rest > MOST_AT_REST) {
            ending = STALLED;
            break;
        }
        anchor = here.multipliers;
        reach = std::min(reach * (in_round <= EASY && !settled ? growth : 1.0), farthest);
        here = risk.at(std::move(here.theta), anchor, reach);
        in_round = 0, ++steps;
    }
    std::copy(here.theta.begin(), here.theta.end(), theta.data());
    std::copy(here.multipliers.begin(), here.multipliers.end(), multipliers.data());
    return {first_value, first_gap, here.primal, here.gap, steps, ending};
}

template <typename T> void bind(nb::module_ &module) {
    module.def("kink_newton", &kink_newton<T>, nb::arg("x").noconvert(),
               nb::arg("theta").noconvert(), nb::arg("constant"), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("lower").noconvert(),
               nb::arg("upper").noconvert(), nb::arg("kink"), nb::arg("curvature"),
               nb::arg("strengths").noconvert(), nb::arg("strength"), nb::arg("total"),
               nb::arg("growth"), nb::arg("rounding_share"), nb::arg("least"), nb::arg("tolerance"),
               nb::arg("max_steps"), nb::arg("multipliers").noconvert());
}

} // namespace

void bind_kink_newton(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
