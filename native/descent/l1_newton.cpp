// Proximal Newton on a mean of losses plus |θ| and θ² terms, all steps in one call:
//
//     F(θ) = Σ_i s_i ℓ(y_i, z_i) + Σ_j l1_j|θ_j| + l2_j θ_j²/2,    z = Xθ + constant·θ_last.
//
// At each θ the losses are replaced by their parabolas, with slopes g_i = s_i ℓ′ and curvatures
// c_i = s_i ℓ″, and coordinate descent minimises the sum in the change δ of θ:
//
//     invariant, in place: r_i + c_i·shift = g_i + c_i (Xδ + constant·δ_last)_i.
//
// A coordinate costs the entries of its column, and no matrix is formed, so sparse columns stay
// sparse. The last coordinate has a full column; it changes `shift` alone. If it is free (an
// intercept), it is at its optimum after every change of another one: the others see their columns
// as if these were centred, so a common mean of the columns does not slow the sweeps down.
//
// Only a working set moves: coordinates that are not 0, and those at 0 that violate the optimality
// conditions. Within it, a coordinate that stays at 0 by more than the largest violation of the
// previous sweep is skipped, and all return before the sweeps end. Afterwards F must decrease by a
// share of the predicted decrease, else the step is halved.
//
// `columns` are the rows of Xᵀ, dense or compressed. The sweeps use one thread in a fixed order;
// gradients of the columns are independent of each other and use all threads. θ is changed in
// place. Returns F and the gap (the largest violation) at the start and at the end, the number of
// steps, and how the run ended; after NO_DIRECTION the general method continues.

#include <cmath>
#include <limits>
#include <nanobind/stl/tuple.h>
#include <vector>

#include "core/interrupts.hpp"
#include "core/pairwise_sum.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"
#include "losses/losses.hpp"

namespace thetahat {

namespace {

constexpr double SHARE = 1e-4; // of the predicted decrease
constexpr double ROUNDING = 8.0 * 2.220446049250313e-16;
constexpr double FLAT = 1e-13; // curvatures below this share of the largest count as zero
constexpr double INNER = 0.1;  // share of the gap to which the parabola is minimised
constexpr int MOST_HALVINGS = 12, MOST_SWEEPS = 1000;
constexpr std::size_t PIECE = 1 << 15; // entries of X for one thread at a time

enum Ending { CONVERGED, STEPS_EXHAUSTED, STALLED, NO_DIRECTION };

// The distance from −slope to the subdifferential of l1|θ|.
double violation(double theta, double slope, double l1) {
    if (theta == 0.0)
        return std::max(std::abs(slope) - l1, 0.0);
    return std::abs(slope + std::copysign(l1, theta));
}

template <typename Columns> class L1Newton {
  public:
    L1Newton(const Columns &columns, double constant, Vector<const double> y,
             Vector<const double> share, int loss, double knee, Vector<const double> l1,
             Vector<const double> l2, int threads)
        : columns(columns), constant(constant), y(y.data()), share(share.data()), loss(loss),
          knee(knee), l1(l1.data()), l2(l2.data()), threads(threads), n(y.shape(0)),
          d(columns.n_rows()), free(l1.data()[d] == 0.0 && l2.data()[d] == 0.0 && constant != 0.0),
          z(n), pull(n), bend(n), along(n), terms(n), slope(d + 1), across(d + 1), curvature(d + 1),
          delta(d + 1) {}

    double value = 0.0, gap = 0.0;

    void begin(const double *theta) {
        std::fill(z.begin(), z.end(), constant * theta[d]);
        for (std::size_t j = 0; j < d; ++j)
            if (theta[j] != 0.0)
                columns.add(j, theta[j], z.data());
        value = losses(z, true) + penalty(theta);
        gradient(theta);
    }

    // One step: true, or false if there is none.
    bool step(double *theta) {
        working.clear();
        for (std::size_t j = 0; j <= d; ++j)
            if (j == d ? constant != 0.0 && !free
                       : theta[j] != 0.0 || l1[j] == 0.0 || std::abs(slope[j]) > l1[j])
                working.push_back(j);
        curve();
        sweeps(theta);
        double promised = 0.0;
        std::fill(along.begin(), along.end(), constant * delta[d]);
        for (std::size_t j = 0; j <= d; ++j) {
            if (delta[j] == 0.0)
                continue;
            // The θ² terms are part of the slope.
            promised += (slope[j] - l2[j] * theta[j]) * delta[j] + term(j, theta[j] + delta[j]) -
                        term(j, theta[j]);
            if (j < d)
                columns.add(j, delta[j], along.data());
        }
        if (!(promised < ROUNDING * std::abs(value)))
            return false;
        double length = 1.0;
        std::vector<double> there(n), moved(d + 1);
        for (int halving = 0; halving < MOST_HALVINGS; ++halving, length /= 2.0) {
            for (std::size_t i = 0; i < n; ++i)
                there[i] = z[i] + length * along[i];
            for (std::size_t j = 0; j <= d; ++j)
                moved[j] = theta[j] + length * delta[j];
            const double reached = losses(there, true) + penalty(moved.data());
            const double rounding = ROUNDING * std::abs(value);
            const bool falls = reached <= value + SHARE * length * promised && reached < value;
            const bool settles = std::abs(promised) <= rounding && reached <= value + rounding;
            if (!std::isfinite(reached) || !(falls || settles))
                continue;
            const double before = gap;
            gradient(moved.data());
            if (!falls && !(gap < before)) {
                gap = before;
                continue;
            }
            z.swap(there);
            std::copy(moved.begin(), moved.end(), theta);
            value = reached;
            return true;
        }
        return false;
    }

  private:
    // Σ s ℓ at these raw predictions; slopes and curvatures in `pull` and `bend`.
    double losses(const std::vector<double> &at, bool) {
        return with_loss(loss, [&](auto known) {
            const double *target = y, *weight = share, *raw = at.data(), bent = knee;
            double *__restrict first = pull.data(), *__restrict second = bend.data(),
                               *__restrict each = terms.data();
            for (std::size_t i = 0; i < n; ++i) {
                const Value found =
                    loss_at<decltype(known)::value, SideBySide>(bent, target[i], raw[i]);
                each[i] = weight[i] * found.loss;
                first[i] = weight[i] * found.slope;
                second[i] = weight[i] * found.curvature;
            }
            return sum(terms);
        });
    }

    double sum(const std::vector<double> &of) const {
        PairwiseSum total;
        for (std::size_t first = 0; first < n; first += sum_rows)
            total.add(lane_sum(of.data() + first, std::min(sum_rows, n - first)));
        return total.total();
    }

    double term(std::size_t j, double at) const {
        return l1[j] * std::abs(at) + 0.5 * l2[j] * at * at;
    }

    double penalty(const double *theta) const {
        double total = 0.0;
        for (std::size_t j = 0; j <= d; ++j)
            if (theta[j] != 0.0)
                total += term(j, theta[j]);
        return total;
    }

    // visit(j) for every coordinate of a list but the last, by all threads.
    template <typename Visit> void each(std::size_t count, const Visit &visit) {
        const std::size_t step = std::max<std::size_t>(1, PIECE / (1 + columns.typical_length()));
        for_each_piece((count + step - 1) / step, threads, [&](std::size_t piece) {
            for (std::size_t k = piece * step; k < std::min(count, (piece + 1) * step); ++k)
                visit(k);
        });
    }

    // The slopes of the smooth part with the θ² terms, and the gap.
    void gradient(const double *theta) {
        each(d, [&](std::size_t j) { slope[j] = columns.dot(j, pull.data()) + l2[j] * theta[j]; });
        level = sum(pull);
        slope[d] = constant * level + l2[d] * theta[d];
        gap = constant == 0.0 ? 0.0 : violation(theta[d], slope[d], l1[d]);
        for (std::size_t j = 0; j < d; ++j)
            gap = std::max(gap, violation(theta[j], slope[j], l1[j]));
    }

    // Σ c x² and Σ c x for the columns of the working set.
    void curve() {
        weight = sum(bend);
        each(working.size(), [&](std::size_t k) {
            const std::size_t j = working[k];
            if (j == d) {
                across[d] = constant * weight;
                curvature[d] = constant * constant * weight + l2[d];
                return;
            }
            double first = 0.0, second = 0.0;
            columns.each(j, [&](std::size_t i, double entry) {
                const double part = bend[i] * entry;
                first += part;
                second += part * entry;
            });
            across[j] = first;
            if (free && weight > 0.0)
                second = std::max(0.0, second - first / weight * first);
            curvature[j] = second + l2[j];
        });
        double largest = 0.0;
        for (const std::size_t j : working)
            largest = std::max(largest, curvature[j]);
        for (const std::size_t j : working)
            if (!(curvature[j] > FLAT * largest))
                curvature[j] = largest > 0.0 ? largest : 1.0;
    }

    // Minimises the parabola plus R in δ.
    void sweeps(const double *theta) {
        std::fill(delta.begin(), delta.end(), 0.0);
        residual = pull;
        double shift = 0.0, rest = level; // Σ r + c·shift
        const auto centre = [&] {
            if (!free || !(weight > 0.0))
                return;
            shift -= rest / weight;
            delta[d] -= rest / weight / constant;
            rest = 0.0;
        };
        centre();
        active = working;
        const double tolerance = INNER * gap;
        double limit = std::numeric_limits<double>::infinity();
        std::size_t n_active = active.size();
        for (int sweep = 0; sweep < MOST_SWEEPS && n_active > 0; ++sweep) {
            double largest = 0.0, work = 0.0;
            for (std::size_t place = 0; place < n_active;) {
                const std::size_t j = active[place];
                const double at = theta[j] + delta[j];
                double pulled =
                    j == d ? constant * rest : columns.dot(j, residual.data()) + shift * across[j];
                pulled += l2[j] * at;
                const double far = violation(at, pulled, l1[j]);
                if (far == 0.0 && at == 0.0 && std::abs(pulled) < l1[j] - limit) {
                    std::swap(active[place], active[--n_active]);
                    continue;
                }
                ++place;
                largest = std::max(largest, far);
                if (far == 0.0)
                    continue;
                const double bent = curvature[j], target = at - pulled / bent, least = l1[j] / bent;
                const double after = target > least    ? target - least
                                     : target < -least ? target + least
                                                       : 0.0;
                const double move = after - at;
                delta[j] += move;
                if (j == d) {
                    shift += constant * move;
                    rest += constant * move * weight;
                } else {
                    columns.each(j, [&](std::size_t i, double entry) {
                        residual[i] += move * entry * bend[i];
                    });
                    rest += move * across[j];
                    centre();
                }
            }
            work += static_cast<double>(n_active) * (1.0 + columns.typical_length());
            interruption.after(work);
            limit = largest;
            if (largest <= tolerance) {
                if (n_active == active.size())
                    return;
                n_active = active.size();
                limit = std::numeric_limits<double>::infinity();
            }
        }
    }

    const Columns &columns;
    const double constant, *y, *share;
    const int loss;
    const double knee, *l1, *l2;
    const int threads;
    const std::size_t n, d;
    const bool free; // the last coordinate has no penalty
    std::vector<double> z, pull, bend, along, terms, slope, across, curvature, delta, residual;
    std::vector<std::size_t> working, active;
    double level = 0.0, weight = 0.0; // Σ g and Σ c
    InterruptionPoint interruption;
};

using Told = std::tuple<double, double, double, double, std::int64_t, int>;

template <typename Columns>
Told l1_newton(const Columns &columns, double constant, Vector<const double> y,
               Vector<const double> share, int loss, double knee, Vector<const double> l1,
               Vector<const double> l2, Vector<double> theta, double tolerance,
               std::int64_t max_steps, int threads) {
    const std::size_t n = columns.n_columns(), size = columns.n_rows() + 1;
    require(y.shape(0) == n && share.shape(0) == n, "y and share must have one entry per row of X");
    require(theta.shape(0) == size && l1.shape(0) == size && l2.shape(0) == size,
            "theta, l1 and l2 must have one entry per column, and one for the constant");
    require(loss >= 0 && loss < n_losses, "no loss has this number");

    nb::gil_scoped_release unlocked;
    L1Newton<Columns> run(columns, constant, y, share, loss, knee, l1, l2, threads);
    run.begin(theta.data());
    const double first_value = run.value, first_gap = run.gap;
    std::int64_t steps = 0;
    Ending ending = CONVERGED;
    while (ending == CONVERGED && std::isfinite(run.value) && !(run.gap <= tolerance)) {
        if (steps >= max_steps)
            ending = STEPS_EXHAUSTED;
        else if (!run.step(theta.data()))
            ending = NO_DIRECTION;
        else
            ++steps;
    }
    return {first_value, first_gap, run.value, run.gap, steps, ending};
}

} // namespace

void bind_l1_newton(nb::module_ &module) {
    bind_for_rows<double, Vector<const double>, Vector<const double>, int, double,
                  Vector<const double>, Vector<const double>, Vector<double>, double, std::int64_t,
                  int>(
        module, "l1_newton",
        [](const auto &columns, auto... arguments) { return l1_newton(columns, arguments...); },
        nb::arg("constant"), nb::arg("y").noconvert(), nb::arg("share").noconvert(),
        nb::arg("loss"), nb::arg("knee"), nb::arg("l1").noconvert(), nb::arg("l2").noconvert(),
        nb::arg("theta").noconvert(), nb::arg("tolerance"), nb::arg("max_steps"),
        nb::arg("threads"));
}

} // namespace thetahat
