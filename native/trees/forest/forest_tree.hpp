// One tree of a forest: an engine for `grow` that tries few columns per node.
//
// The rows of a node are stored contiguously, with their weights and targets, and are partitioned
// stably, so they stay in ascending order. Trees of forests are usually grown until their leaves
// are pure, so most nodes have few rows. As soon as a node is small, its cells are copied, column
// by column, into a block that fits in the cache, and the whole subtree is grown from it (depth
// first, so that no other open node needs the block). Wide cells are copied in several steps, each
// from the previous block. One thread grows the tree with its own random numbers.
//
// Columns are either codes, which are searched for the best split (split_search.hpp), or values,
// for which a random split is drawn (random_search.hpp), as given by `Search`.
#pragma once

#include <bit>
#include <numeric>

#include "trees/forest/columns/local_ranks.hpp"
#include "trees/forest/columns/sparse_cells.hpp"
#include "trees/forest/leaf_answers.hpp"
#include "trees/forest/node_block.hpp"
#include "trees/prediction/walk.hpp"
#include "trees/random.hpp"

namespace thetahat::trees {

template <typename Search, typename Answer> class ForestTree {
  public:
    using Columns = typename Search::Columns;
    using Statistics = typename Search::Statistics;
    using Cell = typename Columns::LocalCell; // of blocks
    using Row = typename Statistics::Row;
    using Rows = typename Statistics::Rows;
    struct State {
        std::size_t n_copies = 0; // number of blocks used; the last one holds the cells
        Bounds bounds{};
        double decrease = 0.0; // of impurity by its split, times its weight
        EntryRange entries{};  // where the columns are sparse
    };
    using Open = Leaf<State>;

    template <typename Criterion>
    ForestTree(const Columns &columns, const Statistics &statistics, const Criterion &criterion,
               const Answer &answer, const ForestRules &rules)
        : columns_(columns), statistics_(statistics), answer_(answer), rules_(rules),
          search_(columns, statistics, criterion, rules), sparse_(columns),
          ranks_(Columns::ranked
                     ? 1 + *std::max_element(columns.n_codes, columns.n_codes + columns.n_columns)
                     : 0) {
        const std::size_t width = std::max<std::size_t>(rules.features_per_tree * sizeof(Cell), 1);
        for (const BlockSize &size : Columns::block_sizes)
            blocks_.push_back({std::min(size.rows, size.bytes / width), {}});
        // Copying is faster if the levels below read more cells than the copy.
        const bool pays =
            !Columns::sparse &&
            rules.max_features * std::bit_width(blocks_.back().most_rows) > rules.features_per_tree;
        if (rules.growth.best_first || !pays || !columns.fits_blocks())
            blocks_.clear();
    }

    // Grow on rows with their weights, without rows of weight 0.
    GrownTree grow_on(std::uint64_t seed, const std::vector<double> &weights) {
        random_ = Random{seed};
        draw_features();
        numbers_.clear();
        total_ = 0.0;
        for (std::uint32_t i = 0; i < weights.size(); ++i)
            if (weights[i] > 0.0) {
                numbers_.push_back(i);
                total_ += weights[i];
            }
        spare_numbers_.resize(numbers_.size());
        spare_rows_.resize(numbers_.size());
        rows_.resize(numbers_.size());
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            rows_.put(i, statistics_.row(numbers_[i], weights[numbers_[i]]));
        if constexpr (Columns::sparse)
            sparse_.start(numbers_);
        grown_ = GrownTree{};
        gains_.assign(columns_.n_columns, 0.0);
        closed_.clear();
        Tree tree;
        tree.width = 0;
        grow(*this, tree, rules_.growth);
        pack(tree);
        for (std::size_t j = 0; j < gains_.size(); ++j)
            if (gains_[j] != 0.0)
                grown_.gains.push_back({gains_[j], 0, static_cast<std::int32_t>(j)});
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
        auto &node = search_.node();
        if (!node.open(rows_.stretch(leaf.begin, m), min_weight, leaf.state.bounds) ||
            node.weight() < 2.0 * min_weight)
            return;
        if constexpr (Columns::sparse) {
            sparse_.copy_if_fewer(numbers_, leaf.begin, leaf.end, rules_.max_features,
                                  leaf.state.entries);
            sparse_.note_columns(leaf.state.entries);
        }
        Candidate best;
        bool some_vary = false;
        for (std::size_t k = 0; k < features_.size() && (k < rules_.max_features || !some_vary);
             ++k) {
            const auto rest = static_cast<std::uint32_t>(features_.size() - k);
            std::swap(features_[k], features_[k + random_.below(rest)]);
            const std::uint32_t j = features_[k];
            if constexpr (Columns::sparse)
                if (sparse_.all_zero(j, leaf.state.entries))
                    continue;
            with_cells(leaf, j, [&](const auto &cell, std::uint32_t n_codes) {
                some_vary |= search_.consider(j, n_codes, cell, random_, best);
            });
            if (best.exists() && node.unbeatable(best))
                break;
        }
        const double least = rules_.min_decrease * total_;
        if (best.exists() && best.worth() + 1e-12 * total_ >= least)
            settle(leaf, best);
    }

    void find_both(Tree &tree, Open &left, Open &right) {
        find(tree, left);
        find(tree, right);
    }

    void divide(Tree &, Open &parent, Open &left, Open &right) {
        const Split &split = parent.split;
        const auto j = static_cast<std::uint32_t>(split.feature);
        std::size_t middle = parent.begin;
        with_cells(parent, j, [&](const auto &cell, std::uint32_t n_codes) {
            Columns::with_rule(split, n_codes, [&](const auto &goes_left) {
                if constexpr (Columns::sparse) {
                    sides_.assign(parent.n_rows(), goes_left(cell.zero));
                    for (std::size_t k = 0; k < cell.n; ++k)
                        sides_[cell.place[k]] = goes_left(cell.cell[k]);
                    middle = part(parent, [&](std::size_t i) { return sides_[i]; });
                } else
                    middle = part(parent, [=](std::size_t i) { return goes_left(cell(i)); });
            });
        });
        // Not earlier, because the split refers to the previous cells.
        for (std::size_t k = blocks_.size(); k > parent.state.n_copies; --k)
            if (parent.n_rows() <= blocks_[k - 1].most_rows) {
                copy_to(blocks_[k - 1].block, parent);
                parent.state.n_copies = k;
            }
        left.begin = parent.begin;
        left.end = right.begin = middle;
        right.end = parent.end;
        left.state = right.state = parent.state;
        if constexpr (Columns::sparse) {
            sparse_.part(parent.state.entries, parent.begin, sides_, left.state.entries,
                         right.state.entries);
            sparse_.place(numbers_, parent.begin, parent.end);
        }
        if (rules_.monotone)
            bound(parent, left, right);
        gains_[j] += parent.state.decrease;
    }

    void close(Tree &, Open &leaf) {
        const auto rows = rows_.stretch(leaf.begin, leaf.n_rows());
        closed_.emplace_back(leaf.node, answer_.of(rows, leaf.state.bounds, grown_.values));
    }

  private:
    void draw_features() {
        features_.resize(columns_.n_columns);
        std::iota(features_.begin(), features_.end(), 0u);
        for (std::uint32_t k = 0; k < rules_.features_per_tree; ++k)
            std::swap(
                features_[k],
                features_[k + random_.below(static_cast<std::uint32_t>(features_.size()) - k)]);
        features_.resize(rules_.features_per_tree);
        drawn_ = features_;
        place_.assign(columns_.n_columns, 0);
        for (std::uint32_t k = 0; k < drawn_.size(); ++k)
            place_[drawn_[k]] = k;
    }

    // The block that holds the cells of a leaf; null if they are in the columns.
    const NodeBlock<Cell> *block_of(const Open &leaf) const {
        return leaf.state.n_copies ? &blocks_[leaf.state.n_copies - 1].block : nullptr;
    }

    // use(cell, n_codes) with the cells of the leaf's rows in column j.
    template <typename Use> void with_cells(const Open &leaf, std::uint32_t j, const Use &use) {
        if constexpr (Columns::sparse) {
            sparse_.with_cells(j, leaf.begin, leaf.end, leaf.state.entries,
                               leaf.n_rows() <= rules_.exact_rows, use);
            return;
        } else {
            with_dense_cells(leaf, j, use);
        }
    }

    template <typename Use>
    void with_dense_cells(const Open &leaf, std::uint32_t j, const Use &use) {
        const std::uint32_t *number = numbers_.data() + leaf.begin;
        const auto of = [&](const auto *column, std::uint32_t n_codes) {
            use([=](std::size_t i) { return column[number[i]]; }, n_codes);
        };
        if (const NodeBlock<Cell> *block = block_of(leaf)) {
            of(block->column(place_[j]), block->n_codes[place_[j]]);
            return;
        }
        if constexpr (Columns::ranked)
            if (leaf.n_rows() > rules_.exact_rows && !columns_.categorical[j]) {
                columns_.with_groups(j, number, use);
                return;
            }
        of(columns_.column(j), columns_.n_codes[j]);
    }

    // The row number, in the data, of row i of a leaf.
    std::uint32_t row_of(const Open &leaf, std::size_t i) const {
        const std::uint32_t number = numbers_[leaf.begin + i];
        const NodeBlock<Cell> *block = block_of(leaf);
        return block ? block->rows[number] : number;
    }

    // From here on the rows of the leaf are numbered within the block.
    void copy_to(NodeBlock<Cell> &block, Open &leaf) {
        if constexpr (Columns::sparse)
            return;
        else
            copy_cells(block, leaf);
    }

    void copy_cells(NodeBlock<Cell> &block, Open &leaf) {
        const std::size_t n = leaf.n_rows();
        block.resize(n, drawn_.size());
        for (std::size_t i = 0; i < n; ++i)
            block.rows[i] = row_of(leaf, i);
        const bool from_rows = Columns::by_row && !block_of(leaf);
        if (from_rows)
            columns_.given.copy(block.rows, drawn_, block.cells.data());
        for (std::size_t k = 0; k < drawn_.size(); ++k)
            with_cells(leaf, drawn_[k], [&](const auto &cell, std::uint32_t n_codes) {
                block.n_codes[k] = n_codes;
                Cell *to = block.column(k);
                if (Columns::ranked && !columns_.categorical[drawn_[k]])
                    block.n_codes[k] = ranks_.of(n, n_codes, cell, to);
                else if (!from_rows)
                    for (std::size_t i = 0; i < n; ++i)
                        to[i] = static_cast<Cell>(cell(i));
            });
        std::iota(numbers_.begin() + static_cast<std::ptrdiff_t>(leaf.begin),
                  numbers_.begin() + static_cast<std::ptrdiff_t>(leaf.end), 0u);
    }

    // Rows for which `goes_left` holds first, each side in its old order; returns where they meet.
    template <typename GoesLeft> std::size_t part(const Open &leaf, const GoesLeft &goes_left) {
        std::uint32_t *numbers = numbers_.data() + leaf.begin, *later = spare_numbers_.data();
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = 0; i < leaf.n_rows(); ++i) {
            const std::uint32_t number = numbers[i];
            const Row row = rows_[leaf.begin + i];
            const bool left = goes_left(i);
            numbers[n_left] = number; // to both sides, but only one advances: no branch
            rows_.put(leaf.begin + n_left, row);
            later[n_right] = number;
            spare_rows_.put(n_right, row);
            n_left += left;
            n_right += !left;
        }
        std::copy_n(later, n_right, numbers + n_left);
        rows_.put(leaf.begin + n_left, spare_rows_, n_right);
        return leaf.begin + n_left;
    }

    void settle(Open &leaf, const Candidate &best) {
        Split &split = leaf.split;
        const auto j = static_cast<std::uint32_t>(best.feature);
        split.gain = std::max(best.worth(), 0.0);
        leaf.state.decrease = std::max(best.gain, 0.0);
        split.feature = best.feature;
        const bool heavier_left = 2.0 * best.weight_left > search_.node().weight();
        split.missing_left = best.has_missing ? best.missing_left : heavier_left;
        split.categorical = columns_.categorical[j];
        if (split.categorical) {
            const Sides &sides = search_.sides();
            for (const std::uint32_t code : sides.left)
                split.left.add(code);
            if (heavier_left) // categories that do not occur in this node go to the larger side
                for (std::uint32_t code = 0; code < columns_.n_codes[j]; ++code)
                    if (std::find(sides.right.begin(), sides.right.end(), code) ==
                        sides.right.end())
                        split.left.add(code);
            return;
        }
        split.code = best.last_left;
        with_cells(leaf, j, [&](const auto &cell, std::uint32_t) {
            split.threshold = columns_.threshold(j, best, leaf.n_rows(), cell,
                                                 [&](std::size_t i) { return row_of(leaf, i); });
        });
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

    // The nodes in 16 bytes each, and the statistics of the leaves in the order of their nodes.
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
                if (answer_.has_impurity())
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

    const Columns &columns_;
    const Statistics &statistics_;
    const Answer &answer_;
    const ForestRules &rules_;
    Search search_;
    struct NoEntries {
        explicit NoEntries(const Columns &) {}
    };
    std::conditional_t<Columns::sparse, SparseNodes<Cell>, NoEntries> sparse_;
    std::vector<std::uint8_t> sides_{}; // of the rows of a node, where the columns are sparse
    Random random_{0};
    LocalRanks ranks_;
    double total_ = 0.0;
    std::vector<std::uint32_t> drawn_{}, place_{}; // columns of the tree; where in the block
    std::vector<std::uint32_t> features_{};        // the same, in the order that nodes shuffle
    std::vector<std::uint32_t> numbers_{}, spare_numbers_{};
    Rows rows_{}, spare_rows_{};
    struct SizedBlock {
        std::size_t most_rows;
        NodeBlock<Cell> block;
    };
    std::vector<SizedBlock> blocks_{}; // from large to small
    std::vector<std::pair<std::int32_t, LeafAnswer>> closed_{};
    std::vector<double> gains_{}; // of each column
    GrownTree grown_{};
};

} // namespace thetahat::trees
