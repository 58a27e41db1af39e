// Sums over the rows around a query, weighted by a smoothing kernel:
//
//     A = Σ_i g_i φ_i φ_iᵀ,   B = Σ_i g_i φ_i v_iᵀ,   g_i = w_i·K(s_i)  or  w_i·K(s_i)²
//
// s_i = factor·r_i^power/h with the reduced distance r_i, and φ_i holds monomials of the
// differences u = x_i − c: φ_0 = 1 and φ_k = φ_parent(k)·u_column(k). Rows are collected in
// batches, so that the kernel is computed in vector registers. A query adds its rows in the order
// of the tree, on one thread; no sum depends on the number of threads.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exponential.hpp"
#include "neighbors/nearest_list.hpp"

namespace thetahat::neighbors {

struct MomentPlan {
    int kernel;
    double power, factor;
    bool squared;
    std::size_t size, n_features, n_values; // of φ, u and v
    const std::int64_t *parent, *column;    // of φ_1, φ_2, ...
    const double *features, *weights, *values;
};

constexpr int gaussian = 6, logistic = 8, sigmoid = 9, exponential = 11;
constexpr double inverse_root_two_pi = 0.39894228040143267794;

// K(s) of all numbers, in place.
inline void smooth(int kernel, double *s, std::size_t n) {
    constexpr double pi = 3.14159265358979323846, root_half = 0.70710678118654752440;
    const auto each = [&](const auto &formula) {
        for (std::size_t i = 0; i < n; ++i)
            s[i] = formula(s[i]);
    };
    const auto inside = [&](const auto &formula) {
        each([&](double x) { return x <= 1.0 ? formula(x) : 0.0; });
    };
    switch (kernel) {
    case 0:
        return inside([](double) { return 0.5; });
    case 1:
        return inside([](double x) { return 1.0 - x; });
    case 2:
        return inside([](double x) { return 0.75 * (1.0 - x * x); });
    case 3:
        return inside([](double x) {
            const double base = 1.0 - x * x;
            return 0.9375 * base * base;
        });
    case 4:
        return inside([](double x) {
            const double base = 1.0 - x * x;
            return 1.09375 * base * base * base;
        });
    case 5:
        return inside([](double x) {
            const double base = 1.0 - x * x * x;
            return 70.0 / 81.0 * base * base * base;
        });
    case gaussian:
        return each([](double x) { return exponential_below(-0.5 * x * x) * inverse_root_two_pi; });
    case 7:
        return inside([](double x) { return pi / 4.0 * std::cos(pi / 2.0 * x); });
    case logistic:
        return each([](double x) {
            const double decay = exponential_below(-x);
            return decay / ((1.0 + decay) * (1.0 + decay));
        });
    case sigmoid:
        return each([](double x) {
            const double decay = exponential_below(-x);
            return 2.0 / pi * decay / (1.0 + decay * decay);
        });
    case exponential:
        return each([](double x) { return 0.5 * exponential_below(-x); });
    default:
        return each([](double x) {
            const double scaled = (x < 1e4 ? x : 1e4) * root_half;
            return 0.5 * exponential_below(-scaled) * std::sin(scaled + pi / 4.0);
        });
    }
}

constexpr int n_smoothing_kernels = 12;

// Takes rows as the lists of a search do, and adds them to A and B of one query.
class LocalMoments {
  public:
    LocalMoments(const MomentPlan &plan, double limit, double width, const double *centre,
                 double *a, double *b)
        : plan_(&plan), limit_(limit), width_(width), centre_(centre), a_(a), b_(b),
          phi_(plan.size) {}

    double worst() const { return limit_; }
    std::int64_t worst_row() const { return no_row; }
    bool admits(double distance, std::int64_t) const { return distance <= limit_; }
    void insert(double distance, std::int64_t row) {
        scaled_[count_] = distance;
        row_[count_++] = row;
        if (count_ == batch)
            flush();
    }

    void flush() {
        const MomentPlan &plan = *plan_;
        if (plan.kernel == gaussian && plan.power == 0.5) {
            const double rate = -0.5 * (plan.factor / width_) * (plan.factor / width_);
            for (std::size_t i = 0; i < count_; ++i) // no width: only equal rows
                scaled_[i] = scaled_[i] == 0.0 ? 0.0 : scaled_[i] * rate;
            for (std::size_t i = 0; i < count_; ++i)
                scaled_[i] = exponential_below(scaled_[i]) * inverse_root_two_pi;
        } else {
            for (std::size_t i = 0; i < count_; ++i) {
                const double r = scaled_[i];
                const double distance =
                    plan.factor * (plan.power == 0.5   ? std::sqrt(r)
                                   : plan.power == 1.0 ? r
                                                       : std::pow(r, plan.power));
                scaled_[i] = distance == 0.0 ? 0.0 : distance / width_;
            }
            smooth(plan.kernel, scaled_.data(), count_);
        }
        for (std::size_t i = 0; i < count_; ++i)
            scaled_[i] *= plan.squared ? scaled_[i] * plan.weights[row_[i]] : plan.weights[row_[i]];
        if (plan.size == 1 && plan.n_values == 1) {
            double total = 0.0, sum = 0.0;
            for (std::size_t i = 0; i < count_; ++i) {
                total += scaled_[i];
                sum += scaled_[i] * plan.values[row_[i]];
            }
            a_[0] += total;
            b_[0] += sum;
        } else {
            for (std::size_t i = 0; i < count_; ++i)
                if (scaled_[i] != 0.0)
                    add(row_[i], scaled_[i]);
        }
        count_ = 0;
    }

  private:
    static constexpr std::size_t batch = 64;

    void add(std::int64_t row, double g) {
        const MomentPlan &plan = *plan_;
        const std::size_t p = plan.size, t = plan.n_values;
        const double *v = plan.values + row * static_cast<std::int64_t>(t);
        a_[0] += g;
        for (std::size_t c = 0; c < t; ++c)
            b_[c] += g * v[c];
        if (p == 1)
            return;
        const double *x = plan.features + row * static_cast<std::int64_t>(plan.n_features);
        phi_[0] = 1.0;
        for (std::size_t k = 1; k < p; ++k) {
            const std::int64_t j = plan.column[k];
            phi_[k] = phi_[plan.parent[k]] * (x[j] - centre_[j]);
            a_[k] += g * phi_[k];
        }
        for (std::size_t k = 1; k < p; ++k) {
            const double scaled = g * phi_[k];
            for (std::size_t l = k; l < p; ++l)
                a_[k * p + l] += scaled * phi_[l];
            for (std::size_t c = 0; c < t; ++c)
                b_[k * t + c] += scaled * v[c];
        }
    }

    const MomentPlan *plan_;
    double limit_, width_;
    const double *centre_;
    double *a_, *b_;
    std::vector<double> phi_;
    std::size_t count_ = 0;
    std::array<double, batch> scaled_;
    std::array<std::int64_t, batch> row_;
};

} // namespace thetahat::neighbors
