// The best split of a node by one column, for trees that look at few columns per node.
//
// The rows of a node form groups of equal codes, in ascending order (node_groups.hpp). A candidate
// sends the groups 0 … g left. Categories are groups ordered by their mean target
// (which for one sum leaves the best subset among the prefixes), or by the share of each class in
// turn. Rows without a value are tried on both sides. The sums are made in the order of the rows
// and groups, by one thread.
#pragma once

#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "coded_columns.hpp"
#include "criteria.hpp"
#include "forest_rules.hpp"
#include "node_groups.hpp"
#include "random.hpp"
#include "row_statistics.hpp"

namespace thetahat::trees {

// A split while a node is searched: what `Split` holds, in codes.
struct Candidate {
    double gain = -std::numeric_limits<double>::infinity();
    std::int32_t feature = none;
    std::uint32_t last_left = 0, first_right = 0; // ordered: the codes beside the threshold
    double threshold = std::numeric_limits<double>::quiet_NaN(); // NaN: midway between them
    bool missing_left = false;
    bool has_missing = false;
    double weight_left = 0.0;
    std::vector<std::uint32_t> left{}, right{}; // categorical: the codes of both sides
};

// The bounds on the value of a node that monotonic constraints of its ancestors set.
struct Bounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

template <typename Code, typename Statistics, typename Criterion> class SplitSearch {
  public:
    using Row = typename Statistics::Row;

    SplitSearch(const CodedColumns<Code> &columns, const Statistics &statistics,
                const Criterion &criterion, const ForestRules &rules)
        : columns_(columns), statistics_(statistics), criterion_(criterion), rules_(rules),
          most_codes_(1 + *std::max_element(columns.n_codes, columns.n_codes + columns.n_columns)),
          stride_(statistics.stride()), groups_(statistics, most_codes_, rules.min_leaf > 1),
          all_(stride_), left_(stride_), scores_(most_codes_), left_weights_(most_codes_),
          left_sums_(most_codes_) {}

    // The sums of a node; whether its rows differ in target. What is asked next is about this node.
    bool open(std::span<const Row> rows, double min_weight, const Bounds &bounds) {
        rows_ = rows;
        min_weight_ = min_weight;
        bounds_ = bounds;
        bool differ = false;
        for (std::size_t i = 1; i < rows.size() && !differ; ++i)
            differ = !statistics_.same(rows[i], rows[0]);
        if (!differ)
            return false;
        statistics_.total(rows, all_.data(), [](std::size_t) { return true; });
        base_ = criterion_.base(all_.data() + 1, all_[0]);
        if constexpr (std::is_same_v<Statistics, OneSum>)
            spread_ = statistics_.spread(rows, all_[1] / all_[0]);
        return true;
    }
    const std::vector<double> &sums() const { return all_; }

    // Whether no split of the node can beat this one: both its sides are pure. (Of two classes, or
    // of squared errors; of other criteria nobody asks.)
    bool unbeatable(const Candidate &best) const {
        if constexpr (std::is_same_v<Statistics, OneSum> &&
                      std::is_base_of_v<Squares<1>, Criterion>)
            return best.gain >= (1.0 - 1e-9) * criterion_.unit() * spread_;
        return false;
    }

    // Try the splits by column j, whose codes of the node's rows are `code(i)`; keep in `best` what
    // beats it. False when all rows have the same code.
    template <typename CodeOf>
    bool consider(std::uint32_t j, const CodeOf &code, Random &random, Candidate &best) {
        const bool categorical = columns_.categorical[j];
        if (rules_.random_thresholds && !categorical)
            return consider_random(j, code, random, best);
        groups_.count(rows_, columns_.n_codes[j], code);
        if (groups_.n + (groups_.n_missing > 0) < 2)
            return false;
        Candidate found;
        found.feature = static_cast<std::int32_t>(j);
        found.has_missing = groups_.n_missing > 0;
        if (categorical)
            consider_categories(random, found);
        else
            consider_prefixes(random, found);
        if (beats(found, best))
            best = std::move(found);
        return true;
    }

  private:
    static constexpr std::size_t few_rows = 16;

    // Groups 0 … g left, for every g; missing rows right, then left.
    void consider_prefixes(Random &random, Candidate &found) {
        std::size_t place = groups_.n;
        // All that have a value left, all that have none right: only where there are such rows.
        const std::size_t n = groups_.n - (groups_.n_missing == 0);
        try_prefixes(n, false, random, found, place);
        if (groups_.n_missing > 0)
            try_prefixes(groups_.n - 1, true, random, found, place);
        if (place == groups_.n)
            return;
        found.last_left = groups_.codes[place];
        if (place + 1 < groups_.n)
            found.first_right = groups_.codes[place + 1];
        else
            found.threshold = std::numeric_limits<double>::infinity();
    }

    void consider_categories(Random &random, Candidate &found) {
        if (rules_.random_thresholds) {
            groups_.shuffle(random);
            split_at_random(random, found);
            return;
        }
        const std::size_t n_orders = stride_ - 1;
        for (std::size_t k = 0; k < n_orders; ++k) {
            groups_.sort_by_share(k);
            std::size_t place = groups_.n;
            try_prefixes(groups_.n - (groups_.n_missing == 0), false, random, found, place);
            if (groups_.n_missing > 0)
                try_prefixes(groups_.n - 1, true, random, found, place);
            if (place < groups_.n)
                take_sides(place, found);
        }
    }

    // Each category left or right with equal chances, both sides used.
    void split_at_random(Random &random, Candidate &found) {
        const std::size_t n = groups_.n;
        if (n < 2) {
            std::size_t place = n;
            try_prefixes(1, false, random, found, place);
            if (place < n)
                take_sides(0, found);
            return;
        }
        std::size_t n_left = 1; // one of the shuffled groups is left, one right, the rest drawn
        for (std::size_t g = 2; g < n; ++g)
            n_left += random.next() & 1;
        const bool missing_left = groups_.n_missing > 0 && (random.next() & 1);
        std::size_t place = n;
        try_one(n_left - 1, missing_left, found, place);
        if (place < n)
            take_sides(place, found);
    }

    void take_sides(std::size_t place, Candidate &found) const {
        found.left.assign(groups_.codes.begin(),
                          groups_.codes.begin() + static_cast<std::ptrdiff_t>(place) + 1);
        found.right.assign(groups_.codes.begin() + static_cast<std::ptrdiff_t>(place) + 1,
                           groups_.codes.begin() + static_cast<std::ptrdiff_t>(groups_.n));
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
            const double gain = criterion_.unit() * (scores_[g] - base_);
            if (gain > found.gain && allowed(g, rows, found)) {
                found.gain = gain;
                found.missing_left = missing_left;
                found.weight_left = left_weights_[g];
                place = g;
            }
        }
    }

    void try_one(std::size_t g, bool missing_left, Candidate &found, std::size_t &place) {
        score(g + 1, missing_left);
        const std::size_t rows = std::accumulate(
            groups_.rows.begin(), groups_.rows.begin() + static_cast<std::ptrdiff_t>(g) + 1,
            missing_left ? groups_.n_missing : std::size_t{0});
        if (!allowed(g, rows, found))
            return;
        found.gain = criterion_.unit() * (scores_[g] - base_);
        found.missing_left = missing_left;
        found.weight_left = left_weights_[g];
        place = g;
    }

    // scores_[g] and left_weights_[g] of the first n prefixes.
    void score(std::size_t n, bool missing_left) {
        if constexpr (std::is_same_v<Statistics, OneSum>) {
            // Sums first, scores after: the second loop has no order, so it runs on wide registers.
            double w = missing_left ? groups_.missing[0] : 0.0,
                   s = missing_left ? groups_.missing[1] : 0.0;
            for (std::size_t g = 0; g < n; ++g) {
                left_weights_[g] = w += groups_.sums[2 * g];
                left_sums_[g] = s += groups_.sums[2 * g + 1];
            }
            const double *weights = left_weights_.data(), *sums = left_sums_.data();
            double *scores = scores_.data();
            const double all[1] = {all_[1]}, weight = all_[0];
            for (std::size_t g = 0; g < n; ++g)
                scores[g] = criterion_.score(sums + g, weights[g], all, weight);
        } else {
            start_left(missing_left);
            for (std::size_t g = 0; g < n; ++g) {
                for (std::size_t k = 0; k < stride_; ++k)
                    left_[k] += groups_.sums[g * stride_ + k];
                left_weights_[g] = left_[0];
                scores_[g] = criterion_.score(left_.data() + 1, left_[0], all_.data() + 1, all_[0]);
            }
        }
    }

    void start_left(bool missing_left) {
        if (missing_left)
            left_ = groups_.missing;
        else
            std::fill(left_.begin(), left_.end(), 0.0);
    }

    // Whether both sides have rows, weight and order enough.
    bool allowed(std::size_t g, std::size_t rows_left, const Candidate &found) const {
        const double left = left_weights_[g], right = all_[0] - left;
        if (rules_.min_leaf > 1 &&
            (rows_left < rules_.min_leaf || rows_.size() - rows_left < rules_.min_leaf))
            return false;
        if (!(left > 0.0 && right > 0.0) || left < min_weight_ || right < min_weight_)
            return false;
        if constexpr (std::is_same_v<Statistics, OneSum>)
            if (rules_.monotone && rules_.monotone[found.feature] != 0)
                return in_order(left_sums_[g], left, rules_.monotone[found.feature]);
        return true;
    }

    bool in_order(double sum_left, double left, int sign) const {
        const double a = sum_left / left, b = (all_[1] - sum_left) / (all_[0] - left);
        return (a - b) * sign <= 0.0 && std::min(a, b) >= bounds_.lower &&
               std::max(a, b) <= bounds_.upper;
    }

    // One threshold, uniform over the range of the node's values.
    template <typename CodeOf>
    bool consider_random(std::uint32_t j, const CodeOf &code, Random &random, Candidate &best) {
        const std::uint32_t missing = columns_.n_codes[j];
        const std::size_t m = rows_.size();
        if (gathered_.size() < m)
            gathered_.resize(m);
        std::uint32_t low = missing, high = 0;
        std::size_t n_missing = 0;
        for (std::size_t i = 0; i < m; ++i) {
            const Code at = static_cast<Code>(code(i));
            gathered_[i] = at;
            low = std::min<std::uint32_t>(low, at);
            high = std::max<std::uint32_t>(high, at);
        }
        if (high == missing) { // rare: look again for the largest that is there
            high = 0;
            for (std::size_t i = 0; i < m; ++i) {
                n_missing += gathered_[i] == missing;
                if (gathered_[i] != missing)
                    high = std::max<std::uint32_t>(high, gathered_[i]);
            }
        }
        if (n_missing == m || (low == high && n_missing == 0))
            return false;
        Candidate found;
        found.feature = static_cast<std::int32_t>(j);
        found.has_missing = n_missing > 0;
        std::uint32_t cut = high;
        if (low < high) {
            cut = draw_threshold(j, low, high, random, found.threshold);
            found.missing_left = n_missing > 0 && (random.next() & 1);
        } else {
            found.threshold = std::numeric_limits<double>::infinity();
        }
        found.last_left = cut;
        const Code *codes = gathered_.data();
        const auto goes_left = [=, all = found.missing_left](std::size_t i) {
            return codes[i] <= cut || (all && codes[i] == missing);
        };
        statistics_.total(rows_, left_.data(), goes_left);
        std::size_t rows = 0;
        if (rules_.min_leaf > 1)
            for (std::size_t i = 0; i < m; ++i)
                rows += goes_left(i);
        left_weights_[0] = left_[0];
        left_sums_[0] = left_[1];
        found.weight_left = left_[0];
        if (allowed(0, rows, found)) {
            const double score =
                criterion_.score(left_.data() + 1, left_[0], all_.data() + 1, all_[0]);
            found.gain = criterion_.unit() * (score - base_);
            if (beats(found, best))
                best = std::move(found);
        }
        return true;
    }

    // A threshold t; returns the last code that goes left. The values of one code stay together.
    std::uint32_t draw_threshold(std::uint32_t j, std::uint32_t low, std::uint32_t high,
                                 Random &random, double &t) const {
        const double from = columns_.low(j, low), to = columns_.high(j, high);
        const double u = random.uniform();
        t = from + u * (to - from);
        if (!std::isfinite(t)) { // infinite values: by their places instead
            t = std::numeric_limits<double>::quiet_NaN();
            return low + static_cast<std::uint32_t>(u * (high - low));
        }
        // Codes whose middle is ≤ t go left. Of few rows the last of them is looked for among their
        // codes, else among all: halving without branches, for t is anywhere.
        const auto is_below = [&](std::uint32_t at) {
            return columns_.low(j, at) + columns_.high(j, at) <= 2.0 * t;
        };
        if (rows_.size() <= few_rows) {
            std::uint32_t last = low;
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                const std::uint32_t at = gathered_[i];
                if (at > last && at < high && is_below(at))
                    last = at;
            }
            return last;
        }
        std::uint32_t passed = low;
        for (std::uint32_t rest = high - low; rest > 0;) {
            const std::uint32_t half = (rest + 1) / 2, at = passed + half - 1;
            const bool below = is_below(at);
            passed += half * static_cast<std::uint32_t>(below);
            rest = below ? rest - half : half - 1;
        }
        return std::clamp(passed, low + 1, high) - 1;
    }

    // More gain. Splits that divide the rows alike gain the same but for rounding, and then the
    // first is kept: which is first was drawn, and does not depend on the order of sums.
    bool beats(const Candidate &found, const Candidate &best) const {
        const double blur = 1e-9 * std::abs(best.gain) + 1e-13 * std::abs(base_);
        return found.gain > -std::numeric_limits<double>::infinity() &&
               (best.feature == none || found.gain > best.gain + blur);
    }

    const CodedColumns<Code> &columns_;
    const Statistics &statistics_;
    const Criterion &criterion_;
    const ForestRules &rules_;
    std::size_t most_codes_, stride_;
    NodeGroups<Code, Statistics> groups_;

    // Of the node.
    std::span<const Row> rows_{};
    double min_weight_ = 0.0, base_ = 0.0, spread_ = 0.0;
    Bounds bounds_{};
    std::vector<double> all_;

    // Of the column.
    std::vector<double> left_;
    std::vector<double> scores_, left_weights_, left_sums_;
    std::vector<Code> gathered_{};
};

} // namespace thetahat::trees
