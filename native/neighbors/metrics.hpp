// Reduced distances: Σ_j term(a_j − b_j), or the largest term. The distance is an increasing
// function of it (a square root, say), which is applied to the few results only.
//
// Column j belongs to partial sum j mod 4, and the result is (s₀ + s₁) + (s₂ + s₃), everywhere: for
// dense and sparse rows, for one row or four at once, and for the gaps to a box. Rounding is
// monotonic, so the reduced distance to a box is never more than that to a row inside, not by a
// bit.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/simd4.hpp"

namespace thetahat::neighbors {

struct Squares {
    static constexpr bool takes_largest = false, bounded_by_boxes = true;
    double term(double gap) const { return gap * gap; }
    Wide term(const Wide &gap) const { return gap * gap; }
    double bound(double sum) const { return sum; }
};

struct Absolutes {
    static constexpr bool takes_largest = false, bounded_by_boxes = true;
    double term(double gap) const { return std::fabs(gap); }
    Wide term(const Wide &gap) const { // without the sign, which is the first bit
        return (Wide)((WideMask)gap & std::numeric_limits<std::int64_t>::max());
    }
    double bound(double sum) const { return sum; }
};

struct Largest : Absolutes {
    static constexpr bool takes_largest = true;
};

struct Powers {
    static constexpr bool takes_largest = false, bounded_by_boxes = true;
    double p;
    double term(double gap) const { return std::pow(std::fabs(gap), p); }
    Wide term(Wide gap) const {
        for (std::size_t i = 0; i < wide_size; ++i)
            gap[i] = term(static_cast<double>(gap[i]));
        return gap;
    }
    // The rounding of pow need not be monotonic.
    double bound(double sum) const { return sum * (1.0 - 1e-14); }
};

struct Differences { // the number of columns that differ
    static constexpr bool takes_largest = false, bounded_by_boxes = false;
    double term(double gap) const { return gap != 0.0 ? 1.0 : 0.0; }
    Wide term(const Wide &gap) const { return (Wide)((gap != 0.0) & (WideMask)(Wide{} + 1.0)); }
    double bound(double) const { return 0.0; }
};

// work(number of columns if it is known to the compiler, else 0; metric) for the power p of terms.
template <typename Work>
void with_metric(double p, bool counts_differences, std::size_t d, const Work &work) {
    constexpr std::integral_constant<int, 0> any{};
    if (counts_differences)
        return work(any, Differences{});
    if (p == 2.0 && d == 1)
        return work(std::integral_constant<int, 1>{}, Squares{});
    if (p == 2.0 && d == 2)
        return work(std::integral_constant<int, 2>{}, Squares{});
    if (p == 2.0 && d == 3)
        return work(std::integral_constant<int, 3>{}, Squares{});
    if (p == 2.0)
        return work(any, Squares{});
    if (p == 1.0)
        return work(any, Absolutes{});
    if (p == std::numeric_limits<double>::infinity())
        return work(any, Largest{});
    return work(any, Powers{p});
}

template <typename Metric, typename V> V joined(const V &a, const V &b) {
    if constexpr (Metric::takes_largest)
        return a > b ? a : b;
    else
        return a + b;
}

// The reduced distance over d columns, of which gap(j) gives the differences.
template <int D, typename V, typename Metric, typename Gap>
V reduced(const Metric &metric, std::size_t d, const Gap &gap) {
    if constexpr (D > 0)
        d = D;
    V part[4] = {};
    std::size_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (std::size_t l = 0; l < 4; ++l)
            part[l] = joined<Metric>(part[l], metric.term(gap(j + l)));
    // No loop, so that the partial sums stay in registers.
    if (j < d)
        part[0] = joined<Metric>(part[0], metric.term(gap(j)));
    if (j + 1 < d)
        part[1] = joined<Metric>(part[1], metric.term(gap(j + 1)));
    if (j + 2 < d)
        part[2] = joined<Metric>(part[2], metric.term(gap(j + 2)));
    return joined<Metric>(joined<Metric>(part[0], part[1]), joined<Metric>(part[2], part[3]));
}

} // namespace thetahat::neighbors
