// How much of the difference between the categories of a column is more than chance.
//
// Categories that are ordered by their mean target separate the targets of a node even if the
// column is noise. For k categories the sum of squares between them, B = Σ_c n_c·(mean_c − mean)²,
// is then (k − 1)·σ² on average, with a standard deviation of √(2(k − 1))·σ², and the best split
// along the order gains most of it. The gain of such a split is therefore multiplied by
//
//     share = 1 − (k − 3 + √(2(k − 1)))·σ²/B,        at least 0; 1 for k ≤ 3.
//
// Without the root it is the factor by which James and Stein shrink k means towards their common
// mean. σ² is the mean of the squared deviations of the rows from the means of their categories, to
// which every category adds one row with the variance of the node, because categories of single
// rows show no variance of their own. The share is the same for all splits of a node by one column,
// so the best subset of the categories remains the best, and only the choice between columns
// changes. Where the categories have many rows it is almost 1.
//
// With weights, k − 1 becomes Σ_c u_c/w_c − U/W, where w and u are the sums of the weights and of
// their squares in a category, W and U in the node, and a standard row has the weight U/W. So a row
// that a bootstrap sample holds twice does not count as two rows that agree, and the scale of the
// weights does not matter.
#pragma once

#include <algorithm>
#include <cmath>

namespace thetahat::trees {

struct CategoryNoise {
    double weight = 0.0, weight_squares = 0.0; // W, U
    double per_category = 0.0;                 // Σ_c u_c/w_c
    double squares = 0.0;                      // Σ_c |s_c|²/w_c, with s_c the sum of w·y

    void add(double w, double u, double s_squared) {
        weight += w;
        weight_squares += u;
        per_category += u / w;
        squares += s_squared / w;
    }

    // The share, where |Σ w·y|² = `all` and Σ w·|y|² = `q` over all categories.
    double share(double all, double q) const {
        const double row = weight_squares / weight; // 1 without weights
        const double categories = per_category - row;
        if (!(categories > (2.0 + 1e-9) * row))
            return 1.0;
        const double between = squares - all / weight, total = q - all / weight;
        const double of_node = total / (weight - row);
        const double variance = (std::max(total - between, 0.0) + per_category * of_node) / weight;
        const double chance =
            (categories - 2.0 * row + std::sqrt(2.0 * categories * row)) * variance;
        return chance < between ? 1.0 - chance / between : 0.0;
    }
};

} // namespace thetahat::trees
