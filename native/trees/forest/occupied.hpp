// The codes of a column that occur in a node, in ascending order, at a cost of O(rows + occupied).
//
// There is one bit per code and (unless codes are narrow) one bit per word of bits, so that one bit
// covers 64·64 codes. A histogram of any width is read and cleared without visiting its empty bins,
// so the cost is proportional to the rows, for nodes of two rows and columns of a million values
// alike.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace thetahat::trees {

template <bool Narrow> class Occupied {
  public:
    explicit Occupied(std::size_t n_codes)
        : words_(n_codes / 64 + 1), summary_(Narrow ? 0 : n_codes / 4096 + 1) {}

    void mark(std::uint32_t code) {
        words_[code >> 6] |= std::uint64_t{1} << (code & 63);
        if constexpr (!Narrow)
            summary_[code >> 12] |= std::uint64_t{1} << (code >> 6 & 63);
    }
    // visit(code) for each marked code < n_codes in ascending order; leaves none marked.
    template <typename Visit> void drain(std::size_t n_codes, const Visit &visit) {
        if constexpr (Narrow) {
            for (std::size_t at = 0; at <= (n_codes - 1) / 64; ++at)
                drain_word(at, visit);
        } else {
            for (std::size_t s = 0; s <= (n_codes - 1) / 4096; ++s) {
                for (std::uint64_t filled = summary_[s]; filled; filled &= filled - 1)
                    drain_word(s * 64 + static_cast<std::size_t>(std::countr_zero(filled)), visit);
                summary_[s] = 0;
            }
        }
    }

  private:
    template <typename Visit> void drain_word(std::size_t at, const Visit &visit) {
        for (std::uint64_t bits = words_[at]; bits; bits &= bits - 1)
            visit(static_cast<std::uint32_t>(at * 64 +
                                             static_cast<std::size_t>(std::countr_zero(bits))));
        words_[at] = 0;
    }

    std::vector<std::uint64_t> words_, summary_;
};

} // namespace thetahat::trees
