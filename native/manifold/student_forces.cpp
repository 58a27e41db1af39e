// Forces between the points of a t-SNE embedding, with ν degrees of freedom.
//
//     w_ij = 1/(1 + ‖z_i − z_j‖²/ν),   s_ij = w_ij^((ν + 1)/2)
//     attraction   Σ_j p_ij w_ij (z_i − z_j) over the stored p, and −Σ p_ij log s_ij
//     repulsion    Σ_j s_ij w_ij (z_i − z_j) over all points,   and Z = Σ_{i≠j} s_ij
//
// A row of the attraction is one thread's work, in eight sums side by side whatever the width of
// the machine's registers, and the sums of the rows are added in their order. The repulsion is that
// of repulsion.hpp. So neither threads nor registers change a bit.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "manifold/register.hpp"
#include "manifold/repulsion.hpp"

namespace thetahat {

namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t pairs_of_a_piece = 1 << 14;

// The same over all pairs, for any number of coordinates.
double any_repulsion(const double *points, std::size_t n, std::size_t p, int nu, double *out,
                     int threads) {
    std::vector<double> of_rows(n);
    const std::size_t rows = std::max<std::size_t>(1, pairs_of_a_piece / n);
    for_each_piece((n + rows - 1) / rows, threads, [&](std::size_t piece) {
        for (std::size_t i = piece * rows; i < std::min(n, (piece + 1) * rows); ++i) {
            const double *own = points + i * p;
            double z = 0.0;
            std::fill(out + i * p, out + (i + 1) * p, 0.0);
            for (std::size_t j = 0; j < n; ++j) {
                if (j == i)
                    continue;
                double square = 1.0;
                for (std::size_t k = 0; k < p; ++k)
                    square += (own[k] - points[j * p + k]) * (own[k] - points[j * p + k]);
                const double w = 1.0 / square, s = tail_power(w, nu);
                z += s;
                for (std::size_t k = 0; k < p; ++k)
                    out[i * p + k] += s * w * (own[k] - points[j * p + k]);
            }
            of_rows[i] = z;
        }
    });
    double z = 0.0;
    for (const double each : of_rows)
        z += each;
    return z;
}

// Σ_j p_ij w_ij (z_i − z_j) of one row; returns Σ_j p_ij log(1 + ‖z_i − z_j‖²/ν). `columns` holds
// the coordinates one after the other. The sums of `lanes` neighbours run side by side.
template <typename T, std::size_t D>
double pull_row(const T *const *columns, std::size_t i, const std::int32_t *near, const T *weight,
                std::size_t count, double *force) {
    using R = typename Register<T>::type;
    constexpr std::size_t size = Register<T>::size, registers = lanes / size;
    R logs[registers] = {}, f[D][registers] = {};
    T own[D];
    for (std::size_t k = 0; k < D; ++k)
        own[k] = columns[k][i];
    std::int32_t last[lanes]; // the rest, filled up with neighbours of weight 0
    T light[lanes] = {};
    for (std::size_t begin = 0; begin < count; begin += lanes) {
        const std::int32_t *at = near + begin;
        const T *w = weight + begin;
        if (begin + lanes > count) {
            std::fill(last, last + lanes, static_cast<std::int32_t>(i));
            std::copy(near + begin, near + count, last);
            std::copy(weight + begin, weight + count, light);
            at = last;
            w = light;
        }
        for (std::size_t r = 0; r < registers; ++r) {
            R share, away[D] = {}, square = R{} + T(1);
            std::memcpy(&share, w + r * size, sizeof(R));
            for (std::size_t k = 0; k < D; ++k) {
                T there[size];
                for (std::size_t l = 0; l < size; ++l)
                    there[l] = columns[k][at[r * size + l]];
                std::memcpy(&away[k], there, sizeof(R));
                away[k] = own[k] - away[k];
                square += away[k] * away[k];
            }
            logs[r] += share * logarithm<T>(square);
            share /= square;
            for (std::size_t k = 0; k < D; ++k)
                f[k][r] += share * away[k];
        }
    }
    const auto total = [](const R *sums) {
        double sum = 0.0;
        for (std::size_t l = 0; l < lanes; ++l)
            sum += static_cast<double>(sums[l / size][l % size]);
        return sum;
    };
    for (std::size_t k = 0; k < D; ++k)
        force[k] = total(f[k]);
    return total(logs);
}

template <typename T, std::size_t D>
double attraction(const double *points, std::size_t n, const std::int64_t *offset,
                  const std::int32_t *near, const T *weight, double *out, int threads) {
    std::vector<T> copy(n * D);
    const T *columns[D];
    for (std::size_t k = 0; k < D; ++k) {
        columns[k] = copy.data() + k * n;
        for (std::size_t i = 0; i < n; ++i)
            copy[k * n + i] = static_cast<T>(points[i * D + k]);
    }
    std::vector<double> of_rows(n);
    const auto stored = static_cast<std::size_t>(offset[n]);
    const std::size_t rows =
        std::max<std::size_t>(1, pairs_of_a_piece / std::max<std::size_t>(1, stored / n));
    for_each_piece((n + rows - 1) / rows, threads, [&](std::size_t piece) {
        for (std::size_t i = piece * rows; i < std::min(n, (piece + 1) * rows); ++i)
            of_rows[i] =
                pull_row<T, D>(columns, i, near + offset[i], weight + offset[i],
                               static_cast<std::size_t>(offset[i + 1] - offset[i]), out + i * D);
    });
    double sum = 0.0;
    for (const double each : of_rows)
        sum += each;
    return sum;
}

// The same for any number of coordinates.
double any_attraction(const double *points, std::size_t n, std::size_t p,
                      const std::int64_t *offset, const std::int32_t *near, const double *weight,
                      double *out, int threads) {
    std::vector<double> of_rows(n);
    for_each_piece(n, threads, [&](std::size_t i) {
        const double *own = points + i * p;
        std::fill(out + i * p, out + (i + 1) * p, 0.0);
        double logs = 0.0;
        for (std::int64_t e = offset[i]; e < offset[i + 1]; ++e) {
            const double *other = points + static_cast<std::size_t>(near[e]) * p;
            double square = 1.0;
            for (std::size_t k = 0; k < p; ++k)
                square += (own[k] - other[k]) * (own[k] - other[k]);
            logs += weight[e] * std::log(square);
            for (std::size_t k = 0; k < p; ++k)
                out[i * p + k] += weight[e] / square * (own[k] - other[k]);
        }
        of_rows[i] = logs;
    });
    double sum = 0.0;
    for (const double each : of_rows)
        sum += each;
    return sum;
}

struct Sums {
    double logs, scale;
};

// In units in which ‖z_i − z_j‖²/ν is a squared distance.
template <typename T, std::size_t D>
Sums forces(const double *points, std::size_t n, int nu, const std::int64_t *offset,
            const std::int32_t *near, const T *weight, double angle, double *pulled, double *pushed,
            int threads) {
    return {attraction<T, D>(points, n, offset, near, weight, pulled, threads),
            repulsion<T, D>(points, n, angle, nu, pushed, threads)};
}

// −Σ p log s and Z; `gradient` becomes that of Σ exaggeration·p·log(p/q), q = s/Z. The type of the
// weights is that of the sums.
template <typename T>
nb::tuple student_forces(Matrix<const double> points, Vector<const std::int64_t> offset,
                         Vector<const std::int32_t> near, Vector<const T> weight, int freedom,
                         double angle, double exaggeration, Matrix<double> gradient, int threads) {
    const std::size_t n = points.shape(0), p = points.shape(1);
    constexpr bool single = sizeof(T) < sizeof(double);
    require(n > 1 && p > 0, "there must be at least two points");
    require(n < (std::size_t(1) << 31), "too many points");
    require(gradient.shape(0) == n && gradient.shape(1) == p, "one slope per coordinate");
    require(offset.shape(0) == n + 1 && offset.data()[0] == 0, "one offset per point, and the end");
    require(near.shape(0) == weight.shape(0), "one weight per neighbour");
    require(offset.data()[n] == static_cast<std::int64_t>(near.shape(0)),
            "the last offset must be the number of neighbours");
    require(freedom >= 1 && angle >= 0.0, "degrees of freedom and angle must not be negative");
    require(p <= 3 || (!single && angle == 0.0), "more than three coordinates need all pairs");
    Sums sums{NAN, NAN};
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < n; ++i)
            require(offset.data()[i] <= offset.data()[i + 1], "offsets must not fall");
        std::uint32_t last = 0;
        for (std::size_t j = 0; j < near.shape(0); ++j)
            last = std::max(last, static_cast<std::uint32_t>(near.data()[j]));
        require(last < n, "a neighbour must be a point");
        const double unit = std::sqrt(static_cast<double>(freedom));
        std::vector<double> scaled(n * p), pulled(n * p), pushed(n * p);
        double largest = 0.0;
        for (std::size_t i = 0; i < n * p; ++i) {
            scaled[i] = points.data()[i] / unit;
            largest = std::abs(scaled[i]) <= largest ? largest : std::abs(scaled[i]);
        }
        std::fill(gradient.data(), gradient.data() + n * p, NAN);
        if (largest < 1e15) { // beyond, squares may overflow
            const double *z = scaled.data();
            const std::int64_t *from = offset.data();
            const std::int32_t *at = near.data();
            const T *w = weight.data();
            double *f = pulled.data(), *g = pushed.data();
            if (p == 1)
                sums = forces<T, 1>(z, n, freedom, from, at, w, angle, f, g, threads);
            else if (p == 2)
                sums = forces<T, 2>(z, n, freedom, from, at, w, angle, f, g, threads);
            else if (p == 3)
                sums = forces<T, 3>(z, n, freedom, from, at, w, angle, f, g, threads);
            else if constexpr (!single)
                sums = {any_attraction(z, n, p, from, at, w, f, threads),
                        any_repulsion(z, n, p, freedom, g, threads)};
            const double factor = 2.0 * (freedom + 1.0) / unit;
            for (std::size_t i = 0; i < n * p; ++i)
                gradient.data()[i] = factor * (exaggeration * f[i] - g[i] / sums.scale);
            sums.logs *= (freedom + 1.0) / 2.0;
        }
    }
    return nb::make_tuple(sums.logs, sums.scale);
}

template <typename T> void bind_for(nb::module_ &module) {
    module.def("student_forces", &student_forces<T>, nb::arg("points").noconvert(),
               nb::arg("offset").noconvert(), nb::arg("near").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("freedom"), nb::arg("angle"),
               nb::arg("exaggeration"), nb::arg("gradient").noconvert(), nb::arg("threads"));
}

} // namespace

void bind_student_forces(nb::module_ &module) {
    bind_for<float>(module);
    bind_for<double>(module);
}

} // namespace thetahat
