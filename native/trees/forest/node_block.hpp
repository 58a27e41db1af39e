// The cells of a node's rows, column by column, copied to where a near cache holds them.
//
// Columns say of their blocks
//
//     using LocalCell = …;             what a cell becomes
//     ranked                           it is ranked among the block's rows
//     by_row                           it is read from the rows as given, not from the columns
//     block_sizes                      of blocks within blocks, from large to small
//     bool fits_blocks() const;        whether its categories are such cells
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thetahat::trees {

struct BlockSize {
    std::size_t rows, bytes; // at most
};

template <typename Cell> struct NodeBlock {
    std::vector<std::uint32_t> rows{};    // their numbers in the data
    std::vector<Cell> cells{};            // of each column in turn
    std::vector<std::uint32_t> n_codes{}; // of each column, within the block

    const Cell *column(std::size_t k) const { return cells.data() + k * rows.size(); }
    Cell *column(std::size_t k) { return cells.data() + k * rows.size(); }

    void resize(std::size_t n_rows, std::size_t n_columns) {
        rows.resize(n_rows);
        cells.resize(n_rows * n_columns);
        n_codes.resize(n_columns);
    }
};

} // namespace thetahat::trees
