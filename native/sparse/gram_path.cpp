// The path of an elastic net over decreasing penalties, on a Gram matrix of few columns:
//
//     F(β) = ½βᵀGβ − cᵀβ + l1·Σ|β_j| + ½ l2·Σβ_j²,   β_j ≥ lower ∈ {−∞, 0},   (l1, l2) one by one
//
// If the signs s of an active set S are fixed and the other coefficients are zero (a face), F is a
// parabola, whose minimum solves (G_SS + l2) β_S = c_S − l1·s_S. From one penalty to the next few
// columns join and leave, so the Cholesky factor of the active set is kept: its rows before the
// first column that leaves stay valid, and a column that joins adds one row. A jump to the minimum
// is accepted if F decreases; coefficients that would change sign become zero. If a jump makes no
// progress, sweeps of coordinate descent find the next active set.
//
// Invariant: slopes = c − Gβ. One thread visits the columns in the given order, so the order of
// sums is fixed. A penalty is done when its duality gap is within the tolerance. The path ends at
// the first penalty that takes too many steps, and the number of penalties done is returned.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/dots.hpp"
#include "kernels.hpp"
#include "sparse/active_set.hpp"
#include "sparse/coordinate_sweep.hpp"
#include "sparse/lasso_gap.hpp"

namespace thetahat {

namespace {

constexpr std::size_t sweeps_at_once = 5; // between two jumps
constexpr std::size_t fewest_join = 16;   // columns that may join at once, at least
constexpr double least_new = 1e-9;        // share of its square that a column must add to a face
constexpr double rounding = 1e-15;        // share of F

struct Penalty {
    double l1, l2, lower;

    bool binds() const { return l1 > 0.0 || lower == 0.0; } // whether signs must be kept
};

class Walk {
  public:
    Walk(const double *gram, const double *start, double yy, std::size_t k, const double *first)
        : gram(gram), start(start), yy(yy), k(k), beta(first, first + k), slopes(k), trial(k),
          there(k), signs(k), step(k), l1s(k), l2s(k), lowers(k), face(gram, k, least_new) {}

    const std::vector<double> &coefficients() const { return beta; }

    // Minimise at one penalty; returns the number of steps, more than `most` if that was too few.
    std::size_t solve(const Penalty &at, double tolerance, std::size_t most, bool once,
                      double &gap) {
        std::fill(l1s.begin(), l1s.end(), at.l1);
        std::fill(l2s.begin(), l2s.end(), at.l2);
        std::fill(lowers.begin(), lowers.end(), at.lower);
        refresh();
        std::size_t steps = 0, joining = 0; // the face in use first follows its own penalty
        for (gap = duality(); once || !(gap <= tolerance); once = false) {
            if (steps >= most)
                return most + 1;
            ++steps;
            const bool falls = jump(at, joining), rests = !falls && joining == 0;
            joining = std::max(fewest_join, face.members().size() / 4);
            GramSlopes columns{gram, k, k, slopes.data()}; // here, because a jump swaps vectors
            for (std::size_t i = 0; !falls && !rests && i < sweeps_at_once; ++i, ++steps)
                sweep(columns, SameTerms{at.l1, at.l2, at.lower}, beta.data(),
                      [](std::size_t, double, double, double) {});
            gap = duality();
        }
        return steps;
    }

    // ½‖y − Xβ‖² and the penalty.
    double risk(const Penalty &at) const { return 0.5 * yy + value(at, beta, slopes); }

    double duality() const {
        const double explained = dot(beta.data(), start, k);
        const double rest = yy - explained - dot(beta.data(), slopes.data(), k);
        const Terms terms{l1s.data(), l2s.data(), lowers.data()};
        return duality_gap(beta.data(), terms, k, std::max(rest, 0.0), yy - explained,
                           [this](std::size_t a) { return slopes[a]; })
            .gap;
    }

  private:
    void refresh() {
        std::copy_n(start, k, slopes.begin());
        for (std::size_t j = 0; j < k; ++j)
            if (beta[j] != 0.0)
                subtract(j, beta[j], slopes);
    }

    void subtract(std::size_t j, double by, std::vector<double> &from) const {
        const double *row = gram + j * k;
        for (std::size_t i = 0; i < k; ++i)
            from[i] -= by * row[i];
    }

    double value(const Penalty &at, const std::vector<double> &b,
                 const std::vector<double> &c) const {
        double sum = 0.0;
        for (std::size_t j = 0; j < k; ++j)
            sum += b[j] * (-0.5 * (start[j] + c[j]) + 0.5 * at.l2 * b[j]) + at.l1 * std::abs(b[j]);
        return sum;
    }

    // Move to or towards the minimum with the steepest other columns joined; false, without a move,
    // if F does not decrease.
    bool jump(const Penalty &at, std::size_t joining) {
        for (std::size_t j = 0; j < k; ++j)
            signs[j] = beta[j] > 0.0 ? 1.0 : beta[j] < 0.0 ? -1.0 : 0.0;
        join(at, joining);
        if (!face.move_to(signs, at.l2))
            return false;
        const std::vector<std::size_t> &members = face.members();
        for (std::size_t i = 0; i < members.size(); ++i) {
            const std::size_t j = members[i];
            step[i] = slopes[j] - at.l1 * signs[j] - at.l2 * beta[j];
        }
        face.solve(step.data());
        const double before = value(at, beta, slopes);
        for (const double length : {1.0, 0.5, 0.25}) {
            bool turned = false;
            trial = beta;
            there = slopes;
            for (std::size_t i = 0; i < members.size(); ++i) {
                const std::size_t j = members[i];
                double to = beta[j] + length * step[i];
                if (at.binds() && to * signs[j] <= 0.0) {
                    to = 0.0;
                    turned = true;
                }
                trial[j] = to;
                subtract(j, to - beta[j], there);
            }
            if (value(at, trial, there) < before - rounding * std::abs(before)) {
                std::swap(beta, trial);
                std::swap(slopes, there);
                return true;
            }
            if (!turned)
                return false;
        }
        return false;
    }

    // Signs for the columns at zero that F falls along most, `most` of them.
    void join(const Penalty &at, std::size_t most) {
        if (most == 0)
            return;
        eager.clear();
        for (std::size_t j = 0; j < k; ++j)
            if (beta[j] == 0.0 && gram[j * k + j] > 0.0 && excess(at, j) > 0.0)
                eager.push_back(j);
        if (eager.size() > most) {
            std::nth_element(
                eager.begin(), eager.begin() + static_cast<std::ptrdiff_t>(most), eager.end(),
                [&](std::size_t a, std::size_t b) { return excess(at, a) > excess(at, b); });
            eager.resize(most);
        }
        for (const std::size_t j : eager)
            signs[j] = slopes[j] > 0.0 ? 1.0 : -1.0;
    }

    double excess(const Penalty &at, std::size_t j) const {
        return (at.lower == 0.0 ? slopes[j] : std::abs(slopes[j])) - at.l1;
    }

    const double *gram, *start;
    double yy;
    std::size_t k;
    std::vector<double> beta, slopes, trial, there, signs, step, l1s, l2s, lowers;
    std::vector<std::size_t> eager;
    ActiveSet face;
};

// β of each penalty as a row of `betas`, F with ½‖y‖² added, its duality gap, and its steps.
// `once`: at least one step, even from a start that is within the tolerance.
std::size_t gram_path(Matrix<const double> gram, Vector<const double> start, double yy,
                      Vector<const double> l1, Vector<const double> l2, double lower,
                      Vector<const double> first, double tolerance, std::size_t most_steps,
                      bool once, Matrix<double> betas, Vector<double> values, Vector<double> gaps,
                      Vector<std::int64_t> steps) {
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
    Walk walk(gram.data(), start.data(), yy, k, first.data());
    for (std::size_t at = 0; at < count; ++at) {
        const Penalty penalty{absolute[at], square[at], lower};
        const std::size_t found = walk.solve(penalty, tolerance, most_steps, once, gap[at]);
        if (found > most_steps)
            return at;
        taken[at] = static_cast<std::int64_t>(found);
        value[at] = walk.risk(penalty);
        std::copy_n(walk.coefficients().data(), k, out + at * k);
    }
    return count;
}

} // namespace

void bind_gram_path(nb::module_ &module) {
    module.def("gram_path", &gram_path, nb::arg("gram").noconvert(), nb::arg("start").noconvert(),
               nb::arg("yy"), nb::arg("l1").noconvert(), nb::arg("l2").noconvert(),
               nb::arg("lower"), nb::arg("first").noconvert(), nb::arg("tolerance"),
               nb::arg("most_steps"), nb::arg("once"), nb::arg("betas").noconvert(),
               nb::arg("values").noconvert(), nb::arg("gaps").noconvert(),
               nb::arg("steps").noconvert());
}

} // namespace thetahat
