// The rows of a node by their codes in one column: groups of equal codes in ascending order.
//
// Rows are counted in a histogram over the codes. Only its occupied bins are read and cleared
// (occupied.hpp), so that the cost of a node is proportional to its rows. Rows with missing values
// are kept apart. Sums are made in the order of the rows, by one thread.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "trees/forest/columns/sparse_cells.hpp"
#include "trees/forest/occupied.hpp"
#include "trees/random.hpp"
#include "trees/row_statistics.hpp"

namespace thetahat::trees {

template <typename Code, typename Statistics> struct NodeGroups {
    using Stretch = typename Statistics::Stretch;

    std::size_t n = 0;                // groups
    std::vector<std::uint32_t> codes; // of each
    std::vector<double> sums;         // of each, `stride` numbers
    std::vector<std::size_t> rows;    // of each, if rows are counted; else 1
    std::vector<double> missing;      // the sums of rows without a value
    std::size_t n_missing = 0;

    NodeGroups(const Statistics &statistics, std::size_t most_codes, bool count_rows)
        : codes(most_codes), sums(most_codes * statistics.stride()), rows(most_codes),
          missing(statistics.stride()), statistics_(statistics), stride_(statistics.stride()),
          occupied_(most_codes), bins_(most_codes * stride_, 0.0),
          bin_rows_(count_rows ? most_codes : 0, 0u) {}

    // The same, of sparse cells: the sums of the zeros are those of the node, `all`, less the
    // others.
    void count(const Stretch &of, const std::vector<double> &all, std::uint32_t n_codes,
               const SparseCells<std::uint32_t> &cells) {
        double *bins = bins_.data();
        stored_.assign(stride_, 0.0);
        for (std::size_t k = 0; k < cells.n; ++k) {
            occupied_.mark(cells.cell[k]);
            statistics_.add(bins + cells.cell[k] * stride(), of[cells.place[k]]);
            statistics_.add(stored_.data(), of[cells.place[k]]);
        }
        if (cells.n_zeros > 0) {
            occupied_.mark(cells.zero);
            for (std::size_t k = 0; k < stride_; ++k)
                bins[cells.zero * stride_ + k] += all[k] - stored_[k];
        }
        if (!bin_rows_.empty()) {
            for (std::size_t k = 0; k < cells.n; ++k)
                ++bin_rows_[cells.cell[k]];
            if (cells.n_zeros > 0)
                bin_rows_[cells.zero] += static_cast<std::uint32_t>(cells.n_zeros);
        }
        n = n_missing = 0;
        occupied_.drain(n_codes + 1, [&](std::uint32_t at) { take_bin(at, at == n_codes); });
    }

    // The groups of a column whose codes of the node's rows are `code(i)`; n_codes means missing.
    template <typename CodeOf>
    void count(const Stretch &of, const std::vector<double> &, std::uint32_t n_codes,
               const CodeOf &code) {
        double *bins = bins_.data();
        const bool crowded = of.size() >= n_codes; // then reading every bin is faster
        for (std::size_t i = 0; i < of.size(); ++i) {
            const std::uint32_t at = code(i);
            if (!crowded)
                occupied_.mark(at);
            statistics_.add(bins + at * stride(), of[i]);
        }
        if (!bin_rows_.empty())
            for (std::size_t i = 0; i < of.size(); ++i)
                ++bin_rows_[code(i)];
        n = n_missing = 0;
        const auto take = [&](std::uint32_t at) { take_bin(at, at == n_codes); };
        if (!crowded)
            occupied_.drain(n_codes + 1, take);
        else
            for (std::uint32_t at = 0; at <= n_codes; ++at)
                if (bins[at * stride()] > 0.0)
                    take(at);
    }

    // By the share of sum k in the weight.
    void sort_by_share(std::size_t k) {
        const auto share = [&](std::size_t g) {
            return sums[g * stride_ + 1 + k] / sums[g * stride_];
        };
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return share(a) != share(b) ? share(a) < share(b) : codes[a] < codes[b];
        });
        arrange();
    }

    // Whether sum k is 0 in every group, as that of a class without rows is.
    bool lacks(std::size_t k) const {
        for (std::size_t g = 0; g < n; ++g)
            if (sums[g * stride_ + 1 + k] != 0.0)
                return false;
        return true;
    }

    // A compile-time constant if there is one sum.
    std::size_t stride() const {
        if constexpr (std::is_same_v<Statistics, OneSum>)
            return OneSum::stride();
        else
            return stride_;
    }

  private:
    // Make a bin a group, and empty it.
    void take_bin(std::uint32_t at, bool is_missing) {
        double *bin = bins_.data() + at * stride();
        double *to = is_missing ? missing.data() : sums.data() + n * stride();
        const std::size_t counted = bin_rows_.empty() ? 1 : bin_rows_[at];
        for (std::size_t k = 0; k < stride(); ++k) {
            to[k] = bin[k];
            bin[k] = 0.0;
        }
        if (!bin_rows_.empty())
            bin_rows_[at] = 0;
        if (is_missing) {
            n_missing = counted;
            return;
        }
        codes[n] = at;
        rows[n++] = counted;
    }

    // Memory for the other order is kept: there may be as many codes as rows.
    void arrange() {
        other_codes_.resize(codes.size());
        other_rows_.resize(rows.size());
        other_sums_.resize(sums.size());
        for (std::size_t g = 0; g < n; ++g) {
            other_codes_[g] = codes[order_[g]];
            other_rows_[g] = rows[order_[g]];
            std::copy_n(sums.data() + order_[g] * stride_, stride_,
                        other_sums_.data() + g * stride_);
        }
        codes.swap(other_codes_);
        rows.swap(other_rows_);
        sums.swap(other_sums_);
    }

    const Statistics &statistics_;
    std::size_t stride_;
    Occupied<sizeof(Code) == 1> occupied_;
    std::vector<double> bins_, stored_{};
    std::vector<std::uint32_t> bin_rows_;
    std::vector<std::size_t> order_{}, other_rows_{};
    std::vector<std::uint32_t> other_codes_{};
    std::vector<double> other_sums_{};
};

} // namespace thetahat::trees
