// The nearest of all centres for several rows at once, one row in each lane of a vector register.
//
// Every lane adds the squares of its row in the order of squared_distance, and centres come in
// their order, so that squares and the first of equal centres are those of one row alone, bit for
// bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cluster/known_width.hpp"
#include "core/simd4.hpp"

namespace thetahat::cluster {

// What a search found for one row: its centre, and the square to the best of the others.
struct Best {
    double square = std::numeric_limits<double>::infinity(), other = square;
    std::size_t centre = 0;

    void offer(double at, std::size_t j) {
        if (at < square || (at == square && j < centre)) {
            other = square;
            square = at;
            centre = j;
        } else if (at < other)
            other = at;
    }
};

constexpr std::size_t registers = 2; // they do not wait for each other
constexpr std::size_t rows_at_once = registers * wide_size;

template <std::size_t known>
inline Wide squared_distances(const double *tile, const double *centre, std::size_t width) {
    const std::size_t d = known > 0 ? known : width;
    Wide part[8] = {};
    std::size_t j = 0;
    for (; j + 8 <= d; j += 8)
        for (std::size_t l = 0; l < 8; ++l) {
            const Wide gap = load_wide(tile + (j + l) * rows_at_once) - centre[j + l];
            part[l] += gap * gap;
        }
    Wide rest = {};
    for (; j < d; ++j) {
        const Wide gap = load_wide(tile + j * rows_at_once) - centre[j];
        rest += gap * gap;
    }
    if (d < 8)
        return rest;
    const Wide even = (part[0] + part[2]) + (part[4] + part[6]);
    const Wide odd = (part[1] + part[3]) + (part[5] + part[7]);
    return (even + odd) + rest;
}

// `tile` holds the columns one after the other, each with one entry per row.
template <std::size_t known>
inline void search_tile(const double *tile, const double *centres, std::size_t k, std::size_t d,
                        Best *found) {
    const Wide none = std::numeric_limits<double>::infinity() - Wide{};
    Wide first[registers], second[registers];
    WideMask place[registers] = {};
    for (std::size_t g = 0; g < registers; ++g)
        first[g] = second[g] = none;
    for (std::size_t c = 0; c < k; ++c)
        for (std::size_t g = 0; g < registers; ++g) {
            const Wide at = squared_distances<known>(tile + g * wide_size, centres + c * d, d);
            const WideMask nearer = at < first[g];
            const Wide farther = nearer ? first[g] : at;
            second[g] = farther < second[g] ? farther : second[g];
            first[g] = nearer ? at : first[g];
            place[g] = nearer ? static_cast<std::int64_t>(c) - WideMask{} : place[g];
        }
    for (std::size_t g = 0; g < registers; ++g)
        for (std::size_t l = 0; l < wide_size; ++l)
            found[g * wide_size + l] =
                Best{first[g][l], second[g][l], static_cast<std::size_t>(place[g][l])};
}

// Calls keep(row, best) for each of the `count` rows.
template <std::size_t known, typename T, typename Keep>
void search_rows_of(const T *x, std::size_t d, const std::int32_t *which, std::size_t count,
                    const double *centres, std::size_t k, const Keep &keep) {
    std::vector<double> tile(d * rows_at_once);
    Best found[rows_at_once];
    for (std::size_t start = 0; start < count; start += rows_at_once) {
        const std::size_t m = count - start < rows_at_once ? count - start : rows_at_once;
        for (std::size_t l = 0; l < m; ++l) {
            const T *row = x + static_cast<std::size_t>(which[start + l]) * d;
            for (std::size_t j = 0; j < d; ++j)
                tile[j * rows_at_once + l] = static_cast<double>(row[j]);
        }
        search_tile<known>(tile.data(), centres, k, d, found);
        for (std::size_t l = 0; l < m; ++l)
            keep(static_cast<std::size_t>(which[start + l]), found[l]);
    }
}

template <typename T, typename Keep>
void search_rows(const T *x, std::size_t d, const std::int32_t *which, std::size_t count,
                 const double *centres, std::size_t k, const Keep &keep) {
    with_known_width(d, [&](auto known) {
        search_rows_of<decltype(known)::value>(x, d, which, count, centres, k, keep);
    });
}

} // namespace thetahat::cluster
