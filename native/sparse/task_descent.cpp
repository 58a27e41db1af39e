// Coordinate descent over rows of B on a Gram matrix, for several targets at once, in place:
//
//     ½‖Y − XB‖² + Σ_j (l1_j ‖B_j‖₂ + ½ l2_j ‖B_j‖²),   B_j the row of column j
//
// Invariant: slopes = Xᵀ(Y − XB) throughout. Rows are visited in order by one thread, so the order
// of sums is fixed, and the objective never increases. Stops when the duality gap of these columns
// is within the tolerance, or when a sweep moves nothing by more than rounding.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "core/dots.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t SWEEPS_PER_GAP = 5;

// What column j adds to the gap that pays for infeasible slopes s with l2: φ(B_j) + φ*(s_j) − ⟨B_j,
// s_j⟩ for φ(b) = l1‖b‖ + ½ l2‖b‖², as a sum of terms ≥ 0, so that it has no rounding errors where
// it is small. With ‖s‖ > l1 it is ‖l2 b − u‖²/(2 l2) + l1(‖b‖ − ⟨b, s⟩/‖s‖), u = (1 − l1/‖s‖)s,
// and ‖l2 b − u‖² = ‖l2 b − s‖² + l1² − 2 l1(⟨s, s − l2 b⟩)/‖s‖ only where l1 > 0.
inline double fenchel_young(double size, double steepness, double along, double tilted, double l1,
                            double l2) {
    if (steepness <= l1)
        return std::max(0.0, l1 * size + 0.5 * l2 * size * size - along);
    if (!(l2 > 0.0))
        return std::numeric_limits<double>::infinity();
    const double part = along / steepness;
    const double square = l1 > 0.0 ? tilted + l1 * l1 - 2.0 * l1 * (steepness - l2 * part) : tilted;
    return std::max(0.0, square) / (2.0 * l2) + l1 * std::max(0.0, size - part);
}

// The smaller of two gaps, as in lasso_gap.hpp, and the scale of the first. rr = ‖R‖², yr = ⟨Y, R⟩;
// the residual of the rows that l2 adds is −√l2 B.
std::tuple<double, double> gap_of(const double *b, const double *c, const double *l1,
                                  const double *l2, std::size_t k, std::size_t tasks, double rr,
                                  double yr) {
    double steepest = 0.0, absolute = 0.0, square = 0.0, paid = 0.0;
    for (std::size_t a = 0; a < k; ++a) {
        double slope = 0.0, size = 0.0, untilted = 0.0, along = 0.0;
        for (std::size_t t = 0; t < tasks; ++t) {
            const double tilted = c[a * tasks + t] - l2[a] * b[a * tasks + t];
            slope += tilted * tilted;
            untilted += c[a * tasks + t] * c[a * tasks + t];
            along += c[a * tasks + t] * b[a * tasks + t];
            size += b[a * tasks + t] * b[a * tasks + t];
        }
        if (slope > 0.0)
            steepest = std::max(steepest, std::sqrt(slope) / l1[a]);
        paid += fenchel_young(std::sqrt(size), std::sqrt(untilted), along, slope, l1[a], l2[a]);
        absolute += l1[a] * std::sqrt(size);
        square += l2[a] * size;
    }
    const double length = rr + square;
    const double most = steepest > 0.0 ? 1.0 / steepest : 1.0;
    const double best = length > 0.0 ? std::max(0.0, yr / length) : 0.0;
    const double scale = std::min(best, most);
    const double gap = 0.5 * length * (1.0 + scale * scale) - scale * yr + absolute;
    return {std::min(std::max(gap, 0.0), paid), scale};
}

std::tuple<std::size_t, double, bool>
descend_tasks(Matrix<const double> gram, Matrix<const double> start, double yy,
              Vector<const double> l1, Vector<const double> l2, Matrix<double> beta,
              Matrix<double> slopes, double tolerance, double floor, std::size_t max_sweeps) {
    const std::size_t k = beta.shape(0), tasks = beta.shape(1);
    require(gram.shape(0) == k && gram.shape(1) == k, "gram must have a row for each row of beta");
    require(start.shape(0) == k && start.shape(1) == tasks && slopes.shape(0) == k &&
                slopes.shape(1) == tasks,
            "start and slopes must have the shape of beta");
    require(l1.shape(0) == k && l2.shape(0) == k, "l1 and l2 must have one entry per row of beta");
    for (std::size_t a = 0; a < k; ++a)
        require(l1.data()[a] > 0.0 || (l1.data()[a] == 0.0 && l2.data()[a] > 0.0),
                "l1 must be positive, or 0 beside a positive l2");
    const double *g = gram.data(), *c0 = start.data();
    double *b = beta.data(), *c = slopes.data();
    nb::gil_scoped_release unlocked;
    std::vector<double> pull(tasks), by(tasks);
    double gap = std::numeric_limits<double>::infinity();
    for (std::size_t sweep = 1; sweep <= max_sweeps; ++sweep) {
        double largest = 0.0;
        for (std::size_t j = 0; j < k; ++j) {
            const double *row = g + j * k;
            const double curvature = row[j] + l2.data()[j];
            if (!(curvature > 0.0))
                continue;
            double *mine = b + j * tasks;
            double length = 0.0;
            for (std::size_t t = 0; t < tasks; ++t) {
                pull[t] = row[j] * mine[t] + c[j * tasks + t];
                length += pull[t] * pull[t];
            }
            length = std::sqrt(length);
            const double keep =
                length > l1.data()[j] ? (1.0 - l1.data()[j] / length) / curvature : 0.0;
            double moved = 0.0;
            for (std::size_t t = 0; t < tasks; ++t) {
                by[t] = keep * pull[t] - mine[t];
                moved += by[t] * by[t];
                mine[t] += by[t];
            }
            if (moved == 0.0)
                continue;
            for (std::size_t i = 0; i < k; ++i)
                for (std::size_t t = 0; t < tasks; ++t)
                    c[i * tasks + t] -= row[i] * by[t];
            largest = std::max(largest, std::sqrt(moved * curvature));
        }
        const bool stuck = largest <= floor;
        if (stuck || sweep % SWEEPS_PER_GAP == 0 || sweep == max_sweeps) {
            const double with_start = dot(b, c0, k * tasks), with_slopes = dot(b, c, k * tasks);
            gap =
                std::get<0>(gap_of(b, c, l1.data(), l2.data(), k, tasks,
                                   std::max(0.0, yy - with_start - with_slopes), yy - with_start));
            if (stuck || gap <= tolerance || sweep == max_sweeps)
                return {sweep, gap, stuck};
        }
    }
    return {0, gap, false};
}

std::tuple<double, double> task_gap(Matrix<const double> beta, Matrix<const double> slopes,
                                    Vector<const double> l1, Vector<const double> l2, double rr,
                                    double yr) {
    const std::size_t k = beta.shape(0), tasks = beta.shape(1);
    require(slopes.shape(0) == k && slopes.shape(1) == tasks && l1.shape(0) == k &&
                l2.shape(0) == k,
            "slopes, l1 and l2 must have one row for each row of beta");
    return gap_of(beta.data(), slopes.data(), l1.data(), l2.data(), k, tasks, rr, yr);
}

} // namespace

void bind_task_descent(nb::module_ &module) {
    module.def("descend_tasks", &descend_tasks, nb::arg("gram").noconvert(),
               nb::arg("start").noconvert(), nb::arg("yy"), nb::arg("l1"), nb::arg("l2"),
               nb::arg("beta").noconvert(), nb::arg("slopes").noconvert(), nb::arg("tolerance"),
               nb::arg("floor"), nb::arg("max_sweeps"));
    module.def("task_gap", &task_gap, nb::arg("beta").noconvert(), nb::arg("slopes").noconvert(),
               nb::arg("l1"), nb::arg("l2"), nb::arg("rr"), nb::arg("yr"));
}

} // namespace thetahat
