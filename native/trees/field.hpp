// The rows of a growing tree; those of each node are one range [begin, end).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trees/exact/sorted_columns.hpp"
#include "trees/exact/sparse_scan.hpp"

namespace thetahat::trees {

// Data shared by the engines of a tree and of its subtrees, which write disjoint ranges of it.
struct Field {
    const SortedColumns &columns;
    std::vector<std::uint32_t> rows{};     // of the nodes, [begin, end) each
    std::unique_ptr<OrderedRow[]> order{}; // of the nodes, per column; the root's stay in `columns`
    std::vector<SparseEntry> sparse{};     // of the nodes, where the columns are sparse
    std::vector<std::uint8_t> goes_left{}; // by row
    OrderedRow *own = nullptr; // the order of `columns` itself, if no other tree needs it
    bool root_in_columns = true;
    double weight = 0.0; // of the root

    explicit Field(const SortedColumns &columns) : columns(columns) {}
    OrderedRow *column(std::size_t j) { return (own ? own : order.get()) + j * columns.n_rows; }
};

} // namespace thetahat::trees
