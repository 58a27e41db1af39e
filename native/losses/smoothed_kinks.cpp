// Losses with kinks in their dual form, smoothed around a dual variable of every row:
//
//     ℓ_i(z) = max over lower_i ≤ m ≤ upper_i of m(y_i − z) − kink·|m| − curvature·m²/2
//     φ_i(z) = the same with −(m − anchor_i)²/(2·reach) under the maximum
//
// (hinge, squared hinge, ε-insensitive and its square). φ has the continuous slope −m_i, and if m_i
// is strictly inside its box and not at the kink, its curvature is 1/(curvature + 1/reach).
//
//     rounded_rows   m, w·m and w·φ″ of every row; the sums of w·φ, of w·ℓ, of the dual's terms
//                    w·(m·y − kink·|m| − curvature·m²/2), and of w·(m − anchor)²/(2·reach)
//     rounded_sums   the same for z = x̃ᵀθ, x̃ = (x, constant), in one pass: z and m of every row,
//                    the sums, Σ w·m·x̃ and Σ w·φ″·x̃ x̃ᵀ
//     flat_step      a step along a direction at which the mean of φ has nearly zero slope
//     kink_newton    all rounds of the augmented Lagrangian method in one call
//
// Every row is computed separately. Sums are over chunks of rows in order, and chunks are added in
// pairs, by one thread; the caller distributes blocks of rows over threads.

#include <cmath>
#include <nanobind/stl/tuple.h>
#include <vector>

#include "core/interrupts.hpp"
#include "core/linear_rows.hpp"
#include "core/pairwise_sum.hpp"
#include "linalg/gram_tiles.hpp"
#include "linalg/newton_direction.hpp"

namespace thetahat {

namespace {

// Soft thresholding: shifted towards 0 by the kink, and 0 within it.
double beyond(double value, double kink) { return value - std::min(std::max(value, -kink), kink); }

double boxed(double m, double lower, double upper) { return std::min(std::max(m, lower), upper); }

// The data of the rows of both kernels that do not depend on raw predictions.
struct Rounding {
    const double *y, *anchor, *weight, *lower, *upper; // no weights: null
    double kink, curvature, reach;

    Rounding(std::size_t n, Vector<const double> targets, Vector<const double> anchors,
             Vector<const double> weights, Vector<const double> lowest,
             Vector<const double> highest, double kink, double curvature, double reach)
        : y(targets.data()), anchor(anchors.data()),
          weight(weights.shape(0) ? weights.data() : nullptr), lower(lowest.data()),
          upper(highest.data()), kink(kink), curvature(curvature), reach(reach) {
        require(targets.shape(0) == n && anchors.shape(0) == n && lowest.shape(0) == n &&
                    highest.shape(0) == n,
                "y, anchor, lower and upper must have one entry per row");
        require(weights.shape(0) == 0 || weights.shape(0) == n,
                "weight must be empty or have one entry per row");
    }
};

// Up to `sum_rows` rows, in local arrays, so that the compiler knows that they do not overlap.
struct RoundedChunk {
    double z[sum_rows], m[sum_rows], pull[sum_rows], bend[sum_rows];
    PairwiseSum sums[4];

    // From the scores z of `size` rows from `start` on.
    void take(const Rounding &of, std::size_t start, std::size_t size) {
        const double bent = of.curvature + 1.0 / of.reach;
        const bool curved = of.curvature > 0.0;
        double own[sum_rows], part[4][sum_rows];
        if (of.weight != nullptr)
            std::copy_n(of.weight + start, size, own);
        else
            std::fill_n(own, size, 1.0);
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t i = start + k;
            const double residual = of.y[i] - z[k], below = of.lower[i], above = of.upper[i];
            const double shifted = residual + of.anchor[i] / of.reach;
            const double free = beyond(shifted, of.kink) / bent;
            m[k] = boxed(free, below, above);
            const double cost = of.kink * std::abs(m[k]) + of.curvature / 2 * m[k] * m[k];
            const double moved = m[k] - of.anchor[i], far = moved * moved / (2 * of.reach);
            const bool inside = (free > below) & (free < above) & (std::abs(shifted) >= of.kink);
            pull[k] = own[k] * m[k];
            bend[k] = inside ? own[k] / bent : 0.0;
            part[0][k] = own[k] * (m[k] * residual - cost - far);
            part[2][k] = own[k] * (m[k] * of.y[i] - cost);
            part[3][k] = own[k] * far;
        }
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t i = start + k;
            const double residual = of.y[i] - z[k], rest = beyond(residual, of.kink);
            // For ℓ itself without curvature the best dual variable is at an end of the box.
            const double end = rest > 0.0 ? of.upper[i] : rest < 0.0 ? of.lower[i] : rest;
            const double best = curved ? boxed(rest / of.curvature, of.lower[i], of.upper[i]) : end;
            const double cost = of.kink * std::abs(best) + of.curvature / 2 * best * best;
            part[1][k] = own[k] * (best * residual - cost);
        }
        for (std::size_t each = 0; each < 4; ++each)
            sums[each].add(lane_sum(part[each], size));
    }

    void write_sums(double *out) const {
        for (std::size_t each = 0; each < 4; ++each)
            out[each] = sums[each].total();
    }
};

void rounded_rows(Vector<const double> z, Vector<const double> y, Vector<const double> anchor,
                  Vector<const double> weight, Vector<const double> lower,
                  Vector<const double> upper, double kink, double curvature, double reach,
                  Vector<double> multipliers, Vector<double> pull, Vector<double> bend,
                  Vector<double> sums) {
    const std::size_t n = z.shape(0);
    const Rounding of(n, y, anchor, weight, lower, upper, kink, curvature, reach);
    require(multipliers.shape(0) == n && pull.shape(0) == n && bend.shape(0) == n,
            "multipliers, pull and bend must have one entry per row");
    require(sums.shape(0) == 4, "sums must have four entries");
    const double *score = z.data();
    double *m = multipliers.data(), *pulled = pull.data(), *bent = bend.data(), *to = sums.data();

    nb::gil_scoped_release unlocked;
    RoundedChunk chunk;
    for (std::size_t start = 0; start < n; start += sum_rows) {
        const std::size_t size = std::min(sum_rows, n - start);
        std::copy_n(score + start, size, chunk.z);
        chunk.take(of, start, size);
        std::copy_n(chunk.m, size, m + start);
        std::copy_n(chunk.pull, size, pulled + start);
        std::copy_n(chunk.bend, size, bent + start);
    }
    chunk.write_sums(to);
}

// z, m, the four sums, Σ w·m·x̃ and Σ w·φ″·x̃ x̃ᵀ of all rows at θ = t.
template <typename T>
void round_rows(const LinearRows<T> &rows, const Rounding &of, const double *t, double *score,
                double *m, double *to, double *total, double *bent) {
    RoundedChunk chunk;
    GramTiles tiles(rows.size);
    std::vector<double> part(rows.size);
    std::fill(total, total + rows.size, 0.0);
    const std::size_t step = std::min(rows.chunk(), sum_rows);
    for (std::size_t start = 0; start < rows.n; start += step) {
        const std::size_t size = std::min(step, rows.n - start);
        rows.scores(start, size, t, chunk.z);
        chunk.take(of, start, size);
        std::copy_n(chunk.z, size, score + start);
        std::copy_n(chunk.m, size, m + start);
        std::fill(part.begin(), part.end(), 0.0);
        rows.pull_back(start, size, chunk.pull, part.data());
        for (std::size_t j = 0; j < rows.size; ++j)
            total[j] += part[j];
        for (std::size_t k = 0; k < size; ++k)
            if (chunk.bend[k] != 0.0) {
                rows.scaled(start + k, std::sqrt(chunk.bend[k]), tiles.next());
                tiles.add();
            }
    }
    chunk.write_sums(to);
    tiles.write(bent);
}

template <typename T>
void rounded_sums(StridedMatrix<const T> x, Vector<const double> theta, double constant,
                  Vector<const double> y, Vector<const double> anchor, Vector<const double> weight,
                  Vector<const double> lower, Vector<const double> upper, double kink,
                  double curvature, double reach, Vector<double> z, Vector<double> multipliers,
                  Vector<double> sums, Vector<double> pull, Matrix<double> gram) {
    const LinearRows<T> rows(x, theta.shape(0), constant);
    const Rounding of(rows.n, y, anchor, weight, lower, upper, kink, curvature, reach);
    require(z.shape(0) == rows.n && multipliers.shape(0) == rows.n,
            "z and multipliers must have one entry per row");
    require(sums.shape(0) == 4, "sums must have four entries");
    require(pull.shape(0) == rows.size && gram.shape(0) == rows.size && gram.shape(1) == rows.size,
            "pull and gram must have the size of theta");
    const double *t = theta.data();
    double *score = z.data(), *m = multipliers.data(), *to = sums.data();
    double *total = pull.data(), *bent = gram.data();

    nb::gil_scoped_release unlocked;
    round_rows(rows, of, t, score, m, to, total, bent);
}

// The full step is tried first, then doubled or bracketed. Inside the bracket the regula falsi is
// used, with the value at an end that does not move halved (Illinois), so that both ends move.
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

struct Box {
    const double *lower, *upper;
    double kink, bent;
};

// The step at which level + t·rise − Σ m(gap − t·along)·pull is nearly 0.
double flat_length(const std::vector<double> &gap, const std::vector<double> &pull,
                   const double *along, const Box &box, double level, double rise, double flat) {
    const std::size_t n = gap.size();
    const auto slope = [&](double t) {
        PairwiseSum pulled;
        double part[sum_rows];
        for (std::size_t start = 0; start < n; start += sum_rows) {
            const std::size_t size = std::min(sum_rows, n - start);
            for (std::size_t k = 0; k < size; ++k) {
                const std::size_t i = start + k;
                const double free = beyond(gap[i] - t * along[i], box.kink) / box.bent;
                part[k] = boxed(free, box.lower[i], box.upper[i]) * pull[i];
            }
            pulled.add(lane_sum(part, size));
        }
        return level + t * rise - pulled.total();
    };
    return flat_point(slope, flat);
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

    nb::gil_scoped_release unlocked;
    const Box box{lower.data(), upper.data(), kink, curvature + 1.0 / reach};
    std::vector<double> gap(n), pull(n);
    for (std::size_t i = 0; i < n; ++i) {
        gap[i] = target[i] - score[i] + before[i] / reach;
        pull[i] = s[i] * along[i];
    }
    return flat_length(gap, pull, along, box, level, rise, flat);
}

// All rounds of the augmented Lagrangian in one call, for few parameters: see
// `augmented_lagrangian.py`, whose steps and constants these are.
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
    SmoothedRisk<T> risk{
        rows, Rounding(rows.n, y, none, weight, lower, upper, kink, curvature, 1.0),
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
    module.def("rounded_sums", &rounded_sums<T>, nb::arg("x").noconvert(),
               nb::arg("theta").noconvert(), nb::arg("constant"), nb::arg("y").noconvert(),
               nb::arg("anchor").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("kink"),
               nb::arg("curvature"), nb::arg("reach"), nb::arg("z").noconvert(),
               nb::arg("multipliers").noconvert(), nb::arg("sums").noconvert(),
               nb::arg("pull").noconvert(), nb::arg("gram").noconvert());
    module.def("kink_newton", &kink_newton<T>, nb::arg("x").noconvert(),
               nb::arg("theta").noconvert(), nb::arg("constant"), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("lower").noconvert(),
               nb::arg("upper").noconvert(), nb::arg("kink"), nb::arg("curvature"),
               nb::arg("strengths").noconvert(), nb::arg("strength"), nb::arg("total"),
               nb::arg("growth"), nb::arg("rounding_share"), nb::arg("least"),
               nb::arg("tolerance"), nb::arg("max_steps"), nb::arg("multipliers").noconvert());
}

} // namespace

void bind_smoothed_kinks(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
    module.def("rounded_rows", &rounded_rows, nb::arg("z").noconvert(), nb::arg("y").noconvert(),
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
