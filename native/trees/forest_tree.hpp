// One tree of a forest: an engine for `grow` that looks at few columns per node.
//
// The rows of a node lie side by side, with their weights and targets, and are parted stably, so
// they stay in ascending order. Trees of forests are grown until their leaves are pure: most nodes
// hold few rows. Once a node is small its codes are copied, column by column, into a block that the
// nearest cache holds, and the whole subtree is grown from it (depth first: no other node is open
// meanwhile that would need the block). One thread grows the tree; all random numbers are its own.
#pragma once

#include <bit>

#include "leaf_answers.hpp"
#include "split_search.hpp"
#include "walk.hpp"

namespace thetahat::trees {

template <typename Code, typename Statistics, typename Criterion, typename Answer>
class ForestTree {
  public:
    using Row = typename Statistics::Row;
    struct State {
        bool copied = false;
        Bounds bounds{};
    };
    using Open = Leaf<State>;

    ForestTree(const CodedColumns<Code> &columns, const Statistics &statistics,
               const Criterion &criterion, const Answer &answer, const ForestRules &rules)
        : columns_(columns), statistics_(statistics), answer_(answer), rules_(rules),
          search_(columns, statistics, criterion, rules) {
        const std::size_t width = rules.features_per_tree * sizeof(Code);
        const std::size_t most = block_bytes / std::max<std::size_t>(width, 1);
        // Worth it when the levels below read more codes than the copy does.
        const bool pays = rules.max_features * static_cast<std::size_t>(std::bit_width(most)) >
                          rules.features_per_tree;
        small_ = rules.growth.best_first || !pays ? 0 : most;
    }

    // Grow on rows given with their weights, those of weight 0 left out.
    GrownTree grow_on(std::uint64_t seed, const std::vector<double> &weights) {
        random_ = Random{seed};
        draw_features();
        numbers_.clear();
        rows_.clear();
        total_ = 0.0;
        for (std::uint32_t i = 0; i < weights.size(); ++i)
            if (weights[i] > 0.0) {
                numbers_.push_back(i);
                rows_.push_back(statistics_.row(i, weights[i]));
                total_ += weights[i];
            }
        spare_numbers_.resize(numbers_.size());
        spare_rows_.resize(rows_.size());
        grown_ = GrownTree{};
        grown_.gains.assign(columns_.n_columns, 0.0);
        closed_.clear();
        Tree tree;
        tree.width = 0;
        grow(*this, tree, rules_.growth);
        pack(tree);
        return std::move(grown_);
    }

    // The engine that `grow` calls.

    void open(Tree &, Open &root) {
        root.begin = 0;
        root.end = numbers_.size();
    }

    void find(Tree &, Open &leaf) {
        const std::size_t m = leaf.n_rows();
        if (m < rules_.min_split || m < 2 * rules_.min_leaf)
            return;
        const double min_weight = rules_.min_weight_share * total_;
        if (!search_.open({rows_.data() + leaf.begin, m}, min_weight, leaf.state.bounds) ||
            search_.sums()[0] < 2.0 * min_weight)
            return;
        Candidate best;
        bool some_vary = false;
        for (std::size_t k = 0; k < features_.size() && (k < rules_.max_features || !some_vary);
             ++k) {
            const auto rest = static_cast<std::uint32_t>(features_.size() - k);
            std::swap(features_[k], features_[k + random_.below(rest)]);
            const std::uint32_t j = features_[k];
            const Code *column = column_of(leaf, j);
            const std::uint32_t *number = numbers_.data() + leaf.begin;
            some_vary |= search_.consider(
                j, [=](std::size_t i) -> std::uint32_t { return column[number[i]]; }, random_,
                best);
            if (best.feature != none && search_.unbeatable(best))
                break;
        }
        const double least = rules_.min_decrease * total_;
        if (best.feature != none && best.gain + 1e-12 * total_ >= least)
            settle(leaf, best);
    }

    void find_both(Tree &tree, Open &left, Open &right) {
        find(tree, left);
        find(tree, right);
    }

    void divide(Tree &, Open &parent, Open &left, Open &right) {
        if (!parent.state.copied && parent.n_rows() <= small_)
            copy_block(parent);
        const Split &split = parent.split;
        const auto j = static_cast<std::uint32_t>(split.feature);
        const Code *column = column_of(parent, j);
        const std::uint32_t missing = columns_.n_codes[j];
        std::size_t middle;
        if (split.categorical)
            middle = part(parent, [&](std::uint32_t number) {
                const std::uint32_t code = column[number];
                return code == missing ? split.missing_left : split.left.holds(code);
            });
        else if (split.missing_left)
            middle = part(parent, [=, last = split.code](std::uint32_t number) {
                return column[number] <= last || column[number] == missing;
            });
        else
            middle = part(parent, [=, last = split.code](std::uint32_t number) {
                return column[number] <= last;
            });
        left.begin = parent.begin;
        left.end = right.begin = middle;
        right.end = parent.end;
        left.state = right.state = parent.state;
        if (rules_.monotone)
            bound(parent, left, right);
        grown_.gains[j] += split.gain;
    }

    void close(Tree &, Open &leaf) {
        const std::span<const Row> rows{rows_.data() + leaf.begin, leaf.n_rows()};
        closed_.emplace_back(leaf.node, answer_.of(rows, leaf.state.bounds, grown_.values));
    }

  private:
    static constexpr std::size_t block_bytes = 1 << 15;

    void draw_features() {
        features_.resize(columns_.n_columns);
        std::iota(features_.begin(), features_.end(), 0u);
        for (std::uint32_t k = 0; k < rules_.features_per_tree; ++k)
            std::swap(
                features_[k],
                features_[k + random_.below(static_cast<std::uint32_t>(features_.size()) - k)]);
        features_.resize(rules_.features_per_tree);
        place_.assign(columns_.n_columns, 0);
        for (std::uint32_t k = 0; k < features_.size(); ++k)
            place_[features_[k]] = k;
    }

    const Code *column_of(const Open &leaf, std::uint32_t j) const {
        return leaf.state.copied ? block_.data() + place_[j] * block_rows_ : columns_.column(j);
    }

    // The codes of a small node's rows; from here on its rows are numbered within the block.
    void copy_block(Open &leaf) {
        block_rows_ = leaf.n_rows();
        block_.resize(features_.size() * block_rows_);
        std::uint32_t *numbers = numbers_.data() + leaf.begin;
        for (const std::uint32_t j : features_) {
            const Code *from = columns_.column(j);
            Code *to = block_.data() + place_[j] * block_rows_;
            for (std::size_t i = 0; i < block_rows_; ++i)
                to[i] = from[numbers[i]];
        }
        std::iota(numbers, numbers + block_rows_, 0u);
        leaf.state.copied = true;
    }

    // Rows for which `goes_left` holds first, each side in its old order; returns where they meet.
    template <typename GoesLeft> std::size_t part(const Open &leaf, const GoesLeft &goes_left) {
        std::uint32_t *numbers = numbers_.data() + leaf.begin, *later = spare_numbers_.data();
        Row *rows = rows_.data() + leaf.begin, *later_rows = spare_rows_.data();
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = 0; i < leaf.n_rows(); ++i) {
            const std::uint32_t number = numbers[i];
            const Row row = rows[i];
            const bool left = goes_left(number);
            numbers[n_left] = number; // written to both, kept by one: no branch to mispredict
            rows[n_left] = row;
            later[n_right] = number;
            later_rows[n_right] = row;
            n_left += left;
            n_right += !left;
        }
        std::copy_n(later, n_right, numbers + n_left);
        std::copy_n(later_rows, n_right, rows + n_left);
        return leaf.begin + n_left;
    }

    void settle(Open &leaf, Candidate &best) {
        Split &split = leaf.split;
        const auto j = static_cast<std::uint32_t>(best.feature);
        split.gain = std::max(best.gain, 0.0);
        split.feature = best.feature;
        const bool heavier_left = 2.0 * best.weight_left > search_.sums()[0];
        split.missing_left = best.has_missing ? best.missing_left : heavier_left;
        split.categorical = columns_.categorical[j];
        if (split.categorical) {
            for (const std::uint32_t code : best.left)
                split.left.add(code);
            if (heavier_left) // categories that no row of this node has go the way of most rows
                for (std::uint32_t code = 0; code < columns_.n_codes[j]; ++code)
                    if (std::find(best.right.begin(), best.right.end(), code) == best.right.end())
                        split.left.add(code);
            return;
        }
        split.code = best.last_left;
        if (rules_.random_thresholds && !std::isinf(best.threshold))
            narrow(leaf, j, best);
        split.threshold = std::isnan(best.threshold) ? midway(columns_.high(j, best.last_left),
                                                              columns_.low(j, best.first_right))
                                                     : best.threshold;
    }

    // The codes of the node on both sides of a drawn threshold, which is kept if it lies between.
    void narrow(const Open &leaf, std::uint32_t j, Candidate &best) const {
        const Code *column = column_of(leaf, j);
        const std::uint32_t cut = best.last_left;
        std::uint32_t below = 0, above = columns_.n_codes[j];
        for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
            const std::uint32_t code = column[numbers_[i]];
            if (code <= cut)
                below = std::max(below, code);
            else
                above = std::min(above, code);
        }
        best.last_left = below;
        best.first_right = above;
        const double from = columns_.high(j, below), to = columns_.low(j, above);
        if (!(best.threshold >= from && best.threshold < to))
            best.threshold = std::numeric_limits<double>::quiet_NaN();
    }

    void bound(const Open &parent, Open &left, Open &right) const {
        const int sign = rules_.monotone[parent.split.feature];
        if (sign == 0)
            return;
        const double middle = (mean(left) + mean(right)) / 2.0;
        (sign > 0 ? left.state.bounds.upper : left.state.bounds.lower) = middle;
        (sign > 0 ? right.state.bounds.lower : right.state.bounds.upper) = middle;
    }

    double mean(const Open &leaf) const {
        if constexpr (std::is_same_v<Statistics, OneSum>) {
            double sums[2] = {};
            for (std::size_t i = leaf.begin; i < leaf.end; ++i)
                statistics_.add(sums, rows_[i]);
            return std::clamp(sums[1] / sums[0], leaf.state.bounds.lower, leaf.state.bounds.upper);
        }
        return 0.0;
    }

    // The nodes in 16 bytes each, and what is known of the leaves in the order of their nodes.
    void pack(const Tree &tree) {
        std::sort(closed_.begin(), closed_.end(),
                  [](const auto &a, const auto &b) { return a.first < b.first; });
        grown_.nodes.resize(tree.nodes.size());
        std::size_t leaf = 0;
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const Node &node = tree.nodes[i];
            if (node.feature == none) {
                const LeafAnswer &answer = closed_[leaf++].second;
                grown_.nodes[i] = {0.0, none, answer.row};
                grown_.counts.push_back(answer.count);
                grown_.weights.push_back(answer.weight);
                if (Answer::has_impurity)
                    grown_.impurities.push_back(answer.impurity);
                continue;
            }
            const bool categorical = node.set != none;
            grown_.nodes[i] = {categorical ? static_cast<double>(node.set) : node.threshold,
                               node.feature | (node.missing_left ? missing_left_flag : 0) |
                                   (categorical ? categorical_flag : 0),
                               node.left};
        }
        grown_.sets = tree.sets;
    }

    const CodedColumns<Code> &columns_;
    const Statistics &statistics_;
    const Answer &answer_;
    const ForestRules &rules_;
    SplitSearch<Code, Statistics, Criterion> search_;
    Random random_{0};
    std::size_t small_ = 0;
    double total_ = 0.0;
    std::vector<std::uint32_t> features_{}, place_{}; // drawn for the tree; where in the block
    std::vector<std::uint32_t> numbers_{}, spare_numbers_{};
    std::vector<Row> rows_{}, spare_rows_{};
    std::vector<Code> block_{};
    std::size_t block_rows_ = 0;
    std::vector<std::pair<std::int32_t, LeafAnswer>> closed_{};
    GrownTree grown_{};
};

} // namespace thetahat::trees
