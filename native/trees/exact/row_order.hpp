// The rows of a column in the order of their values, four bytes for each.
//
// A stretch is the rows of one node in one column. Splits need no values, only whether neighbours
// have the same one, so each row is marked if its value is not that of the row before it. The first
// row of a stretch has no row before it: its mark tells whether the stretch has several values.
// Missing values come last and count as one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace thetahat::trees {

struct OrderedRow {
    static constexpr std::uint32_t new_value = 1u << 31, no_value = 1u << 30;

    std::uint32_t bits;

    std::uint32_t number() const { return bits & (no_value - 1); }
    bool differs() const { return bits & new_value; } // from the row before it
    bool missing() const { return bits & no_value; }
};

inline bool constant(const OrderedRow *stretch) { return !stretch[0].differs(); }

// Where the rows without a value begin.
inline std::size_t count_present(const OrderedRow *stretch, std::size_t n) {
    if (!stretch[n - 1].missing())
        return n;
    return static_cast<std::size_t>(
        std::partition_point(stretch, stretch + n, [](OrderedRow row) { return !row.missing(); }) -
        stretch);
}

// Makes a stretch of some rows of another one, which are offered in their order. There must be
// memory for all rows that are offered; it may be that of the other stretch.
class StretchWriter {
  public:
    explicit StretchWriter(OrderedRow *to) : to(to) {}

    // Without branches, because the side of a row is unpredictable.
    void offer(OrderedRow row, bool taken) {
        mark |= row.bits & OrderedRow::new_value;
        to[n] = {row.bits | mark};
        n += taken;
        mark &= static_cast<std::uint32_t>(taken) - 1u;
    }
    std::size_t finish() {
        if (n == 0)
            return 0;
        std::size_t last = n - 1; // from the end, where most columns soon have another value
        while (last > 0 && !to[last].differs())
            --last;
        to[0].bits &= ~OrderedRow::new_value;
        to[0].bits |= last > 0 ? OrderedRow::new_value : 0;
        return n;
    }

  private:
    OrderedRow *to;
    std::size_t n = 0;
    std::uint32_t mark = OrderedRow::new_value;
};

// The rows of a stretch that go left first, each side in its old order; `to` may be `from`.
inline void part_rows(const OrderedRow *from, std::size_t n, const std::uint8_t *goes_left,
                      OrderedRow *to, std::vector<OrderedRow> &kept) {
    kept.resize(std::max(kept.size(), n));
    StretchWriter left(to), right(kept.data());
    for (std::size_t i = 0; i < n; ++i) {
        const OrderedRow row = from[i];
        const bool is_left = goes_left[row.number()];
        left.offer(row, is_left);
        right.offer(row, !is_left);
    }
    const std::size_t n_left = left.finish();
    std::copy_n(kept.data(), right.finish(), to + n_left);
}

} // namespace thetahat::trees
