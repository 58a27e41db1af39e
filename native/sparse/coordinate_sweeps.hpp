// Sweeps of coordinate descent over some columns, for least squares with separable terms, in place:
//
//     F(β) = ½‖y − Xβ‖² + Σ_j (l1_j |β_j| + ½ l2_j β_j²),   β_j ≥ lower_j,   lower_j ∈ {−∞, 0}
//
// `Columns` defines how r = y − Xβ is represented: by a vector that is linear in β, so that
// iterates can be extrapolated. After every MEMORY + 1 sweeps the affine combination of the last
// iterates with the least change (Anderson) is tried, and kept if F decreases.
//
// Invariant: the vector always belongs to β, and F never increases. Coordinates are visited in the
// given order by one thread, so the order of sums is fixed. Stops when the duality gap of these
// columns is within the tolerance and their coefficients have settled, or when a sweep moves
// nothing by more than rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "core/dots.hpp"
#include "sparse/lasso_gap.hpp"

namespace thetahat {

inline constexpr std::size_t MEMORY = 5;         // differences of iterates that are combined
inline constexpr std::size_t SWEEPS_PER_GAP = 5; // the gap costs about a sweep

// Weights c with Σc = 1 that minimise ‖Σ c_i (β_{i+1} − β_i)‖; false if they cannot be computed.
inline bool combination(const std::vector<double> &steps, std::size_t k, double *weights) {
    double system[MEMORY][MEMORY + 1];
    double trace = 0.0;
    for (std::size_t i = 0; i < MEMORY; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            system[i][j] = system[j][i] = dot(steps.data() + i * k, steps.data() + j * k, k);
    for (std::size_t i = 0; i < MEMORY; ++i)
        trace += system[i][i];
    if (!(trace > 0.0))
        return false;
    for (std::size_t i = 0; i < MEMORY; ++i) {
        system[i][i] += 1e-14 * trace;
        system[i][MEMORY] = 1.0;
    }
    for (std::size_t p = 0; p < MEMORY; ++p) { // positive definite: no pivoting
        if (!(system[p][p] > 0.0))
            return false;
        for (std::size_t i = p + 1; i < MEMORY; ++i) {
            const double factor = system[i][p] / system[p][p];
            for (std::size_t j = p; j <= MEMORY; ++j)
                system[i][j] -= factor * system[p][j];
        }
    }
    double sum = 0.0;
    for (std::size_t p = MEMORY; p-- > 0;) {
        double rest = system[p][MEMORY];
        for (std::size_t j = p + 1; j < MEMORY; ++j)
            rest -= system[p][j] * weights[j];
        weights[p] = rest / system[p][p];
        sum += weights[p];
    }
    if (!std::isfinite(sum) || sum == 0.0)
        return false;
    for (std::size_t p = 0; p < MEMORY; ++p)
        weights[p] /= sum;
    return true;
}

// Keeps the last MEMORY + 1 iterates and extrapolates from them.
template <typename Columns> class Extrapolation {
  public:
    Extrapolation(std::size_t k, std::size_t m)
        : k_(k), m_(m), betas_((MEMORY + 1) * k), numbers_((MEMORY + 1) * m), steps_(MEMORY * k),
          kept_beta_(k), kept_numbers_(m) {}

    // `value` is F at the iterate that β and the columns hold, or ∞ where a bound is broken.
    template <typename Value> void after_sweep(Columns &columns, double *beta, Value value) {
        std::copy(beta, beta + k_, betas_.data() + held_ * k_);
        std::copy(columns.numbers(), columns.numbers() + m_, numbers_.data() + held_ * m_);
        if (++held_ <= MEMORY)
            return;
        held_ = 0;
        for (std::size_t i = 0; i < MEMORY; ++i)
            for (std::size_t a = 0; a < k_; ++a)
                steps_[i * k_ + a] = betas_[(i + 1) * k_ + a] - betas_[i * k_ + a];
        double weights[MEMORY];
        if (!combination(steps_, k_, weights))
            return;
        const double before = value();
        std::copy(beta, beta + k_, kept_beta_.begin());
        std::copy(columns.numbers(), columns.numbers() + m_, kept_numbers_.begin());
        combine(betas_, k_, weights, beta);
        combine(numbers_, m_, weights, columns.numbers());
        if (value() < before)
            return;
        std::copy(kept_beta_.begin(), kept_beta_.end(), beta);
        std::copy(kept_numbers_.begin(), kept_numbers_.end(), columns.numbers());
    }

  private:
    static void combine(const std::vector<double> &held, std::size_t width, const double *weights,
                        double *out) {
        for (std::size_t a = 0; a < width; ++a) {
            double sum = 0.0;
            for (std::size_t i = 0; i < MEMORY; ++i)
                sum += weights[i] * held[(i + 1) * width + a];
            out[a] = sum;
        }
    }

    std::size_t k_, m_, held_ = 0;
    std::vector<double> betas_, numbers_, steps_, kept_beta_, kept_numbers_;
};

using Progress = std::tuple<std::size_t, double, bool>; // sweeps, gap, whether nothing moves

template <typename Columns, typename At>
Progress descend(Columns &columns, At at, std::size_t k, const double *squares, Terms terms,
                 double *beta, double tolerance, double floor, std::size_t max_sweeps,
                 double share) {
    const Settling settling{share, ROUNDING_OF_MOVES * floor};
    Extrapolation<Columns> extrapolation(k, columns.size());
    const auto gap_here = [&] {
        return duality_gap(beta, terms, k, columns.squared(), columns.with_target(beta),
                           [&](std::size_t a) { return columns.slope(at(a)); })
            .gap;
    };
    const auto size_here = [&] {
        double size = 0.0;
        for (std::size_t a = 0; a < k && settling.is_asked(); ++a)
            size = std::max(size, std::abs(beta[a]) * std::sqrt(squares[a] + terms.l2[a]));
        return size;
    };
    const auto value_here = [&] {
        for (std::size_t a = 0; a < k; ++a)
            if (!(beta[a] >= terms.lower[a]))
                return std::numeric_limits<double>::infinity();
        return 0.5 * columns.squared() + penalty(beta, terms, k);
    };
    double gap = std::numeric_limits<double>::infinity();
    for (std::size_t sweep = 1; sweep <= max_sweeps; ++sweep) {
        double largest = 0.0;
        thetahat::sweep(
            columns, k, at, [squares](std::size_t a) { return squares[a]; }, terms, beta,
            [&](std::size_t, double from, double to, double curvature) {
                largest = std::max(largest, std::abs(to - from) * std::sqrt(curvature));
            });
        const bool stuck = largest <= floor, last = stuck || sweep == max_sweeps;
        if (last || sweep == 1 || sweep % SWEEPS_PER_GAP == 0) {
            if (last || settling.holds(largest, size_here())) {
                gap = gap_here();
                if (last || gap <= tolerance)
                    return {sweep, gap, stuck};
            }
        }
        extrapolation.after_sweep(columns, beta, value_here);
    }
    return {0, gap_here(), false};
}

} // namespace thetahat
