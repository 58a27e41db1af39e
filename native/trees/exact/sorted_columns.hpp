// The columns of X for trees with exact splits: sorted once and used by all trees.
//
// `order` contains the rows of every column in the order of their values (rows with the same value
// in their own order, row_order.hpp); the values themselves are read from the given rows.
// Columns for random splits and sparse columns are represented by the ranks of their distinct
// values instead: code(x) = number of distinct values < x; missing values (NaN) have the code after
// the last. `codes` contains the codes in the order of the rows. Of `sparse` columns `entries`
// contains the values other than zero alone, and `zero` the code of the rows that have no entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.hpp"
#include "trees/exact/row_order.hpp"
#include "trees/given_rows.hpp"

namespace thetahat::trees {

struct Entry {
    std::uint32_t row, code;
};

struct SortedColumns {
    std::size_t n_rows = 0, n_columns = 0;
    bool ordered = true, sparse = false;
    std::vector<OrderedRow> order{};           // n_columns × n_rows, if ordered
    std::vector<std::uint32_t> codes{};        // n_columns × n_rows, if not
    std::vector<Entry> entries{};              // column after column, if sparse
    std::vector<std::uint32_t> n_values{};     // by column, if there are codes
    std::vector<std::vector<double>> values{}; // by column, if there are codes
    GivenRows given{};
    nb::object x = nb::none(); // keeps the given rows alive
    std::vector<std::uint8_t> categorical{};
    std::vector<std::size_t> starts{}; // of the columns among the entries, if sparse
    std::vector<std::uint32_t> zero{}; // by column, if sparse

    const OrderedRow *column(std::size_t j) const { return order.data() + j * n_rows; }
    std::span<const Entry> stored(std::size_t j) const {
        return {entries.data() + starts[j], starts[j + 1] - starts[j]};
    }
    const std::uint32_t *codes_of(std::size_t j) const { return codes.data() + j * n_rows; }
    std::uint32_t missing(std::size_t j) const { return n_values[j]; }
    double value(std::size_t j, OrderedRow row) const {
        return given.at(row.number(), static_cast<std::uint32_t>(j)) + 0.0;
    }
    std::uint32_t category(std::size_t j, OrderedRow row) const {
        return static_cast<std::uint32_t>(value(j, row));
    }
};

// Sort every column of x; with categories given as whole numbers. Ordered columns read their values
// from x, which they keep; without `keep_values`, codes come with the values of categories alone.
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
