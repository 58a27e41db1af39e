// Inner products with a fixed order of sums: partial sums, added in pairs at the end. The
// compiler may not reorder sums, so the partial ones are what lets it use wide registers.
#pragma once

#include <cstddef>

namespace thetahat {

template <typename A, typename B> double dot(const A *a, const B *b, std::size_t n) {
    constexpr std::size_t LANES = 32;
    double part[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (std::size_t l = 0; l < LANES; ++l)
            part[l] += static_cast<double>(a[i + l]) * static_cast<double>(b[i + l]);
    for (std::size_t l = 0; i < n; ++i, ++l)
        part[l] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    for (std::size_t half = LANES / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l)
            part[l] += part[l + half];
    return part[0];
}

} // namespace thetahat
