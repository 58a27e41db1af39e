// Replaces g by the solution x of H x = −g, with H = S L D Lᵀ S. S contains powers of two near the
// roots of the diagonal, so that units do not matter and scaling does not round; a diagonal H is
// solved exactly. O(k³), in a fixed order: each column, once known, is subtracted from those to its
// right, so that many entries are worked on at once and each by itself. If a pivot D_i is not above
// `least` of the diagonal, it returns false and leaves g unchanged. It reads the lower triangle of
// H, for a few dozen columns.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace thetahat {

inline bool newton_direction(const double *h, double *g, std::size_t k, double least) {
    std::vector<double> scale(k), factor(k * k), pivot(k), column(k);
    for (std::size_t i = 0; i < k; ++i) {
        const double diagonal = h[i * k + i];
        if (!(diagonal > 0.0 && std::isfinite(diagonal)))
            return false;
        scale[i] = std::ldexp(1.0, std::ilogb(diagonal) / 2);
    }
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            factor[i * k + j] = h[i * k + j] / scale[i] / scale[j];
    for (std::size_t j = 0; j < k; ++j) {
        pivot[j] = factor[j * k + j];
        if (!(pivot[j] > least * (h[j * k + j] / scale[j] / scale[j])))
            return false;
        for (std::size_t i = j + 1; i < k; ++i)
            column[i] = factor[i * k + j] / pivot[j];
        for (std::size_t i = j + 1; i < k; ++i) {
            double *__restrict row = factor.data() + i * k;
            const double scaled = row[j]; // an entry of L · D
            row[j] = column[i];
            for (std::size_t m = j + 1; m <= i; ++m)
                row[m] -= scaled * column[m];
        }
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
