// Replaces g by the solution x of H x = −g, with H = S L D Lᵀ S. S contains powers of two near the
// roots of the diagonal, so that units do not matter and scaling does not round; a diagonal H is
// solved exactly. O(k³), in a fixed order. If a pivot D_i is not above `least` of the diagonal, it
// returns false and leaves g unchanged. It reads the lower triangle of H, for a few dozen columns.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace thetahat {

inline bool newton_direction(const double *h, double *g, std::size_t k, double least) {
    std::vector<double> scale(k), factor(k * k), pivot(k), scaled(k);
    for (std::size_t i = 0; i < k; ++i) {
        const double diagonal = h[i * k + i];
        if (!(diagonal > 0.0 && std::isfinite(diagonal)))
            return false;
        scale[i] = std::ldexp(1.0, std::ilogb(diagonal) / 2);
    }
    for (std::size_t i = 0; i < k; ++i) {
        double *row = factor.data() + i * k;
        const double diagonal = h[i * k + i] / scale[i] / scale[i];
        pivot[i] = diagonal;
        for (std::size_t j = 0; j < i; ++j) { // scaled = row · D, while the row grows
            const double *other = factor.data() + j * k;
            scaled[j] = h[i * k + j] / scale[i] / scale[j];
            for (std::size_t m = 0; m < j; ++m)
                scaled[j] -= scaled[m] * other[m];
            row[j] = scaled[j] / pivot[j];
            pivot[i] -= scaled[j] * row[j];
        }
        if (!(pivot[i] > least * diagonal))
            return false;
    }
    for (std::size_t i = 0; i < k; ++i) {
        const double *row = factor.data() + i * k;
        g[i] /= -scale[i];
        for (std::size_t j = 0; j < i; ++j)
            g[i] -= row[j] * g[j];
    }
    for (std::size_t i = 0; i < k; ++i)
        g[i] /= pivot[i];
    for (std::size_t i = k; i-- > 0;)
        for (std::size_t j = 0; j < i; ++j)
            g[j] -= factor[i * k + j] * g[i];
    for (std::size_t i = 0; i < k; ++i)
        g[i] /= scale[i];
    return true;
}

} // namespace thetahat
