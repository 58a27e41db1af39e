// Ranks of codes within few rows, without sorting: one bit per code marks those that occur, and
// reading the bits in order numbers them.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/forest/occupied.hpp"

namespace thetahat::trees {

class LocalRanks {
  public:
    explicit LocalRanks(std::size_t most_codes) : occupied_(most_codes), rank_(most_codes) {}

    // ranks[i] = the number of different codes below code(i) among those of n rows; the number of
    // codes, `missing`, becomes the number of ranks, which is returned.
    template <typename Code, typename Rank>
    std::uint32_t of(std::size_t n, std::uint32_t missing, const Code &code, Rank *ranks) {
        for (std::size_t i = 0; i < n; ++i)
            occupied_.mark(code(i));
        std::uint32_t n_ranks = 0;
        occupied_.drain(missing + std::size_t{1}, [&](std::uint32_t at) {
            rank_[at] = n_ranks;
            n_ranks += at != missing;
        });
        for (std::size_t i = 0; i < n; ++i)
            ranks[i] = static_cast<Rank>(rank_[code(i)]);
        return n_ranks;
    }

  private:
    Occupied<false> occupied_;
    std::vector<std::uint32_t> rank_;
};

} // namespace thetahat::trees
