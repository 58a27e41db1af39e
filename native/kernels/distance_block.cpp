// Distances of all pairs of rows, and kernels that fall with them, for one block.
//
//     Manhattan Σ|x − z|, Euclidean √Σ(x − z)², chi-squared Σ(x − z)²/(x + z)
//
// The result is r = factor · distance, or p(r)·e^(−r) with p(r) = 1, 1 + r or 1 + r + r²/3, the
// Matérn kernels of half-integer order.
//
// Loop order: rows of X, sixteen rows of Z, columns; the sums of sixteen pairs stay in registers.
// The columns of Z lie together. Every sum runs over the columns in their order, and a pair gives
// the same bits as the pair the other way round. Nothing depends on the other entries of the block,
// so that neither the size of blocks nor the number of threads that compute them changes a result.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/simd4.hpp"
#include "core/views.hpp"
#include "kernels/exponentials.hpp"

namespace thetahat {

namespace smo {

namespace {

constexpr std::size_t together = 16, registers = together / wide_size;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Manhattan {
    static double term(double x, double z) { return std::fabs(x - z); }
    static Wide term(const Wide &x, const Wide &z) { // without the sign, which is the first bit
        return (Wide)((WideMask)(x - z) & std::numeric_limits<std::int64_t>::max());
    }
    static double distance(double sum, const double *, const double *, std::size_t, std::size_t) {
        return sum;
    }
};

struct Euclidean {
    template <typename V> static V term(V x, V z) {
        const V gap = x - z;
        return gap * gap;
    }
    // Squares that overflow or underflow are summed in units of the largest difference.
    static double distance(double sum, const double *x, const double *z, std::size_t d,
                           std::size_t stride) {
        if ((sum > 1e-290 && sum < infinity) || sum != sum)
            return std::sqrt(sum);
        double unit = 0.0, scaled = 0.0;
        for (std::size_t j = 0; j < d; ++j)
            unit = std::max(unit, std::fabs(x[j] - z[j * stride]));
        if (unit == 0.0 || unit == infinity)
            return unit;
        for (std::size_t j = 0; j < d; ++j) {
            const double share = (x[j] - z[j * stride]) / unit;
            scaled += share * share;
        }
        return unit * std::sqrt(scaled);
    }
};

// Columns in which both are 0 add nothing. Halves do not overflow.
struct ChiSquared {
    template <typename V> static V term(V x, V z) {
        const V gap = x - z, middle = 0.5 * x + 0.5 * z;
        const V found = 0.5 * (gap * (gap / middle));
        return middle > 0.0 ? found : V{};
    }
    static double distance(double sum, const double *, const double *, std::size_t, std::size_t) {
        return sum;
    }
};

// r of at most eight pairs becomes p(r)·e^(−r)
void decay(double *r, int degree) {
    alignas(16) double fallen[8];
    std::copy(r, r + 8, fallen);
    exponentials_of_eight(fallen, -1.0);
    for (int k = 0; k < 8; ++k) {
        const double risen = degree == 0   ? 1.0
                             : degree == 1 ? 1.0 + r[k]
                                           : 1.0 + r[k] + r[k] * r[k] / 3.0;
        r[k] = fallen[k] == 0.0 ? 0.0 : risen * fallen[k]; // not ∞·0
    }
}

template <typename Distance>
void block(int degree, double factor, const double *X, std::size_t n, const double *Zt,
           std::size_t m, std::size_t d, double *out) {
    for (std::size_t i = 0; i < n; ++i) {
        const double *x = X + i * d;
        for (std::size_t first = 0; first < m; first += together) {
            const std::size_t some = std::min(together, m - first);
            const double *z = Zt + first;
            alignas(32) double sums[together] = {};
            if (some == together) {
                Wide parts[registers] = {};
                for (std::size_t j = 0; j < d; ++j) {
                    const Wide own = Wide{} + x[j];
                    for (std::size_t k = 0; k < registers; ++k)
                        parts[k] += Distance::term(own, load_wide(z + j * m + k * wide_size));
                }
                std::memcpy(sums, parts, sizeof parts);
            } else {
                for (std::size_t j = 0; j < d; ++j)
                    for (std::size_t c = 0; c < some; ++c)
                        sums[c] += Distance::term(x[j], z[j * m + c]);
            }
            for (std::size_t c = 0; c < some; ++c)
                sums[c] = factor * Distance::distance(sums[c], x, z + c, d, m);
            if (degree >= 0) {
                decay(sums, degree);
                decay(sums + 8, degree);
            }
            std::copy(sums, sums + some, out + i * m + first);
        }
    }
}

void distance_block(const char *name, int degree, double factor, Matrix<const double> X,
                    Matrix<const double> Zt, Matrix<double> out) {
    const std::string_view kind = name;
    const std::size_t n = X.shape(0), d = X.shape(1), m = Zt.shape(1);
    require(Zt.shape(0) == d && out.shape(0) == n && out.shape(1) == m,
            "X must be n × d, the transposed Z d × m, and the result n × m");
    require(kind == "manhattan" || kind == "euclidean" || kind == "chi_squared",
            "the kind of distance is not known");
    require(degree >= -1 && degree <= 2, "the degree must be -1, 0, 1 or 2");
    require(factor > 0.0 && factor < infinity, "the factor must be positive and finite");
    nb::gil_scoped_release unlocked;
    const auto run = kind == "manhattan"   ? &block<Manhattan>
                     : kind == "euclidean" ? &block<Euclidean>
                                           : &block<ChiSquared>;
    run(degree, factor, X.data(), n, Zt.data(), m, d, out.data());
}

} // namespace

} // namespace smo

void bind_distance_block(nb::module_ &module) {
    module.def("distance_block", &smo::distance_block, nb::arg("kind"), nb::arg("degree"),
               nb::arg("factor"), nb::arg("X").noconvert(), nb::arg("Z_transposed").noconvert(),
               nb::arg("out").noconvert());
}

} // namespace thetahat
