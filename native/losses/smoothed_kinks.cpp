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
//
// Every row is computed separately. Sums are over chunks of rows in order, and chunks are added in
// pairs, by one thread; the caller distributes blocks of rows over threads.

#include <cmath>
#include <vector>

#include "core/linear_rows.hpp"
#include "core/pairwise_sum.hpp"
#include "linalg/gram_tiles.hpp"

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
    const double *lo = lower.data(), *hi = upper.data();

    nb::gil_scoped_release unlocked;
    const double bent = curvature + 1.0 / reach;
    std::vector<double> gap(n), pull(n);
    for (std::size_t i = 0; i < n; ++i) {
        gap[i] = target[i] - score[i] + before[i] / reach;
        pull[i] = s[i] * along[i];
    }
    const auto slope = [&](double t) {
        PairwiseSum pulled;
        double part[sum_rows];
        for (std::size_t start = 0; start < n; start += sum_rows) {
            const std::size_t size = std::min(sum_rows, n - start);
            for (std::size_t k = 0; k < size; ++k) {
                const std::size_t i = start + k;
                const double free = beyond(gap[i] - t * along[i], kink) / bent;
                part[k] = boxed(free, lo[i], hi[i]) * pull[i];
            }
            pulled.add(lane_sum(part, size));
        }
        return level + t * rise - pulled.total();
    };
    return flat_point(slope, flat);
}

template <typename T> void bind(nb::module_ &module) {
    module.def("rounded_sums", &rounded_sums<T>, nb::arg("x").noconvert(),
               nb::arg("theta").noconvert(), nb::arg("constant"), nb::arg("y").noconvert(),
               nb::arg("anchor").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("kink"),
               nb::arg("curvature"), nb::arg("reach"), nb::arg("z").noconvert(),
               nb::arg("multipliers").noconvert(), nb::arg("sums").noconvert(),
               nb::arg("pull").noconvert(), nb::arg("gram").noconvert());
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
