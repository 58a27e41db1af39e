// Inner products with a fixed order of additions: partial sums that are added in pairs at the end.
// The compiler must not reorder sums; several partial sums allow it to use vector registers.
#pragma once

#include <cstddef>

namespace thetahat {

// Σ_i term(i), in LANES partial sums.
template <typename Term> double sum_in_lanes(std::size_t n, const Term &term) {
    constexpr std::size_t LANES = 32;
    double part[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (std::size_t l = 0; l < LANES; ++l)
            part[l] += term(i + l);
    for (std::size_t l = 0; i < n; ++i, ++l)
        part[l] += term(i);
    for (std::size_t half = LANES / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l)
            part[l] += part[l + half];
    return part[0];
}

template <typename A, typename B> double dot(const A *a, const B *b, std::size_t n) {
    return sum_in_lanes(
        n, [a, b](std::size_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}

// Σ_i w_i (a_i − centre)²
template <typename A>
double squares_about(const A *a, double centre, const double *w, std::size_t n) {
    return sum_in_lanes(n, [a, centre, w](std::size_t i) {
        const double gap = static_cast<double>(a[i]) - centre;
        return gap * gap * w[i];
    });
}

} // namespace thetahat
