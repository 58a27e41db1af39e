// The Newton direction of the graphical lasso: the minimum D of the model of precision_model.hpp.
// Each round sweeps over the free pairs by coordinate descent, which finds the pairs that become 0
// or leave it, and then jumps to the minimum over those that are not 0 (precision_jump.hpp). The
// rounds end with a first sweep whose moves Σ curvature·move² are at most tolerance² of those of
// the largest sweep. One thread, in a fixed order.

#include <algorithm>

#include "core/views.hpp"
#include "graphical/precision_jump.hpp"

namespace thetahat {

namespace {

// Sweeps of a round before its jump: some, and a share of the conjugate gradient steps of the last
// jump. Where the model is so ill-conditioned that jumps take many steps, the signs of the pairs
// settle slowly, and jumps with wrong signs would be lost.
constexpr std::size_t SWEEPS = 3, STEPS_PER_SWEEP = 1;

// D in `direction`; returns the number of free pairs, rounds and conjugate gradient steps.
nb::tuple precision_direction(Matrix<const double> covariance, Matrix<const double> precision,
                              Matrix<const double> inverse, double alpha, double tolerance,
                              std::size_t most_rounds, std::size_t most_steps,
                              Matrix<double> direction) {
    const std::size_t d = covariance.shape(0);
    const auto fits = [d](const auto &each) { return each.shape(0) == d && each.shape(1) == d; };
    require(fits(covariance) && fits(precision) && fits(inverse) && fits(direction),
            "covariance, precision, inverse and direction must be square, of the same size");
    const double *s = covariance.data(), *q = precision.data(), *w = inverse.data();
    double *out = direction.data();

    std::size_t rounds = 0, steps = 0, last = 0, pairs = 0;
    {
        nb::gil_scoped_release unlocked;
        PrecisionModel model(s, q, w, d, alpha);
        PrecisionJump jumps(model);
        pairs = model.size();
        double largest = 0.0;
        while (rounds < most_rounds) {
            const double moved = model.descend();
            largest = std::max(largest, moved);
            if (!(moved > tolerance * tolerance * largest))
                break;
            ++rounds;
            const std::size_t sweeps = std::max(SWEEPS, last / STEPS_PER_SWEEP);
            for (std::size_t more = 1; more < sweeps; ++more)
                model.descend();
            last = jumps.jump(tolerance, most_steps);
            steps += last;
        }
        std::fill_n(out, d * d, 0.0);
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            const std::size_t i = model.first[pair], j = model.second[pair];
            out[i * d + j] = out[j * d + i] = model.beta[pair] - model.start(pair);
        }
    }
    return nb::make_tuple(pairs, rounds, steps);
}

} // namespace

void bind_precision_direction(nb::module_ &module) {
    module.def("precision_direction", &precision_direction, nb::arg("covariance").noconvert(),
               nb::arg("precision").noconvert(), nb::arg("inverse").noconvert(), nb::arg("alpha"),
               nb::arg("tolerance"), nb::arg("most_rounds"), nb::arg("most_steps"),
               nb::arg("direction").noconvert());
}

} // namespace thetahat
