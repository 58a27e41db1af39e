// The best split of a node by one column of codes, for trees that try few columns per node.
//
// The rows of a node form groups of equal codes, in ascending order (node_groups.hpp). A candidate
// sends the groups 0 … g left. Categories are groups ordered by their mean target (for one sum the
// best subset is then a prefix), or by the share of each class in turn; the gain is reduced by what
// such an order finds in noise (category_noise.hpp). Rows with missing values are tried on both
// sides. Columns whose splits are random have one candidate each. Sums are made in the order of the
// rows and groups, by one thread.
#pragma once

#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "trees/category_noise.hpp"
#include "trees/coded_columns.hpp"
#include "trees/exact/random_rules.hpp"
#include "trees/forest/node_groups.hpp"
#include "trees/node_sums.hpp"
#include "trees/random.hpp"

namespace thetahat::trees {

template <typename Columns_, typename Statistics_, typename Criterion> class SplitSearch {
  public:
    using Columns = Columns_;
    using Statistics = Statistics_;

    SplitSearch(const Columns &columns, const Statistics &statistics, const Criterion &criterion,
                const ForestRules &rules)
        : columns_(columns), statistics_(statistics), criterion_(criterion), rules_(rules),
          node_(statistics, criterion, rules),
          most_codes_(1 + *std::max_element(columns.n_codes, columns.n_codes + columns.n_columns)),
          stride_(statistics.stride()), groups_(statistics, most_codes_, rules.min_leaf > 1),
          left_(stride_), scores_(most_codes_), left_weights_(most_codes_),
          left_sums_(most_codes_) {}

    NodeSums<Statistics, Criterion> &node() { return node_; }
    const Sides &sides() const { return sides_; }

    // Try the splits by column j, whose codes of the node's rows are `code(i)` (or sparse cells),
    // the number `n_codes` for missing ones; replace `best` by a better one. False when all rows
    // have the same code, or when its categories differ no more than by chance.
    template <typename CodeOf>
    bool consider(std::uint32_t j, std::uint32_t n_codes, const CodeOf &code, Random &random,
                  Candidate &best) {
        groups_.count(node_.rows(), node_.all(), n_codes, code);
        if (groups_.n + (groups_.n_missing > 0) < 2)
            return false;
        Candidate found;
        found.feature = static_cast<std::int32_t>(j);
        found.has_missing = groups_.n_missing > 0;
        const bool categorical = !Columns::sparse && columns_.categorical[j];
        if constexpr (!Columns::sparse)
            if (columns_.random) {
                draw_split(j, random, found);
                if (node_.beats(found, best)) {
                    best = found;
                    if (categorical)
                        std::swap(sides_, found_sides_);
                }
                return true;
            }
        if constexpr (!Columns::sparse)
            if (categorical) {
                found.share = real_share(n_codes, code);
                consider_categories(random, found);
            }
        if (!categorical)
            consider_prefixes(random, found);
        if (node_.beats(found, best)) {
            best = found;
            if (categorical)
                std::swap(sides_, found_sides_);
        }
        return found.share > 0.0;
    }

  private:
    // One split at random: the end of a bin that is nearest to a threshold, which is uniform
    // between the first and the last end within the node, or at least one category on each side.
    // Missing values go to a random side.
    void draw_split(std::uint32_t j, Random &random, Candidate &found) {
        const std::size_t n = groups_.n;
        const std::vector<std::uint32_t> codes(
            groups_.codes.begin(), groups_.codes.begin() + static_cast<std::ptrdiff_t>(n));
        std::size_t last = n - 1; // all values on the left, if there is one
        CategorySet set;
        if (n > 1 && columns_.categorical[j])
            set = draw_categories(random, codes);
        else if (n > 1) {
            const double *upper = columns_.upper + j * columns_.width;
            const double t = draw_threshold(random, upper[codes[0]],
                                            columns_.lower[j * columns_.width + codes[n - 1]]);
            last = 0;
            while (last + 2 < n && t - upper[codes[last]] >= upper[codes[last + 1]] - t)
                ++last;
        } else if (columns_.categorical[j])
            set.add(codes[0]);
        found.missing_left = found.has_missing && n > 1 && (random.next() & 1);
        std::fill(left_.begin(), left_.end(), 0.0);
        if (found.missing_left)
            left_ = groups_.missing;
        std::size_t rows = found.missing_left ? groups_.n_missing : 0;
        found_sides_ = Sides{};
        for (std::size_t g = 0; g < n; ++g) {
            const bool left = columns_.categorical[j] ? set.holds(codes[g]) : g <= last;
            (left ? found_sides_.left : found_sides_.right).push_back(codes[g]);
            if (!left)
                continue;
            rows += groups_.rows[g];
            for (std::size_t k = 0; k < stride_; ++k)
                left_[k] += groups_.sums[g * stride_ + k];
        }
        found.last_left = codes[last];
        if (last + 1 < n)
            found.first_right = codes[last + 1];
        else
            found.threshold = std::numeric_limits<double>::infinity();
        found.weight_left = left_[0];
        if (node_.allows(found.feature, left_[0], left_[1], rows))
            found.gain = node_.gain(left_.data());
    }

    // Groups 0 … g left, for every g; missing rows right, then left.
    void consider_prefixes(Random &random, Candidate &found) {
        const std::size_t place = best_prefix(random, found);
        if (place == groups_.n)
            return;
        found.last_left = groups_.codes[place];
        if (place + 1 < groups_.n)
            found.first_right = groups_.codes[place + 1];
        else
            found.threshold = std::numeric_limits<double>::infinity();
    }

    // The share of the differences between the categories that is more than chance.
    template <typename CodeOf> double real_share(std::uint32_t n_codes, const CodeOf &code) {
        weight_squares_.assign(n_codes + std::size_t{1}, 0.0);
        double q = 0.0;
        for (std::size_t i = 0; i < node_.rows().size(); ++i) {
            const auto row = node_.rows()[i];
            weight_squares_[code(i)] += row.w * row.w;
            q += code(i) < n_codes ? row.w * statistics_.square(row) : 0.0;
        }
        CategoryNoise noise;
        std::fill(left_.begin(), left_.end(), 0.0);
        const auto squared = [&](const double *sums) {
            return std::inner_product(sums, sums + stride_ - 1, sums, 0.0);
        };
        for (std::size_t g = 0; g < groups_.n; ++g) {
            const double *sums = groups_.sums.data() + g * stride_;
            noise.add(sums[0], weight_squares_[groups_.codes[g]], squared(sums + 1));
            for (std::size_t k = 1; k < stride_; ++k)
                left_[k] += sums[k];
        }
        return noise.share(squared(left_.data() + 1), q);
    }

    void consider_categories(Random &random, Candidate &found) {
        const std::size_t n_orders = stride_ - 1;
        bool absent = false; // classes without rows all give the order of the codes
        for (std::size_t k = 0; k < n_orders; ++k) {
            if (n_orders > 1 && rules_.max_candidates == 0 && groups_.lacks(k)) {
                if (absent)
                    continue;
                absent = true;
            }
            groups_.sort_by_share(k);
            const std::size_t place = best_prefix(random, found);
            if (place == groups_.n)
                continue;
            const auto first = groups_.codes.begin(),
                       middle = first + static_cast<std::ptrdiff_t>(place) + 1;
            found_sides_.left.assign(first, middle);
            found_sides_.right.assign(middle, first + static_cast<std::ptrdiff_t>(groups_.n));
        }
    }

    // The last group of the best prefix, if one improves on `found`; else the number of groups.
    std::size_t best_prefix(Random &random, Candidate &found) {
        std::size_t place = groups_.n;
        // All values left and missing ones right: only if some are missing.
        try_prefixes(groups_.n - (groups_.n_missing == 0), false, random, found, place);
        if (groups_.n_missing > 0)
            try_prefixes(groups_.n - 1, true, random, found, place);
        return place;
    }

    // Candidates g < n, all or some of them; `place` is set where `found` improves.
    void try_prefixes(std::size_t n, bool missing_left, Random &random, Candidate &found,
                      std::size_t &place) {
        if (n == 0)
            return;
        score(n, missing_left);
        std::size_t wanted = rules_.max_candidates, rows = missing_left ? groups_.n_missing : 0;
        const bool sample = wanted > 0 && wanted < n;
        for (std::size_t g = 0; g < n; ++g) {
            rows += groups_.rows[g];
            if (sample) {
                const bool drawn =
                    random.uniform() * static_cast<double>(n - g) < static_cast<double>(wanted);
                wanted -= drawn;
                if (!drawn)
                    continue;
            }
            const double gain = node_.gain_of(scores_[g]);
            if (gain > found.gain &&
                node_.allows(found.feature, left_weights_[g], left_sums_[g], rows)) {
                found.gain = gain;
                found.missing_left = missing_left;
                found.weight_left = left_weights_[g];
                place = g;
            }
        }
    }

    // scores_[g] and left_weights_[g] of the first n prefixes.
    void score(std::size_t n, bool missing_left) {
        const std::vector<double> &all = node_.all();
        if constexpr (std::is_same_v<Statistics, OneSum>) {
            // The scores are computed in a second loop, which can be vectorised.
            double w = missing_left ? groups_.missing[0] : 0.0,
                   s = missing_left ? groups_.missing[1] : 0.0;
            for (std::size_t g = 0; g < n; ++g) {
                left_weights_[g] = w += groups_.sums[2 * g];
                left_sums_[g] = s += groups_.sums[2 * g + 1];
            }
            const double *weights = left_weights_.data(), *sums = left_sums_.data();
            double *scores = scores_.data();
            const double sum[1] = {all[1]}, weight = all[0];
            for (std::size_t g = 0; g < n; ++g)
                scores[g] = criterion_.score(sums + g, weights[g], sum, weight);
        } else {
            if (missing_left)
                left_ = groups_.missing;
            else
                std::fill(left_.begin(), left_.end(), 0.0);
            for (std::size_t g = 0; g < n; ++g) {
                for (std::size_t k = 0; k < stride_; ++k)
                    left_[k] += groups_.sums[g * stride_ + k];
                left_weights_[g] = left_[0];
                scores_[g] = criterion_.score(left_.data() + 1, left_[0], all.data() + 1, all[0]);
            }
        }
    }

    const Columns &columns_;
    const Statistics &statistics_;
    const Criterion &criterion_;
    const ForestRules &rules_;
    NodeSums<Statistics, Criterion> node_;
    std::size_t most_codes_, stride_;
    Sides sides_{}, found_sides_{}; // of the best split by categories, and of the latest

    // Of the column.
    NodeGroups<typename Columns::Code, Statistics> groups_;
    std::vector<double> left_, scores_, left_weights_, left_sums_;
    std::vector<double> weight_squares_{}; // by code
};

} // namespace thetahat::trees
