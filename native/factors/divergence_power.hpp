// p^(β − 2) for positive p: the factor of x in the derivative of the β-divergence.
#pragma once

#include <cmath>
#include <cstring>

#include "core/exponential.hpp"
#include "core/logarithm.hpp"
#include "core/simd4.hpp"

namespace thetahat {

// `count` is a multiple of 4. The loops are written so that the compiler can vectorise them.
inline void divergence_powers(const double *p, std::size_t count, double beta, double *found) {
    if (beta == 0.0) {
        for (std::size_t j = 0; j < count; ++j)
            found[j] = 1.0 / (p[j] * p[j]);
        return;
    }
    double largest = 0.0;
    for (std::size_t j = 0; j < count; j += 4) {
        const Double4 exponent = (beta - 2.0) * log_of(load4(p + j));
        std::memcpy(found + j, &exponent, sizeof(exponent));
    }
    for (std::size_t j = 0; j < count; ++j)
        largest = std::abs(found[j]) > largest ? std::abs(found[j]) : largest;
    if (largest < 700.0) // up to which it is exact on both sides of 0
        for (std::size_t j = 0; j < count; ++j)
            found[j] = exponential_below(found[j]);
    else
        for (std::size_t j = 0; j < count; ++j)
            found[j] = std::exp(found[j]);
}

} // namespace thetahat
