// Histograms of packed gradients: for every column and code, the sum of the words of a leaf's rows.
//
// Rows are read in ascending order, the codes of each row from one or two cache lines. Parts of the
// rows are distributed over threads with a histogram each, which are then added; wide rows are also
// divided into groups of columns. Sums are of integers, so every partition of the work gives the
// same bits, and the histogram of a leaf is exactly that of its parent minus that of its sibling.
//
// Of sparse rows only the entries other than zero are read, and only some columns counted. The sum
// of the zeros of a column is the sum of all rows minus those of its other codes: the same integers
// as with dense rows. A leaf of most rows is counted column by column, others row by row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/parallel.hpp"

namespace thetahat::trees {

constexpr std::size_t columns_at_once = 64; // columns whose histograms fit in the cache of a core
constexpr std::size_t rows_ahead = 16;      // rows to prefetch ahead
constexpr std::size_t updates_per_thread = 1u << 16; // the smallest number worth a thread

// Codes of the values other than zero.
struct SparseCodes {
    std::size_t n = 0, d = 0;
    std::vector<std::size_t> offsets{}; // of the columns in a histogram, d + 1
    std::vector<std::uint8_t> zero{};   // the code of zero, by column
    std::vector<std::size_t> row_starts{};
    std::vector<std::uint32_t> slots{};   // by row: offset of the column + code
    std::vector<std::uint32_t> columns{}; // by row: the column
    std::vector<std::size_t> column_starts{};
    std::vector<std::uint32_t> rows{}; // by column
    std::vector<std::uint8_t> codes{};
};

struct CodeRows {
    const std::uint8_t *by_row; // n × width
    std::size_t width;
    const std::uint8_t *by_column; // d × n, or null: codes are then read from by_row
    std::size_t n, d;
    const SparseCodes *sparse = nullptr; // instead of by_row and by_column

    std::uint8_t at(std::size_t i, std::size_t j) const {
        return by_column ? by_column[j * n + i] : by_row[i * width + j];
    }
};

// sums[j·stride + code of column j] += word, for the columns [first, last) of some rows.
inline void accumulate(const CodeRows &codes, const std::uint32_t *rows, std::size_t n_rows,
                       const std::int64_t *words, std::size_t first, std::size_t last,
                       std::size_t stride, std::int64_t *sums) {
    const std::size_t d = last - first;
    std::int64_t *const begin = sums + first * stride;
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (i + rows_ahead < n_rows) {
            const std::size_t ahead = rows[i + rows_ahead];
            __builtin_prefetch(codes.by_row + ahead * codes.width + first);
            __builtin_prefetch(words + ahead);
        }
        const std::uint8_t *code = codes.by_row + rows[i] * codes.width + first;
        const std::int64_t word = words[rows[i]];
        std::int64_t *at = begin;
        std::size_t j = 0;
        for (; j + 8 <= d; j += 8, at += 8 * stride) {
            // Eight codes are loaded before the first sum is stored.
            const std::size_t c0 = code[j], c1 = code[j + 1], c2 = code[j + 2], c3 = code[j + 3],
                              c4 = code[j + 4], c5 = code[j + 5], c6 = code[j + 6],
                              c7 = code[j + 7];
            at[c0] += word;
            at[stride + c1] += word;
            at[2 * stride + c2] += word;
            at[3 * stride + c3] += word;
            at[4 * stride + c4] += word;
            at[5 * stride + c5] += word;
            at[6 * stride + c6] += word;
            at[7 * stride + c7] += word;
        }
        for (; j < d; ++j, at += stride)
            at[code[j]] += word;
    }
}

// Histograms of the open leaves, in one size, reused when a leaf is done.
class HistogramPool {
  public:
    HistogramPool(const CodeRows &codes, std::size_t stride)
        : size_(codes.sparse ? codes.sparse->offsets.back() : codes.d * stride), stride_(stride),
          offsets_(codes.sparse ? codes.sparse->offsets.data() : nullptr),
          wanted_(codes.sparse ? codes.d : 0, 0) {}

    // Where the sums of a column begin; there are at least as many as it has codes.
    std::size_t offset(std::size_t j) const { return offsets_ ? offsets_[j] : j * stride_; }
    std::size_t stride() const { return stride_; }
    std::size_t size() const { return size_; }
    std::size_t in_use() const { return held_.size() - free_.size(); }
    std::int64_t *operator[](std::int32_t number) {
        return held_[static_cast<std::size_t>(number)].get();
    }

    std::int32_t take() {
        if (free_.empty()) {
            // Not cleared, so that memory which no column of a leaf needs is never touched.
            held_.push_back(std::make_unique_for_overwrite<std::int64_t[]>(size_));
            return static_cast<std::int32_t>(held_.size()) - 1;
        }
        const std::int32_t number = free_.back();
        free_.pop_back();
        return number;
    }
    void give_back(std::int32_t &number) {
        if (number >= 0)
            free_.push_back(number);
        number = -1;
    }

    // The histogram of some rows, in `sums`.
    void build(const CodeRows &codes, const std::uint32_t *rows, std::size_t n_rows,
               const std::int64_t *words, int threads, std::int64_t *sums) {
        const std::size_t groups = (codes.d + columns_at_once - 1) / columns_at_once;
        const std::size_t work = n_rows * codes.d;
        std::size_t parts = 1;
        if (threads > 1 && work > 2 * updates_per_thread && groups < 2)
            parts = static_cast<std::size_t>(threads);
        while (spare_.size() + 1 < parts)
            spare_.emplace_back(size_);
        const int used = work > 2 * updates_per_thread ? threads : 1;
        for_each_piece(parts * groups, used, [&](std::size_t piece) {
            const std::size_t part = piece / groups, first = piece % groups * columns_at_once;
            const std::size_t last = std::min(codes.d, first + columns_at_once);
            std::int64_t *own = part ? spare_[part - 1].data() : sums;
            std::fill(own + first * stride_, own + last * stride_, 0);
            const std::size_t from = n_rows * part / parts, to = n_rows * (part + 1) / parts;
            accumulate(codes, rows + from, to - from, words, first, last, stride_, own);
        });
        for (std::size_t part = 1; part < parts; ++part)
            for (std::size_t k = 0; k < size_; ++k)
                sums[k] += spare_[part - 1][k];
    }

    // The histogram of some sparse columns of some rows.
    void build(const SparseCodes &codes, const std::vector<std::uint32_t> &columns,
               const std::uint32_t *rows, std::size_t n_rows, const std::int64_t *words,
               int threads, std::int64_t *sums) {
        const std::size_t work = n_rows * (codes.slots.size() / codes.n + 1);
        const std::size_t parts = work > 2 * updates_per_thread + size_ ? std::max(threads, 1) : 1;
        while (spare_.size() + 1 < parts)
            spare_.emplace_back(size_);
        want(columns, 1);
        std::vector<std::int64_t> totals(parts, 0);
        for_each_piece(parts, threads, [&](std::size_t part) {
            std::int64_t *own = part ? spare_[part - 1].data() : sums, total = 0;
            for (const std::uint32_t j : columns)
                std::fill(own + codes.offsets[j], own + codes.offsets[j + 1], 0);
            for (std::size_t i = n_rows * part / parts; i < n_rows * (part + 1) / parts; ++i) {
                const std::size_t row = rows[i];
                const std::int64_t word = words[row];
                total += word;
                for (std::size_t k = codes.row_starts[row]; k < codes.row_starts[row + 1]; ++k)
                    if (wanted_[codes.columns[k]])
                        own[codes.slots[k]] += word;
            }
            totals[part] = total;
        });
        want(columns, 0);
        for (std::size_t part = 1; part < parts; ++part)
            totals[0] += totals[part];
        for (const std::uint32_t j : columns) {
            std::int64_t stored = 0;
            for (std::size_t k = codes.offsets[j]; k < codes.offsets[j + 1]; ++k) {
                for (std::size_t part = 1; part < parts; ++part)
                    sums[k] += spare_[part - 1][k];
                stored += sums[k];
            }
            sums[codes.offsets[j] + codes.zero[j]] += totals[0] - stored;
        }
    }

    // The same of all rows whose word is not 0; `total` is the sum of the words.
    void build_of_all(const SparseCodes &codes, const std::vector<std::uint32_t> &columns,
                      const std::int64_t *words, std::int64_t total, int threads,
                      std::int64_t *sums) const {
        const std::size_t pieces =
            codes.rows.size() > 2 * updates_per_thread && threads > 1 ? 8u * threads : 1u;
        for_each_piece(pieces, threads, [&](std::size_t piece) {
            for (std::size_t c = columns.size() * piece / pieces;
                 c < columns.size() * (piece + 1) / pieces; ++c) {
                const std::uint32_t j = columns[c];
                std::int64_t *own = sums + codes.offsets[j], stored = 0;
                std::fill(own, sums + codes.offsets[j + 1], 0);
                for (std::size_t k = codes.column_starts[j]; k < codes.column_starts[j + 1]; ++k) {
                    const std::int64_t word = words[codes.rows[k]];
                    own[codes.codes[k]] += word;
                    stored += word;
                }
                own[codes.zero[j]] += total - stored;
            }
        });
    }

    // From the histogram of some sparse columns, that of some of its rows.
    void subtract(const SparseCodes &codes, const std::vector<std::uint32_t> &columns,
                  const std::uint32_t *rows, std::size_t n_rows, const std::int64_t *words,
                  std::int64_t *sums) {
        want(columns, 1);
        std::int64_t total = 0;
        for (std::size_t i = 0; i < n_rows; ++i) {
            const std::size_t row = rows[i];
            const std::int64_t word = words[row];
            total += word;
            for (std::size_t k = codes.row_starts[row]; k < codes.row_starts[row + 1]; ++k)
                if (const std::uint32_t j = codes.columns[k]; wanted_[j]) {
                    sums[codes.slots[k]] -= word;
                    sums[codes.offsets[j] + codes.zero[j]] += word;
                }
        }
        want(columns, 0);
        for (const std::uint32_t j : columns)
            sums[codes.offsets[j] + codes.zero[j]] -= total;
    }

  private:
    void want(const std::vector<std::uint32_t> &columns, std::uint8_t wanted) {
        for (const std::uint32_t j : columns)
            wanted_[j] = wanted;
    }

    std::size_t size_, stride_;
    const std::size_t *offsets_;                        // of sparse columns
    std::vector<std::unique_ptr<std::int64_t[]>> held_; // each of `size_` words
    std::vector<std::vector<std::int64_t>> spare_;
    std::vector<std::int32_t> free_;
    std::vector<std::uint8_t> wanted_; // by sparse column; 0 between calls
};

} // namespace thetahat::trees
