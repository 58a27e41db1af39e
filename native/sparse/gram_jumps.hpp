// Newton steps on the Gram matrix of k columns, for
//
//     F(β) = ½βᵀGβ − cᵀβ + Σ_j (l1_j |β_j| + ½ l2_j β_j²),   β_j ≥ lower_j ∈ {−∞, 0}
//
// If the signs s of an active set S are fixed and the other coefficients are zero, F is a parabola,
// whose minimum solves (G_SS + diag(l2_S)) β_S = c_S − l1_S∘s_S. A jump goes to this minimum, with
// the steepest columns at zero joined. It is accepted if F decreases; coefficients that would
// change sign become zero, or the step is shortened, or it goes on through the zeros of
// coefficients to the minimum of F along it.
//
// Invariant: slopes = c − Gβ. One thread, with a fixed order of sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "core/dots.hpp"
#include "core/row_combination.hpp"
#include "sparse/active_set.hpp"
#include "sparse/coordinate_sweep.hpp"
#include "sparse/exchange_columns.hpp"
#include "sparse/lasso_gap.hpp"

namespace thetahat {

class GramJumps {
  public:
    // β and slopes are changed in place; rows of `gram` are `stride` long.
    GramJumps(const double *gram, std::size_t stride, std::size_t k, const double *start, double yy,
              Terms terms, double *beta, double *slopes, ActiveSet &active)
        : gram(gram), stride(stride), k(k), start(start), yy(yy), terms(terms), beta(beta),
          slopes(slopes), active(active), trial(k), fall(k), signs(k), step(k), moved(k) {}

    // Compute the slopes from β alone.
    void refresh() {
        members.clear();
        moved.clear();
        for (std::size_t j = 0; j < k; ++j)
            if (beta[j] != 0.0) {
                members.push_back(j);
                moved.push_back(beta[j]);
            }
        fall_along(members, moved);
        for (std::size_t j = 0; j < k; ++j)
            slopes[j] = start[j] - fall[j];
    }

    double gap() const {
        const double explained = dot(beta, start, k);
        const double rest = yy - explained - dot(beta, slopes, k);
        return duality_gap(beta, terms, k, std::max(rest, 0.0), yy - explained,
                           [this](std::size_t a) { return slopes[a]; })
            .gap;
    }

    bool settled(Settling settling) const {
        if (!settling.is_asked())
            return true;
        const Move next = next_move(
            beta, terms, k, [this](std::size_t j) { return gram[j * stride + j]; },
            [this](std::size_t j) { return slopes[j]; });
        return settling.holds(next.largest, next.size);
    }

    // ½‖y − Xβ‖² and the penalty.
    double risk() const {
        return 0.5 * yy + value([this](std::size_t j) { return beta[j]; },
                                [this](std::size_t j) { return slopes[j]; });
    }

    std::size_t in_use() const {
        return k - static_cast<std::size_t>(std::count(beta, beta + k, 0.0));
    }

    std::size_t joined() const { return eager.size(); } // by the last jump

    // How many columns should join at once.
    std::size_t most_to_join() const {
        const std::size_t used = in_use();
        const std::size_t room = active.rank > used ? active.rank - used : 0;
        return std::max<std::size_t>(16, std::min(used / 4, room / 6));
    }

    // Jump with at most `joining` new columns; false, without a move, if F does not decrease.
    bool jump(std::size_t joining) {
        for (std::size_t j = 0; j < k; ++j)
            signs[j] = sign_of(beta[j]);
        join(joining);
        exchanged_ = whole_ = false;
        for (bool again = true;; again = false) {
            const auto &dependent = active.move_to(gram, stride, terms.l2, signs);
            if (!dependent.empty()) {
                exchanged_ = eager.size() <= dependent.size() ||
                             std::any_of(dependent.begin(), dependent.end(),
                                         [this](std::size_t j) { return beta[j] != 0.0; });
                if (exchanged_)
                    return exchange(dependent);
                for (const std::size_t j : dependent)
                    signs[j] = 0.0;
            }
            aim();
            active.solve(step.data());
            if (follow())
                return true;
            if (!again || !has_drifted())
                return false;
            active.clear();
        }
    }

    bool exchanged() const { return exchanged_; } // whether the last jump exchanged columns
    bool whole() const { return whole_; } // whether it went to the minimum of its active set

  private:
    static constexpr double rounding = 1e-15;  // share of F that is rounding error
    static constexpr double vanishing = 1e-12; // remainder of a coefficient that counts as zero
    static constexpr double exchange_rounding = 1e-13;
    static constexpr double through = -1.0; // stands for the minimum along the step
    static constexpr double wrong = 1e-6;   // share of the right-hand side that a step may miss

    static double sign_of(double value) {
        return static_cast<double>(value > 0.0) - static_cast<double>(value < 0.0);
    }

    void fall_along(const std::vector<std::size_t> &which, const std::vector<double> &by) {
        combine(
            which.size(), [&](std::size_t m) { return gram + which[m] * stride; }, by.data(),
            fall.data(), k);
    }

    template <typename Beta, typename Slopes> double value(Beta b, Slopes c) const {
        return sum_in_lanes(k, [&](std::size_t j) {
            return terms.l1[j] * std::abs(b(j)) +
                   0.5 * b(j) * (terms.l2[j] * b(j) - start[j] - c(j));
        });
    }

    void aim() {
        step.clear();
        for (const std::size_t j : active.members())
            step.push_back(slopes[j] - terms.l1[j] * signs[j] - terms.l2[j] * beta[j]);
    }

    // Move along the step as far as F decreases: the whole of it, a half or a quarter, where
    // coefficients that would change sign become zero; then to the minimum along the step; and at
    // last up to the first coefficient that becomes zero.
    bool follow() {
        const std::vector<std::size_t> &which = active.members();
        const double before = value([this](std::size_t j) { return beta[j]; },
                                    [this](std::size_t j) { return slopes[j]; });
        moved.resize(which.size());
        double until_zero = 1.0;
        for (std::size_t m = 0; m < which.size(); ++m) {
            const double here = beta[which[m]];
            if (here != 0.0 && turns(which[m], here + step[m]))
                until_zero = std::min(until_zero, -here / step[m]);
        }
        for (const double length : {1.0, 0.5, 0.25, through, until_zero}) {
            if (length == through) {
                if (cross(before))
                    return true;
                continue;
            }
            bool turned = false;
            std::copy_n(beta, k, trial.begin());
            for (std::size_t m = 0; m < which.size(); ++m) {
                const std::size_t j = which[m];
                double to = beta[j] + length * step[m];
                const bool vanished = std::abs(to) <= vanishing * std::abs(beta[j]);
                if (turns(j, to) || (vanished && turns(j, beta[j] + step[m]))) {
                    to = 0.0;
                    turned = true;
                }
                trial[j] = to;
                moved[m] = to - beta[j];
            }
            if (take_if_lower(before)) {
                whole_ = !turned;
                return true;
            }
            if (!turned)
                return false;
        }
        return false;
    }

    // Go to `trial`, which differs from β by `moved`, if F is lower there.
    bool take_if_lower(double before) {
        fall_along(active.members(), moved);
        const double after = value([this](std::size_t j) { return trial[j]; },
                                   [this](std::size_t j) { return slopes[j] - fall[j]; });
        if (!(after < before - rounding * std::abs(before)))
            return false;
        std::copy_n(trial.begin(), k, beta);
        for (std::size_t j = 0; j < k; ++j)
            slopes[j] -= fall[j];
        return true;
    }

    // Go to the minimum of F along the step. F is a convex parabola between the zeros of the
    // coefficients, so their order along the step shows where it is. Nearly collinear columns under
    // a small penalty need this: many of their coefficients change sign, and a step that ends at
    // the first zero is short.
    bool cross(double before) {
        const std::vector<std::size_t> &which = active.members();
        fall_along(which, step);
        double slope = 0.0, bend = 0.0, end = std::numeric_limits<double>::infinity();
        zeros.clear();
        for (std::size_t m = 0; m < which.size(); ++m) {
            const std::size_t j = which[m];
            const double by = step[m], here = beta[j], l1 = terms.l1[j];
            slope += by * (terms.l2[j] * here - slopes[j]) +
                     l1 * (here != 0.0 ? sign_of(here) * by : std::abs(by));
            bend += by * (fall[j] + terms.l2[j] * by);
            if (here * by < 0.0 && terms.lower[j] == 0.0)
                end = std::min(end, -here / by);
            else if (here * by < 0.0 && l1 > 0.0)
                zeros.emplace_back(-here / by, m);
            else if (here == 0.0 && by < 0.0 && terms.lower[j] == 0.0)
                return false;
        }
        if (!(slope < 0.0) || !(bend > 0.0))
            return false;
        std::sort(zeros.begin(), zeros.end());
        double length = -slope / bend;
        for (const auto &[zero, m] : zeros) {
            if (zero >= length)
                break;
            slope += 2.0 * terms.l1[which[m]] * std::abs(step[m]);
            length = std::max(zero, -slope / bend);
        }
        length = std::min(length, end);
        std::copy_n(beta, k, trial.begin());
        for (std::size_t m = 0; m < which.size(); ++m) {
            const std::size_t j = which[m];
            const double to = beta[j] + length * step[m];
            trial[j] = std::abs(to) <= vanishing * std::abs(beta[j]) ? 0.0 : to;
            if (terms.lower[j] == 0.0)
                trial[j] = std::max(trial[j], 0.0);
            moved[m] = trial[j] - beta[j];
        }
        return take_if_lower(before);
    }

    // Whether a coefficient may not have this value, because its sign is fixed.
    bool turns(std::size_t j, double to) const {
        return (terms.l1[j] > 0.0 || terms.lower[j] == 0.0) && to * signs[j] <= 0.0;
    }

    // Let dependent columns replace members where that lowers the penalty; Xβ does not change.
    bool exchange(const std::vector<std::size_t> &dependent) {
        const double before = value([this](std::size_t j) { return beta[j]; },
                                    [this](std::size_t j) { return slopes[j]; });
        const std::size_t used = in_use(), size = active.members().size();
        const std::vector<double> kept(beta, beta + k), steep(slopes, slopes + k);
        std::vector<double> table(dependent.size() * size);
        for (std::size_t q = 0; q < dependent.size(); ++q) {
            double *row = table.data() + q * size;
            for (std::size_t i = 0; i < size; ++i)
                row[i] = gram[dependent[q] * stride + active.members()[i]];
            active.solve(row);
        }
        Side inside = side_of(active.members()), outside = side_of(dependent);
        exchange_columns(table.data(), inside.columns(), outside.columns());
        for (const Side *side : {&inside, &outside})
            for (std::size_t i = 0; i < side->which.size(); ++i)
                beta[side->which[i]] = side->beta[i];
        refresh();
        const double gained = before - value([this](std::size_t j) { return beta[j]; },
                                             [this](std::size_t j) { return slopes[j]; });
        const double noise = exchange_rounding * std::abs(before);
        if (gained > noise || (gained >= -noise && in_use() < used))
            return true;
        std::copy_n(kept.begin(), k, beta);
        std::copy_n(steep.begin(), k, slopes);
        return false;
    }

    struct Side {
        std::vector<std::int64_t> which;
        std::vector<double> beta, sign, l1;

        Exchanged columns() {
            return {which.data(), beta.data(), sign.data(), l1.data(), which.size()};
        }
    };

    Side side_of(const std::vector<std::size_t> &which) const {
        Side side;
        for (const std::size_t j : which) {
            side.which.push_back(static_cast<std::int64_t>(j));
            side.beta.push_back(beta[j]);
            side.sign.push_back(signs[j]);
            side.l1.push_back(terms.l1[j]);
        }
        return side;
    }

    // Whether rounding errors have accumulated in the factor, so that a step misses its aim.
    bool has_drifted() {
        const std::vector<std::size_t> &which = active.members();
        fall_along(which, step);
        double missed = 0.0, most = 0.0;
        for (std::size_t m = 0; m < which.size(); ++m) {
            const std::size_t j = which[m];
            const double aimed = slopes[j] - terms.l1[j] * signs[j] - terms.l2[j] * beta[j];
            missed = std::max(missed, std::abs(aimed - fall[j] - terms.l2[j] * step[m]));
            most = std::max(most, std::abs(aimed));
        }
        return missed > wrong * most;
    }

    // Signs for the columns at zero along which F decreases most, at most `most` of them.
    void join(std::size_t most) {
        eager.clear();
        if (most == 0)
            return;
        for (std::size_t j = 0; j < k; ++j)
            if (beta[j] == 0.0 && gram[j * stride + j] > 0.0 && excess(j) > 0.0)
                eager.push_back(j);
        if (eager.size() > most) {
            std::nth_element(eager.begin(), eager.begin() + static_cast<std::ptrdiff_t>(most),
                             eager.end(),
                             [&](std::size_t a, std::size_t b) { return excess(a) > excess(b); });
            eager.resize(most);
        }
        for (const std::size_t j : eager)
            signs[j] = sign_of(slopes[j]);
    }

    double excess(std::size_t j) const {
        return (terms.lower[j] == 0.0 ? slopes[j] : std::abs(slopes[j])) - terms.l1[j];
    }

    const double *gram;
    std::size_t stride, k;
    const double *start;
    double yy;
    Terms terms;
    double *beta, *slopes;
    ActiveSet &active;
    std::vector<double> trial, fall, signs, step, moved;
    std::vector<std::size_t> members, eager;
    std::vector<std::pair<double, std::size_t>> zeros; // along a step, and whose they are
    bool exchanged_ = false, whole_ = false;
};

} // namespace thetahat
