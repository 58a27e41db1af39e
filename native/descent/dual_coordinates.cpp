// Dual coordinate ascent for L2-penalised losses of the form
//
//     ℓ_i(z) = max over lower_i ≤ β ≤ upper_i of β(y_i − z) − kink·|β| − curvature·β²/2
//
// (hinge, squared hinge, ε-insensitive and its square). With shares s_i the dual is
//
//     D(β) = Σ_i s_i (β_i(y_i − offset) − kink|β_i| − curvature·β_i²/2) − penalty·‖θ‖²/2.
//
// Invariant, in place: θ = Σ_i s_i β_i (x_i, constant)/penalty. As a function of one β_i, D is a
// parabola with a kink; its maximum is a soft threshold, clipped to the box, so D never decreases.
//
// An epoch visits the active rows once, in an order from a counter-based generator, by one thread,
// so the bits depend on the seed alone. Shrinking: a row that is held at its bound or kink by more
// than the largest violation of the previous epoch is skipped, and all rows return when the others
// satisfy the tolerance. Every few epochs, conjugate gradients climb the face that these have found
// (dual_face.hpp).
//
// The epochs end when the rows together lack at most the tolerance: what row i lacks is
//
//     s_i·(ℓ_i(z_i) − β_i(y_i − z_i) + kink·|β_i| + curvature·β_i²/2) ≥ 0
//
// when it is visited, and the sum of these over all rows at one θ is the duality gap. Returns the
// largest violation of the last epoch, and the number of epochs.

#include <cmath>
#include <limits>
#include <nanobind/stl/pair.h>
#include <utility>
#include <vector>

#include "core/interrupts.hpp"
#include "core/rows.hpp"
#include "core/soft_threshold.hpp"
#include "descent/dual_face.hpp"

namespace thetahat {

namespace {

constexpr std::size_t EPOCHS = 10; // before a climb by conjugate gradients

template <typename Rows>
std::pair<double, std::size_t>
ascend(const Rows &rows, Vector<const double> y, Vector<const double> share,
       Vector<const double> lower, Vector<const double> upper, double kink, double curvature,
       double penalty, double constant, double offset, Vector<double> beta, Vector<double> theta,
       std::uint64_t seed, std::size_t epochs, double tolerance) {
    const std::size_t n = rows.n_rows();
    require(y.shape(0) == n && share.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n &&
                beta.shape(0) == n,
            "y, share, lower, upper and beta must have one entry per row");
    require(theta.shape(0) == rows.n_columns() + 1,
            "theta must have one entry per column, and one for the constant");
    require(penalty > 0.0, "penalty must be positive");
    const double *target = y.data(), *s = share.data(), *lo = lower.data(), *hi = upper.data();
    double *b = beta.data(), *t = theta.data();

    nb::gil_scoped_release unlocked;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> bend(n); // change of z_i per unit of β_i
    std::vector<std::size_t> active(n);
    for (std::size_t i = 0; i < n; ++i) {
        bend[i] = s[i] * (rows.square(i) + constant * constant) / penalty;
        active[i] = i;
    }
    std::size_t n_active = n;
    double limit = infinity, largest = 0.0;
    Shuffler random(seed);
    // Squared losses curve D, so that short runs of epochs need no help.
    const std::size_t first = curvature > 0.0 ? 4 * EPOCHS : EPOCHS;
    std::size_t pause = first, next = first;
    DualFace<Rows> face(rows, s, bend.data(), lo, hi, kink, curvature, penalty, constant);
    double *last = t + rows.n_columns();
    InterruptionPoint interruption;
    std::size_t epoch = 0;
    while (epoch < epochs) {
        ++epoch;
        interruption.after(static_cast<double>(n_active * (1 + rows.typical_length())));
        random.shuffle(active.data(), n_active);
        largest = 0.0;
        double lack = 0.0;
        for (std::size_t place = 0; place < n_active;) {
            prefetch_next(rows, active.data(), place, n_active);
            const std::size_t i = active[place];
            const double before = b[i];
            const double r = target[i] - offset - rows.dot(i, t) - constant * *last;
            const double slope = r - curvature * before;
            const double rise = slope - (before >= 0.0 ? kink : -kink); // of D, to the right
            const double fall = slope - (before > 0.0 ? kink : -kink);  // and to the left
            const bool above = before<hi[i], below = before> lo[i];
            const double violation = s[i] == 0.0           ? 0.0
                                     : above && rise > 0.0 ? rise
                                     : below && fall < 0.0 ? -fall
                                                           : 0.0;
            if (violation == 0.0) {
                const bool pressed_up = !above || rise < -limit;
                const bool pressed_down = !below || fall > limit;
                const bool pressed = (!above && fall > limit) || (!below && rise < -limit) ||
                                     (before == 0.0 && pressed_up && pressed_down);
                if (s[i] == 0.0 || pressed)
                    std::swap(active[place], active[--n_active]);
                else
                    ++place;
                continue;
            }
            ++place;
            largest = std::max(largest, violation);
            const double room = above && rise > 0.0 ? hi[i] - before : before - lo[i];
            const double way = curvature > 0.0 ? std::min(room, violation / curvature) : room;
            lack += s[i] * way * (violation - curvature / 2.0 * way);
            const double bent = bend[i] + curvature;
            double after;
            if (bent > 0.0)
                after = soft_threshold(r + bend[i] * before, kink) / bent;
            else // an empty row: D is linear in β_i
                after = r > 0.0 ? infinity : -infinity;
            after = std::min(std::max(after, lo[i]), hi[i]);
            if (after == before || !std::isfinite(after))
                continue;
            b[i] = after;
            const double move = s[i] * (after - before) / penalty;
            rows.add(i, move, t);
            *last += move * constant;
        }
        // A face that is still changing is climbed less often; epochs follow even the last climb.
        if (epoch == next && epoch < epochs && largest > 0.0) {
            pause = face.climb(target, offset, b, t) ? first : 2 * pause;
            next += pause;
        }
        limit = largest > 0.0 ? largest : infinity;
        if (lack <= tolerance) {
            if (n_active == n)
                break;
            n_active = n; // check all rows once more before stopping
            limit = infinity;
        }
    }
    return {largest, epoch};
}

} // namespace

void bind_dual_coordinates(nb::module_ &module) {
    bind_for_rows<Vector<const double>, Vector<const double>, Vector<const double>,
                  Vector<const double>, double, double, double, double, double, Vector<double>,
                  Vector<double>, std::uint64_t, std::size_t, double>(
        module, "dual_epochs",
        [](const auto &rows, auto... arguments) { return ascend(rows, arguments...); },
        nb::arg("y").noconvert(), nb::arg("share").noconvert(), nb::arg("lower").noconvert(),
        nb::arg("upper").noconvert(), nb::arg("kink"), nb::arg("curvature"), nb::arg("penalty"),
        nb::arg("constant"), nb::arg("offset"), nb::arg("beta").noconvert(),
        nb::arg("theta").noconvert(), nb::arg("seed"), nb::arg("epochs"), nb::arg("tolerance"));
}

} // namespace thetahat
