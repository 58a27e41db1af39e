// The drawn rows of an isolation tree, column by column: copied from dense rows, or read from the
// entries of sparse ones, whose memory is that of these entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace thetahat::trees {

// The smallest and the largest value of some rows of a column, and how many have none.
struct Extent {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    std::size_t missing = 0;

    void add(double x) {
        missing += x != x;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    bool varies() const { return low < high; }
    bool splits() const { return varies() || (missing > 0 && low <= high); }
};

class DenseColumns {
  public:
    template <typename T>
    DenseColumns(const T *x, std::size_t d, const std::uint32_t *rows, std::size_t n,
                 const std::uint32_t *names, std::size_t k)
        : n(n), names(names, names + k), values(n * k) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < k; ++j)
                values[j * n + i] = static_cast<double>(x[rows[i] * d + names[j]]);
    }

    std::size_t n_rows() const { return n; }
    std::size_t n_columns() const { return names.size(); }
    std::uint32_t name(std::size_t j) const { return names[j]; }
    // The values of the rows, until the next call.
    const double *column(std::size_t j) { return values.data() + j * n; }
    Extent extent(std::size_t j) const {
        Extent found;
        for (std::size_t i = 0; i < n; ++i)
            found.add(values[j * n + i]);
        return found;
    }

  private:
    std::size_t n;
    std::vector<std::uint32_t> names;
    std::vector<double> values;
};

// Rows in CSR form, without repeated entries.
template <typename T, typename I> struct SparseRows {
    const T *data;
    const I *indices, *ends;
};

// Columns without an entry are constant and left out.
class SparseColumns {
  public:
    template <typename T, typename I>
    SparseColumns(const SparseRows<T, I> &x, const std::uint32_t *rows, std::size_t n,
                  const std::uint32_t *allowed, std::size_t k, std::size_t n_columns)
        : written(n, 0.0) {
        const bool all = k == n_columns;
        for (std::size_t i = 0; i < n; ++i)
            for (I at = x.ends[rows[i]]; at < x.ends[rows[i] + 1]; ++at) {
                const auto name = static_cast<std::uint32_t>(x.indices[at]);
                if (all || std::binary_search(allowed, allowed + k, name))
                    cells.push_back(
                        {name, static_cast<std::uint32_t>(i), static_cast<double>(x.data[at])});
            }
        sort_by_column();
        for (std::size_t at = 0; at < cells.size(); ++at)
            if (at == 0 || cells[at].column != cells[at - 1].column)
                begins.push_back(at);
        begins.push_back(cells.size());
    }

    std::size_t n_rows() const { return written.size(); }
    std::size_t n_columns() const { return begins.size() - 1; }
    std::uint32_t name(std::size_t j) const { return cells[begins[j]].column; }
    // The values of the rows, until the next call.
    const double *column(std::size_t j) {
        for (std::size_t at = begins[last]; at < begins[std::min(last + 1, n_columns())]; ++at)
            written[cells[at].row] = 0.0;
        for (std::size_t at = begins[j]; at < begins[j + 1]; ++at)
            written[cells[at].row] = cells[at].value;
        last = j;
        return written.data();
    }
    Extent extent(std::size_t j) const {
        Extent found;
        for (std::size_t at = begins[j]; at < begins[j + 1]; ++at)
            found.add(cells[at].value);
        if (begins[j + 1] - begins[j] < n_rows())
            found.add(0.0);
        return found;
    }

  private:
    struct Cell {
        std::uint32_t column, row;
        double value;
    };
    // Digit by digit from the last; the rows within a column stay in their order.
    void sort_by_column() {
        constexpr unsigned bits = 11;
        constexpr std::uint32_t mask = (1u << bits) - 1;
        std::uint32_t largest = 0;
        for (const Cell &cell : cells)
            largest = std::max(largest, cell.column);
        std::vector<Cell> sorted(cells.size());
        for (unsigned shift = 0; shift < 32 && largest >> shift > 0; shift += bits) {
            std::vector<std::size_t> ends(mask + 2, 0);
            for (const Cell &cell : cells)
                ++ends[(cell.column >> shift & mask) + 1];
            for (std::size_t digit = 0; digit < mask; ++digit)
                ends[digit + 1] += ends[digit];
            for (const Cell &cell : cells)
                sorted[ends[cell.column >> shift & mask]++] = cell;
            cells.swap(sorted);
        }
    }

    std::vector<Cell> cells;
    std::vector<std::size_t> begins;
    std::vector<double> written; // one column, zeros between its entries
    std::size_t last = 0;        // the column that is written
};

} // namespace thetahat::trees
