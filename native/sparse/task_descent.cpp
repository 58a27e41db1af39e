// Coordinate descent over rows of B on a Gram matrix, for several targets at once, in place:
//
//     ½‖Y − XB‖² + Σ_j (l1_j ‖B_j‖₂ + ½ l2_j ‖B_j‖²),   B_j the row of column j
//
// Arrays have one row per target, so that a move changes the slopes of each target in one run.
//
// Invariant: slopes = Xᵀ(Y − XB) throughout. Columns are visited in order by one thread, so the
// order of sums is fixed, and the objective never increases. Iterates are extrapolated as in
// coordinate_sweeps.hpp. Stops when the duality gap of these columns is within the tolerance, or
// when a sweep moves nothing by more than rounding.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "core/dots.hpp"
#include "core/views.hpp"
#include "sparse/coordinate_sweeps.hpp"

namespace thetahat {

namespace {

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

// The smaller of two gaps, as in lasso_gap.hpp, and the objective. rr = ‖R‖², yr = ⟨Y, R⟩; the
// residual of the rows that l2 adds is −√l2 B. on_column(a, ‖x_aᵀR − l2 B_a‖) is called for each.
template <typename OnColumn>
std::tuple<double, double> gap_of(const double *b, const double *c, const double *l1,
                                  const double *l2, std::size_t k, std::size_t tasks, double rr,
                                  double yr, OnColumn on_column) {
    double steepest = 0.0, absolute = 0.0, square = 0.0, paid = 0.0;
    for (std::size_t a = 0; a < k; ++a) {
        double slope = 0.0, size = 0.0, untilted = 0.0, along = 0.0;
        for (std::size_t at = a; at < k * tasks; at += k) {
            const double tilted = c[at] - l2[a] * b[at];
            slope += tilted * tilted;
            untilted += c[at] * c[at];
            along += c[at] * b[at];
            size += b[at] * b[at];
        }
        if (slope > 0.0)
            steepest = std::max(steepest, std::sqrt(slope) / l1[a]);
        on_column(a, std::sqrt(slope));
        paid += fenchel_young(std::sqrt(size), std::sqrt(untilted), along, slope, l1[a], l2[a]);
        absolute += l1[a] * std::sqrt(size);
        square += l2[a] * size;
    }
    const double length = rr + square;
    const double most = steepest > 0.0 ? 1.0 / steepest : 1.0;
    const double best = length > 0.0 ? std::max(0.0, yr / length) : 0.0;
    const double scale = std::min(best, most);
    const double gap = 0.5 * length * (1.0 + scale * scale) - scale * yr + absolute;
    return {std::min(std::max(gap, 0.0), paid), 0.5 * (rr + square) + absolute};
}

// The slopes of all targets, and the objective from them and B.
struct TaskSlopes {
    const double *start; // XᵀY
    double yy;
    const double *beta, *l1, *l2;
    std::size_t k, tasks;
    double *slopes;

    double *numbers() { return slopes; }
    double with_target() const { return yy - dot(beta, start, k * tasks); }
    double squared() const { return std::max(0.0, with_target() - dot(beta, slopes, k * tasks)); }
    double value() const {
        double sum = 0.5 * squared();
        for (std::size_t a = 0; a < k; ++a) {
            double size = 0.0;
            for (std::size_t at = a; at < k * tasks; at += k)
                size += beta[at] * beta[at];
            sum += l1[a] * std::sqrt(size) + 0.5 * l2[a] * size;
        }
        return sum;
    }
    double gap() const {
        return std::get<0>(gap_of(beta, slopes, l1, l2, k, tasks, squared(), with_target(),
                                  [](std::size_t, double) {}));
    }
};

Progress descend_tasks(Matrix<const double> gram, Matrix<const double> start, double yy,
                       Vector<const double> l1, Vector<const double> l2, Matrix<double> beta,
                       Matrix<double> slopes, double tolerance, double floor,
                       std::size_t max_sweeps) {
    const std::size_t tasks = beta.shape(0), k = beta.shape(1);
    require(gram.shape(0) == k && gram.shape(1) == k,
            "gram must have a row for each column of beta");
    require(start.shape(0) == tasks && start.shape(1) == k && slopes.shape(0) == tasks &&
                slopes.shape(1) == k,
            "start and slopes must have the shape of beta");
    require(l1.shape(0) == k && l2.shape(0) == k,
            "l1 and l2 must have one entry per column of beta");
    for (std::size_t a = 0; a < k; ++a)
        require(l1.data()[a] > 0.0 || (l1.data()[a] == 0.0 && l2.data()[a] > 0.0),
                "l1 must be positive, or 0 beside a positive l2");
    const double *g = gram.data();
    double *b = beta.data(), *c = slopes.data();
    nb::gil_scoped_release unlocked;
    TaskSlopes here{start.data(), yy, b, l1.data(), l2.data(), k, tasks, c};
    Extrapolation<TaskSlopes> extrapolation(k * tasks, k * tasks);
    std::vector<double> pull(tasks);
    for (std::size_t sweep = 1; sweep <= max_sweeps; ++sweep) {
        double largest = 0.0;
        for (std::size_t j = 0; j < k; ++j) {
            const double *row = g + j * k;
            const double curvature = row[j] + l2.data()[j];
            if (!(curvature > 0.0))
                continue;
            double length = 0.0;
            for (std::size_t t = 0; t < tasks; ++t) {
                pull[t] = row[j] * b[t * k + j] + c[t * k + j];
                length += pull[t] * pull[t];
            }
            length = std::sqrt(length);
            const double keep =
                length > l1.data()[j] ? (1.0 - l1.data()[j] / length) / curvature : 0.0;
            double moved = 0.0;
            for (std::size_t t = 0; t < tasks; ++t) {
                const double by = keep * pull[t] - b[t * k + j];
                if (by == 0.0)
                    continue;
                moved += by * by;
                b[t * k + j] += by;
                for (std::size_t i = 0; i < k; ++i)
                    c[t * k + i] -= row[i] * by;
            }
            largest = std::max(largest, std::sqrt(moved * curvature));
        }
        const bool stuck = largest <= floor, last = stuck || sweep == max_sweeps;
        if (last || sweep == 1 || sweep % SWEEPS_PER_GAP == 0) {
            const double gap = here.gap();
            if (last || gap <= tolerance)
                return {sweep, gap, stuck};
        }
        extrapolation.after_sweep(here, b, [&] { return here.value(); });
    }
    return {0, here.gap(), false};
}

// The gap and the objective. `room` becomes how far each column is from becoming active, in units
// of its length; infinite for columns of zeros.
std::tuple<double, double> task_gap(Matrix<const double> beta, Matrix<const double> slopes,
                                    Vector<const double> squares, Vector<const double> l1,
                                    Vector<const double> l2, double rr, double yr,
                                    Vector<double> room) {
    const std::size_t tasks = beta.shape(0), k = beta.shape(1);
    require(slopes.shape(0) == tasks && slopes.shape(1) == k && squares.shape(0) == k &&
                l1.shape(0) == k && l2.shape(0) == k && room.shape(0) == k,
            "slopes, squares, l1, l2 and room must have one column for each column of beta");
    const double *squared = squares.data(), *absolute = l1.data(), *square = l2.data();
    double *left = room.data();
    nb::gil_scoped_release unlocked;
    return gap_of(beta.data(), slopes.data(), absolute, square, k, tasks, rr, yr,
                  [=](std::size_t a, double steepness) {
                      left[a] = squared[a] > 0.0
                                    ? (absolute[a] - steepness) / std::sqrt(squared[a] + square[a])
                                    : std::numeric_limits<double>::infinity();
                  });
}

} // namespace

void bind_task_descent(nb::module_ &module) {
    module.def("descend_tasks", &descend_tasks, nb::arg("gram").noconvert(),
               nb::arg("start").noconvert(), nb::arg("yy"), nb::arg("l1"), nb::arg("l2"),
               nb::arg("beta").noconvert(), nb::arg("slopes").noconvert(), nb::arg("tolerance"),
               nb::arg("floor"), nb::arg("max_sweeps"));
    module.def("task_gap", &task_gap, nb::arg("beta").noconvert(), nb::arg("slopes").noconvert(),
               nb::arg("squares"), nb::arg("l1"), nb::arg("l2"), nb::arg("rr"), nb::arg("yr"),
               nb::arg("room").noconvert());
}

} // namespace thetahat
