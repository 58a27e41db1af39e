// out_i = Σ_k weights_k row_k(i): rows are taken eight at a time, each group in one sweep over out,
// so that out is read and written an eighth as often as the rows. Entry i sums its rows in order.
#pragma once

#include <algorithm>
#include <cstddef>

namespace thetahat {

template <typename Row>
void combine(std::size_t count, const Row &row, const double *weights, double *__restrict out,
             std::size_t width) {
    std::fill(out, out + width, 0.0);
    std::size_t k = 0;
    for (; k + 8 <= count; k += 8) {
        const double *a = row(k), *b = row(k + 1), *c = row(k + 2), *d = row(k + 3);
        const double *e = row(k + 4), *f = row(k + 5), *g = row(k + 6), *h = row(k + 7);
        const double *w = weights + k;
        for (std::size_t i = 0; i < width; ++i)
            out[i] = out[i] + w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i] + w[4] * e[i] +
                     w[5] * f[i] + w[6] * g[i] + w[7] * h[i];
    }
    for (; k < count; ++k) {
        const double *a = row(k);
        for (std::size_t i = 0; i < width; ++i)
            out[i] += weights[k] * a[i];
    }
}

} // namespace thetahat
