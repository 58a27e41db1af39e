// One pass of stochastic gradient descent over given rows, for a linear prediction z = xᵀw + b:
//
//     w ← max(0, 1 − η l2)·w − η m ℓ′(y, z)·x,     b ← b − η m ℓ′(y, z) − η·level
//
// with a rate η per visit and m = multiplier × the weight of the row; `level` is the slope of the
// objective in b beside the losses (ν of a one-class machine). Then every non-zero feature
// of x is moved towards 0 by the L1 penalty that is due. The passive-aggressive rules use the step
// min(η, ℓ/‖x‖²) or ℓ/(‖x‖² + 1/(2η)) instead of η|ℓ′|.
//
// Invariants. w = s·v, so that shrinking is one product and a visit costs O(entries of its row).
// The sum of the iterates is average + C·v − u, with C the sum of the s since v was last rescaled:
// a step δ on v adds C·δ to u, so that these sums cost O(entries), too. `due` is the total L1
// penalty so far, and paid[j] the part of it that was applied to w_j. It is applied when a row
// contains the feature, and to all features at the end.
//
// One thread visits the rows in the given order, so the bits are a function of the arguments. Dense
// and sparse rows differ only in the order of the additions of xᵀw. Returns Σ mℓ + Σ
// weight·level·b, each at the parameters before its step: both parts of an average over the same
// parameters, because that of the level at the last b alone is no bound of the objective. A raw
// prediction that is not finite ends the pass, and NaN is returned. Several passes in one call stop
// by the rule of their objective.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/rows.hpp"
#include "core/views.hpp"
#include "losses/losses.hpp"

namespace thetahat {

namespace {

enum Rule : int { plain, passive_aggressive_1, passive_aggressive_2, n_rules };

constexpr double steepest = 1e12;       // larger slopes are clipped, so that w cannot overflow
constexpr double smallest_scale = 1e-4; // v is rescaled below this s, because 1/s costs digits

struct Pull {
    double loss, slope;
};

Pull evaluate(int loss, double knee, double y, double z) {
    return with_loss(loss, [&](auto known) {
        const Value at = loss_at<decltype(known)::value, OneByOne>(knee, y, z);
        return Pull{at.loss, at.slope};
    });
}

struct Settings {
    int loss, rule;
    double knee, multiplier, l2, l1, level;
    bool intercept;
};

// The state between calls, beside w: b, the L1 penalty so far, Σ b, the number of iterates in the
// sums, and the number of rows that have moved w.
enum Carried : int { b_, due_, b_sum_, count_, moves_, n_carried };

// The progress of several passes: the mean loss, the best, last and previous objective, the passes
// since it last fell by the tolerance, and whether these are too many.
enum Progress : int { loss_, best_, last_, gap_, idle_, done_, n_progress };

template <typename Rows>
void check(const Rows &rows, Vector<const double> targets, Vector<const double> weights,
           Vector<const std::int64_t> order, Vector<const double> rates, const Settings &set,
           Vector<double> coef, Vector<double> carried, Vector<double> paid,
           Vector<double> average) {
    const std::size_t d = rows.n_columns(), visits = order.shape(0);
    require(targets.shape(0) == rows.n_rows(), "y must have one entry per row");
    require(weights.shape(0) == 0 || weights.shape(0) == rows.n_rows(),
            "weight must be empty or have one entry per row");
    require(rates.shape(0) == visits, "rates must have one entry per visit");
    require(coef.shape(0) == d, "coef must have one entry per column");
    require(carried.shape(0) == n_carried, "carried must have 5 entries");
    require(paid.shape(0) == (set.l1 > 0.0 ? d : 0),
            "paid must have one entry per column with an L1 penalty, and none without");
    require(average.shape(0) == 0 || average.shape(0) == d,
            "average must be empty or have one entry per column");
    require(set.loss >= 0 && set.loss < n_losses, "no loss has this number");
    require(set.rule >= 0 && set.rule < n_rules, "no rule has this number");
    const std::int64_t *visit = order.data();
    std::uint64_t furthest = 0;
    for (std::size_t i = 0; i < visits; ++i)
        furthest = std::max(furthest, static_cast<std::uint64_t>(visit[i]));
    require(visits == 0 || furthest < rows.n_rows(), "order names a row that is not there");
}

// Σ w² and Σ |w|, in four interleaved sums each.
std::pair<double, double> sums_of(const double *w, std::size_t d) {
    constexpr std::size_t lanes = 4;
    double squares[lanes] = {}, sizes[lanes] = {};
    std::size_t j = 0;
    for (; j + lanes <= d; j += lanes)
        for (std::size_t k = 0; k < lanes; ++k) {
            squares[k] += w[j + k] * w[j + k];
            sizes[k] += std::abs(w[j + k]);
        }
    for (; j < d; ++j) {
        squares[0] += w[j] * w[j];
        sizes[0] += std::abs(w[j]);
    }
    return {(squares[0] + squares[1]) + (squares[2] + squares[3]),
            (sizes[0] + sizes[1]) + (sizes[2] + sizes[3])};
}

// One pass over `visits` rows, without checks.
template <typename Rows>
double pass(const Rows &rows, const double *y, Vector<const double> weights,
            const std::int64_t *visit, const double *rate, std::size_t visits, const Settings &set,
            Vector<double> coef, Vector<double> carried, Vector<double> paid,
            Vector<double> average, std::size_t average_from) {
    const std::size_t d = rows.n_columns();
    const double *w = weights.data();
    double *kept = carried.data(), *sum = average.data(), *had = paid.data();
    const bool weighted = weights.shape(0) != 0, averaged = average.shape(0) != 0;
    std::vector<double> lag(averaged ? d : 0, 0.0);
    double *v = coef.data(), *u = lag.data(); // v is kept in the place of w
    double s = 1.0, s_sum = 0.0, total = 0.0;
    double b = kept[b_], due = kept[due_], b_sum = kept[b_sum_], count = kept[count_];
    double moves = kept[moves_];

    // Move the scale into v and the sums so far into u: S = average + C·v − u does not change.
    const auto rescale = [&] {
        for (std::size_t j = 0; averaged && j < d; ++j)
            u[j] -= s_sum * v[j];
        for (std::size_t j = 0; j < d; ++j)
            v[j] *= s;
        s = 1.0, s_sum = 0.0;
    };
    const auto pay = [&](std::size_t j) {
        const double before = s * v[j];
        if (before == 0.0)
            return;
        const double after = before > 0.0 ? std::max(0.0, before - (due + had[j]))
                                          : std::min(0.0, before + (due - had[j]));
        had[j] += after - before;
        const double moved = after == 0.0 ? -v[j] : (after - before) / s;
        v[j] = after == 0.0 ? 0.0 : v[j] + moved;
        if (averaged)
            u[j] += s_sum * moved;
    };

    for (std::size_t i = 0; i < visits; ++i) {
        prefetch_next(rows, visit, i, visits);
        const std::size_t row = static_cast<std::size_t>(visit[i]);
        const double eta = rate[i];
        const double mass = set.multiplier * (weighted ? w[row] : 1.0);
        const double z = s * rows.dot(row, v) + b;
        if (!std::isfinite(z)) {
            total = std::numeric_limits<double>::quiet_NaN();
            break;
        }
        Pull at = evaluate(set.loss, set.knee, y[row], z);
        at.slope = std::clamp(at.slope, -steepest, steepest);
        total += mass * at.loss + (weighted ? w[row] : 1.0) * set.level * b;
        double step = -eta * mass * at.slope;
        if (set.rule != plain && at.slope != 0.0) {
            const double norm = rows.square(row);
            const double size = set.rule == passive_aggressive_1
                                    ? std::min(eta, norm > 0.0 ? at.loss / norm : 0.0)
                                    : at.loss / (norm + 0.5 / eta);
            step = -std::copysign(size * mass, at.slope);
        }
        if (set.l2 > 0.0) {
            s *= std::max(0.0, 1.0 - eta * set.l2);
            if (s < smallest_scale)
                rescale();
        }
        if (step != 0.0) {
            moves += 1.0;
            rows.add(row, step / s, v);
            if (averaged && s_sum != 0.0)
                rows.add(row, s_sum * (step / s), u);
            if (set.intercept)
                b += step;
        }
        if (set.intercept)
            b -= eta * set.level;
        if (set.l1 > 0.0) {
            due += eta * set.l1;
            // Zeros are skipped, so that dense rows behave like sparse rows with the same numbers.
            rows.each(row, [&](std::size_t j, double entry) {
                if (entry != 0.0)
                    pay(j);
            });
        }
        if (averaged && i + 1 >= average_from) {
            s_sum += s;
            b_sum += b;
            count += 1.0;
        }
    }
    for (std::size_t j = 0; set.l1 > 0.0 && j < d; ++j)
        pay(j);
    for (std::size_t j = 0; averaged && j < d; ++j)
        sum[j] += s_sum * v[j] - u[j];
    for (std::size_t j = 0; s != 1.0 && j < d; ++j)
        v[j] *= s;
    kept[b_] = b, kept[due_] = due, kept[b_sum_] = b_sum, kept[count_] = count;
    kept[moves_] = moves;
    return total;
}

template <typename Rows>
double walk(const Rows &rows, Vector<const double> targets, Vector<const double> weights,
            Vector<const std::int64_t> order, Vector<const double> rates, const Settings &set,
            Vector<double> coef, Vector<double> carried, Vector<double> paid,
            Vector<double> average, std::size_t average_from) {
    check(rows, targets, weights, order, rates, set, coef, carried, paid, average);
    nb::gil_scoped_release unlocked;
    return pass(rows, targets.data(), weights, order.data(), rates.data(), order.shape(0), set,
                coef, carried, paid, average, average_from);
}

// Orders of 0, …, n − 1, one for each seed and after one another in `orders`.
void shuffled_rows(Vector<const std::uint64_t> seeds, Vector<std::int64_t> orders) {
    const std::size_t count = seeds.shape(0);
    require(count > 0 && orders.shape(0) % count == 0, "orders must have n entries per seed");
    const std::size_t n = orders.shape(0) / count;
    const std::uint64_t *seed = seeds.data();
    std::int64_t *order = orders.data();

    nb::gil_scoped_release unlocked;
    for (std::size_t number = 0; number < count; ++number, order += n) {
        std::iota(order, order + n, std::int64_t{0});
        Shuffler(seed[number]).shuffle(order, n);
    }
}

// Passes over consecutive parts of `order`, each of `visits` rows of total weight `mass`, until the
// objective has not fallen by `tolerance` for `patience` passes. Returns the number of passes.
template <typename Rows>
std::size_t passes(const Rows &rows, Vector<const double> targets, Vector<const double> weights,
                   Vector<const std::int64_t> order, Vector<const double> rates,
                   const Settings &set, Vector<double> coef, Vector<double> carried,
                   Vector<double> paid, Vector<double> average, std::size_t average_from,
                   std::size_t visits, double mass, double tolerance, double patience,
                   Vector<double> progress) {
    check(rows, targets, weights, order, rates, set, coef, carried, paid, average);
    require(visits > 0 && order.shape(0) % visits == 0, "order must hold whole passes");
    require(progress.shape(0) == n_progress, "progress must have 6 entries");
    const std::size_t d = rows.n_columns(), count = order.shape(0) / visits;
    const double *w = coef.data();
    double *at = progress.data();
    const bool averaged = average.shape(0) != 0;

    nb::gil_scoped_release unlocked;
    for (std::size_t number = 0; number < count; ++number) {
        const std::size_t begin = number * visits;
        const double total =
            pass(rows, targets.data(), weights, order.data() + begin, rates.data() + begin, visits,
                 set, coef, carried, paid, average, average_from - std::min(average_from, begin));
        const auto [squares, sizes] = sums_of(w, d);
        const double loss = total / mass, b = carried.data()[b_];
        if (!std::isfinite(loss) || !std::isfinite(sizes) || !std::isfinite(b)) {
            at[loss_] = std::numeric_limits<double>::infinity();
            return number + 1;
        }
        at[loss_] = averaged ? std::max(loss, at[loss_]) : loss;
        const double objective = loss + 0.5 * set.l2 * squares + set.l1 * sizes;
        at[gap_] = std::abs(at[last_] - objective);
        at[last_] = objective;
        if (std::isnan(tolerance))
            continue; // all passes are wanted
        at[idle_] = objective > at[best_] - tolerance ? at[idle_] + 1.0 : 0.0;
        at[best_] = std::min(at[best_], objective);
        if (at[idle_] >= patience) {
            at[done_] = 1.0;
            return number + 1;
        }
    }
    return count;
}

} // namespace

void bind_sgd_epoch(nb::module_ &module) {
    bind_for_rows<Vector<const double>, Vector<const double>, Vector<const std::int64_t>,
                  Vector<const double>, int, double, int, double, double, double, double, bool,
                  Vector<double>, Vector<double>, Vector<double>, Vector<double>, std::size_t>(
        module, "sgd_epoch",
        [](const auto &rows, Vector<const double> y, Vector<const double> weight,
           Vector<const std::int64_t> order, Vector<const double> rates, int loss, double knee,
           int rule, double multiplier, double l2, double l1, double level, bool intercept,
           auto... state) {
            const Settings settings{loss, rule, knee, multiplier, l2, l1, level, intercept};
            return walk(rows, y, weight, order, rates, settings, state...);
        },
        nb::arg("y").noconvert(), nb::arg("weight").noconvert(), nb::arg("order").noconvert(),
        nb::arg("rates").noconvert(), nb::arg("loss"), nb::arg("knee"), nb::arg("rule"),
        nb::arg("multiplier"), nb::arg("l2"), nb::arg("l1"), nb::arg("level"), nb::arg("intercept"),
        nb::arg("coef").noconvert(), nb::arg("carried").noconvert(), nb::arg("paid").noconvert(),
        nb::arg("average").noconvert(), nb::arg("average_from"));
}

void bind_shuffled_rows(nb::module_ &module) {
    module.def("shuffled_rows", &shuffled_rows, nb::arg("seeds").noconvert(),
               nb::arg("orders").noconvert());
}

void bind_sgd_epochs(nb::module_ &module) {
    bind_for_rows<Vector<const double>, Vector<const double>, Vector<const std::int64_t>,
                  Vector<const double>, int, double, int, double, double, double, double, bool,
                  Vector<double>, Vector<double>, Vector<double>, Vector<double>, std::size_t,
                  std::size_t, double, double, double, Vector<double>>(
        module, "sgd_epochs",
        [](const auto &rows, Vector<const double> y, Vector<const double> weight,
           Vector<const std::int64_t> order, Vector<const double> rates, int loss, double knee,
           int rule, double multiplier, double l2, double l1, double level, bool intercept,
           auto... state) {
            const Settings settings{loss, rule, knee, multiplier, l2, l1, level, intercept};
            return passes(rows, y, weight, order, rates, settings, state...);
        },
        nb::arg("y").noconvert(), nb::arg("weight").noconvert(), nb::arg("order").noconvert(),
        nb::arg("rates").noconvert(), nb::arg("loss"), nb::arg("knee"), nb::arg("rule"),
        nb::arg("multiplier"), nb::arg("l2"), nb::arg("l1"), nb::arg("level"), nb::arg("intercept"),
        nb::arg("coef").noconvert(), nb::arg("carried").noconvert(), nb::arg("paid").noconvert(),
        nb::arg("average").noconvert(), nb::arg("average_from"), nb::arg("visits"), nb::arg("mass"),
        nb::arg("tolerance"), nb::arg("patience"), nb::arg("progress").noconvert());
}

} // namespace thetahat
