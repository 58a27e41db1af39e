// The products of `GramTiles`, in tiles of 4 × 8 entries at or above the diagonal. This file is
// compiled with fused multiply-adds where the machine has them; no decision depends on the last
// bits of these sums.

#include "linalg/gram_tiles.hpp"

#include <algorithm>
#include <cstring>

namespace thetahat {

namespace {

constexpr std::size_t tall = 4, wide = 8;
// Numbers of one register. Arrays of wider vectors are kept in memory by compilers, and a product
// then takes four to ten times as long.
#ifdef __AVX__
constexpr std::size_t lanes = 4;
#else
constexpr std::size_t lanes = 2;
#endif
constexpr std::size_t parts = wide / lanes;
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));
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
            Lanes sums[tall][parts] = {};
            const double *row = buffer.data();
            for (std::size_t i = 0; i < held; ++i, row += padded)
                for (std::size_t p = 0; p < parts; ++p) {
                    Lanes right;
                    std::memcpy(&right, row + b + p * lanes, sizeof(Lanes));
                    for (std::size_t k = 0; k < tall; ++k)
                        sums[k][p] += row[a + k] * right;
                }
            for (std::size_t k = 0; k < tall; ++k)
                for (std::size_t p = 0; p < parts; ++p)
                    for (std::size_t l = 0; l < lanes; ++l)
                        gram[(a + k) * padded + b + p * lanes + l] += sums[k][p][l];
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
