// The weighted median of every row:
//
//     out[i] = the least v among values[i, :] with Σ{w_t : values[i, t] ≤ v} ≥ ½·Σ w_t
//
// over the first columns, one for each weight. Each row is searched separately: its votes are
// partitioned around a pivot, the side that contains the middle of the weight is kept, and so on,
// in O(T) for T votes on average. The pivots depend on the row alone, and blocks of rows,
// distributed over threads, write disjoint entries, so the bits do not depend on their number. NaN
// counts as larger than every number.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t block = 256; // rows per piece of work

struct Vote {
    double value, weight;
};

inline bool before(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

// The least value with `half` of the weight at or below it; votes are reordered.
double middle(Vote *votes, std::size_t n, double half) {
    double below = 0.0; // the weight of the votes already excluded below
    while (n > 1) {
        const double a = votes[0].value, b = votes[n / 2].value, c = votes[n - 1].value;
        const double pivot = before(a, b) ? (before(b, c)   ? b
                                             : before(a, c) ? c
                                                            : a)
                                          : (before(a, c)   ? a
                                             : before(b, c) ? c
                                                            : b);
        // [0, less) before the pivot, [less, more) equal to it, [more, n) after it.
        std::size_t less = 0, more = n;
        double weight_less = 0.0, weight_equal = 0.0;
        for (std::size_t i = 0; i < more;) {
            if (before(votes[i].value, pivot)) {
                weight_less += votes[i].weight;
                std::swap(votes[less++], votes[i++]);
            } else if (before(pivot, votes[i].value)) {
                std::swap(votes[--more], votes[i]);
            } else {
                weight_equal += votes[i++].weight;
            }
        }
        if (less > 0 && below + weight_less >= half) {
            n = less;
        } else if (more == n || below + weight_less + weight_equal >= half) {
            return pivot;
        } else {
            below += weight_less + weight_equal;
            votes += more;
            n -= more;
        }
    }
    return votes[0].value;
}

void weighted_median(Matrix<const double> values, Vector<const double> weight, Vector<double> out,
                     int threads) {
    const std::size_t n = values.shape(0), width = values.shape(1), count = weight.shape(0);
    require(count > 0 && count <= width,
            "there must be a column for every weight, and at least one");
    require(out.shape(0) == n, "out must have one entry per row of values");
    const double *all = values.data(), *share = weight.data();
    double *median = out.data();

    nb::gil_scoped_release unlocked;
    double total = 0.0;
    for (std::size_t t = 0; t < count; ++t)
        total += share[t];
    for_each_piece((n + block - 1) / block, threads, [&](std::size_t piece) {
        std::vector<Vote> votes(count);
        for (std::size_t i = piece * block; i < std::min(n, (piece + 1) * block); ++i) {
            for (std::size_t t = 0; t < count; ++t)
                votes[t] = {all[i * width + t], share[t]};
            median[i] = middle(votes.data(), count, 0.5 * total);
        }
    });
}

} // namespace

void bind_weighted_median(nb::module_ &module) {
    module.def("weighted_median", &weighted_median, nb::arg("values").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
