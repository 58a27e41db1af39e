// The scatter of some rows and its determinant, for the entropy of a Gaussian fitted to them.
//
//     A = ε·I + Σ w (x − m)(x − m)ᵀ,   Σ = A / (W + ε),   H = ½ log det Σ   (+ d/2·log 2πe)
//
// ε is the weight of a prior of unit spread (rows come in units of the whole data's deviation):
// with ties or fewer rows than columns the entropy of a cell stays finite.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace thetahat::trees {

// H from log det A.
inline double gaussian_entropy(double log_det, double weight, double prior, std::size_t d) {
    return 0.5 * (log_det - static_cast<double>(d) * std::log(weight + prior));
}

// Rows that are added one by one, at O(d²) per row (O(d) if diagonal). A row is an update of rank
// one, A + α·z·zᵀ with z = x − m and α = w·W/(W + w), applied to the factors A = L·D·Lᵀ: nothing is
// subtracted from D, so A stays positive definite. The remainder of α after the last column is α /
// (1 + α·zᵀA⁻¹z), which also gives the growth of the determinant.
class GrowingScatter {
  public:
    GrowingScatter(std::size_t d, bool full, double prior)
        : d_(d), full_(full), prior_(prior), mean_(d), step_(d), diagonal_(d),
          lower_(full ? d * d : 0) {
        clear();
    }

    void clear() {
        weight_ = 0.0;
        log_det_ = static_cast<double>(d_) * std::log(prior_);
        std::fill(mean_.begin(), mean_.end(), 0.0);
        std::fill(diagonal_.begin(), diagonal_.end(), prior_);
        std::fill(lower_.begin(), lower_.end(), 0.0);
    }

    void add(const double *x, double w) {
        const double total = weight_ + w, alpha = w * (weight_ / total);
        for (std::size_t k = 0; k < d_; ++k) {
            step_[k] = x[k] - mean_[k];
            mean_[k] += step_[k] * (w / total);
        }
        weight_ = total;
        if (alpha > 0.0)
            full_ ? widen_factors(alpha) : widen_diagonal(alpha);
    }

    double entropy() const { return gaussian_entropy(log_det_, weight_, prior_, d_); }

  private:
    void widen_factors(double alpha) {
        const double before = alpha;
        for (std::size_t k = 0; k < d_; ++k) {
            double *column = lower_.data() + k * d_; // column k of L, below the diagonal
            const double along = step_[k], old = diagonal_[k];
            const double now = old + alpha * along * along;
            const double turn = alpha * along / now;
            alpha *= old / now;
            diagonal_[k] = now;
            for (std::size_t i = k + 1; i < d_; ++i) {
                step_[i] -= along * column[i];
                column[i] += turn * step_[i];
            }
        }
        log_det_ += std::log(before / alpha);
    }

    void widen_diagonal(double alpha) {
        double growth = 1.0;
        for (std::size_t k = 0; k < d_; ++k) {
            const double now = diagonal_[k] + alpha * step_[k] * step_[k];
            growth *= now / diagonal_[k];
            diagonal_[k] = now;
            if (growth > 1e150) { // one logarithm for many factors, as long as they fit
                log_det_ += std::log(growth);
                growth = 1.0;
            }
        }
        log_det_ += std::log(growth);
    }

    std::size_t d_;
    bool full_;
    double prior_, weight_ = 0.0, log_det_ = 0.0;
    std::vector<double> mean_, step_, diagonal_, lower_;
};

// Sums of rows about a fixed centre, at d²/2 multiplications a row: for few sets of many rows.
struct Moments {
    double weight = 0.0;
    std::vector<double> sums;    // Σ w z, z = x − centre
    std::vector<double> squares; // Σ w z zᵀ: the lower triangle by rows, or its diagonal

    Moments(std::size_t d, bool full) : sums(d), squares(full ? d * (d + 1) / 2 : d) {}

    void clear() {
        weight = 0.0;
        std::fill(sums.begin(), sums.end(), 0.0);
        std::fill(squares.begin(), squares.end(), 0.0);
    }

    // `z` is a buffer of d numbers.
    void add(const double *x, const double *centre, double w, double *z) {
        const std::size_t d = sums.size();
        weight += w;
        for (std::size_t k = 0; k < d; ++k) {
            z[k] = x[k] - centre[k];
            sums[k] += w * z[k];
        }
        double *square = squares.data();
        if (squares.size() == d)
            for (std::size_t k = 0; k < d; ++k)
                square[k] += w * z[k] * z[k];
        else
            for (std::size_t k = 0; k < d; ++k) {
                const double scaled = w * z[k];
                for (std::size_t j = 0; j <= k; ++j)
                    *square++ += scaled * z[j];
            }
    }

    // The statistics of `whole` without these rows.
    void subtract_from(const Moments &whole) {
        weight = whole.weight - weight;
        for (std::size_t k = 0; k < sums.size(); ++k)
            sums[k] = whole.sums[k] - sums[k];
        for (std::size_t k = 0; k < squares.size(); ++k)
            squares[k] = whole.squares[k] - squares[k];
    }

    // Entropy of the rows about their own mean; `squares` is overwritten. Rounding errors of the
    // subtraction may make a pivot smaller than the prior, which is then used instead.
    double entropy(double prior) {
        const std::size_t d = sums.size();
        double log_det = 0.0;
        if (squares.size() == d) {
            for (std::size_t k = 0; k < d; ++k)
                log_det += std::log(prior + std::max(0.0, squares[k] - sums[k] * sums[k] / weight));
            return gaussian_entropy(log_det, weight, prior, d);
        }
        for (std::size_t k = 0; k < d; ++k) { // Cholesky, row by row
            double *row = squares.data() + k * (k + 1) / 2;
            for (std::size_t j = 0; j <= k; ++j) {
                const double *above = squares.data() + j * (j + 1) / 2;
                double entry = row[j] - sums[k] * sums[j] / weight + (j == k ? prior : 0.0);
                for (std::size_t i = 0; i < j; ++i)
                    entry -= row[i] * above[i];
                row[j] = j < k ? entry / above[j] : std::sqrt(std::max(entry, prior));
            }
            log_det += 2.0 * std::log(row[k]);
        }
        return gaussian_entropy(log_det, weight, prior, d);
    }
};

} // namespace thetahat::trees
