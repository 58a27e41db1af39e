// Columns of which only the values other than zero are stored, as the trees of a forest read them.
//
// A node gathers the stored cells of a column from one of two places. A large node reads the whole
// column and keeps the entries of its own rows: `position` says where a row is among the rows of
// all nodes. As soon as the entries of a node's rows are fewer than those of the columns it tries,
// they are copied, ordered by column, code and row, and partitioned with the rows from then on. A
// node so costs O(min(entries of its rows, entries of the columns tried)).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "trees/coded_columns.hpp"
#include "trees/exact/sorted_columns.hpp"
#include "trees/exact/sparse_scan.hpp"
#include "trees/forest/columns/value_columns.hpp"

namespace thetahat::trees {

// The stored cells of one column in a node, in the order of their codes; the other rows are zero.
template <typename Cell_> struct SparseCells {
    using Cell = Cell_;

    const std::uint32_t *place; // of the row, within the node
    const std::uint32_t *code;  // of the value
    const Cell *cell;           // code, bin or value
    std::size_t n, n_zeros;     // stored rows, and the others
    Cell zero;
};

struct SparseData {
    SortedColumns sorted{};
    std::vector<std::size_t> row_starts{};
    std::vector<SparseEntry> by_row{};
    std::vector<std::vector<std::uint8_t>> bins{}; // by column and code; empty: codes are ranks
    std::vector<std::uint8_t> has_missing{};       // of each column
};

template <typename Cell> struct SparseColumns {
    using LocalCell = Cell;
    using Code = std::uint32_t;
    static constexpr bool ranked = false, by_row = false, sparse = true;
    static constexpr std::array<BlockSize, 0> block_sizes{};

    const SparseData *data;
    std::size_t n_rows, n_columns;
    const std::uint32_t *n_codes; // 0 where cells are values
    const std::uint8_t *categorical;
    const std::uint8_t *has_missing;

    bool fits_blocks() const { return true; }

    // use(cell_of, n_codes), where cell_of(code) is the cell that belongs to a code.
    template <typename Use> void with_coding(std::uint32_t j, bool exact, const Use &use) const {
        const std::uint32_t missing = data->sorted.missing(j);
        if constexpr (std::is_same_v<Cell, double>)
            use(
                [values = data->sorted.values[j].data(), missing](std::uint32_t code) {
                    return code == missing ? std::numeric_limits<double>::quiet_NaN()
                                           : values[code];
                },
                0u);
        else if (!data->bins.empty())
            use(
                [bins = data->bins[j].data(), missing, after = n_codes[j]](std::uint32_t code) {
                    return code == missing ? after : std::uint32_t{bins[code]};
                },
                n_codes[j]);
        else {
            const std::uint32_t shift = exact ? 0 : group_shift(missing);
            const std::uint32_t after = exact ? missing : (missing >> shift) + 1;
            use([=](std::uint32_t code) { return code == missing ? after : code >> shift; }, after);
        }
    }

    template <typename Use>
    static void with_rule(const Split &split, std::uint32_t missing, const Use &use) {
        if constexpr (std::is_same_v<Cell, double>)
            ValueColumns::with_rule(split, missing, use);
        else
            CodedColumns<std::uint32_t>::with_rule(split, missing, use);
    }

    // Midway between the values of the node's rows on both sides.
    template <typename RowOf>
    double threshold(std::uint32_t j, const Candidate &best, std::size_t,
                     const SparseCells<Cell> &cells, const RowOf &) const {
        if (std::is_same_v<Cell, double> || std::isinf(best.threshold))
            return best.threshold;
        double below = -std::numeric_limits<double>::infinity(), above = -below;
        const auto take = [&](Cell cell, double value) {
            if (cell == best.last_left)
                below = std::max(below, value);
            else if (cell == best.first_right)
                above = std::min(above, value);
        };
        for (std::size_t k = 0; k < cells.n; ++k)
            if (cells.code[k] != data->sorted.missing(j))
                take(cells.cell[k], data->sorted.values[j][cells.code[k]]);
        if (cells.n_zeros > 0)
            take(cells.zero, 0.0);
        return midway(below, above);
    }
};

// The entries of a node: a range of `SparseNodes`, or those of the columns.
struct EntryRange {
    std::size_t first = 0, last = 0;
    bool copied = false;
};

// The stored entries of the nodes of one tree.
template <typename Cell> class SparseNodes {
  public:
    explicit SparseNodes(const SparseColumns<Cell> &columns) : columns_(columns) {}

    void start(const std::vector<std::uint32_t> &rows) {
        position_.assign(columns_.n_rows, nowhere);
        node_ = 0;
        entries_.clear();
        place(rows, 0, rows.size());
    }

    // The rows [begin, end) have changed their order.
    void place(const std::vector<std::uint32_t> &rows, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            position_[rows[i]] = static_cast<std::uint32_t>(i);
    }

    // Copy the entries of the rows [begin, end) if they are fewer than those of `n_tried` columns.
    void copy_if_fewer(const std::vector<std::uint32_t> &rows, std::size_t begin, std::size_t end,
                       std::size_t n_tried, EntryRange &range) {
        if (range.copied || static_cast<double>(end - begin) * columns_.n_columns >
                                static_cast<double>(n_tried) * columns_.n_rows)
            return;
        const SparseData &data = *columns_.data;
        range = {entries_.size(), 0, true};
        for (std::size_t i = begin; i < end; ++i)
            entries_.insert(
                entries_.end(),
                data.by_row.begin() + static_cast<std::ptrdiff_t>(data.row_starts[rows[i]]),
                data.by_row.begin() + static_cast<std::ptrdiff_t>(data.row_starts[rows[i] + 1]));
        range.last = entries_.size();
        std::sort(entries_.begin() + static_cast<std::ptrdiff_t>(range.first), entries_.end(),
                  [](const SparseEntry &a, const SparseEntry &b) {
                      return a.column != b.column ? a.column < b.column
                             : a.code != b.code   ? a.code < b.code
                                                  : a.row < b.row;
                  });
    }

    // Note the columns in which the rows of a node have entries, for `all_zero`.
    void note_columns(const EntryRange &range) {
        ++node_;
        if (node_ == 1)
            last_node_.assign(columns_.n_columns, 0);
        if (range.copied)
            for (std::size_t k = range.first; k < range.last; ++k)
                last_node_[entries_[k].column] = node_;
    }

    // Whether column j is known to be zero in the rows of the node that was noted last.
    bool all_zero(std::uint32_t j, const EntryRange &range) const {
        return range.copied && last_node_[j] != node_;
    }

    // use(cells, n_codes) with the cells of the rows [begin, end) in column j.
    template <typename Use>
    void with_cells(std::uint32_t j, std::size_t begin, std::size_t end, const EntryRange &range,
                    bool exact, const Use &use) {
        columns_.with_coding(j, exact, [&](const auto &cell_of, std::uint32_t n_codes) {
            places_.clear();
            codes_.clear();
            cells_.clear();
            const auto take = [&](std::uint32_t row, std::uint32_t code) {
                const std::uint32_t at = position_[row];
                if (at < begin || at >= end)
                    return;
                places_.push_back(static_cast<std::uint32_t>(at - begin));
                codes_.push_back(code);
                cells_.push_back(static_cast<Cell>(cell_of(code)));
            };
            if (range.copied) {
                const SparseEntry *first = entries_.data() + range.first,
                                  *last = entries_.data() + range.last;
                const auto before = [](const SparseEntry &of, std::uint32_t column) {
                    return of.column < column;
                };
                for (const SparseEntry *entry = std::lower_bound(first, last, j, before);
                     entry != last && entry->column == j; ++entry)
                    take(entry->row, entry->code);
            } else
                for (const Entry &entry : columns_.data->sorted.stored(j))
                    take(entry.row, entry.code);
            const std::size_t n = places_.size(), n_zeros = end - begin - n;
            use(SparseCells<Cell>{places_.data(), codes_.data(), cells_.data(), n, n_zeros,
                                  n_zeros
                                      ? static_cast<Cell>(cell_of(columns_.data->sorted.zero[j]))
                                      : Cell{}},
                n_codes);
        });
    }

    // The entries of rows that go left first; `sides` by place within the node at `begin`.
    void part(const EntryRange &range, std::size_t begin, const std::vector<std::uint8_t> &sides,
              EntryRange &left, EntryRange &right) {
        left = right = range;
        if (!range.copied)
            return;
        later_.clear();
        std::size_t to = range.first;
        for (std::size_t k = range.first; k < range.last; ++k) {
            const SparseEntry entry = entries_[k];
            if (sides[position_[entry.row] - begin])
                entries_[to++] = entry;
            else
                later_.push_back(entry);
        }
        std::copy(later_.begin(), later_.end(), entries_.begin() + static_cast<std::ptrdiff_t>(to));
        left.last = right.first = to;
    }

  private:
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

    const SparseColumns<Cell> &columns_;
    std::vector<std::uint32_t> position_{}; // by row, among the rows of all nodes
    std::vector<SparseEntry> entries_{}, later_{};
    std::vector<std::uint32_t> last_node_{}; // of each column, the last node with entries there
    std::uint32_t node_ = 0;
    std::vector<std::uint32_t> places_{}, codes_{};
    std::vector<Cell> cells_{};
};

} // namespace thetahat::trees
