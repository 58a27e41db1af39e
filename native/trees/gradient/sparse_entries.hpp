// The columns of sparse rows by which a leaf may be split, and the weight of their entries in it.
//
// One side of a split along a sparse column holds only rows that have an entry in it, which must
// have enough weight. A column where they have not is looked at neither in the leaf nor below it,
// and its part of the leaf's histogram is undefined. Of two new leaves the entries of the smaller
// one are read; those of the larger one are the rest of their parent's.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "trees/gradient/histograms.hpp"

namespace thetahat::trees {

// What a leaf keeps; empty where rows are not sparse.
struct LeafEntries {
    std::vector<std::uint32_t> columns{}; // ascending
    std::vector<double> weights{};        // of the rows with an entry, for each of `columns`
};

class SparseEntries {
  public:
    // `weight` by row (null: 1 for every row); a side needs `least`.
    SparseEntries(const SparseCodes &codes, const double *weight, double least)
        : codes_(codes), weight_(weight), least_(least * (1.0 - 1e-9)), weights_(codes.d, 0.0) {}

    LeafEntries of_all(const std::uint32_t *rows, std::size_t n_rows) {
        LeafEntries all;
        all.columns.resize(codes_.d);
        std::iota(all.columns.begin(), all.columns.end(), std::uint32_t{0});
        all.weights.assign(codes_.d, 0.0);
        return split_off(rows, n_rows, all);
    }

    // The entries of some rows of a leaf, which then has those of its other rows.
    LeafEntries split_off(const std::uint32_t *rows, std::size_t n_rows, LeafEntries &leaf) {
        for_each_entry(rows, n_rows, [&](std::size_t row, std::uint32_t column) {
            weights_[column] += weight_ ? weight_[row] : 1.0;
        });
        LeafEntries own;
        std::size_t kept = 0;
        for (std::size_t k = 0; k < leaf.columns.size(); ++k) {
            const std::uint32_t j = leaf.columns[k];
            const double rest = leaf.weights[k] - weights_[j];
            if (weights_[j] >= least_) {
                own.columns.push_back(j);
                own.weights.push_back(weights_[j]);
            }
            leaf.columns[kept] = j;
            leaf.weights[kept] = rest;
            kept += rest >= least_;
        }
        leaf.columns.resize(kept);
        leaf.weights.resize(kept);
        for_each_entry(rows, n_rows,
                       [&](std::size_t, std::uint32_t column) { weights_[column] = 0.0; });
        return own;
    }

  private:
    template <typename Visit>
    void for_each_entry(const std::uint32_t *rows, std::size_t n_rows, const Visit &visit) const {
        for (std::size_t i = 0; i < n_rows; ++i)
            for (std::size_t k = codes_.row_starts[rows[i]]; k < codes_.row_starts[rows[i] + 1];
                 ++k)
                visit(rows[i], codes_.columns[k]);
    }

    const SparseCodes &codes_;
    const double *weight_;
    double least_;
    std::vector<double> weights_; // by column; 0 between calls
};

} // namespace thetahat::trees
