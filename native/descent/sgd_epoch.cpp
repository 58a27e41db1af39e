// One pass of stochastic gradient descent over given rows, for a linear prediction z = xᵀw + b:
//
//     w ← max(0, 1 − η l2)·w − η m ℓ′(y, z)·x,     b ← b − η m ℓ′(y, z)
//
// with a rate η per visit and m = multiplier × the weight of the row. Then every non-zero feature
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
// and sparse rows differ only in the order of the additions of xᵀw. Returns Σ mℓ, each at the
// parameters before its step; a raw prediction that is not finite ends the pass, and NaN is
// returned.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels.hpp"
#include "losses/losses.hpp"

namespace thetahat {

namespace {

enum Rule : int { plain, passive_aggressive_1, passive_aggressive_2, n_rules };

constexpr std::size_t ahead = 4;        // visits between prefetching a row and reading it
constexpr double steepest = 1e12;       // larger slopes are clipped, so that w cannot overflow
constexpr double smallest_scale = 1e-4; // v is rescaled below this s, because 1/s costs digits

// Rows are visited in random order, so each begins with cache misses. Prefetching the entries of a
// row a few visits before they are read hides most of that wait. It does not change any result.
template <typename T> void ask_for(const T *begin, std::size_t count) {
#if defined(__GNUC__)
    constexpr std::size_t line = 64 / sizeof(T);
    for (std::size_t k = 0; k < count; k += line)
        __builtin_prefetch(begin + k);
#else
    (void)begin, (void)count;
#endif
}

struct Pull {
    double loss, slope;
};

Pull evaluate(int loss, double knee, double y, double z) {
    return with_loss(loss, [&](auto known) {
        const Value at = loss_at<decltype(known)::value, OneByOne>(knee, y, z);
        return Pull{at.loss, at.slope};
    });
}

template <typename T> struct DenseRows {
    const T *x;
    std::size_t n, d;

    void ask_for_row(std::size_t row) const { ask_for(x + row * d, d); }
    void ask_for_bounds(std::size_t) const {}

    double dot(std::size_t row, const double *v) const {
        const T *a = x + row * d;
        double sums[8] = {};
        std::size_t j = 0;
        for (; j + 8 <= d; j += 8)
            for (std::size_t lane = 0; lane < 8; ++lane)
                sums[lane] += static_cast<double>(a[j + lane]) * v[j + lane];
        for (; j < d; ++j)
            sums[0] += static_cast<double>(a[j]) * v[j];
        return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
               ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    }

    void add(std::size_t row, double factor, double *__restrict v) const {
        const T *a = x + row * d;
        for (std::size_t j = 0; j < d; ++j)
            v[j] += factor * static_cast<double>(a[j]);
    }

    double squared_norm(std::size_t row) const {
        const T *a = x + row * d;
        double sum = 0.0;
        for (std::size_t j = 0; j < d; ++j)
            sum += static_cast<double>(a[j]) * static_cast<double>(a[j]);
        return sum;
    }

    // Zeros are skipped, so that dense rows behave like sparse rows with the same numbers.
    template <typename Visit> void each(std::size_t row, Visit visit) const {
        const T *a = x + row * d;
        for (std::size_t j = 0; j < d; ++j)
            if (a[j] != T(0))
                visit(j);
    }
};

template <typename T, typename Index> struct SparseRows {
    const T *value;
    const Index *column, *bound;
    std::size_t n, d;

    void ask_for_row(std::size_t row) const {
        const std::size_t count = static_cast<std::size_t>(bound[row + 1] - bound[row]);
        ask_for(value + bound[row], count);
        ask_for(column + bound[row], count);
    }
    void ask_for_bounds(std::size_t row) const { ask_for(bound + row, 2); }

    double dot(std::size_t row, const double *v) const {
        double even = 0.0, odd = 0.0;
        Index k = bound[row];
        const Index end = bound[row + 1];
        for (; k + 2 <= end; k += 2) {
            even += static_cast<double>(value[k]) * v[column[k]];
            odd += static_cast<double>(value[k + 1]) * v[column[k + 1]];
        }
        if (k < end)
            even += static_cast<double>(value[k]) * v[column[k]];
        return even + odd;
    }

    void add(std::size_t row, double factor, double *v) const {
        for (Index k = bound[row]; k < bound[row + 1]; ++k)
            v[column[k]] += factor * static_cast<double>(value[k]);
    }

    double squared_norm(std::size_t row) const {
        double sum = 0.0;
        for (Index k = bound[row]; k < bound[row + 1]; ++k)
            sum += static_cast<double>(value[k]) * static_cast<double>(value[k]);
        return sum;
    }

    template <typename Visit> void each(std::size_t row, Visit visit) const {
        for (Index k = bound[row]; k < bound[row + 1]; ++k)
            if (value[k] != T(0))
                visit(static_cast<std::size_t>(column[k]));
    }
};

struct Settings {
    int loss, rule;
    double knee, multiplier, l2, l1;
    bool intercept;
};

// The state between calls, beside w: b, the L1 penalty so far, Σ b, the number of iterates in the
// sums, and the number of rows that have moved w.
enum Carried : int { b_, due_, b_sum_, count_, moves_, n_carried };

template <typename Rows>
double walk(const Rows &rows, Vector<const double> targets, Vector<const double> weights,
            Vector<const std::int64_t> order, Vector<const double> rates, const Settings &set,
            Vector<double> coef, Vector<double> carried, Vector<double> paid,
            Vector<double> average, std::size_t average_from) {
    const std::size_t d = rows.d, visits = order.shape(0);
    require(targets.shape(0) == rows.n, "y must have one entry per row");
    require(weights.shape(0) == 0 || weights.shape(0) == rows.n,
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
    require(visits == 0 || furthest < rows.n, "order names a row that is not there");
    const double *y = targets.data(), *w = weights.data(), *rate = rates.data();
    double *owner = coef.data(), *kept = carried.data(), *sum = average.data(), *had = paid.data();
    const bool weighted = weights.shape(0) != 0, averaged = average.shape(0) != 0;

    nb::gil_scoped_release unlocked;
    std::vector<double> moving(owner, owner + d), lag(averaged ? d : 0, 0.0);
    double *v = moving.data(), *u = lag.data();
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
        if (i + 2 * ahead < visits)
            rows.ask_for_bounds(static_cast<std::size_t>(visit[i + 2 * ahead]));
        if (i + ahead < visits)
            rows.ask_for_row(static_cast<std::size_t>(visit[i + ahead]));
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
        total += mass * at.loss;
        double step = -eta * mass * at.slope;
        if (set.rule != plain && at.slope != 0.0) {
            const double norm = rows.squared_norm(row);
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
        if (set.l1 > 0.0) {
            due += eta * set.l1;
            rows.each(row, pay);
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
    for (std::size_t j = 0; j < d; ++j)
        owner[j] = s * v[j];
    kept[b_] = b, kept[due_] = due, kept[b_sum_] = b_sum, kept[count_] = count;
    kept[moves_] = moves;
    return total;
}

template <typename T>
double sgd_dense(Matrix<const T> x, Vector<const double> y, Vector<const double> weight,
                 Vector<const std::int64_t> order, Vector<const double> rates, int loss,
                 double knee, int rule, double multiplier, double l2, double l1, bool intercept,
                 Vector<double> coef, Vector<double> carried, Vector<double> paid,
                 Vector<double> average, std::size_t average_from) {
    const DenseRows<T> rows{x.data(), x.shape(0), x.shape(1)};
    return walk(rows, y, weight, order, rates, {loss, rule, knee, multiplier, l2, l1, intercept},
                coef, carried, paid, average, average_from);
}

template <typename T, typename Index>
double sgd_sparse(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
                  Vector<const double> y, Vector<const double> weight,
                  Vector<const std::int64_t> order, Vector<const double> rates, int loss,
                  double knee, int rule, double multiplier, double l2, double l1, bool intercept,
                  Vector<double> coef, Vector<double> carried, Vector<double> paid,
                  Vector<double> average, std::size_t average_from) {
    require(indptr.shape(0) >= 1, "indptr must have one entry more than there are rows");
    require(indices.shape(0) == data.shape(0), "indices and data must have the same length");
    const std::size_t n = indptr.shape(0) - 1, d = coef.shape(0);
    const Index *bound = indptr.data(), *column = indices.data();
    require(bound[0] >= 0 && static_cast<std::size_t>(bound[n]) <= data.shape(0),
            "indptr points past the stored entries");
    for (std::size_t i = 0; i < n; ++i)
        require(bound[i] <= bound[i + 1], "indptr must not decrease");
    Index lowest = 0, highest = 0;
    for (Index k = bound[0]; k < bound[n]; ++k) {
        lowest = std::min(lowest, column[k]);
        highest = std::max(highest, column[k]);
    }
    require(bound[n] == bound[0] || (lowest >= 0 && static_cast<std::size_t>(highest) < d),
            "a column index is out of range");
    const SparseRows<T, Index> rows{data.data(), column, bound, n, d};
    return walk(rows, y, weight, order, rates, {loss, rule, knee, multiplier, l2, l1, intercept},
                coef, carried, paid, average, average_from);
}

template <typename T> void bind_dense(nb::module_ &module) {
    module.def("sgd_epoch", &sgd_dense<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("order").noconvert(),
               nb::arg("rates").noconvert(), nb::arg("loss"), nb::arg("knee"), nb::arg("rule"),
               nb::arg("multiplier"), nb::arg("l2"), nb::arg("l1"), nb::arg("intercept"),
               nb::arg("coef").noconvert(), nb::arg("carried").noconvert(),
               nb::arg("paid").noconvert(), nb::arg("average").noconvert(),
               nb::arg("average_from"));
}

template <typename T, typename Index> void bind_sparse(nb::module_ &module) {
    module.def("sgd_epoch_sparse", &sgd_sparse<T, Index>, nb::arg("data").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
               nb::arg("y").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("order").noconvert(), nb::arg("rates").noconvert(), nb::arg("loss"),
               nb::arg("knee"), nb::arg("rule"), nb::arg("multiplier"), nb::arg("l2"),
               nb::arg("l1"), nb::arg("intercept"), nb::arg("coef").noconvert(),
               nb::arg("carried").noconvert(), nb::arg("paid").noconvert(),
               nb::arg("average").noconvert(), nb::arg("average_from"));
}

} // namespace

void bind_sgd_epoch(nb::module_ &module) {
    bind_dense<double>(module);
    bind_dense<float>(module);
    bind_sparse<double, std::int32_t>(module);
    bind_sparse<float, std::int32_t>(module);
    bind_sparse<double, std::int64_t>(module);
    bind_sparse<float, std::int64_t>(module);
}

} // namespace thetahat
