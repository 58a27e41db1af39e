// Products of many rows with a factor of few columns, in registers.
//
//     add_row_products      out += X·B,   X (n, d), B (d, k)
//     add_column_products   out += Xᵀ·W,  X (n, d), W (n, k)
//
// A product with few columns is bound by loads in a general matrix product. Here a group of rows
// (or columns) of X times all columns of a tile of the factor is summed in registers, so that an
// entry of X is loaded once per tile. Sums run over chunks of at most CHUNK terms, chunk after
// chunk: the order depends on the shapes alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace thetahat {

namespace skinny {

#if defined(__AVX__)
constexpr std::size_t BYTES = 32, GROUP = 2;
#else
constexpr std::size_t BYTES = 16, GROUP = 4;
#endif
constexpr std::size_t CHUNK = 256, COLUMN_CHUNK = 32, MOST_PARTS = 6;

template <typename T> struct Lanes {
    typedef T type __attribute__((vector_size(BYTES)));
    static constexpr std::size_t count = BYTES / sizeof(T);
};

template <typename T> inline typename Lanes<T>::type load(const T *from) {
    typename Lanes<T>::type some;
    std::memcpy(&some, from, sizeof(some));
    return some;
}

// Cuts k columns into tiles of equal width, at most MOST_PARTS registers each.
template <typename T> struct Tiles {
    std::size_t k, parts, width, count;

    explicit Tiles(std::size_t columns) : k(columns) {
        const std::size_t registers = (k + Lanes<T>::count - 1) / Lanes<T>::count;
        const std::size_t tiles = (registers + MOST_PARTS - 1) / MOST_PARTS;
        parts = tiles ? (registers + tiles - 1) / tiles : 1;
        width = parts * Lanes<T>::count;
        count = (k + width - 1) / width;
    }
    std::size_t used(std::size_t tile) const { return std::min(width, k - tile * width); }
    // Rows [0, rows) of `from` (rows, k), tile after tile, filled up with zeros.
    void pack(const T *from, std::size_t rows, T *to) const {
        for (std::size_t tile = 0; tile < count; ++tile)
            for (std::size_t i = 0; i < rows; ++i, to += width) {
                const std::size_t some = used(tile);
                std::copy_n(from + i * k + tile * width, some, to);
                std::fill(to + some, to + width, T(0));
            }
    }
};

// out[g] += Σ_t x[g·across + t·along] · packed[t] for the lines g of a group.
template <typename T, std::size_t PARTS, std::size_t LINES>
void add_group(const T *x, std::size_t across, std::size_t along, std::size_t terms,
               const T *packed, std::size_t used, T *out, std::size_t out_step) {
    using Lane = typename Lanes<T>::type;
    constexpr std::size_t L = Lanes<T>::count;
    Lane sums[LINES][PARTS] = {};
    for (std::size_t t = 0; t < terms; ++t, packed += PARTS * L) {
        Lane factor[PARTS];
#pragma GCC unroll 8
        for (std::size_t p = 0; p < PARTS; ++p)
            factor[p] = load<T>(packed + p * L);
#pragma GCC unroll 8
        for (std::size_t g = 0; g < LINES; ++g) {
            const T entry = x[g * across + t * along];
#pragma GCC unroll 8
            for (std::size_t p = 0; p < PARTS; ++p)
                sums[g][p] += entry * factor[p];
        }
    }
    for (std::size_t g = 0; g < LINES; ++g) {
        T found[PARTS * L];
        for (std::size_t p = 0; p < PARTS; ++p)
            std::memcpy(found + p * L, &sums[g][p], sizeof(sums[g][p]));
        for (std::size_t s = 0; s < used; ++s)
            out[g * out_step + s] += found[s];
    }
}

template <typename T, std::size_t PARTS>
void add_lines(const T *x, std::size_t lines, std::size_t across, std::size_t along,
               std::size_t terms, const T *packed, std::size_t used, T *out, std::size_t step) {
    constexpr std::size_t LINES = PARTS <= 2 ? 2 * GROUP : GROUP;
    std::size_t g = 0;
    for (; g + LINES <= lines; g += LINES)
        add_group<T, PARTS, LINES>(x + g * across, across, along, terms, packed, used,
                                   out + g * step, step);
    for (; g < lines; ++g)
        add_group<T, PARTS, 1>(x + g * across, across, along, terms, packed, used, out + g * step,
                               step);
}

template <typename T> auto lines_of(std::size_t parts) {
    switch (parts) {
    case 1:
        return &add_lines<T, 1>;
    case 2:
        return &add_lines<T, 2>;
    case 3:
        return &add_lines<T, 3>;
    case 4:
        return &add_lines<T, 4>;
    case 5:
        return &add_lines<T, 5>;
    default:
        return &add_lines<T, 6>;
    }
}

// Both products: sums over `terms`, in chunks, of entries x[line·across + term·along].
template <typename T>
void add_products(const T *x, std::size_t lines, std::size_t across, std::size_t along,
                  std::size_t terms, std::size_t chunk, const T *factor, std::size_t k, T *out) {
    if (!k)
        return;
    const Tiles<T> tiles(k);
    const auto add = lines_of<T>(tiles.parts);
    std::vector<T> packed(tiles.count * tiles.width * std::min(terms, chunk));
    for (std::size_t start = 0; start < terms; start += chunk) {
        const std::size_t some = std::min(chunk, terms - start);
        tiles.pack(factor + start * k, some, packed.data());
        for (std::size_t tile = 0; tile < tiles.count; ++tile)
            add(x + start * along, lines, across, along, some,
                packed.data() + tile * some * tiles.width, tiles.used(tile),
                out + tile * tiles.width, k);
    }
}

} // namespace skinny

template <typename T>
void add_row_products(const T *x, std::size_t n, std::size_t d, const T *b, std::size_t k, T *out) {
    skinny::add_products(x, n, d, std::size_t(1), d, skinny::CHUNK, b, k, out);
}

template <typename T>
void add_column_products(const T *x, std::size_t n, std::size_t d, const T *w, std::size_t k,
                         T *out) {
    skinny::add_products(x, d, std::size_t(1), d, n, skinny::COLUMN_CHUNK, w, k, out);
}

} // namespace thetahat
