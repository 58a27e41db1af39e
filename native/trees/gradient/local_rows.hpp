// The rows of a growing tree in the memory of this process.
//
// Row numbers stay ascending within every leaf (stable partition).
#pragma once

#include <algorithm>
#include <vector>

#include "trees/gradient/gradient_categories.hpp"
#include "trees/gradient/histograms.hpp"
#include "trees/gradient/leaf_columns.hpp"
#include "trees/gradient/ordered_rows.hpp"

namespace thetahat::trees {

class LocalRows {
  public:
    static constexpr bool elsewhere = false;

    LocalRows(const CodeRows &codes, const Gradients &gradients, const PackedGradients &packed,
              std::vector<std::uint32_t> &order, int threads)
        : codes_(codes), gradients_(gradients), packed_(packed), order_(order),
          rows_(order, threads), columns_(codes, gradients, order), threads_(threads) {}

    template <typename Open> void open(Open &root) {
        root.begin = 0, root.end = order_.size();
        for (const std::uint32_t row : order_)
            root.state.total += packed_.words[row];
        columns_.begin(root.begin, root.end);
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
        pool.build(codes_, order_.data() + leaf.begin, leaf.n_rows(), packed_.words.data(),
                   threads_, leaf.state.alive, pool[leaf.state.histogram]);
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

    // Of every sparse column, the weight of the rows of a leaf that have an entry in it.
    template <typename Open> std::vector<double> stored_weights(const Open &leaf) const {
        const SparseCodes &sparse = *codes_.sparse;
        std::vector<double> stored(sparse.d, 0.0);
        for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
            const std::size_t row = order_[i];
            for (std::size_t k = sparse.row_starts[row]; k < sparse.row_starts[row + 1]; ++k)
                stored[sparse.columns[k]] += gradients_.w(row);
        }
        return stored;
    }

    // The same of two new leaves, from that of their parent, if it is known: only the rows of the
    // smaller leaf are read.
    template <typename Open> void divide_stored(Open &parent, Open &left, Open &right) const {
        if (parent.state.stored.empty())
            return;
        Open &small = counts_left(left, right) ? left : right;
        std::vector<double> &rest = (&small == &left ? right : left).state.stored;
        small.state.stored = stored_weights(small);
        rest.swap(parent.state.stored);
        for (std::size_t j = 0; j < rest.size(); ++j)
            rest[j] -= small.state.stored[j];
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
    int threads_;
};

} // namespace thetahat::trees
