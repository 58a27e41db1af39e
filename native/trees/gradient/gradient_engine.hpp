// The engine that grows a tree from histograms of gradients.
//
// The rows are a part that is passed in: in this process (local_rows.hpp), or elsewhere
// (remote_rows.hpp). The histogram of the smaller of two siblings is computed; that of the larger
// is the histogram of the parent minus it. A leaf needs a weight of `min_rows`. If hessians are not
// counts, a split whose sides certainly have that weight (Σh ≥ min_rows · largest h) is accepted
// directly, and only the others are counted exactly. With `rows_by_curvature` the weight of a side
// is that of the leaf times its share of the hessian.
#pragma once

#include <algorithm>

#include "trees/gradient/gradient_categories.hpp"
#include "trees/gradient/gradient_rules.hpp"
#include "trees/gradient/gradient_split.hpp"
#include "trees/gradient/histograms.hpp"
#include "trees/gradient/sparse_entries.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

constexpr std::size_t codes_per_piece = 1u << 12; // some microseconds of scores

// What an open leaf keeps.
struct GradientState {
    std::int32_t histogram = -1;
    std::int32_t place = 0;           // the number of the leaf where the rows are, if elsewhere
    std::int64_t total = 0, left = 0; // words of all rows, and of those that go left
    std::int64_t largest = 1;         // the largest q_h of a row per unit of weight
    double weight = 0.0;
    bool missing_seen = false;
    Bounds bounds{};
    std::vector<std::uint32_t> left_bins{}; // of a categorical split
    LeafSquares squares{};                  // if there are categories
    std::vector<std::uint8_t> groups{};     // that contain all columns of the path; empty: all
    LeafEntries entries{};                  // of sparse rows
};

template <typename Rows> class GradientEngine {
  public:
    using State = GradientState;
    using Open = Leaf<State>;

    GradientEngine(Rows &rows, const CodeRows &codes, const BinTable &bins,
                   const PackedGradients &packed, const GradientRules &rules, int threads)
        : rows_(rows), codes_(codes), bins_(bins), packed_(packed), rules_(rules),
          threads_(threads),
          pool_(codes, 1 + *std::max_element(bins.n_bins.begin(), bins.n_bins.end())),
          found_{std::vector<Found>(codes.d), std::vector<Found>(codes.d)} {
        const double s_h = packed.hessian_scale;
        const double least = std::max(rules.min_hessian, packed.counts ? rules.min_rows : 0.0);
        split_rules_.l2 = rules.l2 * s_h;
        split_rules_.least_hessian = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::ceil(std::min(least * s_h * (1.0 - 1e-9), 4e9))));
        gain_scale_ = s_h / (packed.gradient_scale * packed.gradient_scale);
    }

    std::vector<ClosedLeaf> leaves{};

    void open(Tree &, Open &root) {
        rows_.open(root);
        root.state.largest = packed_.largest_hessian;
        root.state.weight = weight_of(root);
        if (rules_.n_groups)
            root.state.groups.assign(rules_.n_groups, 1);
    }

    void find(Tree &, Open &leaf) {
        if (!may_divide(leaf))
            return;
        count(leaf);
        choose(leaf, nullptr);
    }

    void find_both(Tree &, Open &left, Open &right) {
        Open &small = rows_.counts_left(left, right) ? left : right;
        Open &large = &small == &left ? right : left;
        const bool small_may = may_divide(small), large_may = may_divide(large);
        const bool subtract = large_may && large.state.histogram >= 0;
        if (!large_may)
            pool_.give_back(large.state.histogram);
        if constexpr (!Rows::elsewhere)
            if (codes_.sparse)
                return find_sparse(small, large, small_may, large_may);
        if (small_may || subtract)
            count(small);
        if (large_may && !subtract)
            count(large);
        if (small_may && large_may)
            choose(small, &large, subtract);
        else if (small_may)
            choose(small, nullptr);
        else if (large_may)
            choose(large, nullptr, false, subtract ? &small : nullptr);
        if (!small_may)
            pool_.give_back(small.state.histogram);
    }

    void divide(Tree &tree, Open &parent, Open &left, Open &right) {
        const auto j = static_cast<std::size_t>(parent.split.feature);
        std::uint8_t goes_left[most_codes] = {};
        mark(parent, goes_left);
        rows_.part(parent, left, right, j, goes_left);
        left.state.total = parent.state.left;
        right.state.total = parent.state.total - parent.state.left;
        left.state.largest = right.state.largest = parent.state.largest;
        left.state.weight = weight_of(left);
        right.state.weight = parent.state.weight - left.state.weight;
        Open &large = rows_.counts_left(left, right) ? right : left;
        large.state.histogram = parent.state.histogram;
        large.state.entries = std::move(parent.state.entries);
        if (!parent.state.missing_seen) // then they go where most rows go
            tree.nodes[static_cast<std::size_t>(parent.node)].missing_left =
                left.state.weight > right.state.weight;
        bound(parent, left, right, j);
        if (rules_.n_groups) {
            left.state.groups = parent.state.groups;
            for (std::size_t k = 0; k < rules_.n_groups; ++k)
                left.state.groups[k] &= rules_.groups[k * codes_.d + j];
            right.state.groups = left.state.groups;
        }
    }

    void close(Tree &, Open &leaf) {
        pool_.give_back(leaf.state.histogram);
        leaves.push_back({leaf.node, leaf.begin, leaf.end, leaf.state.bounds});
    }

  private:
    bool may_divide(const Open &leaf) const {
        return leaf.n_rows() >= 2 && leaf.state.weight >= rules_.min_split &&
               leaf.state.weight >= 2.0 * rules_.min_rows &&
               hessian_of(leaf.state.total) >= 2 * split_rules_.least_hessian;
    }

    double weight_of(const Open &leaf) const {
        if (packed_.counts)
            return static_cast<double>(hessian_of(leaf.state.total)) / packed_.hessian_scale;
        return rows_.weight_of(leaf);
    }

    // The codes of the column of a leaf's split that go left.
    void mark(const Open &leaf, std::uint8_t *goes_left) const {
        if (leaf.split.categorical)
            for (const std::uint32_t bin : leaf.state.left_bins)
                goes_left[bin] = 1;
        else
            std::fill(goes_left, goes_left + leaf.split.code + 1, std::uint8_t{1});
        goes_left[bins_.n_bins[static_cast<std::size_t>(leaf.split.feature)]] =
            leaf.split.missing_left;
    }

    void count(Open &leaf) {
        leaf.state.histogram = pool_.take();
        rows_.count(leaf, pool_);
    }

    // Of sparse rows each leaf has columns of its own, those with enough entries in it.
    void find_sparse(Open &small, Open &large, bool small_may, bool large_may) {
        if (small_may || large_may)
            rows_.divide_entries(small, large);
        if (small_may) {
            count(small);
            choose(small, nullptr);
        }
        if (large_may) {
            if (large.state.histogram >= 0)
                rows_.subtract(small, large, pool_);
            else
                count(large);
            choose(large, nullptr);
        }
    }

    // The columns by which a leaf may be split; empty: all.
    std::vector<std::uint8_t> usable(const Open &leaf) const {
        return usable_columns(rules_, codes_.d, leaf.state.groups, leaf.node);
    }

    // The best splits of one or two leaves. With `subtract`, b has the histogram of its parent,
    // from which that of a is subtracted (`minus`: the same for a single leaf).
    void choose(Open &a, Open *b, bool subtract = false, const Open *minus = nullptr) {
        const auto less = [&](Open &whole, const Open &part, std::size_t j) {
            std::int64_t *to = pool_[whole.state.histogram];
            const std::int64_t *from = pool_[part.state.histogram];
            const std::size_t last = pool_.offset(j + 1);
            for (std::size_t c = pool_.offset(j); c < last; ++c)
                to[c] -= from[c];
        };
        for (Open *leaf : {&a, b})
            if (leaf && bins_.any_categorical())
                leaf->state.squares = rows_.squares(*leaf);
        const auto use_a = usable(a), use_b = b ? usable(*b) : use_a;
        const auto open = codes_.sparse ? a.state.entries.columns
                                        : looked_at(codes_.d, use_a, use_b, subtract || minus);
        std::size_t work = 0;
        for (const std::uint32_t j : open)
            work += (pool_.offset(j + 1) - pool_.offset(j)) * (b ? 2 : 1);
        // More pieces than threads, because columns may have very different numbers of codes.
        const std::size_t pieces =
            std::clamp<std::size_t>(work / codes_per_piece, 1u, 8u * threads_);
        for_each_piece(pieces, threads_, [&](std::size_t piece) {
            for (std::size_t k = open.size() * piece / pieces;
                 k < open.size() * (piece + 1) / pieces; ++k) {
                const std::size_t j = open[k];
                if (subtract)
                    less(*b, a, j);
                if (minus)
                    less(a, *minus, j);
                found_[0][j] = use_a.empty() || use_a[j] ? best_of(a, j, nullptr) : Found{};
                if (b)
                    found_[1][j] = use_b.empty() || use_b[j] ? best_of(*b, j, nullptr) : Found{};
            }
        });
        settle(a, found_[0], open);
        if (b)
            settle(*b, found_[1], open);
    }

    // The best of the splits of the given columns; rows are counted if a side may have too few.
    void settle(Open &leaf, std::vector<Found> &found, const std::vector<std::uint32_t> &open) {
        const State &state = leaf.state;
        const double own = own_term(state.total, state.bounds, split_rules_.l2);
        // The columns by their scores, the first one of those that tie on top.
        const auto below = [&](std::uint32_t a, std::uint32_t b) {
            return found[a].score != found[b].score ? found[a].score < found[b].score : a > b;
        };
        std::vector<std::uint32_t> columns, counted;
        for (const std::uint32_t j : open)
            if (found[j].score >= 0.0)
                columns.push_back(j);
        std::make_heap(columns.begin(), columns.end(), below);
        while (!columns.empty()) {
            const std::uint32_t j = columns.front();
            const double gain = (found[j].score - own) * gain_scale_;
            if (found[j].score < 0.0 || !(found[j].score - own > noise * own) ||
                !(gain > rules_.min_gain))
                return;
            const std::int64_t smaller =
                std::min(hessian_of(found[j].left), hessian_of(state.total - found[j].left));
            const bool sure = packed_.counts || rules_.rows_by_curvature ||
                              static_cast<double>(smaller) >=
                                  rules_.min_rows * static_cast<double>(state.largest);
            if (sure || std::find(counted.begin(), counted.end(), j) != counted.end()) {
                accept(leaf, j, found[j], gain);
                return;
            }
            counted.push_back(j);
            std::pop_heap(columns.begin(), columns.end(), below);
            const std::vector<double> weights = rows_.weights(leaf, j, bins_.n_bins[j] + 1);
            found[j] = best_of(leaf, j, weights.data());
            std::push_heap(columns.begin(), columns.end(), below);
        }
    }

    void accept(Open &leaf, std::size_t j, const Found &found, double gain) {
        Split &split = leaf.split;
        split.gain = gain;
        split.feature = static_cast<std::int32_t>(j);
        split.missing_left = found.missing_left;
        leaf.state.left = found.left;
        const std::int64_t *sums = pool_[leaf.state.histogram] + pool_.offset(j);
        leaf.state.missing_seen = sums[bins_.n_bins[j]] != 0;
        if (bins_.categorical(j))
            accept_categories(leaf, j, found, sums);
        else {
            split.code = found.code;
            split.threshold = bins_.threshold(j, found.code);
        }
        if constexpr (Rows::elsewhere) {
            std::uint8_t goes_left[most_codes] = {};
            mark(leaf, goes_left);
            rows_.propose(leaf, goes_left);
        } else if (pool_.in_use() > 256 && leaf.n_rows() < pool_.stride())
            // The histograms of many small leaves would need more memory than the rows.
            pool_.give_back(leaf.state.histogram);
    }

    void accept_categories(Open &leaf, std::size_t j, const Found &found,
                           const std::int64_t *sums) {
        const std::size_t n_bins = bins_.n_bins[j];
        std::vector<std::uint32_t> order = category_order(sums, n_bins + 1, rules_for(leaf));
        if (found.code >= most_codes)
            std::reverse(order.begin(), order.end());
        order.resize(found.code % most_codes + 1);
        leaf.split.categorical = true;
        leaf.split.missing_left = false;
        leaf.state.left_bins.clear();
        std::uint8_t chosen[most_codes] = {};
        for (const std::uint32_t bin : order) {
            chosen[bin] = 1;
            if (bin == n_bins)
                leaf.split.missing_left = true;
            else
                leaf.state.left_bins.push_back(bin);
        }
        const std::int64_t first = bins_.lookup_offsets[j], last = bins_.lookup_offsets[j + 1];
        for (std::int64_t category = first; category < last; ++category)
            if (chosen[bins_.lookup[category]])
                leaf.split.left.add(static_cast<std::uint32_t>(category - first));
    }

    SplitRules rules_for(const Open &leaf) const {
        return split_rules_.within(leaf.state.total, leaf.state.weight, rules_.min_rows,
                                   rules_.rows_by_curvature);
    }

    // The best split of a leaf by one column; `weights` by code exclude sides of too little weight.
    Found best_of(const Open &leaf, std::size_t j, const double *weights) {
        const std::int64_t *sums =
            const_cast<HistogramPool &>(pool_)[leaf.state.histogram] + pool_.offset(j);
        const std::size_t n_bins = bins_.n_bins[j];
        const int direction = rules_.monotonic ? rules_.monotonic[j] : 0;
        const bool bounded = direction != 0 || leaf.state.bounds.any();
        const SplitRules rules = rules_for(leaf);
        Found best;
        const auto try_prefix = [&](const std::int64_t *prefix, const double *below, std::size_t n,
                                    std::int64_t missing, double missing_weight) {
            std::uint8_t allowed[most_codes];
            if (weights)
                for (std::size_t c = 0; c < n; ++c) {
                    const double left = below[c] + missing_weight;
                    allowed[c] =
                        left >= rules_.min_rows && leaf.state.weight - left >= rules_.min_rows;
                }
            const std::uint8_t *mask = weights ? allowed : nullptr;
            if (bounded)
                scan_bounded(prefix, n, leaf.state.total, missing, rules, mask, leaf.state.bounds,
                             direction, best);
            else
                scan(prefix, n, leaf.state.total, missing, rules, mask, best);
        };
        std::int64_t prefix[most_codes];
        double below[most_codes]; // only with `weights`
        if (bins_.categorical(j)) {
            std::vector<std::uint32_t> order = category_order(sums, n_bins + 1, rules);
            for (std::uint32_t pass = 0; pass < 2; ++pass) {
                std::int64_t sum = 0;
                double weight = 0.0;
                for (std::size_t k = 0; k < order.size(); ++k) {
                    prefix[k] = sum += sums[order[k]];
                    below[k] = weight += weights ? weights[order[k]] : 0.0;
                }
                const double before = best.score;
                try_prefix(prefix, weights ? below : nullptr, order.size(), 0, 0.0);
                if (best.score > before)
                    best.code += pass * static_cast<std::uint32_t>(most_codes);
                std::reverse(order.begin(), order.end());
            }
            if (const double own = own_term(leaf.state.total, leaf.state.bounds, split_rules_.l2);
                best.score > own)
                best.score =
                    own + (best.score - own) * real_share(leaf.state.total, leaf.state.squares,
                                                          sums, order, packed_);
            return best;
        }
        std::int64_t sum = 0;
        double weight = 0.0;
        for (std::size_t c = 0; c < n_bins; ++c) {
            prefix[c] = sum += sums[c];
            if (weights)
                below[c] = weight += weights[c];
        }
        const std::int64_t missing = sums[n_bins];
        // One more split: all values on the left and the missing ones on the right.
        try_prefix(prefix, weights ? below : nullptr, missing ? n_bins : n_bins - 1, 0, 0.0);
        if (missing)
            try_prefix(prefix, weights ? below : nullptr, n_bins - 1, missing,
                       weights ? weights[n_bins] : 0.0);
        return best;
    }

    void bound(const Open &parent, Open &left, Open &right, std::size_t j) const {
        left.state.bounds = right.state.bounds = parent.state.bounds;
        if (!rules_.monotonic || rules_.monotonic[j] == 0)
            return;
        const auto value = [&](const Open &leaf) {
            const double v = -static_cast<double>(gradient_of(leaf.state.total)) /
                             (static_cast<double>(hessian_of(leaf.state.total)) + split_rules_.l2);
            return std::clamp(v, parent.state.bounds.lower, parent.state.bounds.upper);
        };
        const double middle = (value(left) + value(right)) / 2;
        (rules_.monotonic[j] > 0 ? left : right).state.bounds.upper = middle;
        (rules_.monotonic[j] > 0 ? right : left).state.bounds.lower = middle;
    }

    Rows &rows_;
    const CodeRows &codes_;
    const BinTable &bins_;
    const PackedGradients &packed_;
    const GradientRules &rules_;
    int threads_;
    HistogramPool pool_;
    std::vector<Found> found_[2];
    SplitRules split_rules_{};
    double gain_scale_ = 1.0;
};

} // namespace thetahat::trees
