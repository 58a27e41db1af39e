// Squared distances in which every column has its own factor.
#pragma once

#include <cstddef>

namespace thetahat {

// Σ_j f_j (x_j − m_j)²
inline double diagonal_distance(const double *__restrict x, const double *__restrict m,
                                const double *__restrict f, std::size_t d) {
    constexpr std::size_t LANES = 16;
    double part[LANES] = {};
    std::size_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (std::size_t l = 0; l < LANES; ++l) {
            const double gap = x[j + l] - m[j + l];
            part[l] += gap * gap * f[j + l];
        }
    for (std::size_t l = 0; j < d; ++j, ++l) {
        const double gap = x[j] - m[j];
        part[l] += gap * gap * f[j];
    }
    for (std::size_t half = LANES / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l)
            part[l] += part[l + half];
    return part[0];
}

} // namespace thetahat
