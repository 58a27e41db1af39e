// The path of an elastic net over decreasing penalties, on a Gram matrix of few columns:
//
//     F(β) = ½βᵀGβ − cᵀβ + l1·Σ|β_j| + ½ l2·Σβ_j²,   β_j ≥ lower ∈ {−∞, 0},   (l1, l2) one by one
//
// From one penalty to the next few columns join and leave, so the factor of the active set is kept,
// and a few jumps (gram_jumps.hpp) reach the next minimum. If a jump makes no progress, sweeps of
// coordinate descent find the next active set.
//
// Invariant: slopes = c − Gβ. One thread visits the columns in the given order, so the order of
// sums is fixed. A penalty is done when its duality gap is within the tolerance and its
// coefficients have settled (lasso_gap.hpp). The path ends at the first penalty that takes too many
// steps, and the number of penalties done is returned.

#include <algorithm>
#include <vector>

#include "core/views.hpp"
#include "sparse/gram_jumps.hpp"

namespace thetahat {

namespace {

constexpr std::size_t sweeps_at_once = 5; // between two jumps
constexpr std::size_t fewest_join = 16;   // columns that may join at once, at least

struct Steps {
    std::size_t count; // more than `most` if that was too few
    double gap;
};

// Minimise at one penalty.
Steps solve(GramJumps &point, GramSlopes columns, SameTerms terms, double *beta,
            const ActiveSet &active, double tolerance, Settling settling, std::size_t most,
            bool once) {
    point.refresh();
    std::size_t steps = 0, joining = 0; // the active set first follows its own penalty
    double gap = point.gap();
    for (; once || !(gap <= tolerance && point.settled(settling)); once = false) {
        if (steps >= most)
            return {most + 1, gap};
        ++steps;
        const bool falls = point.jump(joining), rests = !falls && joining == 0;
        joining = std::max(fewest_join, active.members().size() / 4);
        for (std::size_t i = 0; !falls && !rests && i < sweeps_at_once; ++i, ++steps)
            sweep(columns, terms, beta, [](std::size_t, double, double, double) {});
        gap = point.gap();
    }
    return {steps, gap};
}

// β of each penalty as a row of `betas`, F with ½‖y‖² added, its duality gap, and its steps.
// `once`: at least one step, even from a start that is within the tolerance.
std::size_t gram_path(Matrix<const double> gram, Vector<const double> start, double yy,
                      Vector<const double> l1, Vector<const double> l2, double lower,
                      Vector<const double> first, double tolerance, double floor,
                      std::size_t most_steps, double share, bool once, Matrix<double> betas,
                      Vector<double> values, Vector<double> gaps, Vector<std::int64_t> steps) {
    const std::size_t k = start.shape(0), count = l1.shape(0);
    require(gram.shape(0) == k && gram.shape(1) == k, "gram must be square, of the size of start");
    require(first.shape(0) == k, "first must have the size of start");
    require(l2.shape(0) == count && values.shape(0) == count && gaps.shape(0) == count &&
                steps.shape(0) == count,
            "l2, values, gaps and steps must have one entry per penalty");
    require(betas.shape(0) == count && betas.shape(1) == k,
            "betas must have a row per penalty and a column per entry of start");
    const double *absolute = l1.data(), *square = l2.data();
    double *out = betas.data(), *value = values.data(), *gap = gaps.data();
    std::int64_t *taken = steps.data();

    nb::gil_scoped_release unlocked;
    std::vector<double> beta(first.data(), first.data() + k), slopes(k);
    std::vector<double> l1s(k), l2s(k), lowers(k, lower);
    ActiveSet active(k);
    GramJumps point(gram.data(), k, k, start.data(), yy, {l1s.data(), l2s.data(), lowers.data()},
                    beta.data(), slopes.data(), active);
    const GramSlopes columns{gram.data(), k, k, slopes.data()};
    for (std::size_t at = 0; at < count; ++at) {
        std::fill(l1s.begin(), l1s.end(), absolute[at]);
        std::fill(l2s.begin(), l2s.end(), square[at]);
        const Steps found =
            solve(point, columns, {absolute[at], square[at], lower}, beta.data(), active, tolerance,
                  {share, ROUNDING_OF_MOVES * floor}, most_steps, once);
        gap[at] = found.gap;
        if (found.count > most_steps)
            return at;
        taken[at] = static_cast<std::int64_t>(found.count);
        value[at] = point.risk();
        std::copy_n(beta.data(), k, out + at * k);
    }
    return count;
}

} // namespace

void bind_gram_path(nb::module_ &module) {
    module.def("gram_path", &gram_path, nb::arg("gram").noconvert(), nb::arg("start").noconvert(),
               nb::arg("yy"), nb::arg("l1").noconvert(), nb::arg("l2").noconvert(),
               nb::arg("lower"), nb::arg("first").noconvert(), nb::arg("tolerance"),
               nb::arg("floor"), nb::arg("most_steps"), nb::arg("share"), nb::arg("once"),
               nb::arg("betas").noconvert(), nb::arg("values").noconvert(),
               nb::arg("gaps").noconvert(), nb::arg("steps").noconvert());
}

} // namespace thetahat
