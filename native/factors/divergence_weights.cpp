// Weights w ≥ 0 of rows x ≈ wH for the β-divergence, with the components H fixed.
//
// With p = wH, the derivative for a weight with the component h is Σ_j h_j (p_j^(β − 1) −
// x_j p_j^(β − 2)). For 1 ≤ β ≤ 2 it increases with the weight and is concave, so that Newton's
// steps approach its root from the left without passing it: each weight in turn is moved to its
// root. For other β the divergence is not convex; all weights are multiplied by their ratio of
// sums, with the power for which the objective cannot rise. For β = 1 only the columns with x > 0
// are visited, as Σ_j p_j does not need the others.
//
// Rows are independent of each other, and sums over columns are added in a fixed order. The caller
// gives every thread its own rows.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/rows.hpp"
#include "core/simd4.hpp"
#include "core/views.hpp"
#include "factors/divergence_power.hpp"

namespace thetahat {

namespace {

constexpr std::size_t LANES = 4;
constexpr int MOST_STEPS = 30;  // Newton's steps of one weight; two are usual
constexpr double CLOSE = 0.05;  // a weight stays after a step of less than this share of it
constexpr double SHORTER = 0.1; // a step past 0 that the derivative at 0 forbids becomes this
constexpr double TINY = 1e10 * std::numeric_limits<double>::min(); // smaller weights become 0

struct Objective {
    double beta, power, l1, l2;
    double floor; // of p, as a share of the mean of the row if that is below 1
};

struct Slope {
    double first, second;
};

struct RowWeights {
    const Objective goal;
    const std::size_t k;
    std::size_t columns = 0, width = 0; // that are visited, and up to whole lanes of x = h = 0
    std::vector<double> h, x, p;        // the components at the columns that are visited, x and wH
    std::vector<double> up, down;       // x p^(β − 2) and p^(β − 1)
    std::vector<double> sums;           // Σ_j h_j over all columns
    double least_product;               // in the units of the row

    RowWeights(const Objective &goal, std::size_t k, std::size_t d)
        : goal(goal), k(k), h(k * rounded(d)), x(rounded(d)), p(rounded(d)), up(rounded(d)),
          down(rounded(d)), sums(k), least_product(goal.floor) {}

    static std::size_t rounded(std::size_t count) { return (count + LANES - 1) / LANES * LANES; }

    // Σ_j h_j of every component. `right` has one row per column.
    template <typename T> void prepare(Matrix<const T> right) {
        const std::size_t d = right.shape(0);
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t s = 0; s < k; ++s)
                sums[s] += static_cast<double>(right.data()[j * k + s]);
        if (goal.beta == 1.0)
            return;
        columns = d, width = rounded(d);
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t s = 0; s < k; ++s)
                h[s * width + j] = static_cast<double>(right.data()[j * k + s]);
    }

    // The entries of a row; returns Σ_j x_j.
    template <typename T, typename Rows>
    double take(const Rows &rows, std::size_t i, Matrix<const T> right) {
        double total = 0.0;
        if (goal.beta != 1.0) {
            std::fill(x.begin(), x.end(), 0.0);
            rows.each(i, [&](std::size_t j, double entry) { x[j] = entry, total += entry; });
            return total;
        }
        columns = 0;
        rows.each(i, [&](std::size_t, double entry) { columns += entry > 0.0; });
        width = rounded(columns);
        std::fill_n(x.begin(), width, 0.0);
        std::fill_n(h.begin(), k * width, 0.0);
        std::size_t place = 0;
        rows.each(i, [&](std::size_t j, double entry) {
            if (!(entry > 0.0))
                return;
            x[place] = entry, total += entry;
            for (std::size_t s = 0; s < k; ++s)
                h[s * width + place] = static_cast<double>(right.data()[j * k + s]);
            ++place;
        });
        return total;
    }

    void multiply(const double *w) {
        std::fill_n(p.begin(), columns, 0.0);
        std::fill_n(p.begin() + columns, width - columns, 1.0);
        for (std::size_t s = 0; s < k; ++s)
            add(w[s], s);
    }

    void add(double change, std::size_t s) {
        const double *part = h.data() + s * width;
        for (std::size_t j = 0; j < width; ++j)
            p[j] += change * part[j];
    }

    // `up` and `down` at p.
    void powers() {
        for (std::size_t j = 0; j < width; ++j)
            down[j] = p[j] > least_product ? p[j] : least_product;
        divergence_powers(down.data(), width, goal.beta, up.data());
        for (std::size_t j = 0; j < width; ++j) {
            down[j] *= up[j];
            up[j] *= x[j];
        }
    }

    // Derivatives of the objective for weight s, which is `weight`.
    Slope slope(std::size_t s, double weight) {
        const double *part = h.data() + s * width;
        Double4 first = {}, second = {};
        const Double4 least = least_product + Double4{};
        const double beta = goal.beta;
        if (beta != 1.0)
            powers();
        for (std::size_t j = 0; j < width; j += LANES) {
            const Double4 product = load4(p.data() + j), own = load4(part + j);
            const Double4 inverse = 1.0 / (product > least ? product : least);
            if (beta == 1.0) {
                const Double4 ratio = load4(x.data() + j) * inverse * own;
                first -= ratio;
                second += ratio * inverse * own;
            } else {
                const Double4 a = load4(up.data() + j), b = load4(down.data() + j);
                first += own * (b - a);
                second += own * own * inverse * ((beta - 1.0) * b + (2.0 - beta) * a);
            }
        }
        const double penalty = goal.l1 + goal.l2 * weight;
        return {sum_of(first) + (beta == 1.0 ? sums[s] : 0.0) + penalty, sum_of(second) + goal.l2};
    }

    // Move weight s to the root of its derivative, or to 0.
    double moved(std::size_t s, double start) {
        double weight = start;
        for (int step = 0; step < MOST_STEPS; ++step) {
            const Slope found = slope(s, weight);
            if (!(found.second > 0.0))
                return found.first > 0.0 ? to(s, weight, 0.0) : weight;
            double next = weight - found.first / found.second;
            if (!(next > TINY)) {
                if (weight == 0.0)
                    return weight;
                const double before = weight;
                weight = to(s, weight, 0.0);
                if (slope(s, 0.0).first >= 0.0)
                    return weight;
                next = SHORTER * before;
            }
            const double change = next - weight;
            weight = to(s, weight, next);
            if (std::abs(change) <= CLOSE * weight)
                return weight;
        }
        return weight;
    }

    double to(std::size_t s, double weight, double next) {
        add(next - weight, s);
        return next;
    }

    // One pass over all weights; returns the largest change.
    double pass(double *w) {
        double largest = 0.0;
        multiply(w);
        if (goal.beta >= 1.0 && goal.beta <= 2.0) {
            for (std::size_t s = 0; s < k; ++s) {
                const double after = moved(s, w[s]);
                largest = std::max(largest, std::abs(after - w[s]));
                w[s] = after;
            }
            return largest;
        }
        powers();
        for (std::size_t s = 0; s < k; ++s) {
            const double *part = h.data() + s * width;
            Double4 numerator = {}, denominator = {};
            for (std::size_t j = 0; j < width; j += LANES) {
                numerator += load4(part + j) * load4(up.data() + j);
                denominator += load4(part + j) * load4(down.data() + j);
            }
            const double below = sum_of(denominator) + goal.l1 + goal.l2 * w[s];
            const double ratio = below > 0.0 ? sum_of(numerator) / below : 0.0;
            double after = w[s] * (goal.power == 1.0 ? ratio : std::pow(ratio, goal.power));
            after = after < TINY ? 0.0 : after;
            largest = std::max(largest, std::abs(after - w[s]));
            w[s] = after;
        }
        return largest;
    }
};

template <typename T, typename Rows>
void find_weights(const Rows &rows, Matrix<const T> right, const Objective &goal, std::int64_t most,
                  double tolerance, Matrix<T> weights) {
    const std::size_t n = rows.n_rows(), d = rows.n_columns(), k = right.shape(1);
    require(right.shape(0) == d, "right must have one row per column of the rows");
    require(weights.shape(0) == n && weights.shape(1) == k,
            "weights must have one row per row and the components of right");
    nb::gil_scoped_release unlocked;
    RowWeights row(goal, k, d);
    row.prepare(right);
    double all = 0.0;
    for (const double sum : row.sums)
        all += sum;
    std::vector<double> w(k);
    for (std::size_t i = 0; i < n; ++i) {
        const double total = row.take(rows, i, right);
        row.least_product = goal.floor * std::min(1.0, total / static_cast<double>(d));
        // Equal weights for which the sums of x and of wH agree.
        std::fill(w.begin(), w.end(), all > 0.0 ? total / all : 0.0);
        for (std::int64_t number = 0; number < most && total > 0.0 && all > 0.0; ++number)
            if (!(row.pass(w.data()) > tolerance * *std::max_element(w.begin(), w.end())))
                break;
        std::transform(w.begin(), w.end(), weights.data() + i * k,
                       [](double each) { return static_cast<T>(each); });
    }
}

template <typename T>
void divergence_weights(Matrix<const T> rows, Matrix<const T> right, double beta, double power,
                        double l1, double l2, double floor, std::int64_t most, double tolerance,
                        Matrix<T> weights) {
    find_weights(DenseRows<T>(rows), right, {beta, power, l1, l2, floor}, most, tolerance, weights);
}

template <typename T, typename Index>
void sparse_divergence_weights(Vector<const T> data, Vector<const Index> indices,
                               Vector<const Index> indptr, Matrix<const T> right, double beta,
                               double power, double l1, double l2, double floor, std::int64_t most,
                               double tolerance, Matrix<T> weights) {
    find_weights(SparseRows<T, Index>(data, indices, indptr, right.shape(0)), right,
                 {beta, power, l1, l2, floor}, most, tolerance, weights);
}

template <typename T, typename Index> void bind_sparse(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("sparse_divergence_weights", &sparse_divergence_weights<T, Index>, array("data"),
               array("indices"), array("indptr"), array("right"), nb::arg("beta"), nb::arg("power"),
               nb::arg("l1"), nb::arg("l2"), nb::arg("floor"), nb::arg("most"),
               nb::arg("tolerance"), array("weights"));
}

template <typename T> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("divergence_weights", &divergence_weights<T>, array("rows"), array("right"),
               nb::arg("beta"), nb::arg("power"), nb::arg("l1"), nb::arg("l2"), nb::arg("floor"),
               nb::arg("most"), nb::arg("tolerance"), array("weights"));
    bind_sparse<T, std::int32_t>(module);
    bind_sparse<T, std::int64_t>(module);
}

} // namespace

void bind_divergence_weights(nb::module_ &module) {
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
