// The rows of a growing tree in the memory of this process.
//
// Row numbers stay ascending within every leaf (stable partition).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "trees/gradient/gradient_categories.hpp"
#include "trees/gradient/gradient_rules.hpp"
#include "trees/gradient/histograms.hpp"
#include "trees/gradient/leaf_columns.hpp"
#include "trees/gradient/ordered_rows.hpp"
#include "trees/gradient/sparse_entries.hpp"

namespace thetahat::trees {

class LocalRows {
  public:
    static constexpr bool elsewhere = false;

    LocalRows(const CodeRows &codes, const Gradients &gradients, const PackedGradients &packed,
              std::vector<std::uint32_t> &order, const GradientRules &rules, int threads)
        : codes_(codes), gradients_(gradients), packed_(packed), order_(order),
          rows_(order, threads), columns_(codes, gradients, order), threads_(threads) {
        if (codes.sparse)
            entries_.emplace(*codes.sparse, rules.rows_by_curvature ? nullptr : gradients.weight,
                             rules.rows_by_curvature ? 1.0 : rules.min_rows);
    }

    template <typename Open> void open(Open &root) {
        root.begin = 0, root.end = order_.size();
        for (const std::uint32_t row : order_)
            root.state.total += packed_.words[row];
        columns_.begin(root.begin, root.end);
        if (entries_)
            root.state.entries = entries_->of_all(order_.data(), order_.size());
    }

    template <typename Open> double weight_of(const Open &leaf) const {
        if (!gradients_.weight)
            return static_cast<double>(leaf.n_rows());
        double sum = 0.0;
        for (std::size_t i = leaf.begin; i < leaf.end; ++i)
            sum += gradients_.weight[order_[i]];
        return sum;
    }

    // Whether the histogram of the left of two siblings is computed, and the other is the rest.
    template <typename Open> bool counts_left(const Open &left, const Open &right) const {
        return left.n_rows() <= right.n_rows();
    }

    template <typename Open> void count(Open &leaf, HistogramPool &pool) {
        const std::uint32_t *rows = order_.data() + leaf.begin;
        const std::int64_t *words = packed_.words.data();
        std::int64_t *sums = pool[leaf.state.histogram];
        const std::size_t n_rows = leaf.n_rows();
        if (!codes_.sparse)
            pool.build(codes_, rows, n_rows, words, threads_, sums);
        else if (n_rows == order_.size() && 2 * n_rows >= codes_.n)
            pool.build_of_all(*codes_.sparse, leaf.state.entries.columns, words, leaf.state.total,
                              threads_, sums);
        else
            pool.build(*codes_.sparse, leaf.state.entries.columns, rows, n_rows, words, threads_,
                       sums);
        if (!packed_.counts && !gradients_.weight) {
            std::int64_t largest = 1;
            for (std::size_t i = leaf.begin; i < leaf.end; ++i)
                largest = std::max(largest, hessian_of(packed_.words[order_[i]]));
            leaf.state.largest = largest;
        }
    }

    template <typename Open> LeafSquares squares(const Open &leaf) const {
        return squares_of(gradients_, order_, leaf.begin, leaf.end);
    }

    // The weights of the rows of a leaf by their codes in column j.
    template <typename Open>
    std::vector<double> weights(const Open &leaf, std::size_t j, std::size_t n_codes) const {
        return columns_.weights(j, n_codes, leaf.begin, leaf.end, leaf.state.weight);
    }

    // The entries of two new leaves, of which the larger one has those of their parent.
    template <typename Open> void divide_entries(Open &small, Open &large) {
        small.state.entries =
            entries_->split_off(order_.data() + small.begin, small.n_rows(), large.state.entries);
    }

    // The histogram of the larger of two new leaves, which has that of their parent.
    template <typename Open>
    void subtract(const Open &small, Open &large, HistogramPool &pool) const {
        pool.subtract(*codes_.sparse, large.state.entries.columns, order_.data() + small.begin,
                      small.n_rows(), packed_.words.data(), pool[large.state.histogram]);
    }

    // The rows whose code of column j is marked come first.
    template <typename Open>
    void part(const Open &parent, Open &left, Open &right, std::size_t j,
              const std::uint8_t *goes_left) {
        const std::uint8_t *column = columns_.codes_of(j, parent.begin, parent.end);
        const std::size_t middle = rows_.part(
            parent.begin, parent.end, [&](std::uint32_t row) { return goes_left[column[row]]; });
        left.begin = parent.begin, left.end = right.begin = middle, right.end = parent.end;
        columns_.own(right.begin, right.end);
    }

  private:
    const CodeRows &codes_;
    const Gradients &gradients_;
    const PackedGradients &packed_;
    const std::vector<std::uint32_t> &order_;
    OrderedRows rows_;
    LeafColumns columns_;
    std::optional<SparseEntries> entries_{}; // if rows are sparse
    int threads_;
};

} // namespace thetahat::trees
