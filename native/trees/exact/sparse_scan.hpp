// Splits of a node along one column of which only the values other than zero are stored.
//
// The entries of a node are one stretch, ordered by column, code and row; its rows without an entry
// in a column have the value 0 there. In the order of the codes a column therefore reads
//
//     stored values < 0,   the rows without an entry ("the zeros"),   stored values > 0,   missing
//
// and the zeros move to the left in one step: the sums of the left side are those of the node minus
// those of the stored rows that stay on the right. A column costs O(its entries in the node).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trees/exact/random_rules.hpp"
#include "trees/exact/scan.hpp"

namespace thetahat::trees {

struct SparseEntry {
    std::uint32_t column, row, code;
};

// The entries of one column in a node of n rows.
class SparseColumn {
  public:
    SparseColumn(std::span<const SparseEntry> entries, std::size_t n, std::uint32_t zero,
                 std::uint32_t missing)
        : entries_(entries), n_(n), zero_(zero) {
        while_code(entries, [=](std::uint32_t code) { return code < zero; }, below_);
        while_code(entries, [=](std::uint32_t code) { return code != missing; }, present_);
    }

    std::size_t n_rows() const { return n_; }
    std::size_t n_zeros() const { return n_ - entries_.size(); }
    std::size_t n_missing() const { return entries_.size() - present_; }
    // Codes in ascending order, the zeros as one of them.
    std::size_t n_items() const { return present_ + has_zeros(); }
    bool is_zeros(std::size_t item) const { return has_zeros() && item == below_; }
    std::uint32_t code(std::size_t item) const {
        return is_zeros(item) ? zero_ : entries_[stored_before(item)].code;
    }
    std::size_t n_rows(std::size_t item) const { return is_zeros(item) ? n_zeros() : 1; }
    std::uint32_t row(std::size_t item) const { return entries_[stored_before(item)].row; }
    bool constant() const {
        const std::size_t items = n_items();
        return n_missing() > 0 ? items == 0 : items < 2 || code(0) == code(items - 1);
    }

    std::span<const SparseEntry> missing() const { return entries_.subspan(present_); }
    // The stored rows from an item on, with the missing ones or without.
    std::span<const SparseEntry> from(std::size_t item, bool with_missing) const {
        const std::size_t first = stored_before(item);
        return entries_.subspan(first, (with_missing ? entries_.size() : present_) - first);
    }

  private:
    template <typename While>
    static void while_code(std::span<const SparseEntry> entries, const While &holds,
                           std::size_t &n) {
        n = static_cast<std::size_t>(
            std::partition_point(entries.begin(), entries.end(),
                                 [&](const SparseEntry &entry) { return holds(entry.code); }) -
            entries.begin());
    }
    bool has_zeros() const { return entries_.size() < n_; }
    std::size_t stored_before(std::size_t item) const {
        return item - (has_zeros() && item > below_);
    }

    std::span<const SparseEntry> entries_;
    std::size_t n_;
    std::uint32_t zero_;
    std::size_t below_ = 0, present_ = 0; // entries below zero, and those with a value
};

// The entries of rows that go left first, each side in its old order; returns how many they are.
inline std::size_t part_entries(SparseEntry *entries, std::size_t n, const std::uint8_t *goes_left,
                                std::vector<SparseEntry> &kept) {
    kept.resize(std::max(kept.size(), n));
    std::size_t n_left = 0, n_right = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const SparseEntry entry = entries[i];
        const bool is_left = goes_left[entry.row];
        entries[n_left] = entry;
        kept[n_right] = entry;
        n_left += is_left;
        n_right += !is_left;
    }
    std::copy_n(kept.data(), n_right, entries + n_left);
    return n_left;
}

// As `scan_values`; found.place numbers the last item on the left.
template <typename Running>
Found scan_sparse(Running running, const SparseColumn &column, const Limits &limits, double all,
                  double rounding) {
    Best<Running> best(running, limits, all, rounding);
    const std::size_t items = column.n_items(), n = column.n_rows();
    for (const bool missing_left : {false, true}) {
        if (missing_left && column.n_missing() == 0)
            break;
        running.start();
        std::size_t count = 0;
        if (missing_left)
            for (const SparseEntry &entry : column.missing()) {
                running.add(entry.row);
                ++count;
            }
        for (std::size_t item = 0; item < items; ++item) {
            if (column.is_zeros(item))
                running.all_but(column.from(item + 1, !missing_left));
            else
                running.add(column.row(item));
            count += column.n_rows(item);
            const bool last = item + 1 == items;
            if (last ? missing_left || column.n_missing() == 0
                     : column.code(item) == column.code(item + 1))
                continue;
            if (n - count < limits.min_count)
                break;
            if (count >= limits.min_count)
                best.offer(item, missing_left);
        }
    }
    return best.found;
}

} // namespace thetahat::trees
