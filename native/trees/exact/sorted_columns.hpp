// The columns of X for trees with exact splits: sorted once and used by all trees.
//
// A column is represented by the ranks of its distinct values: code(x) = number of distinct values
// < x; missing values (NaN) have the code after the last. `entries` contains the rows of every
// column in the order of their codes (rows with the same code in their own order), `codes` the
// codes in the order of the rows; a handle contains one of the two. Of `sparse` columns `entries`
// contains the values other than zero alone, and `zero` the code of the rows that have no entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.hpp"
#include "trees/given_rows.hpp"

namespace thetahat::trees {

struct Entry {
    std::uint32_t row, code;
};

struct SortedColumns {
    std::size_t n_rows = 0, n_columns = 0;
    bool ordered = true, sparse = false;
    std::vector<Entry> entries{};              // n_columns × n_rows, if ordered
    std::vector<std::uint32_t> codes{};        // n_columns × n_rows, if not
    std::vector<std::uint32_t> n_values{};     // by column
    std::vector<std::vector<double>> values{}; // by column; not kept: read from the given rows
    GivenRows given{};
    nb::object x = nb::none(); // keeps the given rows alive
    std::vector<std::uint8_t> categorical{};
    std::vector<std::size_t> starts{}; // of the columns among the entries, if sparse
    std::vector<std::uint32_t> zero{}; // by column, if sparse

    const Entry *column(std::size_t j) const { return entries.data() + j * n_rows; }
    std::span<const Entry> stored(std::size_t j) const {
        return {entries.data() + starts[j], starts[j + 1] - starts[j]};
    }
    const std::uint32_t *codes_of(std::size_t j) const { return codes.data() + j * n_rows; }
    std::uint32_t missing(std::size_t j) const { return n_values[j]; }
    double value(std::size_t j, const Entry &entry) const {
        return values[j].empty() ? given.at(entry.row, static_cast<std::uint32_t>(j)) + 0.0
                                 : values[j][entry.code];
    }
};

// Sort every column of x; with categories given as whole numbers. Without `keep_values`, the values
// of other columns are not copied.
template <typename T>
SortedColumns sort_columns(const StridedMatrix<const T> &x,
                           const Vector<const std::uint8_t> &categorical, bool ordered, int threads,
                           bool keep_values);

// The same for columns of which only the values other than zero are given: those of column j at
// [starts[j], starts[j + 1]), with ascending rows.
template <typename T>
SortedColumns sparse_columns(Vector<const std::int64_t> starts, Vector<const std::uint32_t> rows,
                             Vector<const T> data, std::size_t n_rows, bool ordered, int threads);

} // namespace thetahat::trees
