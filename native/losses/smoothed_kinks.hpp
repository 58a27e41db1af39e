// Rows of losses with kinks, smoothed around a dual variable each: see smoothed_kinks.cpp.
#pragma once

#include <cmath>
#include <vector>

#include "core/linear_rows.hpp"
#include "core/pairwise_sum.hpp"
#include "linalg/gram_tiles.hpp"

namespace thetahat {

// Soft thresholding: shifted towards 0 by the kink, and 0 within it.
inline double beyond(double value, double kink) {
    return value - std::min(std::max(value, -kink), kink);
}

inline double boxed(double m, double lower, double upper) {
    return std::min(std::max(m, lower), upper);
}

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
inline double flat_length(const std::vector<double> &gap, const std::vector<double> &pull,
                          const double *along, const Box &box, double level, double rise,
                          double flat) {
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

} // namespace thetahat
