// Prediction with trees of at most 64 leaves, by excluding leaves instead of walking down the tree.
//
// Leaves are numbered from left to right, one bit each. For every node of the tree at which a row
// would go right (on its path or not), the leaves on the left of the node are excluded. All leaves
// before the leaf of the row are excluded where their paths separate, and the leaf itself never is,
// so it is the first one that remains. No operation depends on another or on a branch, and many
// rows are processed together: O(leaves) simple operations for four rows, instead of O(depth)
// dependent memory accesses for each row (the idea of QuickScorer).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/simd4.hpp"
#include "trees/prediction/walk.hpp"

namespace thetahat::trees {

// The columns of some rows, filled up to whole groups.
class ColumnsOfRows {
  public:
    static constexpr std::size_t group = 16;

    template <typename T> void take(const T *rows, std::size_t d, std::size_t n) {
        n_groups_ = (n + group - 1) / group;
        values_.assign(n_groups_ * group * d, 0.0);
        some_missing_ = false;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < d; ++j) {
                const auto x = static_cast<double>(rows[i * d + j]);
                values_[j * n_groups_ * group + i] = x;
                some_missing_ |= x != x;
            }
    }
    std::size_t n_groups() const { return n_groups_; }
    bool some_missing() const { return some_missing_; }
    const double *column(std::size_t j) const { return values_.data() + j * n_groups_ * group; }

  private:
    std::vector<double> values_{};
    std::size_t n_groups_ = 0;
    bool some_missing_ = false;
};

class SmallTrees {
  public:
    static constexpr std::int64_t most_nodes = 127; // of 64 leaves

    SmallTrees(const PackedNode *nodes, const std::int64_t *roots, std::size_t n_trees)
        : first_rule_{0}, first_leaf_{0} {
        for (std::size_t t = 0; t < n_trees; ++t)
            add(nodes + roots[t], static_cast<std::size_t>(roots[t + 1] - roots[t]));
    }

    // leaves[i] = the node at which row i < n ends.
    void descend(std::size_t tree, const ColumnsOfRows &columns, std::size_t n,
                 std::int32_t *leaves) const {
        const std::int32_t *leaf = leaves_.data() + first_leaf_[tree];
        for (std::size_t g = 0; g < columns.n_groups(); ++g) {
            Int4 left[quarters];
            if (columns.some_missing())
                cross_out<true>(tree, columns, g, left);
            else
                cross_out<false>(tree, columns, g, left);
            const std::size_t first = g * ColumnsOfRows::group,
                              some = std::min(ColumnsOfRows::group, n - first);
            for (std::size_t i = 0; i < some; ++i)
                leaves[first + i] =
                    leaf[std::countr_zero(static_cast<std::uint64_t>(left[i / 4][i % 4]))];
        }
    }

  private:
    static constexpr std::size_t quarters = ColumnsOfRows::group / 4;

    struct Rule {
        double threshold;
        std::int64_t kept;         // the leaves that are not left of the node
        std::int64_t missing_left; // all bits, or none
        std::int64_t feature;
    };

    template <bool some_missing>
    void cross_out(std::size_t tree, const ColumnsOfRows &columns, std::size_t g,
                   Int4 (&left)[quarters]) const {
        for (Int4 &bits : left)
            bits = Int4{-1, -1, -1, -1};
        for (std::size_t k = first_rule_[tree]; k < first_rule_[tree + 1]; ++k) {
            const Rule &rule = rules_[k];
            const double *x =
                columns.column(static_cast<std::size_t>(rule.feature)) + g * ColumnsOfRows::group;
            for (std::size_t q = 0; q < quarters; ++q) {
                const Double4 values = load4(x + 4 * q);
                Int4 goes_left = values <= rule.threshold;
                if (some_missing)
                    goes_left |= (values != values) & rule.missing_left;
                left[q] &= goes_left | rule.kept;
            }
        }
    }

    void add(const PackedNode *nodes, std::size_t n) {
        // Leaves below each node, and the number of the first; children come after their parent.
        std::vector<std::uint32_t> count(n, 1), first(n, 0);
        for (std::size_t i = n; i-- > 0;)
            if (nodes[i].feature >= 0) {
                const auto child = static_cast<std::size_t>(nodes[i].child);
                count[i] = count[child] + count[child + 1];
            }
        const std::size_t first_leaf = leaves_.size();
        leaves_.resize(first_leaf + count[0]);
        for (std::size_t i = 0; i < n; ++i) {
            const PackedNode &node = nodes[i];
            if (node.feature < 0) {
                leaves_[first_leaf + first[i]] = static_cast<std::int32_t>(i);
                continue;
            }
            const auto child = static_cast<std::size_t>(node.child);
            first[child] = first[i];
            first[child + 1] = first[i] + count[child];
            // Of two children each has less than 64 leaves: no shift by the whole width.
            const std::uint64_t on_left = ((std::uint64_t{1} << count[child]) - 1) << first[i];
            rules_.push_back({node.threshold, static_cast<std::int64_t>(~on_left),
                              node.feature & missing_left_flag ? -1 : 0,
                              node.feature & feature_mask});
        }
        first_rule_.push_back(rules_.size());
        first_leaf_.push_back(leaves_.size());
    }

    std::vector<Rule> rules_{};
    std::vector<std::int32_t> leaves_{}; // of each tree from left to right, their nodes
    std::vector<std::size_t> first_rule_, first_leaf_;
};

} // namespace thetahat::trees
