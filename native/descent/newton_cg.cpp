// Newton's method with conjugate gradients on a mean of losses plus a ridge penalty, all steps in
// one call, without a matrix:
//
//     F(θ) = Σ_i s_i ℓ(y_i, z_i) + ½ Σ_j ridge_j θ_j²,    z = Xθ + constant·θ_last.
//
// A step solves H δ = −∇F approximately, H v = Xᵀ(c·Xv) + ridge·v with c_i = s_i ℓ″, by conjugate
// gradients scaled with the diagonal of H. Far from the optimum few of them suffice; the share of
// the residual that is left decreases with the root of the gradient, so the steps become those of
// Newton. A product costs the entries of the rows whose curvature is not 0. A step is accepted by
// Armijo's rule, or by a smaller gradient if F changes only by rounding.
//
// Sums over rows are those of a few parts of the rows, added in order. The number of parts depends
// on the rows alone, so the number of threads changes no bit. θ is changed in place. Returns F and
// the largest entry of ∇F at the start and at the end, the number of steps, and how the run ended;
// after NO_DIRECTION the general method continues.

#include <cmath>
#include <nanobind/stl/tuple.h>
#include <vector>

#include "core/dots.hpp"
#include "core/interrupts.hpp"
#include "core/pairwise_sum.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"
#include "losses/losses.hpp"

namespace thetahat {

namespace {

constexpr double SHARE = 1e-4; // of the predicted decrease
constexpr double ROUNDING = 8.0 * 2.220446049250313e-16;
// Largest share of the residual that is left. A loss that is quadratic in parts reaches its minimum
// by the first step on the right parts, if that is exact.
constexpr double LOOSE = 0.3, EXACT = 0.1, SOLVED = 1e-10;
constexpr std::size_t FEW = 64; // columns
constexpr int MOST_HALVINGS = 40, MOST_PRODUCTS = 1000;
constexpr std::size_t MOST_PARTS = 8, PART_ENTRIES = 1 << 16; // of the rows

enum Ending { CONVERGED, STEPS_EXHAUSTED, STALLED, NO_DIRECTION };

using Numbers = std::vector<double>;

double in_pairs(const Numbers &of) {
    PairwiseSum total;
    for (std::size_t first = 0; first < of.size(); first += sum_rows)
        total.add(lane_sum(of.data() + first, std::min(sum_rows, of.size() - first)));
    return total.total();
}

template <typename Rows> struct NewtonCG {
    const Rows &rows;
    const double constant, *y, *share;
    const int loss;
    const double knee, *ridge;
    const int threads;
    const std::size_t n, size, parts;
    Numbers z, pull, bend, terms, sums;
    double value = 0.0, gap = 0.0;
    Numbers slope;
    InterruptionPoint interruption;

    NewtonCG(const Rows &rows, double constant, const double *y, const double *share, int loss,
             double knee, const double *ridge, int threads)
        : rows(rows), constant(constant), y(y), share(share), loss(loss), knee(knee), ridge(ridge),
          threads(threads), n(rows.n_rows()), size(rows.n_columns() + 1),
          parts(parts_of(n * rows.typical_length(), size)), z(n), pull(n), bend(n), terms(n),
          sums(parts * size), slope(size) {}

    // Parts of enough entries that adding up their sums takes little time.
    static std::size_t parts_of(std::size_t entries, std::size_t size) {
        return std::clamp<std::size_t>(entries / std::max(PART_ENTRIES, 8 * size), 1, MOST_PARTS);
    }

    // visit(i) for all rows, in parts.
    template <typename Visit> void each_row(const Visit &visit) const {
        for_each_piece(parts, threads, [&](std::size_t part) {
            for (std::size_t i = part * n / parts; i < (part + 1) * n / parts; ++i)
                visit(i);
        });
    }

    // out += Σ_i of what visit(i, sum) adds to `sum`.
    template <typename Visit> void add_rows(Numbers &out, const Visit &visit) {
        if (parts == 1) {
            for (std::size_t i = 0; i < n; ++i)
                visit(i, out.data());
            return;
        }
        for_each_piece(parts, threads, [&](std::size_t part) {
            double *sum = sums.data() + part * size;
            std::fill_n(sum, size, 0.0);
            for (std::size_t i = part * n / parts; i < (part + 1) * n / parts; ++i)
                visit(i, sum);
        });
        for (std::size_t part = 0; part < parts; ++part)
            for (std::size_t j = 0; j < size; ++j)
                out[j] += sums[part * size + j];
    }

    // Σ_j w_j v_j²
    double weighted_squares(const double *w, const Numbers &v) const {
        return sum_in_lanes(size, [w, t = v.data()](std::size_t j) { return w[j] * t[j] * t[j]; });
    }

    void raw(const Numbers &theta, Numbers &out) const {
        each_row([&](std::size_t i) {
            out[i] = rows.dot(i, theta.data()) + constant * theta[size - 1];
        });
    }

    // F at these raw predictions; slopes and curvatures of the rows in `pull` and `bend`.
    double at(const Numbers &scores, const Numbers &theta) {
        with_loss(loss, [&](auto known) {
            const double *target = y, *weight = share, *score = scores.data(), bent = knee;
            double *__restrict first = pull.data(), *__restrict second = bend.data(),
                               *__restrict each = terms.data();
            for (std::size_t i = 0; i < n; ++i) {
                const Value found =
                    loss_at<decltype(known)::value, SideBySide>(bent, target[i], score[i]);
                each[i] = weight[i] * found.loss;
                first[i] = weight[i] * found.slope;
                second[i] = weight[i] * found.curvature;
            }
        });
        return in_pairs(terms) + 0.5 * weighted_squares(ridge, theta);
    }

    // ∇F from `pull`; returns its largest entry.
    double gradient(const Numbers &theta, Numbers &out) {
        for (std::size_t j = 0; j < size; ++j)
            out[j] = ridge[j] * theta[j];
        add_rows(out, [&](std::size_t i, double *sum) {
            if (pull[i] != 0.0)
                rows.add(i, pull[i], sum);
        });
        out[size - 1] += constant * in_pairs(pull);
        double most = 0.0;
        for (const double entry : out)
            most = entry != entry ? entry : std::max(most, std::abs(entry));
        return most;
    }

    void product(const Numbers &v, Numbers &out) {
        for (std::size_t j = 0; j < size; ++j)
            out[j] = ridge[j] * v[j];
        const double level = constant * v[size - 1];
        add_rows(out, [&](std::size_t i, double *sum) {
            if (bend[i] == 0.0)
                return;
            const double bent = bend[i] * (rows.dot(i, v.data()) + level);
            rows.add(i, bent, sum);
            sum[size - 1] += constant * bent;
        });
    }

    // δ with H δ ≈ −∇F, and whether H has curvature along all of the directions on the way.
    bool direction(double rest, Numbers &delta) {
        Numbers scale(ridge, ridge + size), residual(size), search(size), bent(size);
        add_rows(scale, [&](std::size_t i, double *sum) {
            const double curved = bend[i];
            if (curved != 0.0)
                rows.each(i, [&](std::size_t j, double x) { sum[j] += curved * x * x; });
        });
        scale[size - 1] += constant * constant * in_pairs(bend);
        // 1/diagonal of H; 0 where that is 0, so that θ_j stays as it is. In place: a search needs
        // the diagonal no more.
        for (double &each : scale)
            each = each > 0.0 ? 1.0 / each : 0.0;
        const double *const per = scale.data();
        std::fill(delta.begin(), delta.end(), 0.0);
        for (std::size_t j = 0; j < size; ++j) {
            residual[j] = -slope[j];
            search[j] = residual[j] * per[j];
        }
        double square = weighted_squares(per, residual);
        const double enough = rest * rest * square;
        for (int count = 0; count < MOST_PRODUCTS && square > enough; ++count) {
            product(search, bent);
            const double curvature = dot(search.data(), bent.data(), size);
            if (!(curvature > 0.0))
                return count > 0;
            const double step = square / curvature;
            for (std::size_t j = 0; j < size; ++j) {
                delta[j] += step * search[j];
                residual[j] -= step * bent[j];
            }
            const double before = square;
            square = weighted_squares(per, residual);
            const double kept = square / before;
            for (std::size_t j = 0; j < size; ++j)
                search[j] = residual[j] * per[j] + kept * search[j];
            interruption.after(static_cast<double>(n) * (1.0 + rows.typical_length()));
        }
        return true;
    }

    void begin(const Numbers &theta) {
        raw(theta, z);
        value = at(z, theta);
        gap = gradient(theta, slope);
    }

    // One step: true, or false if there is none.
    bool step(Numbers &theta, double rest) {
        Numbers delta(size), along(n), scores(n), there(size), next(size);
        if (!direction(rest, delta))
            return false;
        raw(delta, along);
        const double fall = dot(slope.data(), delta.data(), size);
        double length = 1.0;
        for (int halving = 0; fall < 0.0 && halving < MOST_HALVINGS; ++halving, length /= 2.0) {
            for (std::size_t j = 0; j < size; ++j)
                there[j] = theta[j] + length * delta[j];
            for (std::size_t i = 0; i < n; ++i)
                scores[i] = z[i] + length * along[i];
            const double reached = at(scores, there);
            const double promised = length * fall, rounding = ROUNDING * std::abs(value);
            const bool falls = reached <= value + SHARE * promised && reached < value;
            const bool settles = std::abs(promised) <= rounding && reached <= value + rounding;
            if (!std::isfinite(reached) || !(falls || settles))
                continue;
            const double left = gradient(there, next);
            if (!falls && !(left < gap))
                continue;
            theta.swap(there);
            z.swap(scores);
            slope.swap(next);
            value = reached;
            gap = left;
            return true;
        }
        return false;
    }
};

using Told = std::tuple<double, double, double, double, std::int64_t, int>;

template <typename Rows>
Told newton_cg(const Rows &rows, double constant, Vector<const double> y,
               Vector<const double> share, int loss, double knee, Vector<const double> ridge,
               Vector<double> theta, double tolerance, std::int64_t max_steps, int threads) {
    const std::size_t n = rows.n_rows(), size = rows.n_columns() + 1;
    require(y.shape(0) == n && share.shape(0) == n, "y and share must have one entry per row");
    require(theta.shape(0) == size && ridge.shape(0) == size,
            "theta and ridge must have one entry per column, and one for the constant");
    require(loss >= 0 && loss < n_losses, "no loss has this number");

    nb::gil_scoped_release unlocked;
    NewtonCG<Rows> run(rows, constant, y.data(), share.data(), loss, knee, ridge.data(), threads);
    Numbers here(theta.data(), theta.data() + size);
    run.begin(here);
    const double first_value = run.value, first_gap = run.gap;
    const bool in_parts = loss == squared_hinge || loss == squared_epsilon_insensitive;
    std::int64_t steps = 0;
    Ending ending = CONVERGED;
    while (ending == CONVERGED && std::isfinite(run.value) && !(run.gap <= tolerance)) {
        // Near the end no more is solved than the tolerance asks for. Few columns take no more
        // products than there are columns; exact steps end where equal rows end, counted or not.
        const double fall = in_parts ? run.gap / first_gap : std::sqrt(run.gap / first_gap);
        const double rest = size <= FEW ? SOLVED
                                        : std::min(in_parts ? EXACT : LOOSE,
                                                   std::max(fall, 0.5 * tolerance / run.gap));
        if (steps >= max_steps)
            ending = STEPS_EXHAUSTED;
        else if (!run.step(here, rest))
            ending = NO_DIRECTION;
        else
            ++steps;
    }
    std::copy(here.begin(), here.end(), theta.data());
    return {first_value, first_gap, run.value, run.gap, steps, ending};
}

} // namespace

void bind_newton_cg(nb::module_ &module) {
    bind_for_rows<double, Vector<const double>, Vector<const double>, int, double,
                  Vector<const double>, Vector<double>, double, std::int64_t, int>(
        module, "newton_cg",
        [](const auto &rows, auto... arguments) { return newton_cg(rows, arguments...); },
        nb::arg("constant"), nb::arg("y").noconvert(), nb::arg("share").noconvert(),
        nb::arg("loss"), nb::arg("knee"), nb::arg("ridge").noconvert(),
        nb::arg("theta").noconvert(), nb::arg("tolerance"), nb::arg("max_steps"),
        nb::arg("threads"));
}

} // namespace thetahat
