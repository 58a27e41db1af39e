// One pass over all pairs of points for the stress of an embedding.
//
//     guttman_step       Σ_{i<j} (δ_ij − d_ij)² and Σ_{i<j} d_ij², d_ij = ‖z_i − z_j‖, and the
//     points
//                        of the next step, (1/n) Σ_j (δ_ij/d_ij)(z_i − z_j), which majorise it
//     squared_stress     Σ_{i≠j} (δ_ij² − d_ij²)² and its gradient −8 Σ_j (δ_ij² − d_ij²)(z_i −
//     z_j)
//
// A point is compared with all others by one thread, in runs of `run` points and eight partial
// sums, and the sums of the points are added in their order, so the number of threads does not
// change a bit. No further matrix of n² numbers is made.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t run = 64, lanes = 8;
constexpr std::size_t pairs_of_a_piece = 1 << 14;

// What a pair adds to the value and to Σ d², and the factor of z_i − z_j.
struct Stress {
    static void pair(double delta, double square, double &value, double &factor) {
        const double distance = std::sqrt(square);
        const double off = delta - distance;
        value = off * off;
        factor = square > 0.0 ? delta / distance : 0.0;
    }
};

struct SquaredStress {
    static void pair(double delta, double square, double &value, double &factor) {
        factor = delta * delta - square;
        value = factor * factor;
    }
};

struct Sums {
    double value = 0.0, square = 0.0;
};

double total(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// `columns` holds the coordinates one after the other, filled up with copies of the last point to a
// multiple of the run; `moved` receives Σ_j factor·(z_i − z_j).
template <typename Pair>
Sums around(const double *delta, const double *columns, std::size_t padded, std::size_t n,
            std::size_t p, std::size_t i, double *moved) {
    double value[lanes] = {}, square[lanes] = {};
    std::vector<double> along(p * lanes, 0.0);
    double gap[run], far[run], factor[run], term[run], given[run];
    for (std::size_t begin = 0; begin < n; begin += run) {
        const std::size_t count = std::min(run, n - begin);
        for (std::size_t j = 0; j < run; ++j)
            far[j] = 0.0;
        for (std::size_t k = 0; k < p; ++k) {
            const double *z = columns + k * padded;
            const double own = z[i];
            for (std::size_t j = 0; j < run; ++j) {
                const double away = own - z[begin + j];
                far[j] += away * away;
            }
        }
        for (std::size_t j = 0; j < count; ++j)
            given[j] = delta[begin + j];
        for (std::size_t j = count; j < run; ++j)
            given[j] = far[j] = 0.0; // no pair
        for (std::size_t j = 0; j < run; ++j)
            Pair::pair(given[j], far[j], term[j], factor[j]);
        if (i >= begin && i < begin + count)
            term[i - begin] = factor[i - begin] = 0.0;
        for (std::size_t j = 0; j < run; j += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                value[lane] += term[j + lane];
                square[lane] += far[j + lane];
            }
        for (std::size_t k = 0; k < p; ++k) {
            const double *z = columns + k * padded;
            const double own = z[i];
            double *sums = along.data() + k * lanes;
            for (std::size_t j = 0; j < run; ++j)
                gap[j] = factor[j] * (own - z[begin + j]);
            for (std::size_t j = 0; j < run; j += lanes)
                for (std::size_t lane = 0; lane < lanes; ++lane)
                    sums[lane] += gap[j + lane];
        }
    }
    for (std::size_t k = 0; k < p; ++k)
        moved[k] = total(along.data() + k * lanes);
    return {total(value), total(square)};
}

// Both sums count every pair twice.
template <typename Pair>
Sums over_pairs(Matrix<const double> delta, Matrix<const double> z, Matrix<double> moved,
                int threads) {
    const std::size_t n = z.shape(0), p = z.shape(1);
    require(delta.shape(0) == n && delta.shape(1) == n, "one dissimilarity per pair of points");
    require(moved.shape(0) == n && moved.shape(1) == p, "the result must have the shape of z");
    require(n > 0 && p > 0, "there must be points");
    nb::gil_scoped_release unlocked;
    const std::size_t padded = (n + run - 1) / run * run;
    std::vector<double> columns(p * padded);
    for (std::size_t k = 0; k < p; ++k)
        for (std::size_t j = 0; j < padded; ++j)
            columns[k * padded + j] = z.data()[std::min(j, n - 1) * p + k];
    std::vector<Sums> of_rows(n);
    const std::size_t rows = std::max<std::size_t>(1, pairs_of_a_piece / n);
    for_each_piece((n + rows - 1) / rows, threads, [&](std::size_t piece) {
        for (std::size_t i = piece * rows; i < std::min(n, (piece + 1) * rows); ++i)
            of_rows[i] = around<Pair>(delta.data() + i * n, columns.data(), padded, n, p, i,
                                      moved.data() + i * p);
    });
    Sums sums;
    for (const Sums &each : of_rows) {
        sums.value += each.value;
        sums.square += each.square;
    }
    return sums;
}

nb::tuple guttman_step(Matrix<const double> delta, Matrix<const double> z, Matrix<double> moved,
                       int threads) {
    const Sums sums = over_pairs<Stress>(delta, z, moved, threads);
    const auto n = static_cast<double>(z.shape(0));
    for (std::size_t i = 0; i < moved.size(); ++i)
        moved.data()[i] /= n;
    return nb::make_tuple(sums.value / 2.0, sums.square / 2.0);
}

double squared_stress(Matrix<const double> delta, Matrix<const double> z, Matrix<double> gradient,
                      int threads) {
    const Sums sums = over_pairs<SquaredStress>(delta, z, gradient, threads);
    for (std::size_t i = 0; i < gradient.size(); ++i)
        gradient.data()[i] *= -8.0;
    return sums.value;
}

} // namespace

void bind_stress(nb::module_ &module) {
    module.def("guttman_step", &guttman_step, nb::arg("delta").noconvert(),
               nb::arg("z").noconvert(), nb::arg("moved").noconvert(), nb::arg("threads"));
    module.def("squared_stress", &squared_stress, nb::arg("delta").noconvert(),
               nb::arg("z").noconvert(), nb::arg("gradient").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
