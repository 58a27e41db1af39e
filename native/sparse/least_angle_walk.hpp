// Least angle regression and the path of the lasso by least angles, for one target.
//
// The active columns A share one absolute correlation C with the residual. β_A moves along
// w = G_AA⁻¹ s (s the signs), which lowers the correlations of all of them equally, until another
// column reaches the same correlation:
//
//     γ = min over j not in A of (C − r_j)/(1 − a_j), (C + r_j)/(1 + a_j),   a = G_·A w
//
// or until C has its lowest value; with C = 0 this is the least-squares fit on A. On the path of
// the lasso, the step ends earlier where a coefficient becomes 0, and its column leaves A.
// Invariants: r = c − Gβ, G_AA = LLᵀ. A step costs O(|A|² + |A| d), on one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/dots.hpp"
#include "core/interrupts.hpp"
#include "linalg/cholesky_factor.hpp"

namespace thetahat {

// Rows of XᵀX that exist already.
class GramRows {
  public:
    GramRows(const double *gram, std::size_t d) : gram_(gram), d_(d) {}
    std::size_t size() const { return d_; }
    double square(std::size_t j) const { return gram_[j * d_ + j]; }
    const double *row(std::size_t j) { return gram_ + j * d_; }

  private:
    const double *gram_;
    std::size_t d_;
};

// Rows of XᵀX computed when a column first becomes active, from the rows of Xᵀ. Cost O(n d) each.
class RowsOfColumns {
  public:
    RowsOfColumns(const double *columns, std::size_t d, std::size_t n)
        : columns_(columns), d_(d), n_(n), rows_(d) {}
    std::size_t size() const { return d_; }
    double square(std::size_t j) const { return dot(columns_ + j * n_, columns_ + j * n_, n_); }
    const double *row(std::size_t j) {
        if (!rows_[j]) {
            auto row = std::make_unique<double[]>(d_);
            for (std::size_t k = 0; k < d_; ++k)
                row[k] = dot(columns_ + k * n_, columns_ + j * n_, n_);
            rows_[j] = std::move(row);
        }
        return rows_[j].get();
    }

  private:
    const double *columns_;
    std::size_t d_, n_;
    std::vector<std::unique_ptr<double[]>> rows_;
};

struct LeastAngleRules {
    std::size_t most_steps;
    std::size_t widest; // columns that may be active at once
    double lowest;      // C at which the path ends
    bool lasso;         // columns leave where their coefficient becomes 0
    bool positive;      // only columns with a positive correlation join
};

enum class PathEnd { reached, steps_exhausted, stalled };

template <typename Rows> class LeastAngleWalk {
  public:
    LeastAngleWalk(Rows &rows, LeastAngleRules rules)
        : rows_(rows), rules_(rules), d_(rows.size()), slope_(d_), along_(d_), w_(rules.widest),
          sign_(rules.widest), state_(d_) {}

    std::vector<std::size_t> active; // in the order of joining
    std::size_t steps = 0;
    std::size_t dependent = 0; // columns that were left out because others contain them

    // Calls node(C, beta) at the start and after every step.
    template <typename Node> PathEnd walk(const double *c, double *beta, const Node &node) {
        start(c, beta);
        std::size_t arriving = strongest();
        largest_ = arriving < d_ ? correlation(arriving) : 0.0;
        const double scale = largest_, tiny = 1e-13 * scale;
        if (!(largest_ > rules_.lowest + tiny)) {
            largest_ = rules_.lowest;
            node(largest_, beta);
            return PathEnd::reached;
        }
        node(largest_, beta);
        std::size_t resting = 0; // steps of no length, one after the other
        while (true) {
            if (steps >= rules_.most_steps)
                return PathEnd::steps_exhausted;
            if (arriving < d_ && !join(arriving)) {
                state_[arriving] = left_out;
                ++dependent;
                if (active.empty()) { // a column of zeros cannot be correlated: rounding only
                    arriving = strongest();
                    if (arriving == d_)
                        return PathEnd::reached;
                    continue;
                }
            }
            if (active.empty())
                return PathEnd::stalled;
            direction();
            arriving = d_;
            double step = largest_ - rules_.lowest;
            bool ends = true;
            for (std::size_t j = 0; j < d_; ++j) {
                if (state_[j] != open && state_[j] != just_left)
                    continue;
                const double up = meeting(slope_[j], along_[j], j);
                const double down = rules_.positive ? step : meeting(-slope_[j], -along_[j], j);
                if (std::min(up, down) < step) {
                    step = std::min(up, down);
                    arriving = j;
                    ends = false;
                }
            }
            double zero = step;
            for (std::size_t a = 0; rules_.lasso && a < active.size(); ++a)
                zero = std::min(zero, crossing(beta[active[a]], w_[a], step));
            const bool drops = zero < step;
            if (drops) {
                step = zero;
                arriving = d_;
                ends = false;
            }
            move(step, beta);
            if (drops)
                leave(beta);
            largest_ = ends ? rules_.lowest : largest_ - step;
            ++steps;
            node(largest_, beta);
            if (ends || !(largest_ > rules_.lowest + tiny))
                return PathEnd::reached;
            resting = step > tiny ? 0 : resting + 1;
            if (resting > 2 * d_ + 10)
                return PathEnd::stalled;
            interrupts_.after(static_cast<double>(d_) * static_cast<double>(active.size() + 1));
        }
    }

  private:
    enum State : char { open, inside, left_out, just_left };

    void start(const double *c, double *beta) {
        std::copy(c, c + d_, slope_.begin());
        std::fill(beta, beta + d_, 0.0);
        std::fill(state_.begin(), state_.end(), open);
        active.clear();
        factor_.shrink(0);
        steps = dependent = 0;
    }

    double correlation(std::size_t j) const {
        return rules_.positive ? slope_[j] : std::abs(slope_[j]);
    }

    std::size_t strongest() const {
        std::size_t best = d_;
        double most = 0.0;
        for (std::size_t j = 0; j < d_; ++j)
            if (state_[j] == open && correlation(j) > most) {
                most = correlation(j);
                best = j;
            }
        return best;
    }

    // Adds a column to the factor; false if it depends linearly on the active ones.
    bool join(std::size_t j) {
        const std::size_t size = active.size();
        if (size == rules_.widest)
            return false;
        double *products = factor_.next();
        for (std::size_t a = 0; a < size; ++a)
            products[a] = rows_.row(active[a])[j];
        if (!factor_.append(rows_.square(j), 1e-13))
            return false;
        sign_[size] = slope_[j] > 0.0 ? 1.0 : -1.0;
        state_[j] = inside;
        active.push_back(j);
        return true;
    }

    // w = G_AA⁻¹ s and a = G_·A w
    void direction() {
        const std::size_t size = active.size();
        std::copy_n(sign_.begin(), size, w_.begin());
        factor_.solve(w_.data());
        std::fill(along_.begin(), along_.end(), 0.0);
        for (std::size_t a = 0; a < size; ++a) {
            const double *row = rows_.row(active[a]);
            for (std::size_t j = 0; j < d_; ++j)
                along_[j] += w_[a] * row[j];
        }
    }

    // Step after which a correlation, signed, reaches that of the active columns. A column that has
    // just left has the same correlation now, and falls faster.
    double meeting(double slope, double along, std::size_t j) const {
        const double pace = 1.0 - along, gap = std::max(0.0, largest_ - slope);
        if (!(pace > 1e-13) || (state_[j] == just_left && slope > 0.0))
            return largest_ + 1.0;
        return gap / pace;
    }

    // Step after which a coefficient is 0.
    static double crossing(double beta, double w, double never) {
        return beta * w < 0.0 ? -beta / w : never;
    }

    void move(double step, double *beta) {
        for (std::size_t a = 0; a < active.size(); ++a) {
            const double now = beta[active[a]] + step * w_[a];
            const bool vanishes =
                rules_.lasso &&
                crossing(beta[active[a]], w_[a], 2.0 * step + 1.0) <= step * (1.0 + 1e-12);
            beta[active[a]] = vanishes ? 0.0 : now;
        }
        for (std::size_t j = 0; j < d_; ++j) {
            slope_[j] -= step * along_[j];
            if (state_[j] == just_left)
                state_[j] = open;
        }
    }

    // Removes the columns whose coefficient became 0. Others that depended on them may join again.
    void leave(const double *beta) {
        for (std::size_t a = active.size(); a-- > 0;) {
            if (beta[active[a]] != 0.0 || !(sign_[a] * w_[a] < 0.0))
                continue;
            state_[active[a]] = just_left;
            factor_.remove(a);
            active.erase(active.begin() + static_cast<std::ptrdiff_t>(a));
            sign_.erase(sign_.begin() + static_cast<std::ptrdiff_t>(a));
            sign_.push_back(0.0);
            w_.erase(w_.begin() + static_cast<std::ptrdiff_t>(a));
            w_.push_back(0.0);
        }
        for (std::size_t j = 0; j < d_; ++j)
            if (state_[j] == left_out)
                state_[j] = open;
    }

    Rows &rows_;
    LeastAngleRules rules_;
    std::size_t d_;
    double largest_ = 0.0;
    CholeskyFactor factor_;
    std::vector<double> slope_, along_, w_, sign_;
    std::vector<State> state_;
    InterruptionPoint interrupts_;
};

} // namespace thetahat
