// Columns as codes 0, 1, 2, …, with the values that belong to them.
//
// Codes have the order of the values. A code is a bin of similar values or, with exact splits, a
// single value; nothing else differs. The code after the last one means a missing value.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "trees/forest/node_block.hpp"
#include "trees/given_rows.hpp"
#include "trees/node_sums.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

// A number in [low, high), the midpoint unless rounding or infinities prevent it.
inline double midway(double low, double high) {
    const double middle = low + (high / 2 - low / 2);
    return middle >= low && middle < high ? middle : low;
}

// Ranks that 16 bits hold, and one code more for missing values.
constexpr std::size_t most_ranks = 0xFFFF;

// By how many bits the codes of a column are shortened, so that there are few groups of them.
inline std::uint32_t group_shift(std::uint32_t n_codes) {
    constexpr std::uint32_t most = 1 << 14;
    std::uint32_t shift = 0;
    while (n_codes >> shift >= most)
        ++shift;
    return shift;
}

template <typename Code_> struct CodedColumns {
    using Code = Code_;
    // There are few bins, but many ranks. Fewer ranks occur in the rows of a block: numbered
    // again within the block they need half the bytes, and histograms over them stay in the cache.
    static constexpr bool ranked = sizeof(Code) > 1, by_row = false, sparse = false;
    using LocalCell = std::conditional_t<ranked, std::uint16_t, Code>;
    static constexpr auto block_sizes = [] {
        constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
        if constexpr (ranked)
            return std::array<BlockSize, 3>{
                {{most_ranks, 1 << 23}, {8192, 1 << 21}, {any, 1 << 15}}};
        else
            return std::array<BlockSize, 1>{{{any, 1 << 15}}};
    }();

    const Code *codes; // column after column
    std::size_t n_rows, n_columns;
    const std::uint32_t *n_codes;
    const std::uint8_t *categorical;
    GivenRows given;
    // Without the given rows, between which values each code lies: the ends of code c of column j
    // are lower[j·width + c] and upper[j·width + c].
    const double *lower = nullptr, *upper = nullptr;
    std::size_t width = 0;
    bool random = false; // whether splits are drawn at random; needs the ends of the codes

    const Code *column(std::uint32_t j) const { return codes + j * n_rows; }
    // use(cell, n_codes) with neighbouring codes of column j merged, so that there are few.
    template <typename Use>
    void with_groups(std::uint32_t j, const std::uint32_t *number, const Use &use) const {
        const std::uint32_t shift = group_shift(n_codes[j]);
        const std::uint32_t n_groups = (n_codes[j] >> shift) + 1;
        use(
            [=, column = column(j), missing = n_codes[j]](std::size_t i) {
                const std::uint32_t code = column[number[i]];
                return code == missing ? n_groups : code >> shift;
            },
            n_groups);
    }

    // Whether the categories have codes that a block can hold.
    bool fits_blocks() const {
        for (std::size_t j = 0; j < n_columns; ++j)
            if (categorical[j] && n_codes[j] > std::numeric_limits<LocalCell>::max())
                return false;
        return true;
    }

    // use(goes_left), where goes_left(cell) is whether a split sends the cell left.
    template <typename Use>
    static void with_rule(const Split &split, std::uint32_t missing, const Use &use) {
        if (split.categorical)
            use([&](std::uint32_t code) {
                return code == missing ? split.missing_left : split.left.holds(code);
            });
        else if (split.missing_left)
            use([=, last = split.code](std::uint32_t code) {
                return code <= last || code == missing;
            });
        else
            use([last = split.code](std::uint32_t code) { return code <= last; });
    }

    // Midway between the values of the node's rows on both sides, or between the ends of the codes.
    template <typename CellOf, typename RowOf>
    double threshold(std::uint32_t j, const Candidate &best, std::size_t n, const CellOf &cell,
                     const RowOf &row) const {
        if (std::isinf(best.threshold)) // only missing values on the right
            return best.threshold;
        if (upper)
            return midway(upper[j * width + best.last_left], lower[j * width + best.first_right]);
        double below = -std::numeric_limits<double>::infinity(), above = -below;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t code = cell(i);
            if (code == best.last_left)
                below = std::max(below, given.at(row(i), j));
            else if (code == best.first_right)
                above = std::min(above, given.at(row(i), j));
        }
        return midway(below, above);
    }
};

} // namespace thetahat::trees
