// A linearised least-squares problem ‖r + Jp‖² of few parameters, factored in one call: R of
// [JD⁻¹ r] = QR by Householder reflections, and s, V and g = Uᵀ(the top of R's last column) with
// R₁ = U·diag(s)·Vᵀ for the square part R₁ of JD⁻¹, by one-sided Jacobi rotations, s decreasing.
//
// Rows are reflected in slabs that stay in the cache, each together with the triangle of the rows
// before. Every column is first divided by a power of two, so that its squares neither overflow nor
// underflow. O(n d²), on one thread with a fixed order of sums.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/dots.hpp"
#include "core/views.hpp"
#include "linalg/tangent.hpp"

namespace thetahat {

namespace {

constexpr std::size_t slab = 512;
constexpr int MOST_SWEEPS = 60;
constexpr double EPSILON = 2.220446049250313e-16;

using Numbers = std::vector<double>;

// The largest absolute value, in partial results so that vector registers can be used.
double largest_of(const double *entries, std::int64_t step, std::size_t n) {
    constexpr std::size_t LANES = 32;
    double part[LANES] = {};
    std::size_t i = 0;
    if (step == 1)
        for (; i + LANES <= n; i += LANES)
            for (std::size_t l = 0; l < LANES; ++l)
                part[l] = std::max(part[l], std::abs(entries[i + l]));
    for (; i < n; ++i)
        part[0] = std::max(part[0], std::abs(entries[static_cast<std::int64_t>(i) * step]));
    return *std::max_element(part, part + LANES);
}

// Columns of `rows` entries, one after the other; reflects column k to a multiple of the k-th unit
// vector, and the columns after it likewise. Entries of the triangle above stay as they are.
void reflect(double *entries, std::size_t rows, std::size_t columns) {
    for (std::size_t k = 0; k < columns && k < rows; ++k) {
        double *own = entries + k * rows + k;
        const std::size_t left = rows - k;
        const double below = dot(own + 1, own + 1, left - 1);
        if (below == 0.0)
            continue;
        const double norm = std::sqrt(own[0] * own[0] + below);
        const double lead = own[0] > 0.0 ? own[0] + norm : own[0] - norm;
        const double factor = 2.0 / (lead * lead + below);
        for (std::size_t l = k + 1; l < columns; ++l) {
            double *other = entries + l * rows + k;
            const double by = factor * (lead * other[0] + dot(own + 1, other + 1, left - 1));
            other[0] -= by * lead;
            for (std::size_t i = 1; i < left; ++i)
                other[i] -= by * own[i];
        }
        own[0] = own[0] > 0.0 ? -norm : norm;
        std::fill(own + 1, own + left, 0.0);
    }
}

// Rotates pairs of columns of `square` until all are orthogonal, and those of `turned` likewise.
void orthogonalise(Numbers &square, Numbers &turned, std::size_t d) {
    const auto rotate = [d](double *a, double *b, double cosine, double sine) {
        for (std::size_t i = 0; i < d; ++i) {
            const double first = a[i], second = b[i];
            a[i] = cosine * first - sine * second;
            b[i] = sine * first + cosine * second;
        }
    };
    bool moves = true;
    for (int sweep = 0; moves && sweep < MOST_SWEEPS; ++sweep) {
        moves = false;
        for (std::size_t j = 0; j + 1 < d; ++j)
            for (std::size_t k = j + 1; k < d; ++k) {
                double *a = square.data() + j * d, *b = square.data() + k * d;
                const double aa = dot(a, a, d), bb = dot(b, b, d), ab = dot(a, b, d);
                if (!(std::abs(ab) > EPSILON * std::sqrt(aa) * std::sqrt(bb)))
                    continue;
                moves = true;
                const double zeta = (bb - aa) / (2.0 * ab);
                const double tangent =
                    std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
                const double cosine = 1.0 / std::sqrt(1.0 + tangent * tangent);
                rotate(a, b, cosine, cosine * tangent);
                rotate(turned.data() + j * d, turned.data() + k * d, cosine, cosine * tangent);
            }
    }
}

} // namespace

void factor(const Linearisation &at, const double *scale, const TangentFactors &out) {
    const std::size_t n = at.n, d = at.d, width = d + 1;
    // A column of [J r] and the step between its rows.
    const auto column_of = [&](std::size_t j) {
        return j < d ? at.jacobian + static_cast<std::int64_t>(j) * at.column_stride : at.residuals;
    };
    const auto step_of = [&](std::size_t j) { return j < d ? at.row_stride : 1; };
    std::vector<int> exponent(width, 0);
    for (std::size_t j = 0; j < width; ++j) {
        const double largest = largest_of(column_of(j), step_of(j), n);
        if (largest > 0.0 && std::isfinite(largest))
            std::frexp(largest, &exponent[j]);
    }
    const std::size_t most = width + std::min(slab, n);
    Numbers work(most * width, 0.0), R(width * width, 0.0); // both column by column
    for (std::size_t first = 0; first < n; first += slab) {
        const std::size_t count = std::min(slab, n - first), rows = width + count;
        for (std::size_t j = 0; j < width; ++j) {
            double *column = work.data() + j * rows;
            std::copy_n(R.data() + j * width, width, column);
            // Twice, because 2 to the power of the largest exponent overflows.
            const double half = std::ldexp(1.0, -exponent[j] / 2);
            const double rest = std::ldexp(1.0, -exponent[j] - -exponent[j] / 2);
            const std::int64_t step = step_of(j);
            const double *from = column_of(j) + static_cast<std::int64_t>(first) * step;
            double *to = column + width;
            if (step == 1)
                for (std::size_t i = 0; i < count; ++i)
                    to[i] = from[i] * half * rest;
            else
                for (std::size_t i = 0; i < count; ++i)
                    to[i] = from[static_cast<std::int64_t>(i) * step] * half * rest;
        }
        reflect(work.data(), rows, width);
        for (std::size_t j = 0; j < width; ++j)
            std::copy_n(work.data() + j * rows, width, R.data() + j * width);
    }
    // The scale divides a column of R as it divides that of J.
    for (std::size_t j = 0; j < width; ++j) {
        int power = 0;
        const double by = j < d ? std::frexp(scale[j], &power) : 1.0;
        for (std::size_t i = 0; i < width; ++i)
            out.triangle[i * width + j] =
                i <= j ? std::ldexp(R[j * width + i] / by, exponent[j] - power) : 0.0;
    }

    Numbers square(d * d), turned(d * d, 0.0);
    for (std::size_t j = 0; j < d; ++j) {
        turned[j * d + j] = 1.0;
        for (std::size_t i = 0; i < d; ++i)
            square[j * d + i] = out.triangle[i * width + j];
    }
    orthogonalise(square, turned, d);
    Numbers size(d);
    for (std::size_t j = 0; j < d; ++j)
        size[j] = std::sqrt(dot(square.data() + j * d, square.data() + j * d, d));
    std::vector<std::size_t> order(d);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
    for (std::size_t k = 0; k < d; ++k) {
        const std::size_t j = order[k];
        out.values[k] = size[j];
        std::copy_n(turned.data() + j * d, d, out.basis + k * d);
        double along = 0.0;
        for (std::size_t i = 0; i < d; ++i)
            along +=
                size[j] > 0.0 ? square[j * d + i] / size[j] * out.triangle[i * width + d] : 0.0;
        out.image[k] = along;
    }
}

namespace {

void tangent(StridedMatrix<const double> jacobian, Vector<const double> residuals,
             Vector<const double> scale, Matrix<double> triangle, Vector<double> values,
             Matrix<double> basis, Vector<double> image) {
    const std::size_t n = jacobian.shape(0), d = jacobian.shape(1), width = d + 1;
    require(residuals.shape(0) == n, "residuals must have one entry per row");
    require(scale.shape(0) == d && values.shape(0) == d && image.shape(0) == d,
            "scale, values and image must have one entry per column");
    require(triangle.shape(0) == width && triangle.shape(1) == width,
            "triangle must have one row and column more than the jacobian has columns");
    require(basis.shape(0) == d && basis.shape(1) == d, "basis must be square");
    factor({jacobian.data(), jacobian.stride(0), jacobian.stride(1), n, d, residuals.data()},
           scale.data(), {triangle.data(), values.data(), basis.data(), image.data()});
}

} // namespace

void bind_tangent(nb::module_ &module) {
    module.def("tangent", &tangent, nb::arg("jacobian").noconvert(),
               nb::arg("residuals").noconvert(), nb::arg("scale").noconvert(),
               nb::arg("triangle").noconvert(), nb::arg("values").noconvert(),
               nb::arg("basis").noconvert(), nb::arg("image").noconvert());
}

} // namespace thetahat
