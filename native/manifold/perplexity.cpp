// Gaussian weights of the neighbours of every row, whose width fits a perplexity.
//
//     p_j = exp(−β d_j²) / Σ_l exp(−β d_l²),   −Σ_j p_j log p_j = log(perplexity)
//
// The entropy falls with β, so a bracket of log β is kept, and steps of Newton's method that leave
// it are replaced by bisection. Distances are divided by the largest of the row first, so that
// squares neither overflow nor vanish. A row is one thread's work, so the number of threads does
// not change a bit.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/exponential.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr int most_steps = 200;
constexpr double tolerance = 1e-10;
constexpr std::size_t entries_of_a_piece = 1 << 12;

struct Entropy {
    double value, slope; // with respect to log β
};

// Writes exp(−β·far) to `weight`, and their sum to `total`.
Entropy entropy(const std::vector<double> &far, double beta, double *weight, double &total) {
    double sum = 0.0, first = 0.0, second = 0.0;
    for (std::size_t j = 0; j < far.size(); ++j)
        weight[j] = exponential_below(-beta * far[j]);
    for (std::size_t j = 0; j < far.size(); ++j) {
        sum += weight[j];
        first += weight[j] * far[j];
        second += weight[j] * far[j] * far[j];
    }
    total = sum;
    const double mean = first / sum;
    return {std::log(sum) + beta * mean, -beta * beta * (second / sum - mean * mean)};
}

void weights_of_row(const double *distance, std::size_t k, double target, double *weight,
                    std::vector<double> &far) {
    const auto [least, most] = std::minmax_element(distance, distance + k);
    const double near = *least, unit = *most;
    std::size_t nearest = 0;
    double mean = 0.0;
    for (std::size_t j = 0; j < k; ++j) {
        nearest += distance[j] == near;
        // (d² − d₀²)/unit², without cancellation
        far[j] = unit > 0.0 ? (distance[j] - near) / unit * ((distance[j] + near) / unit) : 0.0;
        mean += far[j];
    }
    mean /= static_cast<double>(k);
    const bool all = target >= std::log(static_cast<double>(k)) || !(mean > 0.0);
    if (all || target <= std::log(static_cast<double>(nearest))) {
        const double share = 1.0 / static_cast<double>(all ? k : nearest);
        for (std::size_t j = 0; j < k; ++j)
            weight[j] = all || distance[j] == near ? share : 0.0;
        return;
    }
    double low = -INFINITY, high = INFINITY, at = -std::log(mean), total = 1.0;
    for (int step = 0; step < most_steps; ++step) {
        const Entropy found = entropy(far, std::exp(at), weight, total);
        const double off = found.value - target;
        if (std::abs(off) <= tolerance)
            break;
        (off > 0.0 ? low : high) = at;
        const double next = at - off / found.slope;
        if (next > low && next < high && std::abs(next - at) < 3.0)
            at = next;
        else if (std::isinf(low) || std::isinf(high))
            at += off > 0.0 ? 2.0 : -2.0;
        else
            at = 0.5 * (low + high);
        if (at <= low || at >= high)
            break; // the bracket is as narrow as rounding allows
    }
    for (std::size_t j = 0; j < k; ++j)
        weight[j] /= total;
}

void perplexity_weights(Matrix<const double> distance, double perplexity, Matrix<double> weight,
                        int threads) {
    const std::size_t n = distance.shape(0), k = distance.shape(1);
    require(weight.shape(0) == n && weight.shape(1) == k, "one weight per distance");
    require(k > 0, "there must be neighbours");
    require(perplexity > 0.0, "the perplexity must be positive");
    nb::gil_scoped_release unlocked;
    const double target = std::log(perplexity);
    const std::size_t rows = std::max<std::size_t>(1, entries_of_a_piece / k);
    for_each_piece((n + rows - 1) / rows, threads, [&](std::size_t piece) {
        std::vector<double> far(k);
        for (std::size_t i = piece * rows; i < std::min(n, (piece + 1) * rows); ++i)
            weights_of_row(distance.data() + i * k, k, target, weight.data() + i * k, far);
    });
}

} // namespace

void bind_perplexity(nb::module_ &module) {
    module.def("perplexity_weights", &perplexity_weights, nb::arg("distance").noconvert(),
               nb::arg("perplexity"), nb::arg("weight").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
