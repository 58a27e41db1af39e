// Moves along a step of some coefficients as far as F decreases, for
//
//     F(β) = ½ βᵀGβ − startᵀβ + Σ_j (l1_j |β_j| + ½ l2_j β_j²),    slopes = start − Gβ,
//
// where all others are zero. It tries the whole step, a half and a quarter of it, with zero for
// coefficients that would change their sign (if l1 or a bound makes that matter); then the step up
// to the point where the first of them is zero. The first of these that decreases F by more than
// rounding is accepted: β and slopes are changed in place, and true is returned; otherwise nothing
// is changed. G is symmetric, so its rows are its columns. O(|members|·k) for each try; one thread,
// with a fixed order of sums.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/dots.hpp"
#include "core/row_combination.hpp"
#include "kernels.hpp"

namespace thetahat {

namespace {

constexpr double ROUNDING = 1e-15; // share of F that is rounding error
constexpr double VANISHED = 1e-12; // remainder of a coefficient that counts as zero

double sign_of(double value) { return (value > 0.0) - (value < 0.0); }

bool follow_step(StridedMatrix<const double> gram, Vector<const std::int64_t> members,
                 Vector<const double> step, Vector<const double> sign, Vector<const double> start,
                 Vector<const double> l1, Vector<const double> l2, Vector<const double> lower,
                 Vector<double> beta, Vector<double> slopes) {
    const std::size_t k = beta.shape(0), count = members.shape(0);
    require(gram.shape(0) == k && gram.shape(1) == k, "gram must be square, of the size of beta");
    require(gram.stride(1) == 1 || k <= 1, "rows must be contiguous");
    require(start.shape(0) == k && l1.shape(0) == k && l2.shape(0) == k && lower.shape(0) == k &&
                slopes.shape(0) == k,
            "start, l1, l2, lower and slopes must have the size of beta");
    require(step.shape(0) == count && sign.shape(0) == count,
            "step and sign must have one entry per member");
    const std::int64_t *which = members.data();
    for (std::size_t m = 0; m < count; ++m)
        require(which[m] >= 0 && static_cast<std::size_t>(which[m]) < k,
                "a member is out of range");
    const double *first = gram.data(), *by = step.data(), *wanted = sign.data();
    const std::int64_t stride = gram.stride(0);
    nb::gil_scoped_release unlocked;

    std::vector<double> here(count), there(count), moved(count), fall(k, 0.0);
    std::vector<double> trial(beta.data(), beta.data() + k);
    std::vector<char> bound(count);
    for (std::size_t m = 0; m < count; ++m) {
        here[m] = trial[which[m]];
        bound[m] = l1.data()[which[m]] > 0.0 || lower.data()[which[m]] == 0.0;
    }
    const auto turns = [&](std::size_t m, double value) {
        return bound[m] && sign_of(value) != wanted[m];
    };
    const auto value = [&] { // F at `trial`, where the slopes are lower by `fall`
        return sum_in_lanes(k, [&](std::size_t j) {
            const double b = trial[j], pull = start.data()[j] + (slopes.data()[j] - fall[j]);
            return l1.data()[j] * std::abs(b) + 0.5 * b * (l2.data()[j] * b - pull);
        });
    };
    const double before = value(), below = before - ROUNDING * std::abs(before);
    const auto taken = [&] {
        for (std::size_t m = 0; m < count; ++m) {
            moved[m] = there[m] - here[m];
            trial[which[m]] = there[m];
        }
        combine(
            count, [=](std::size_t m) { return first + which[m] * stride; }, moved.data(),
            fall.data(), k);
        if (!(value() < below))
            return false;
        std::copy(trial.begin(), trial.end(), beta.data());
        for (std::size_t j = 0; j < k; ++j)
            slopes.data()[j] -= fall[j];
        return true;
    };

    for (const double length : {1.0, 0.5, 0.25}) {
        bool turned = false;
        for (std::size_t m = 0; m < count; ++m) {
            there[m] = here[m] + length * by[m];
            if (turns(m, there[m])) {
                there[m] = 0.0;
                turned = true;
            }
        }
        if (taken())
            return true;
        if (!turned)
            return false;
    }
    const auto leaves = [&](std::size_t m) { return here[m] != 0.0 && turns(m, here[m] + by[m]); };
    double length = 1.0;
    for (std::size_t m = 0; m < count; ++m)
        if (leaves(m))
            length = std::min(length, -here[m] / by[m]);
    for (std::size_t m = 0; m < count; ++m) {
        there[m] = here[m] + length * by[m];
        const bool vanished = leaves(m) && std::abs(there[m]) <= VANISHED * std::abs(here[m]);
        if (vanished || turns(m, there[m]))
            there[m] = 0.0;
    }
    return taken();
}

} // namespace

void bind_follow_step(nb::module_ &module) {
    module.def("follow_step", &follow_step, nb::arg("gram").noconvert(),
               nb::arg("members").noconvert(), nb::arg("step"), nb::arg("sign"), nb::arg("start"),
               nb::arg("l1"), nb::arg("l2"), nb::arg("lower"), nb::arg("beta").noconvert(),
               nb::arg("slopes").noconvert());
}

} // namespace thetahat
