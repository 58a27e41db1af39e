// The rows of X as they were passed: float32 or float64, in any memory layout.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace thetahat::trees {

struct GivenRows {
    const void *data = nullptr;
    bool is_double = true;
    std::int64_t down = 0, across = 0; // strides

    double at(std::uint32_t i, std::uint32_t j) const {
        const std::int64_t place = i * down + j * across;
        return is_double ? static_cast<const double *>(data)[place]
                         : static_cast<double>(static_cast<const float *>(data)[place]);
    }

    // Some columns of some rows, column after column. A few rows at a time, so that the memory of a
    // row is fetched once and a column is written a cache line at a time.
    template <typename Cell>
    void copy(const std::vector<std::uint32_t> &rows, const std::vector<std::uint32_t> &columns,
              Cell *to) const {
        if (is_double)
            copy_from(static_cast<const double *>(data), rows, columns, to);
        else
            copy_from(static_cast<const float *>(data), rows, columns, to);
    }

  private:
    template <typename T, typename Cell>
    void copy_from(const T *from, const std::vector<std::uint32_t> &rows,
                   const std::vector<std::uint32_t> &columns, Cell *to) const {
        constexpr std::size_t together = 8, ahead = 16, line = 64 / sizeof(T);
        const std::size_t n = rows.size(), width = across == 1 ? columns.size() + line : 0;
        const T *row[together];
        for (std::size_t first = 0; first < n; first += together) {
            const std::size_t some = std::min(together, n - first);
            for (std::size_t i = first + ahead; i < std::min(n, first + ahead + together); ++i)
                for (std::size_t j = 0; j < width; j += line)
                    __builtin_prefetch(from + rows[i] * down + j);
            for (std::size_t i = 0; i < some; ++i)
                row[i] = from + rows[first + i] * down;
            for (std::size_t k = 0; k < columns.size(); ++k) {
                const std::int64_t place = columns[k] * across;
                Cell *column = to + k * n + first;
                for (std::size_t i = 0; i < some; ++i)
                    column[i] = static_cast<Cell>(row[i][place]);
            }
        }
    }
};

} // namespace thetahat::trees
