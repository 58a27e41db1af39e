// Trees with exact or random splits: the engine over the codes of sorted columns.
//
// Exact splits read every column in the order of its codes. A node owns the same range [begin, end)
// of every column. When it is split, the range of each column is partitioned stably, so the
// children are in order again without sorting: O(rows × columns) per level. Random splits need no
// order and read the codes by row. Columns are distributed over threads, each scanned by one. Below
// a size that depends on the data alone, one thread grows the whole subtree of a node
// (`postponed`), and subtrees are distributed instead. Random numbers come from a seed of the node,
// so neither the number of threads nor the order of growth changes a bit of the tree.
#pragma once

#include <atomic>
#include <numeric>

#include "core/parallel.hpp"
#include "trees/exact/random_split.hpp"
#include "trees/exact/scan.hpp"
#include "trees/exact/sorted_columns.hpp"
#include "trees/exact/statistic_settings.hpp"
#include "trees/field.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

// Rows × columns below which one thread grows a whole subtree.
constexpr std::size_t shared_work = std::size_t{1} << 17;

template <typename Measure> class StatisticEngine {
  public:
    struct State {
        Summary summary{};
        double lower = -std::numeric_limits<double>::infinity(); // monotone bounds of its value
        double upper = std::numeric_limits<double>::infinity();
        std::uint64_t seed = 0;
    };
    using Open = Leaf<State>;

    StatisticEngine(Field &field, const Measure &measure, const Settings &settings,
                    std::size_t postpone_below, int threads)
        : field(field), columns(field.columns), measure(measure), settings(settings),
          postpone_below(postpone_below), threads(threads) {}

    std::vector<Open> postponed{};
    Open *start = nullptr; // where a subtree begins, else at all rows

    void open(Tree &tree, Open &root) {
        if (start) {
            const std::int32_t node = root.node;
            root = std::move(*start);
            root.node = node;
        } else {
            root.end = field.rows.size();
            root.state.seed = settings.seed;
        }
        describe(tree, root);
        if (!start)
            field.weight = root.state.summary.weight;
    }

    void find(Tree &, Open &leaf) {
        if (leaf_stays(leaf) || postpone(leaf))
            return;
        search(leaf, drawn_features(leaf));
    }

    void find_both(Tree &, Open &left, Open &right) {
        const bool search_left = !leaf_stays(left), search_right = !leaf_stays(right);
        if (!search_left && !search_right)
            return;
        if (columns.ordered)
            divide_columns(left, right);
        if (search_left && !postpone(left))
            search(left, drawn_features(left));
        if (search_right && !postpone(right))
            search(right, drawn_features(right));
    }

    void divide(Tree &tree, Open &parent, Open &left, Open &right) {
        const std::size_t present = send(tree, parent);
        std::uint32_t *rows = field.rows.data() + parent.begin;
        const std::size_t n = parent.n_rows();
        std::vector<std::uint32_t> kept(n);
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t row = rows[i];
            const bool goes_left = field.goes_left[row];
            rows[n_left] = row;
            kept[n_right] = row;
            n_left += goes_left;
            n_right += !goes_left;
        }
        std::copy_n(kept.data(), n_right, rows + n_left);
        left.begin = parent.begin;
        left.end = right.begin = parent.begin + n_left;
        right.end = parent.end;
        Random random(parent.state.seed);
        left.state.seed = random.next();
        right.state.seed = random.next();
        if (present == n) // no missing values here: at prediction they go to the larger side
            tree.nodes[static_cast<std::size_t>(parent.node)].missing_left = n_left > n_right;
        bound(parent, left, right);
        describe(tree, left);
        describe(tree, right);
        tighten(tree, parent, left, right);
    }

    void close(Tree &, Open &) {}

  private:
    struct Worker {
        std::vector<double> scratch;
        std::vector<Entry> entries;
        std::vector<Category> categories;
        DrawnRows drawn;
    };

    // Mark the rows of a node that go left; returns the number of rows that have a value.
    std::size_t send(const Tree &, const Open &node) {
        const Split &split = node.split;
        const auto j = static_cast<std::size_t>(split.feature);
        const std::uint32_t missing = columns.missing(j);
        const std::vector<double> &values = columns.values[j];
        std::size_t present = 0;
        const auto decide = [&](std::uint32_t row, std::uint32_t code) {
            present += code != missing;
            field.goes_left[row] = code == missing ? split.missing_left
                                   : split.categorical
                                       ? split.left.holds(static_cast<std::uint32_t>(values[code]))
                                       : code <= split.code;
        };
        if (columns.ordered) {
            const Entry *entries = stretch(j, node);
            for (std::size_t i = 0; i < node.n_rows(); ++i)
                decide(entries[i].row, entries[i].code);
        } else {
            const std::uint32_t *codes = columns.codes_of(j);
            for (std::size_t i = node.begin; i < node.end; ++i)
                decide(field.rows[i], codes[field.rows[i]]);
        }
        return present;
    }

    void describe(Tree &tree, Open &leaf) {
        double *value = tree.value(leaf.node);
        Summary &summary = leaf.state.summary;
        measure.describe(field.rows.data() + leaf.begin, leaf.n_rows(), summary, value);
        Node &node = tree.nodes[static_cast<std::size_t>(leaf.node)];
        node.impurity = summary.impurity;
        node.weight = summary.weight;
        node.count = static_cast<std::int64_t>(leaf.n_rows());
        if (settings.monotone.empty())
            return;
        // One number, or two class proportions.
        double &last = value[tree.width - 1];
        last = std::clamp(last, leaf.state.lower, leaf.state.upper);
        if (tree.width == 2)
            value[0] = 1.0 - last;
    }

    // Children have the bounds of their parent. If it was split along a monotone column, the
    // midpoint of their values separates them.
    void bound(const Open &parent, Open &left, Open &right) const {
        for (Open *child : {&left, &right}) {
            child->state.lower = parent.state.lower;
            child->state.upper = parent.state.upper;
        }
    }

    void tighten(Tree &tree, const Open &parent, Open &left, Open &right) const {
        const int sign = monotone(parent.split.feature);
        if (sign == 0)
            return;
        const std::size_t last = tree.width - 1;
        const double middle =
            0.5 * tree.value(left.node)[last] + 0.5 * tree.value(right.node)[last];
        (sign > 0 ? left : right).state.upper = middle;
        (sign > 0 ? right : left).state.lower = middle;
    }

    int monotone(std::int32_t feature) const {
        return settings.monotone.empty() ? 0 : settings.monotone[static_cast<std::size_t>(feature)];
    }

    bool leaf_stays(const Open &leaf) const {
        const std::size_t n = leaf.n_rows();
        return leaf.state.summary.pure || n < settings.min_split || n < 2 * settings.min_leaf ||
               leaf.state.summary.weight < 2.0 * settings.min_weight;
    }

    bool postpone(const Open &leaf) {
        if (leaf.n_rows() >= postpone_below)
            return false;
        postponed.push_back(leaf);
        return true;
    }

    const Entry *stretch(std::size_t j, const Open &leaf) {
        return (leaf.depth == 0 && field.root_in_columns ? columns.column(j) : field.column(j)) +
               leaf.begin;
    }

    int threads_for(std::size_t n_rows) const {
        return n_rows * columns.n_columns < shared_work ? 1 : threads;
    }

    // work(worker, piece) for every piece, one worker per thread.
    template <typename Work> void share(std::size_t n, int n_workers, const Work &work) {
        workers.resize(static_cast<std::size_t>(std::max(1, threads)));
        std::atomic<std::size_t> next{0};
        for_each_piece(static_cast<std::size_t>(n_workers), n_workers, [&](std::size_t w) {
            for (std::size_t piece = next++; piece < n; piece = next++)
                work(workers[w], piece);
        });
    }

    // The ranges of two siblings, from that of their parent.
    void divide_columns(const Open &left, const Open &right) {
        const std::size_t n = right.end - left.begin;
        const bool from_root = left.depth == 1 && field.root_in_columns;
        share(columns.n_columns, threads_for(n), [&](Worker &worker, std::size_t j) {
            Entry *to = field.column(j) + left.begin;
            const Entry *from = from_root ? columns.column(j) + left.begin : to;
            // A column that is constant here is constant below, so its entries need no partition.
            if (!from_root && from[0].code == from[n - 1].code)
                return;
            worker.entries.resize(std::max(worker.entries.size(), n));
            Entry *kept = worker.entries.data();
            const std::uint8_t *goes_left = field.goes_left.data();
            std::size_t n_left = 0, n_right = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const Entry entry = from[i];
                const bool is_left = goes_left[entry.row];
                to[n_left] = entry;
                kept[n_right] = entry;
                n_left += is_left;
                n_right += !is_left;
            }
            std::copy_n(kept, n_right, to + n_left);
        });
    }

    // Columns to try: all, or the requested number of columns not constant in the node, at random.
    const std::vector<std::uint32_t> &drawn_features(const Open &leaf) {
        const std::size_t d = columns.n_columns;
        drawn.resize(d);
        std::iota(drawn.begin(), drawn.end(), 0u);
        if (settings.max_features >= d)
            return drawn;
        Random random(leaf.state.seed ^ 0x5851F42D4C957F2DULL);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < d && kept < settings.max_features; ++i) {
            std::swap(drawn[i], drawn[i + random.below(d - i)]);
            if (!constant(drawn[i], leaf))
                std::swap(drawn[kept++], drawn[i]);
        }
        drawn.resize(kept);
        return drawn;
    }

    bool constant(std::size_t j, const Open &leaf) {
        const std::size_t n = leaf.n_rows();
        if (columns.ordered) {
            const Entry *entries = stretch(j, leaf);
            return entries[0].code == entries[n - 1].code;
        }
        const std::uint32_t *codes = columns.codes_of(j), *rows = field.rows.data() + leaf.begin;
        const std::uint32_t first = codes[rows[0]];
        return std::all_of(rows, rows + n, [&](std::uint32_t row) { return codes[row] == first; });
    }

    void search(Open &leaf, const std::vector<std::uint32_t> &features) {
        found.assign(features.size(), Split{});
        share(features.size(), threads_for(leaf.n_rows()), [&](Worker &worker, std::size_t k) {
            worker.scratch.resize(measure.scratch(leaf.state.summary));
            const std::size_t j = features[k];
            if (!constant(j, leaf))
                found[k] =
                    columns.ordered ? best_split(worker, j, leaf) : random_split(worker, j, leaf);
        });
        std::uint64_t turn = 0;
        for (Split &split : found) {
            if (!split.exists())
                continue;
            // Its position in a random order of the columns, which depends on the node.
            const auto column = static_cast<std::uint64_t>(split.feature);
            const std::uint64_t place = Random(leaf.state.seed ^ ((column + 1) << 32)).next();
            const bool tied = settings.random_ties && split.gain == leaf.split.gain;
            if (!leaf.split.exists() || (tied ? place > turn : better(split, leaf.split))) {
                leaf.split = std::move(split);
                turn = place;
            }
        }
        // Rounding may make a gain of 0 slightly negative.
        constexpr double rounding = std::numeric_limits<double>::epsilon();
        const double of_node = leaf.split.gain * field.weight / leaf.state.summary.weight;
        if (!(leaf.split.gain + rounding >= settings.min_decrease &&
              of_node + rounding >= settings.min_gain))
            leaf.split = Split{};
    }

    Limits limits(std::size_t j, const Open &leaf) const {
        return {settings.min_leaf, settings.min_weight, monotone(static_cast<std::int32_t>(j)),
                leaf.state.lower, leaf.state.upper};
    }

    // The split that belongs to a score, of which `share` counts; the caller sets its place.
    Split scored(const Found &best, std::size_t j, const Open &leaf, double share = 1.0) const {
        const Summary &summary = leaf.state.summary;
        Split split;
        const double gain = share * measure.unit() * (best.score - measure.base(summary));
        split.gain = rounded_gain(gain, summary.spread()) / field.weight;
        split.feature = static_cast<std::int32_t>(j);
        split.missing_left = best.missing_left;
        split.categorical = columns.categorical[j];
        return split;
    }

    Split best_split(Worker &worker, std::size_t j, const Open &leaf) {
        const Entry *entries = stretch(j, leaf);
        const std::size_t n = leaf.n_rows();
        const Summary &summary = leaf.state.summary;
        const double rounding = summary.spread() / measure.unit() * 0x1p-30;
        auto running = measure.running(summary, worker.scratch.data());
        const std::uint32_t missing = columns.missing(j);
        if (!columns.categorical[j]) {
            const Found best = scan_values(running, entries, n, missing, limits(j, leaf),
                                           summary.weight, rounding);
            if (!best.exists())
                return {};
            Split split = scored(best, j, leaf);
            split.code = entries[best.place].code;
            const bool last = best.place + 1 == n || entries[best.place + 1].code == missing;
            split.threshold = last ? std::numeric_limits<double>::infinity()
                                   : between(columns.values[j][split.code],
                                             columns.values[j][entries[best.place + 1].code]);
            return split;
        }
        std::vector<Category> &categories = worker.categories;
        categories.clear();
        for (std::size_t i = 0; i < n && entries[i].code != missing; ++i) {
            if (categories.empty() || entries[i].code != categories.back().code)
                categories.push_back({i, i, entries[i].code, 0.0});
            ++categories.back().end;
        }
        const bool alone = !settings.category_subsets || !measure.ordered();
        const Found best = scan_categories(running, entries, n, categories, alone, limits(j, leaf),
                                           summary.weight, rounding);
        if (!best.exists())
            return {};
        Split split = scored(
            best, j, leaf, alone ? 1.0 : real_share(measure.targets, categories, entries, summary));
        split.code = categories[best.place].code;
        for (std::size_t c = alone ? best.place : 0; c <= best.place; ++c)
            split.left.add(static_cast<std::uint32_t>(columns.values[j][categories[c].code]));
        return split;
    }

    // A number between two values: low ≤ t < high.
    double between(double low, double high) const {
        const double middle = 0.5 * low + 0.5 * high;
        return !settings.at_values && middle >= low && middle < high ? middle : low;
    }

    Split random_split(Worker &worker, std::size_t j, const Open &leaf) {
        Random random(leaf.state.seed ^ (j + 1) * 0xD1342543DE82EF95ULL);
        const std::uint32_t *rows = field.rows.data() + leaf.begin;
        const std::size_t n = leaf.n_rows();
        Split drawn = draw_split(random, columns, j, rows, n, worker.drawn);
        const std::vector<std::uint32_t> &left = worker.drawn.rows;
        const std::size_t n_left = worker.drawn.n_left;
        if (n_left < settings.min_leaf || n - n_left < settings.min_leaf)
            return {};
        const Summary &summary = leaf.state.summary;
        auto running = measure.running(summary, worker.scratch.data());
        running.start();
        for (std::size_t i = 0; i < n_left; ++i)
            running.add(left[i]);
        const Limits limit = limits(j, leaf);
        Best<decltype(running)> best(running, limit, summary.weight, 0.0);
        best.offer(0, drawn.missing_left);
        if (!best.found.exists())
            return {};
        drawn.gain = scored(best.found, j, leaf).gain;
        return drawn;
    }

    Field &field;
    const SortedColumns &columns;
    const Measure &measure;
    const Settings &settings;
    std::size_t postpone_below;
    int threads;
    std::vector<Worker> workers{};
    std::vector<std::uint32_t> drawn{};
    std::vector<Split> found{};
};

} // namespace thetahat::trees
