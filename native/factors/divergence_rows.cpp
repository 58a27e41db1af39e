// x p^(β − 2) and p^(β − 1) of dense rows x with p = wH, and the part of the β-divergence that
// depends on p.
//
// A group of rows times some columns of H is summed in registers; values are added row by row, in
// the order of the columns. The caller gives every thread its own rows.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/logarithm.hpp"
#include "core/skinny.hpp"
#include "core/views.hpp"
#include "factors/divergence_power.hpp"

namespace thetahat {

namespace {

constexpr std::size_t ROWS = skinny::GROUP, PARTS = 4;

// x/p, or p, with p = max(wH, floor), for COUNT rows and PARTS registers of columns.
template <typename T, std::size_t COUNT, bool DIVIDES>
void multiply_group(const T *x, const T *w, const T *h, std::size_t k, std::size_t d, T floor,
                    T *ratio) {
    using Lane = typename skinny::Lanes<T>::type;
    constexpr std::size_t L = skinny::Lanes<T>::count;
    Lane sums[COUNT][PARTS] = {};
    for (std::size_t s = 0; s < k; ++s) {
        Lane part[PARTS];
#pragma GCC unroll 8
        for (std::size_t p = 0; p < PARTS; ++p)
            part[p] = skinny::load<T>(h + s * d + p * L);
#pragma GCC unroll 8
        for (std::size_t g = 0; g < COUNT; ++g)
#pragma GCC unroll 8
            for (std::size_t p = 0; p < PARTS; ++p)
                sums[g][p] += w[g * k + s] * part[p];
    }
    const Lane least = floor + Lane{};
    for (std::size_t g = 0; g < COUNT; ++g)
        for (std::size_t p = 0; p < PARTS; ++p) {
            const Lane product = sums[g][p] > least ? sums[g][p] : least;
            const Lane found = DIVIDES ? skinny::load<T>(x + g * d + p * L) / product : product;
            std::memcpy(ratio + g * d + p * L, &found, sizeof(found));
        }
}

template <typename T, std::size_t COUNT, bool DIVIDES>
void multiply_rows(const T *x, const T *w, const T *h, std::size_t k, std::size_t d, T floor,
                   T *ratio) {
    constexpr std::size_t STEP = PARTS * skinny::Lanes<T>::count;
    std::size_t j = 0;
    for (; j + STEP <= d; j += STEP)
        multiply_group<T, COUNT, DIVIDES>(x + j, w, h + j, k, d, floor, ratio + j);
    for (std::size_t g = 0; g < COUNT; ++g)
        for (std::size_t column = j; column < d; ++column) {
            T sum = T(0);
            for (std::size_t s = 0; s < k; ++s)
                sum += w[g * k + s] * h[s * d + column];
            const T product = std::max(sum, floor);
            ratio[g * d + column] = DIVIDES ? x[g * d + column] / product : product;
        }
}

// Σ x·log(ratio); where x = 0 the logarithm counts 0 times.
template <typename T> double log_sum(const T *x, const T *ratio, std::size_t d) {
    const Double4 tiny = std::numeric_limits<double>::min() + Double4{};
    Double4 total = {};
    std::size_t j = 0;
    const auto add = [&](Double4 entries, Double4 quotient) {
        total += entries * log_of(quotient > tiny ? quotient : tiny);
    };
    for (; j + 4 <= d; j += 4)
        if (x[j] != T(0) || x[j + 1] != T(0) || x[j + 2] != T(0) || x[j + 3] != T(0))
            add(load4(x + j), load4(ratio + j));
    if (j < d) {
        T last[4] = {}, quotients[4] = {};
        std::copy(x + j, x + d, last);
        std::copy(ratio + j, ratio + d, quotients);
        add(load4(last), load4(quotients));
    }
    return sum_of(total);
}

// One row in double precision, up to whole lanes of x = p = 1.
struct RaisedRow {
    std::vector<double> x, p, up;

    explicit RaisedRow(std::size_t d)
        : x((d + 3) / 4 * 4, 1.0), p(x.size(), 1.0), up(x.size(), 1.0) {}

    // `ratio` holds p and becomes x p^(β − 2), `power` becomes p^(β − 1). Returns Σ x/p −
    // log(x/p) − 1 for β = 0 and Σ (β − 1) p^β − β x p^(β − 1) otherwise.
    template <typename T>
    double raise(const T *entries, double beta, bool valued, T *ratio, T *power, std::size_t d) {
        std::copy_n(entries, d, x.begin());
        std::copy_n(ratio, d, p.begin());
        divergence_powers(p.data(), p.size(), beta, up.data());
        for (std::size_t j = 0; j < d; ++j) {
            ratio[j] = static_cast<T>(x[j] * up[j]);
            power[j] = static_cast<T>(p[j] * up[j]);
        }
        if (!valued)
            return 0.0;
        Double4 total = {};
        for (std::size_t j = 0; j < p.size(); j += 4) {
            const Double4 product = load4(p.data() + j), down = load4(up.data() + j) * product;
            const Double4 quotient = load4(x.data() + j) * down;
            total += beta == 0.0 ? quotient - log_of(quotient) - 1.0
                                 : (beta - 1.0) * product * down - beta * quotient;
        }
        // The lanes without columns.
        return sum_of(total) + (beta == 0.0 ? 0.0 : static_cast<double>(p.size() - d));
    }
};

template <typename T, bool DIVIDES>
double raise_rows(const T *x, const T *w, const T *h, std::size_t n, std::size_t k, std::size_t d,
                  double beta, T least, bool valued, T *ratio, T *power) {
    double total = 0.0;
    RaisedRow row(DIVIDES ? 0 : d);
    for (std::size_t i = 0; i < n;) {
        const std::size_t count = i + ROWS <= n ? ROWS : 1;
        if (count == ROWS)
            multiply_rows<T, ROWS, DIVIDES>(x, w, h, k, d, least, ratio);
        else
            multiply_rows<T, 1, DIVIDES>(x, w, h, k, d, least, ratio);
        for (std::size_t g = 0; g < count; ++g, x += d, ratio += d) {
            if constexpr (!DIVIDES) {
                total += row.raise(x, beta, valued, ratio, power, d);
                power += d;
            } else if (valued) {
                total += log_sum(x, ratio, d);
            }
        }
        w += count * k;
        i += count;
    }
    return total;
}

// Returns Σ x·log(x/p) for β = 1, where `powers` is not written, what `RaisedRow` says otherwise,
// and 0 if `valued` is false. p is at least `floor`.
template <typename T>
double divergence_ratios(Matrix<const T> rows, Matrix<const T> left, Matrix<const T> right,
                         double beta, double floor, bool valued, Matrix<T> ratios,
                         Matrix<T> powers) {
    const std::size_t n = rows.shape(0), d = rows.shape(1), k = left.shape(1);
    require(left.shape(0) == n, "left must have one row per row");
    require(right.shape(0) == k && right.shape(1) == d,
            "right must have one row per component and the columns of the rows");
    require(ratios.shape(0) == n && ratios.shape(1) == d, "ratios must have the shape of the rows");
    const bool divides = beta == 1.0;
    require(divides || (powers.shape(0) == n && powers.shape(1) == d),
            "powers must have the shape of the rows");
    nb::gil_scoped_release unlocked;
    const auto run = divides ? raise_rows<T, true> : raise_rows<T, false>;
    return run(rows.data(), left.data(), right.data(), n, k, d, beta, static_cast<T>(floor), valued,
               ratios.data(), powers.data());
}

// factor ← factor·(numerator/(denominator + l1 + l2·factor))^power. The denominator has as many
// rows as the factor, or one. Entries without denominator, and those of few digits, become 0.
template <typename T>
void multiply_factor(Matrix<T> factor, Matrix<const T> numerator, Matrix<const T> denominator,
                     double l1, double l2, double power) {
    const std::size_t n = factor.shape(0), k = factor.shape(1);
    require(numerator.shape(0) == n && numerator.shape(1) == k,
            "numerator must have the shape of the factor");
    require(denominator.shape(1) == k && (denominator.shape(0) == n || denominator.shape(0) == 1),
            "denominator must have the rows of the factor, or one");
    nb::gil_scoped_release unlocked;
    const std::size_t step = denominator.shape(0) == n ? k : 0;
    const T tiny = std::numeric_limits<T>::min() * T(1e10), first = static_cast<T>(l1),
            second = static_cast<T>(l2);
    const T *up = numerator.data(), *down = denominator.data();
    for (T *w = factor.data(), *end = w + n * k; w != end; w += k, up += k, down += step)
        for (std::size_t s = 0; s < k; ++s) {
            const T below = down[s] + first + second * w[s];
            T ratio = below > T(0) ? up[s] / below : T(0);
            if (power != 1.0)
                ratio = static_cast<T>(std::pow(static_cast<double>(ratio), power));
            const T after = w[s] * ratio;
            w[s] = after < tiny ? T(0) : after;
        }
}

template <typename T> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("divergence_ratios", &divergence_ratios<T>, array("rows"), array("left"),
               array("right"), nb::arg("beta"), nb::arg("floor"), nb::arg("valued"),
               array("ratios"), array("powers"));
    module.def("multiply_factor", &multiply_factor<T>, array("factor"), array("numerator"),
               array("denominator"), nb::arg("l1"), nb::arg("l2"), nb::arg("power"));
}

} // namespace

void bind_divergence_rows(nb::module_ &module) {
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
