// The duality gap of a lasso from its slopes, and how far each column is from becoming active. If
// slopes are known only up to a slack, both hold for the worst case. One pass over the columns in
// order, by one thread, O(k); so short that it keeps the interpreter's lock.

#include <cmath>
#include <limits>

#include <nanobind/stl/tuple.h>

#include "core/views.hpp"
#include "sparse/lasso_gap.hpp"

namespace thetahat {

namespace {

// Slopes enlarged by their slack (their own or a common one): the largest possible size; downwards
// only if β may be negative.
struct Steepest {
    const double *slopes, *slack, *lower;
    std::size_t next;

    Steepest(const Vector<const double> &c, const Vector<const double> &off,
             const Vector<const double> &low)
        : slopes(c.data()), slack(off.data()), lower(low.data()),
          next(off.shape(0) == c.shape(0) ? 1 : 0) {
        require(off.shape(0) == c.shape(0) || off.shape(0) == 1,
                "slack must have the size of beta, or one entry");
    }
    double operator()(std::size_t a) const {
        const double off = slack[a * next];
        return slopes[a] + (lower[a] == 0.0 ? off : std::copysign(off, slopes[a]));
    }
};

// The gap, the scaled one and its scale, and F itself.
std::tuple<double, double, double, double>
lasso_gap(Vector<const double> beta, Vector<const double> slopes, Vector<const double> slack,
          Vector<const double> l1, Vector<const double> l2, Vector<const double> lower, double rr,
          double yr) {
    const std::size_t k = beta.shape(0);
    require(slopes.shape(0) == k && l1.shape(0) == k && l2.shape(0) == k && lower.shape(0) == k,
            "slopes, l1, l2 and lower must have the size of beta");
    const Gap found = duality_gap(beta.data(), {l1.data(), l2.data(), lower.data()}, k, rr, yr,
                                  Steepest(slopes, slack, lower));
    return {found.gap, found.scaled, found.scale, 0.5 * rr + found.penalty};
}

// The distance of each column from becoming active: (l1 − scale·|c − l2 β|)/√(‖x‖² + l2), on the
// rows that l2 adds; infinite for columns of zeros.
void lasso_room(Vector<const double> beta, Vector<const double> slopes, Vector<const double> slack,
                Vector<const double> squares, Vector<const double> l1, Vector<const double> l2,
                Vector<const double> lower, double scale, Vector<double> out) {
    const std::size_t k = beta.shape(0);
    require(slopes.shape(0) == k && squares.shape(0) == k && l1.shape(0) == k && l2.shape(0) == k &&
                lower.shape(0) == k && out.shape(0) == k,
            "slopes, squares, l1, l2, lower and out must have the size of beta");
    const Steepest steepest(slopes, slack, lower);
    for (std::size_t a = 0; a < k; ++a) {
        const double tilted = steepest(a) - l2.data()[a] * beta.data()[a];
        const double size = lower.data()[a] == 0.0 ? tilted : std::abs(tilted);
        const double length = std::sqrt(squares.data()[a] + l2.data()[a]);
        out.data()[a] = length > 0.0 ? (l1.data()[a] - scale * size) / length
                                     : std::numeric_limits<double>::infinity();
    }
}

// The largest move of a step of coordinate descent and the largest coefficient, both in units of
// the root of their curvature.
std::tuple<double, double> lasso_move(Vector<const double> beta, Vector<const double> slopes,
                                      Vector<const double> slack, Vector<const double> squares,
                                      Vector<const double> l1, Vector<const double> l2,
                                      Vector<const double> lower) {
    const std::size_t k = beta.shape(0);
    require(slopes.shape(0) == k && squares.shape(0) == k && l1.shape(0) == k && l2.shape(0) == k &&
                lower.shape(0) == k,
            "slopes, squares, l1, l2 and lower must have the size of beta");
    const double *square = squares.data();
    const Move next = next_move(
        beta.data(), {l1.data(), l2.data(), lower.data()}, k,
        [square](std::size_t a) { return square[a]; }, Steepest(slopes, slack, lower));
    return {next.largest, next.size};
}

} // namespace

void bind_lasso_gap(nb::module_ &module) {
    module.def("lasso_gap", &lasso_gap, nb::arg("beta"), nb::arg("slopes"), nb::arg("slack"),
               nb::arg("l1"), nb::arg("l2"), nb::arg("lower"), nb::arg("rr"), nb::arg("yr"));
    module.def("lasso_room", &lasso_room, nb::arg("beta"), nb::arg("slopes"), nb::arg("slack"),
               nb::arg("squares"), nb::arg("l1"), nb::arg("l2"), nb::arg("lower"), nb::arg("scale"),
               nb::arg("out").noconvert());
    module.def("lasso_move", &lasso_move, nb::arg("beta"), nb::arg("slopes"), nb::arg("slack"),
               nb::arg("squares"), nb::arg("l1"), nb::arg("l2"), nb::arg("lower"));
}

} // namespace thetahat
