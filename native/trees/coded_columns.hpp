// Columns as codes 0, 1, 2, …, with what the codes mean in the units of the data.
//
// Codes keep the order of the values. A code is a bin of near values, or, when splits are exact,
// one value each: nothing else differs. The code after the last means that the value is missing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace thetahat::trees {

template <typename Code> struct CodedColumns {
    const Code *codes; // column after column
    std::size_t n_rows, n_columns;
    const std::uint32_t *n_codes;
    const std::int64_t *first;      // of each column, where its values begin below
    const double *lowest, *highest; // of each code, bounds of the values that have it
    const std::uint8_t *categorical;

    const Code *column(std::uint32_t j) const { return codes + j * n_rows; }
    double low(std::uint32_t j, std::uint32_t code) const { return lowest[first[j] + code]; }
    double high(std::uint32_t j, std::uint32_t code) const { return highest[first[j] + code]; }
};

// A number in [low, high), midway where rounding and infinities let it.
inline double midway(double low, double high) {
    const double middle = low + (high / 2 - low / 2);
    return middle >= low && middle < high ? middle : low;
}

} // namespace thetahat::trees
