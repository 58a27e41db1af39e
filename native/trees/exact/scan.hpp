// The best split of a node along one column, whose rows come in the order of their codes.
//
// Rows move from right to left code by code; after each code the running sums give the score of the
// split. Rows with missing values are at the end: the pass is made once with them on the right,
// with the split "value is not missing" among its candidates, and once with them on the left.
// Categories are ordered by their mean target (for one numeric output or two classes the best
// subset is a prefix of that order; the gain is then reduced by what such an order finds in noise,
// category_noise.hpp), or each category is tried alone against all others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/category_noise.hpp"
#include "trees/exact/row_order.hpp"
#include "trees/exact/running.hpp"

namespace thetahat::trees {

// Constraints on both sides of a split.
struct Limits {
    std::size_t min_count = 1;
    double min_weight = 0.0;
    int monotone = 0;                                        // 1: left value ≤ right value, −1: ≥
    double lower = -std::numeric_limits<double>::infinity(); // of both values
    double upper = std::numeric_limits<double>::infinity();

    template <typename Running> bool allow(const Running &running, double all) const {
        if (running.weight() < min_weight || all - running.weight() < min_weight)
            return false;
        if (monotone == 0)
            return true; // values beyond the bounds will be clipped
        const double left = running.left_value(), right = running.right_value();
        return left >= lower && left <= upper && right >= lower && right <= upper &&
               (right - left) * monotone >= 0.0;
    }
};

struct Found {
    double score = -std::numeric_limits<double>::infinity();
    std::size_t place = 0; // the last row, or the number of categories, on the left
    bool missing_left = false;
    bool exists() const { return score > -std::numeric_limits<double>::infinity(); }
};

// Keeps the best candidate. A candidate that is better only by rounding does not replace an earlier
// one.
template <typename Running> class Best {
  public:
    Best(const Running &running, const Limits &limits, double all, double rounding)
        : running(running), limits(limits), all(all), rounding(rounding) {}

    void offer(std::size_t place, bool missing_left) {
        const double score = running.score();
        if (score > bar && limits.allow(running, all)) [[unlikely]] {
            found = {score, place, missing_left};
            bar = score + rounding;
        }
    }
    Found found{};

  private:
    const Running &running;
    const Limits &limits;
    double all, rounding;
    double bar = -std::numeric_limits<double>::infinity();
};

template <typename Running>
Found scan_values(Running running, const OrderedRow *rows, std::size_t n, const Limits &limits,
                  double all, double rounding) {
    Best<Running> best(running, limits, all, rounding);
    const std::size_t present = count_present(rows, n), absent = n - present;
    for (const bool missing_left : {false, true}) {
        const std::size_t before = missing_left ? absent : 0;
        if ((missing_left && absent == 0) || before + limits.min_count > n)
            break;
        running.start();
        for (std::size_t i = 0; i < before; ++i)
            running.add(rows[present + i].number());
        // From `first` on the left side has enough rows, up to `last` the right side has.
        const std::size_t first = limits.min_count > before ? limits.min_count - before : 1;
        const std::size_t most = n - limits.min_count - before;
        const std::size_t last =
            std::min(most, missing_left || absent == 0 ? present - 1 : present);
        std::size_t i = 0;
        for (; i + 1 < first && i < present; ++i)
            running.add(rows[i].number());
        for (; i < last; ++i) {
            running.add(rows[i].number());
            if (i + 1 == present || rows[i + 1].differs())
                best.offer(i, missing_left);
        }
    }
    return best.found;
}

// Rows [begin, end) of a stretch that share a category.
struct Category {
    std::size_t begin, end;
    double mean;
};

// Categories of the node, by mean target if `by_mean`; found.place counts those on the left, or
// numbers the one on the left if `alone`.
template <typename Running>
Found scan_categories(Running running, const OrderedRow *rows, std::size_t n,
                      std::vector<Category> &categories, bool alone, const Limits &limits,
                      double all, double rounding) {
    Best<Running> best(running, limits, all, rounding);
    const std::size_t present = categories.empty() ? 0 : categories.back().end,
                      absent = n - present;
    const auto add = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            running.add(rows[i].number());
        return end - begin;
    };
    if (!alone) {
        for (Category &category : categories) {
            running.start();
            add(category.begin, category.end);
            category.mean = running.left_value();
        }
        std::stable_sort(categories.begin(), categories.end(),
                         [](const Category &a, const Category &b) { return a.mean < b.mean; });
    }
    for (const bool missing_left : {false, true}) {
        if (missing_left && absent == 0)
            break;
        std::size_t count = 0;
        for (std::size_t c = 0; c < categories.size(); ++c) {
            if (c == 0 || alone) {
                running.start();
                count = missing_left ? add(present, n) : 0;
            }
            count += add(categories[c].begin, categories[c].end);
            if (count >= limits.min_count && n - count >= limits.min_count && count < n)
                best.offer(c, missing_left);
        }
    }
    return best.found;
}

// The share of the differences between the categories that is more than chance.
inline double real_share(const Targets &targets, const std::vector<Category> &categories,
                         const OrderedRow *rows, const Summary &node) {
    const double centre = node.centre.empty() ? 0.0 : node.centre[0];
    CategoryNoise noise;
    double sum = 0.0, q = 0.0;
    for (const Category &category : categories) {
        double w = 0.0, u = 0.0, s = 0.0;
        for (std::size_t i = category.begin; i < category.end; ++i) {
            const std::uint32_t row = rows[i].number();
            const double weight = targets.weight(row), y = targets.y[row] - centre;
            w += weight;
            u += weight * weight;
            s += weight * y;
            q += weight * y * y;
        }
        noise.add(w, u, s * s);
        sum += s;
    }
    return noise.share(sum * sum, q);
}

} // namespace thetahat::trees
