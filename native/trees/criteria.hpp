// Split criteria as functions of the sums of a node.
//
// The statistics of a row are its weight w and `width` sums: w·y for each output of a regression,
// or w in the slot of its class for each output of a classification. A node's sums s and weight W
// add those of its rows. Every criterion here is an average loss φ of the node's best constant, and
// W·φ depends on the rows through s, W and one sum q that no split changes:
//
//     squared error     W·φ = q − Σ s²/W          q = Σ w·y²
//     Gini              W·φ = q − Σ c²/W          q = W per output: the squared error of indicators
//     Poisson deviance  W·φ = q − Σ s·log(s/W)    q = Σ w·y·log y (half the deviance)
//     entropy           W·φ = q − Σ c·log(c/W)    q = 0, divided by log 2: bits
//     training error    W·φ = q − Σ max c         q = W per output
//
// averaged over outputs. So q cancels in a gain, W·φ − W_L·φ_L − W_R·φ_R, and three families are
// enough: squares, logarithms, majorities. Friedman's improvement uses the square of the mean
// difference. A family is a small value, chosen once outside the hot loop (`with_criterion`):
//
//     score(left, w_left, all, w)   what the loop over candidates compares, more is better
//     base(all, w)                  gain = unit · (score − base)
//     impurity(all, w, q)           φ per unit of weight, as scikit-learn reports it
//     class_q(w)                    q where the sums are class counts
//
// so that gain / (weight of the root) is scikit-learn's impurity decrease. With `Width` > 0 the
// number of sums is known to the compiler. Integer weights of classes give exact squares, so that a
// split and its mirror image have the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace thetahat::trees {

enum class Potential { squared, poisson, gini, entropy, error };

constexpr bool counts_classes(Potential potential) {
    return potential == Potential::gini || potential == Potential::entropy ||
           potential == Potential::error;
}

// x·log(x / w), 0 at 0.
inline double x_log_share(double x, double w) { return x > 0.0 ? x * std::log(x / w) : 0.0; }

// Squared error and Gini. With d = s_L·W − s·w_L the gain is Σ d² / (W·w_L·w_R): no cancellation
// between large costs, and one division.
template <std::size_t Width = 0> struct Squares {
    std::size_t n_sums, outputs;

    std::size_t width() const { return Width > 0 ? Width : n_sums; }
    double unit() const { return 1.0 / static_cast<double>(outputs); }
    double base(const double *, double) const { return 0.0; }
    double score(const double *left, double w_left, const double *all, double w) const {
        double squares = 0.0;
        for (std::size_t k = 0; k < width(); ++k) {
            const double apart = left[k] * w - all[k] * w_left;
            squares += apart * apart;
        }
        return squares / (w * (w_left * (w - w_left)));
    }
    double class_q(double w) const { return w * static_cast<double>(outputs); }
    double impurity(const double *all, double w, double q) const {
        double squares = 0.0;
        for (std::size_t k = 0; k < width(); ++k)
            squares += (all[k] / w) * (all[k] / w);
        return std::max(0.0, unit() * (q / w - squares));
    }
};

// Entropy in bits and Poisson deviance. A Poisson mean of 0 has an infinite logarithm, so a side
// whose sum is 0 is rejected (`positive`). The sum of the left side is 0 if all its terms are. That
// of the right side is a difference of sums, whose rounding grows with the number of rows: a share
// below `nothing` is rounding.
template <std::size_t Width = 0> struct Logarithms {
    static constexpr double nothing = 1e-12;
    std::size_t n_sums, outputs;
    bool positive = false;

    std::size_t width() const { return Width > 0 ? Width : n_sums; }
    double unit() const {
        return (positive ? 1.0 : 1.0 / std::log(2.0)) / static_cast<double>(outputs);
    }
    double base(const double *all, double w) const {
        double sum = 0.0;
        for (std::size_t k = 0; k < width(); ++k)
            sum += x_log_share(all[k], w);
        return sum;
    }
    double score(const double *left, double w_left, const double *all, double w) const {
        const double w_right = w - w_left;
        double sum = 0.0;
        for (std::size_t k = 0; k < width(); ++k) {
            const double right = all[k] - left[k];
            if (positive && (left[k] <= 0.0 || right <= nothing * all[k]))
                return -std::numeric_limits<double>::infinity();
            sum += x_log_share(left[k], w_left) + x_log_share(right, w_right);
        }
        return sum;
    }
    double class_q(double) const { return 0.0; }
    double impurity(const double *all, double w, double q) const {
        return std::max(0.0, unit() * (q - base(all, w)) / w);
    }
};

// Training error: the weight outside the majority class of each output.
struct Majorities {
    std::size_t n_sums, outputs;

    std::size_t width() const { return n_sums; }
    std::size_t n_classes() const { return n_sums / outputs; }
    double unit() const { return 1.0 / static_cast<double>(outputs); }
    double base(const double *all, double) const {
        double sum = 0.0;
        for (std::size_t first = 0; first < n_sums; first += n_classes())
            sum += *std::max_element(all + first, all + first + n_classes());
        return sum;
    }
    double score(const double *left, double, const double *all, double) const {
        double sum = 0.0;
        for (std::size_t first = 0; first < n_sums; first += n_classes()) {
            double most_left = 0.0, most_right = 0.0;
            for (std::size_t k = first; k < first + n_classes(); ++k) {
                most_left = std::max(most_left, left[k]);
                most_right = std::max(most_right, all[k] - left[k]);
            }
            sum += most_left + most_right;
        }
        return sum;
    }
    double class_q(double w) const { return w * static_cast<double>(outputs); }
    double impurity(const double *all, double w, double q) const {
        return std::max(0.0, unit() * (q - base(all, w)) / w);
    }
};

// W·φ − W_L·φ_L − W_R·φ_R.
template <typename Criterion>
double gain(const Criterion &criterion, const double *left, double w_left, const double *all,
            double w) {
    return criterion.unit() * (criterion.score(left, w_left, all, w) - criterion.base(all, w));
}

// A gain rounded to nine digits of `spread` = W·φ, the largest possible gain. Splits that divide
// the rows of a node in the same way have the same gain up to rounding. Rounding makes them tie,
// and the tie is broken by `better` instead of by the order in which rows were added.
inline double rounded_gain(double gain, double spread) {
    constexpr double steps = 1 << 30;
    if (!(spread > 0.0) || !std::isfinite(gain))
        return gain;
    const double share = gain / spread;
    return std::isfinite(share) ? std::nearbyint(share * steps) / steps * spread : gain;
}

inline Potential potential_of(const std::string &name) {
    // Friedman's improvement w_L·w_R/W · (mean difference)² is the gain in squared error.
    if (name == "squared_error" || name == "friedman_mse")
        return Potential::squared;
    if (name == "poisson")
        return Potential::poisson;
    if (name == "gini")
        return Potential::gini;
    if (name == "entropy" || name == "log_loss")
        return Potential::entropy;
    if (name == "error")
        return Potential::error;
    throw std::invalid_argument("criterion must be squared_error, friedman_mse, poisson, gini, "
                                "entropy, log_loss or error");
}

// use(criterion) with the criterion of a potential; `outputs` outputs of n_sums / outputs sums.
template <typename Use>
decltype(auto) with_criterion(Potential potential, std::size_t n_sums, std::size_t outputs,
                              Use &&use) {
    switch (potential) {
    case Potential::poisson:
        return n_sums == 1 ? use(Logarithms<1>{n_sums, outputs, true})
                           : use(Logarithms<>{n_sums, outputs, true});
    case Potential::entropy:
        return n_sums == 2 ? use(Logarithms<2>{n_sums, outputs})
                           : use(Logarithms<>{n_sums, outputs});
    case Potential::error:
        return use(Majorities{n_sums, outputs});
    default:
        return n_sums == 1   ? use(Squares<1>{n_sums, outputs})
               : n_sums == 2 ? use(Squares<2>{n_sums, outputs})
                             : use(Squares<>{n_sums, outputs});
    }
}

} // namespace thetahat::trees
