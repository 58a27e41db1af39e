// The products of `GramTiles`, in tiles of 4 × 8 entries at or above the diagonal. This file is
// compiled with fused multiply-adds where the machine has them; no decision depends on the last
// bits of these sums.

#include "linalg/gram_tiles.hpp"

#include <algorithm>

#include "core/simd4.hpp"

namespace thetahat {

namespace {

constexpr std::size_t tall = 4, wide = 8;
constexpr std::size_t buffer_bytes = 1 << 14;

} // namespace

GramTiles::GramTiles(std::size_t width)
    : width(width), padded((width + wide - 1) / wide * wide),
      room(std::max<std::size_t>(1,
                                 buffer_bytes / sizeof(double) / std::max<std::size_t>(padded, 1))),
      buffer(room * padded, 0.0), gram(padded * padded, 0.0) {}

void GramTiles::add_products() {
    for (std::size_t a = 0; a < padded; a += tall)
        for (std::size_t b = a / wide * wide; b < padded; b += wide) {
            Double4 low[tall] = {}, high[tall] = {};
            const double *row = buffer.data();
            for (std::size_t i = 0; i < held; ++i, row += padded) {
                const Double4 left = load4(row + b), right = load4(row + b + 4);
                for (std::size_t k = 0; k < tall; ++k) {
                    low[k] += row[a + k] * left;
                    high[k] += row[a + k] * right;
                }
            }
            for (std::size_t k = 0; k < tall; ++k) {
                double *to = gram.data() + (a + k) * padded + b;
                for (std::size_t l = 0; l < 4; ++l) {
                    to[l] += low[k][l];
                    to[4 + l] += high[k][l];
                }
            }
        }
    held = 0;
}

void GramTiles::write(double *out) {
    add_products();
    for (std::size_t j = 0; j < width; ++j)
        for (std::size_t k = j; k < width; ++k)
            out[j * width + k] = out[k * width + j] = gram[j * padded + k];
}

} // namespace thetahat
