// The weighted median of every row, where votes are given by their ranks among few values:
//
//     out[i] = values[r],   r the least rank of the row with Σ{w_t : rank[i, t] ≤ r} ≥ ½·Σ w_t
//
// over the first columns, one for each weight. A vote sets the bit of its rank; reading the bits in
// ascending order sorts the votes without comparisons, in O(T + L/64) per row for T votes among L
// values. No two columns share a rank; `column_of` gives the column of each rank. Weights are
// summed in the order of the ranks within each row, and blocks of rows, distributed over threads,
// write disjoint entries, so the bits do not depend on the number of threads.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t block = 256; // rows per piece of work

// The least rank with `half` of the weight at or below it; the bits are cleared for the next row.
std::size_t middle(std::vector<std::uint64_t> &bits, const double *weight, double half) {
    double below = 0.0;
    std::size_t found = 0;
    bool searching = true;
    for (std::size_t word = 0; word < bits.size(); ++word) {
        for (std::uint64_t left = bits[word]; searching && left != 0; left &= left - 1) {
            found = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
            below += weight[found];
            searching = below < half;
        }
        bits[word] = 0;
    }
    return found;
}

void ranked_median(Matrix<const double> ranks, Vector<const double> weight,
                   Vector<const std::int32_t> column_of, Vector<const double> values,
                   Vector<double> out, int threads) {
    const std::size_t n = ranks.shape(0), width = ranks.shape(1), count = weight.shape(0);
    const std::size_t n_values = values.shape(0);
    require(count > 0 && count <= width,
            "there must be a column for every weight, and at least one");
    require(n_values > 0 && column_of.shape(0) == n_values,
            "every value must name its column, and there must be one");
    require(out.shape(0) == n, "out must have one entry per row of ranks");
    const double *all = ranks.data();
    double *median = out.data();
    double total = 0.0;
    for (std::size_t t = 0; t < count; ++t)
        total += weight.data()[t];
    std::vector<double> at(n_values, 0.0); // the weight of a vote for each rank
    for (std::size_t r = 0; r < n_values; ++r) {
        const std::int32_t column = column_of.data()[r];
        require(column >= 0 && static_cast<std::size_t>(column) < width,
                "the column of a value must be one of the ranks'");
        if (static_cast<std::size_t>(column) < count)
            at[r] = weight.data()[column];
    }

    std::atomic<bool> strange{false};
    {
        nb::gil_scoped_release unlocked;
        const auto most = static_cast<double>(n_values);
        for_each_piece((n + block - 1) / block, threads, [&](std::size_t piece) {
            std::vector<std::uint64_t> bits((n_values + 63) / 64, 0);
            for (std::size_t i = piece * block; i < std::min(n, (piece + 1) * block); ++i) {
                for (std::size_t t = 0; t < count; ++t) {
                    const double rank = all[i * width + t];
                    if (!(rank >= 0.0 && rank < most)) [[unlikely]] {
                        strange = true;
                        return;
                    }
                    const auto place = static_cast<std::uint32_t>(rank);
                    bits[place / 64] |= std::uint64_t{1} << (place % 64);
                }
                median[i] = values.data()[middle(bits, at.data(), 0.5 * total)];
            }
        });
    }
    require(!strange, "every rank must be that of a value");
}

} // namespace

void bind_ranked_median(nb::module_ &module) {
    module.def("ranked_median", &ranked_median, nb::arg("ranks").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("column_of").noconvert(),
               nb::arg("values").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
