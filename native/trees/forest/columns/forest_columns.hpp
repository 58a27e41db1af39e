// The columns that the trees of a forest read: codes, or the values themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/views.hpp"
#include "trees/coded_columns.hpp"
#include "trees/forest/columns/sparse_cells.hpp"
#include "trees/forest/columns/value_columns.hpp"

namespace thetahat::trees {

struct ForestColumns {
    std::size_t n_rows = 0, n_columns = 0;
    std::vector<std::uint32_t> n_codes{};
    std::vector<std::uint8_t> categorical{};
    std::vector<double> values{};       // where the columns are values
    std::vector<std::uint32_t> ranks{}; // where they are ranks
    nb::object bins = nb::none();       // keeps the array of codes alive, if they are bins
    nb::object x = nb::none();          // keeps the rows alive in their original layout
    nb::object ends = nb::none();       // keeps the ends of the codes alive, if there are no rows

    std::unique_ptr<SparseData> sparse{};

    std::variant<ValueColumns, CodedColumns<std::uint8_t>, CodedColumns<std::uint32_t>,
                 SparseColumns<std::uint32_t>, SparseColumns<double>>
        view{};
};

} // namespace thetahat::trees
