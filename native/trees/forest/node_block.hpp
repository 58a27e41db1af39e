// The cells of the rows of a node, column by column, copied so that they fit in the cache.
//
// Columns define for their blocks
//
//     using LocalCell = …;             the type of a cell in the block
//     ranked                           whether cells are ranked among the rows of the block
//     by_row                           whether cells are read from the given rows, not the columns
//     block_sizes                      sizes of nested blocks, from large to small
//     bool fits_blocks() const;        whether the categories fit into such cells
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
