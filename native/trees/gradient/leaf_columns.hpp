// One column in the rows of a leaf: its codes, and the weights of the rows by code.
//
// Of sparse columns only the entries are stored. The rows of a leaf then know where it begins among
// all rows, which no other leaf does, so that an entry is known to belong to it.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/gradient/histograms.hpp"
#include "trees/gradient/packed_gradients.hpp"

namespace thetahat::trees {

class LeafColumns {
  public:
    LeafColumns(const CodeRows &codes, const Gradients &gradients,
                const std::vector<std::uint32_t> &order)
        : codes_(codes), gradients_(gradients), order_(order) {}

    void begin(std::size_t first, std::size_t last) {
        if (!codes_.by_column)
            codes_by_row_.resize(codes_.n);
        if (!codes_.sparse)
            return;
        owner_.assign(codes_.n, ~std::uint32_t{0});
        own(first, last);
    }
    void own(std::size_t first, std::size_t last) {
        if (codes_.sparse)
            for (std::size_t i = first; i < last; ++i)
                owner_[order_[i]] = static_cast<std::uint32_t>(first);
    }

    // The codes of column j by row, for the rows of a leaf at least.
    const std::uint8_t *codes_of(std::size_t j, std::size_t first, std::size_t last) {
        if (codes_.by_column)
            return codes_.by_column + j * codes_.n;
        if (!codes_.sparse) {
            for (std::size_t i = first; i < last; ++i)
                codes_by_row_[order_[i]] = codes_.at(order_[i], j);
            return codes_by_row_.data();
        }
        const SparseCodes &sparse = *codes_.sparse;
        for (std::size_t i = first; i < last; ++i)
            codes_by_row_[order_[i]] = sparse.zero[j];
        for (std::size_t k = sparse.column_starts[j]; k < sparse.column_starts[j + 1]; ++k)
            codes_by_row_[sparse.rows[k]] = sparse.codes[k];
        return codes_by_row_.data();
    }

    // The weights of the rows of a leaf by their codes in column j; `all` is their sum.
    std::vector<double> weights(std::size_t j, std::size_t n_codes, std::size_t first,
                                std::size_t last, double all) const {
        std::vector<double> weights(n_codes, 0.0);
        if (const SparseCodes *sparse = codes_.sparse) {
            double stored = 0.0;
            for (std::size_t k = sparse->column_starts[j]; k < sparse->column_starts[j + 1]; ++k)
                if (owner_[sparse->rows[k]] == first) {
                    weights[sparse->codes[k]] += gradients_.w(sparse->rows[k]);
                    stored += gradients_.w(sparse->rows[k]);
                }
            weights[sparse->zero[j]] += all - stored;
            return weights;
        }
        for (std::size_t i = first; i < last; ++i)
            weights[codes_.at(order_[i], j)] += gradients_.w(order_[i]);
        return weights;
    }

  private:
    const CodeRows &codes_;
    const Gradients &gradients_;
    const std::vector<std::uint32_t> &order_;
    std::vector<std::uint8_t> codes_by_row_{};
    std::vector<std::uint32_t> owner_{}; // by row, where its leaf begins
};

} // namespace thetahat::trees
