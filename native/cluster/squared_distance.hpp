// Σ (x_j − c_j)² in float64, in eight partial sums with a fixed order of additions. Pairs of
// numbers fit the vector registers of every machine.
#pragma once

#include <cstddef>
#include <cstring>

namespace thetahat::cluster {

using Double2 = double __attribute__((vector_size(2 * sizeof(double))));

inline Double2 load2(const double *from) {
    Double2 two;
    std::memcpy(&two, from, sizeof(Double2));
    return two;
}

inline Double2 load2(const float *from) {
    return Double2{static_cast<double>(from[0]), static_cast<double>(from[1])};
}

template <typename T> double squared_distance(const T *x, const double *c, std::size_t d) {
    Double2 part[4] = {};
    std::size_t j = 0;
    for (; j + 8 <= d; j += 8)
        for (std::size_t l = 0; l < 4; ++l) {
            const Double2 gap = load2(x + j + 2 * l) - load2(c + j + 2 * l);
            part[l] += gap * gap;
        }
    double rest = 0.0;
    for (; j < d; ++j) {
        const double gap = static_cast<double>(x[j]) - c[j];
        rest += gap * gap;
    }
    const Double2 sum = (part[0] + part[1]) + (part[2] + part[3]);
    return (sum[0] + sum[1]) + rest;
}

} // namespace thetahat::cluster
