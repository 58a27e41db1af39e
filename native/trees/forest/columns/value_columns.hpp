// Columns as values, with NaN for missing ones; categories by their codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/forest/node_block.hpp"
#include "trees/given_rows.hpp"
#include "trees/node_sums.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

struct ValueColumns {
    using LocalCell = double;
    static constexpr bool ranked = false, by_row = true, sparse = false;
    static constexpr std::array<BlockSize, 2> block_sizes = {
        {{8192, 1 << 21}, {std::numeric_limits<std::size_t>::max(), 1 << 15}}};

    const double *values; // column after column
    std::size_t n_rows, n_columns;
    const std::uint32_t *n_codes; // number of categories of each column, if it has any
    const std::uint8_t *categorical;
    GivenRows given;
    std::vector<std::uint8_t> has_missing{}; // of each column

    const double *column(std::uint32_t j) const { return values + j * n_rows; }
    bool fits_blocks() const { return true; }

    // use(goes_left), where goes_left(cell) is whether a split sends the cell left.
    template <typename Use>
    static void with_rule(const Split &split, std::uint32_t, const Use &use) {
        if (split.categorical)
            use([&](double x) {
                return x == x ? split.left.holds(static_cast<std::uint32_t>(x))
                              : split.missing_left;
            });
        else if (split.missing_left)
            use([t = split.threshold](double x) { return !(x > t); });
        else
            use([t = split.threshold](double x) { return x <= t; });
    }

    // A candidate already has its threshold.
    template <typename CellOf, typename RowOf>
    double threshold(std::uint32_t, const Candidate &best, std::size_t, const CellOf &,
                     const RowOf &) const {
        return best.threshold;
    }
};

} // namespace thetahat::trees
