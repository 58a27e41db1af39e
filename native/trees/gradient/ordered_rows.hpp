// The row numbers of all leaves; those of each leaf are contiguous and in ascending order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"

namespace thetahat::trees {

class OrderedRows {
  public:
    OrderedRows(std::vector<std::uint32_t> &rows, int threads)
        : rows_(rows), beside_(rows.size()), threads_(threads) {}

    // Of the rows in [begin, end) those with `goes_left(row)` first, each side in its old order;
    // where the right side begins. `goes_left` gives 0 or 1.
    template <typename GoesLeft>
    std::size_t part(std::size_t begin, std::size_t end, const GoesLeft &goes_left) {
        const std::size_t n = end - begin;
        const std::size_t chunks = threads_ > 1 ? (n + rows_per_chunk - 1) / rows_per_chunk : 1;
        const std::size_t length = chunks > 1 ? rows_per_chunk : n;
        std::uint32_t *rows = rows_.data() + begin, *beside = beside_.data() + begin;
        std::vector<std::size_t> lefts(chunks, 0);
        for_each_piece(chunks, threads_, [&](std::size_t chunk) {
            // Left rows move to the front of their chunk, right rows to a buffer.
            const std::size_t first = chunk * length, last = std::min(n, first + length);
            std::size_t l = first, r = first;
            for (std::size_t i = first; i < last; ++i) {
                const std::uint32_t row = rows[i];
                const std::size_t left = goes_left(row);
                rows[l] = row;
                beside[r] = row;
                l += left;
                r += 1 - left;
            }
            lefts[chunk] = l - first;
        });
        std::size_t middle = 0;
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            const std::size_t first = chunk * length;
            if (middle != first)
                std::copy(rows + first, rows + first + lefts[chunk], rows + middle);
            middle += lefts[chunk];
        }
        std::size_t to = middle;
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            const std::size_t first = chunk * length, last = std::min(n, first + length);
            const std::size_t rights = last - first - lefts[chunk];
            std::copy(beside + first, beside + first + rights, rows + to);
            to += rights;
        }
        return begin + middle;
    }

  private:
    static constexpr std::size_t rows_per_chunk = 1u << 14; // used if several threads partition

    std::vector<std::uint32_t> &rows_;
    std::vector<std::uint32_t> beside_;
    int threads_;
};

} // namespace thetahat::trees
