// Least squares on compressed sparse rows from products alone: LSQR of Paige and Saunders, and the
// product Xᵀs that gradients need.
//
// The rows are A = diag(r)(X − 1mᵀ), with m the means of the columns. A step needs t = Av − αu and
// Aᵀt; a row's entry of t is ready before its part of Aᵀt, so each step reads X once. Targets are
// independent of one another, and several are solved at once; the rows are added in pieces that do
// not depend on the number of threads, and the sums of the pieces in their order.
//
// With a scale s of the columns, γ = β/s is found by LSQR on the rows [A; damp·I] diag(s). If s is
// one over the length of these columns, far fewer steps are needed where lengths differ.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/dots.hpp"
#include "core/interrupts.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t MOST_PIECES = 4, FEWEST_ENTRIES = 50'000;

template <typename T, typename Index> struct Rows {
    const T *value;
    const Index *column, *bound;
    std::size_t n, d;
    const double *root, *mean;         // root: null if all rows have weight 1
    std::vector<std::size_t> first_of; // the first row of each piece, and the number of rows

    // Pieces of about as many entries, enough of them to repay sums of their own of d numbers. They
    // depend on X alone.
    void cut_into_pieces() {
        const std::size_t stored = static_cast<std::size_t>(bound[n] - bound[0]);
        std::size_t pieces = 1;
        while (pieces < MOST_PIECES && stored >= 2 * pieces * std::max(FEWEST_ENTRIES, 4 * d))
            pieces *= 2;
        first_of.assign(1, 0);
        for (std::size_t piece = 1; piece < pieces; ++piece) {
            const auto start = static_cast<Index>(bound[0] + piece * stored / pieces);
            first_of.push_back(
                static_cast<std::size_t>(std::lower_bound(bound, bound + n, start) - bound));
        }
        first_of.push_back(n);
    }
};

template <typename T, typename Index>
Rows<T, Index> checked_rows(const Vector<const T> &data, const Vector<const Index> &indices,
                            const Vector<const Index> &indptr, std::size_t d) {
    SparseRows<T, Index>(data, indices, indptr, d); // refuses what is not where it says
    return {data.data(), indices.data(), indptr.data(), indptr.shape(0) - 1,
            d,           nullptr,        nullptr,       {}};
}

template <typename T, typename Index>
void sparse_pullback(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
                     Vector<const double> slope, Vector<double> found) {
    const auto rows = checked_rows(data, indices, indptr, found.shape(0));
    require(slope.shape(0) == rows.n, "slope must have one entry per row");
    nb::gil_scoped_release unlocked;
    double *back = found.data();
    std::fill_n(back, rows.d, 0.0);
    for (std::size_t i = 0; i < rows.n; ++i) {
        const double s = slope.data()[i];
        for (Index e = rows.bound[i]; e < rows.bound[i + 1]; ++e)
            back[rows.column[e]] += s * static_cast<double>(rows.value[e]);
    }
}

// Σᵢ wᵢ xᵢⱼ² of each column.
template <typename T, typename Index>
void sparse_squares(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
                    Vector<const double> weight, Vector<double> found) {
    const auto rows = checked_rows(data, indices, indptr, found.shape(0));
    require(weight.shape(0) == 0 || weight.shape(0) == rows.n,
            "weight must be empty or one per row");
    nb::gil_scoped_release unlocked;
    double *sum = found.data();
    std::fill_n(sum, rows.d, 0.0);
    for (std::size_t i = 0; i < rows.n; ++i) {
        const double w = weight.shape(0) ? weight.data()[i] : 1.0;
        for (Index e = rows.bound[i]; e < rows.bound[i + 1]; ++e) {
            const double x = static_cast<double>(rows.value[e]);
            sum[rows.column[e]] += w * x * x;
        }
    }
}

// Σ value[e]·v[column[e]] in four partial sums, which do not wait for one another.
template <typename T, typename Index>
double inner(const T *value, const Index *column, std::size_t count, const double *v) {
    double part[4] = {};
    std::size_t e = 0;
    for (; e + 4 <= count; e += 4)
        for (std::size_t l = 0; l < 4; ++l)
            part[l] += static_cast<double>(value[e + l]) * v[column[e + l]];
    for (; e < count; ++e)
        part[0] += static_cast<double>(value[e]) * v[column[e]];
    return (part[0] + part[1]) + (part[2] + part[3]);
}

// u ← Av − alpha·u, back ← Aᵀu; returns the squared length of u. The first d entries of `back` are
// the result; those after it are the sums of the other pieces of rows.
template <typename T, typename Index>
double multiply(const Rows<T, Index> &rows, const double *v, double alpha, int threads, double *u,
                double *back) {
    const double shift = v ? dot(rows.mean, v, rows.d) : 0.0;
    const std::size_t pieces = rows.first_of.size() - 1;
    double totals[MOST_PIECES] = {};
    for_each_piece(pieces, threads, [&](std::size_t piece) {
        double *to = back + piece * rows.d, total = 0.0;
        std::fill_n(to, rows.d, 0.0);
        for (std::size_t i = rows.first_of[piece]; i < rows.first_of[piece + 1]; ++i) {
            const Index first = rows.bound[i], last = rows.bound[i + 1];
            const double root = rows.root ? rows.root[i] : 1.0;
            if (v) {
                const double image = inner(rows.value + first, rows.column + first,
                                           static_cast<std::size_t>(last - first), v);
                u[i] = root * (image - shift) - alpha * u[i];
            }
            const double part = root * u[i];
            total += part;
            for (Index e = first; e < last; ++e)
                to[rows.column[e]] += part * static_cast<double>(rows.value[e]);
        }
        totals[piece] = total;
    });
    for (std::size_t piece = 1; piece < pieces; ++piece) {
        totals[0] += totals[piece];
        for (std::size_t j = 0; j < rows.d; ++j)
            back[j] += back[piece * rows.d + j];
    }
    for (std::size_t j = 0; j < rows.d; ++j)
        back[j] -= totals[0] * rows.mean[j];
    return dot(u, u, rows.n);
}

// The rows damp·I below A, and the scale of the columns. Without a scale both are empty.
struct Lower {
    const double *scale; // null if the columns keep their length
    double damp;
    std::vector<double> u, image; // the entries of u at these rows; v in units of β

    Lower(const double *by, double weight, std::size_t d)
        : scale(by), damp(weight), u(by ? d : 0, 0.0), image(by ? d : 0) {}

    const double *in_units_of_theta(const std::vector<double> &v) {
        if (!scale)
            return v.data();
        for (std::size_t j = 0; j < image.size(); ++j)
            image[j] = scale[j] * v[j];
        return image.data();
    }

    // Σ γⱼ², in which γ = β/s; the images of the last step are overwritten.
    double squares(const double *theta, std::size_t d) {
        for (std::size_t j = 0; j < image.size(); ++j)
            image[j] = theta[j] / scale[j];
        return scale ? dot(image.data(), image.data(), d) : dot(theta, theta, d);
    }

    // u ← damp·image − alpha·u, and its part of `back`; returns the squared length of u.
    double multiply(double alpha, double *back) {
        for (std::size_t j = 0; j < u.size(); ++j) {
            u[j] = damp * image[j] - alpha * u[j];
            back[j] = scale[j] * (back[j] + damp * u[j]);
        }
        return dot(u.data(), u.data(), u.size());
    }
};

// One target; u holds it and is overwritten. `report` becomes steps, gap, and the objective.
template <typename T, typename Index>
void solve(const Rows<T, Index> &rows, const double *scale, double damp, double tolerance,
           std::size_t most, int threads, double *u, double *theta, double *report) {
    const std::size_t n = rows.n, d = rows.d;
    const double work = 2.0 * static_cast<double>(rows.bound[n] - rows.bound[0] + Index(n + d));
    std::vector<double> v(d, 0.0), w(d), back(d * (rows.first_of.size() - 1));
    Lower lower(scale, damp, d);
    damp = scale ? 0.0 : damp;
    InterruptionPoint point;
    std::fill_n(theta, d, 0.0);
    double beta =
        std::sqrt(multiply(rows, static_cast<const double *>(nullptr), 0.0, threads, u, &back[0]));
    const double length = beta;
    lower.multiply(0.0, &back[0]);
    double alpha = beta > 0 ? std::sqrt(dot(&back[0], &back[0], d)) / beta : 0.0;
    double gap = alpha * beta == 0 ? 0.0 : 1.0, value = beta * beta;
    std::size_t steps = 0;
    if (gap > 0) {
        for (std::size_t i = 0; i < n; ++i)
            u[i] /= beta;
        for (std::size_t j = 0; j < d; ++j)
            v[j] = back[j] / beta / alpha;
        std::copy_n(lower.in_units_of_theta(v), d, w.data());
    }
    double phi_bar = beta, rho_bar = alpha, squared_norm = 0.0, damped = 0.0;
    for (; gap > tolerance && steps < most; ++steps) {
        point.after(work);
        const double *direction = lower.in_units_of_theta(v);
        const double upper = multiply(rows, direction, alpha, threads, u, &back[0]);
        beta = std::sqrt(upper + lower.multiply(alpha, &back[0]));
        const double last_alpha = alpha, shrink = beta > 0 ? 1 / beta : 1.0;
        for (std::size_t i = 0; i < n; ++i)
            u[i] *= shrink;
        for (double &entry : lower.u)
            entry *= shrink;
        for (std::size_t j = 0; j < d; ++j)
            v[j] = back[j] * shrink - beta * v[j];
        alpha = std::sqrt(dot(&v[0], &v[0], d));
        squared_norm += last_alpha * last_alpha + beta * beta + damp * damp;
        const double diagonal = std::hypot(rho_bar, damp);
        const double lost = phi_bar * damp / diagonal, kept = phi_bar * rho_bar / diagonal;
        const double rho = std::hypot(diagonal, beta), c = diagonal / rho, s = beta / rho;
        const double phi = c * kept, move = phi / rho, turn = s * alpha / rho;
        const double inverse = alpha > 0 ? 1 / alpha : 1.0;
        for (std::size_t j = 0; j < d; ++j) {
            v[j] *= inverse;
            theta[j] += move * w[j];
            w[j] = (scale ? scale[j] * v[j] : v[j]) - turn * w[j];
        }
        damped += lost * lost;
        phi_bar = s * kept;
        rho_bar = -c * alpha;
        const double residual = std::hypot(phi_bar, std::sqrt(damped));
        const double size = std::sqrt(squared_norm), slope = alpha * std::fabs(s * phi);
        const double reach = length + size * std::sqrt(lower.squares(theta, d));
        value = residual * residual;
        // A gradient at rounding level is 0: further steps would follow rounding errors.
        const bool exact = slope <= 1e-14 * size * residual || residual <= 0x1p-52 * reach;
        gap = exact ? 0.0 : slope / (size * residual);
    }
    report[0] = static_cast<double>(steps);
    report[1] = gap;
    report[2] = value;
}

template <typename T, typename Index>
void sparse_least_squares(Vector<const T> data, Vector<const Index> indices,
                          Vector<const Index> indptr, Vector<const double> root,
                          Vector<const double> mean, Vector<const double> scale,
                          Matrix<double> targets, double damp, double tolerance,
                          std::size_t most_steps, int threads, Matrix<double> theta,
                          Matrix<double> report) {
    auto rows = checked_rows(data, indices, indptr, mean.shape(0));
    const std::size_t k = targets.shape(0);
    require(root.shape(0) == 0 || root.shape(0) == rows.n, "root must be empty or one per row");
    require(scale.shape(0) == 0 || scale.shape(0) == rows.d,
            "scale must be empty or one per column");
    require(targets.shape(1) == rows.n, "targets must have one column per row of X");
    require(theta.shape(0) == k && theta.shape(1) == rows.d, "theta must be targets × columns");
    require(report.shape(0) == k && report.shape(1) == 3, "report must be targets × 3");
    rows.root = root.shape(0) ? root.data() : nullptr;
    rows.mean = mean.data();
    rows.cut_into_pieces();
    nb::gil_scoped_release unlocked;
    const int inside = k > 1 ? 1 : threads;
    const double *by = scale.shape(0) ? scale.data() : nullptr;
    for_each_piece(k, threads, [&](std::size_t t) {
        solve(rows, by, damp, tolerance, most_steps, inside, targets.data() + t * rows.n,
              theta.data() + t * rows.d, report.data() + t * 3);
    });
}

template <typename T, typename Index> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("sparse_pullback", &sparse_pullback<T, Index>, array("data"), array("indices"),
               array("indptr"), array("slope"), array("found"));
    module.def("sparse_squares", &sparse_squares<T, Index>, array("data"), array("indices"),
               array("indptr"), array("weight"), array("found"));
    module.def("sparse_least_squares", &sparse_least_squares<T, Index>, array("data"),
               array("indices"), array("indptr"), array("root"), array("mean"), array("scale"),
               array("targets"), nb::arg("damp"), nb::arg("tolerance"), nb::arg("most_steps"),
               nb::arg("threads"), array("theta"), array("report"));
}

} // namespace

void bind_sparse_least_squares(nb::module_ &module) {
    bind<double, std::int32_t>(module);
    bind<float, std::int32_t>(module);
    bind<double, std::int64_t>(module);
    bind<float, std::int64_t>(module);
}

} // namespace thetahat
