// Splits drawn at random: a threshold uniform between the least and the greatest value of a column
// in the node, or a random half of the categories; rows without a value go to a random side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/exact/random_rules.hpp"
#include "trees/exact/sorted_columns.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

// Working memory of one thread: the codes of the rows of a node, and the rows that go left.
struct DrawnRows {
    std::vector<std::uint32_t> codes{}, rows{};
    std::size_t n_left = 0;
};

// The random threshold of an ordered column, whose codes lie between `least` and `most`.
inline void place_threshold(Random &random, const std::vector<double> &values, std::uint32_t least,
                            std::uint32_t most, Split &split) {
    if (least == most) {
        split.code = most;
        split.threshold = std::numeric_limits<double>::infinity();
        return;
    }
    const auto begin = values.begin();
    split.threshold = draw_threshold(random, values[least], values[most]);
    split.code = static_cast<std::uint32_t>(
        std::upper_bound(begin + least, begin + most, split.threshold) - begin - 1);
}

// A random split of the rows along column j, which is not constant there; `drawn` holds the rows
// that go left.
inline Split draw_split(Random &random, const SortedColumns &columns, std::size_t j,
                        const std::uint32_t *rows, std::size_t n, DrawnRows &drawn) {
    const std::uint32_t *column = columns.codes_of(j);
    const std::uint32_t missing = columns.missing(j);
    const std::vector<double> &values = columns.values[j];
    drawn.codes.resize(std::max(drawn.codes.size(), n));
    drawn.rows.resize(drawn.codes.size());
    std::uint32_t *codes = drawn.codes.data(), least = missing, most = 0;
    std::size_t absent = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t code = codes[i] = column[rows[i]];
        least = std::min(least, code);
        most = code == missing ? most : std::max(most, code);
        absent += code == missing;
    }
    Split split;
    split.feature = static_cast<std::int32_t>(j);
    split.categorical = columns.categorical[j];
    // If all values are equal and some are missing, the split separates the missing ones.
    split.missing_left = absent > 0 && least < most && random.next() & 1;
    if (split.categorical) {
        std::vector<std::uint8_t> seen(missing, 0);
        for (std::size_t i = 0; i < n; ++i)
            if (codes[i] != missing)
                seen[codes[i]] = 1;
        std::vector<std::uint32_t> categories;
        for (std::uint32_t code = 0; code < missing; ++code)
            if (seen[code])
                categories.push_back(static_cast<std::uint32_t>(values[code]));
        split.left = draw_categories(random, std::move(categories));
        split.code = least;
    } else
        place_threshold(random, values, least, most, split);
    // The side of a row is unpredictable, so rows are gathered without a branch and added later.
    drawn.n_left = 0;
    const auto gather = [&](const auto &goes_left) {
        for (std::size_t i = 0; i < n; ++i) {
            drawn.rows[drawn.n_left] = rows[i];
            drawn.n_left += codes[i] == missing ? split.missing_left : goes_left(codes[i]);
        }
    };
    if (split.categorical)
        gather([&](std::uint32_t code) {
            return split.left.holds(static_cast<std::uint32_t>(values[code]));
        });
    else
        gather([&](std::uint32_t code) { return code <= split.code; });
    return split;
}

} // namespace thetahat::trees
