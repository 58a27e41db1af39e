// Ratios x/(wH) of dense rows, and Σ x·log(x/(wH)), for the Kullback–Leibler divergence.
//
// A group of rows times some columns of H is summed in registers; the logarithms are added row by
// row, in the order of the columns. The caller gives every thread its own rows.

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/logarithm.hpp"
#include "core/skinny.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t ROWS = skinny::GROUP, PARTS = 4;

// ratio = x/max(wH, floor) for COUNT rows and PARTS registers of columns.
template <typename T, std::size_t COUNT>
void divide_group(const T *x, const T *w, const T *h, std::size_t k, std::size_t d, T floor,
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
            const Lane entries = skinny::load<T>(x + g * d + p * L);
            const Lane found = entries / (sums[g][p] > least ? sums[g][p] : least);
            std::memcpy(ratio + g * d + p * L, &found, sizeof(found));
        }
}

template <typename T, std::size_t COUNT>
void divide_rows(const T *x, const T *w, const T *h, std::size_t k, std::size_t d, T floor,
                 T *ratio) {
    constexpr std::size_t STEP = PARTS * skinny::Lanes<T>::count;
    std::size_t j = 0;
    for (; j + STEP <= d; j += STEP)
        divide_group<T, COUNT>(x + j, w, h + j, k, d, floor, ratio + j);
    for (std::size_t g = 0; g < COUNT; ++g)
        for (std::size_t column = j; column < d; ++column) {
            T sum = T(0);
            for (std::size_t s = 0; s < k; ++s)
                sum += w[g * k + s] * h[s * d + column];
            ratio[g * d + column] = x[g * d + column] / std::max(sum, floor);
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

// Returns Σ x·log(x/p) with p = max(wH, floor), or 0 if `valued` is false.
template <typename T>
double divergence_ratios(Matrix<const T> rows, Matrix<const T> left, Matrix<const T> right,
                         double floor, bool valued, Matrix<T> ratios) {
    const std::size_t n = rows.shape(0), d = rows.shape(1), k = left.shape(1);
    require(left.shape(0) == n, "left must have one row per row");
    require(right.shape(0) == k && right.shape(1) == d,
            "right must have one row per component and the columns of the rows");
    require(ratios.shape(0) == n && ratios.shape(1) == d, "ratios must have the shape of the rows");
    nb::gil_scoped_release unlocked;
    const T least = static_cast<T>(floor);
    double total = 0.0;
    for (std::size_t i = 0; i < n;) {
        const std::size_t count = i + ROWS <= n ? ROWS : 1;
        const T *x = rows.data() + i * d, *w = left.data() + i * k;
        T *ratio = ratios.data() + i * d;
        if (count == ROWS)
            divide_rows<T, ROWS>(x, w, right.data(), k, d, least, ratio);
        else
            divide_rows<T, 1>(x, w, right.data(), k, d, least, ratio);
        if (valued)
            for (std::size_t g = 0; g < count; ++g)
                total += log_sum(x + g * d, ratio + g * d, d);
        i += count;
    }
    return total;
}

template <typename T> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("divergence_ratios", &divergence_ratios<T>, array("rows"), array("left"),
               array("right"), nb::arg("floor"), nb::arg("valued"), array("ratios"));
}

} // namespace

void bind_divergence_rows(nb::module_ &module) {
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
