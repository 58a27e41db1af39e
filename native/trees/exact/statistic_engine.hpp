// Trees with exact or random splits: the engine over the codes of sorted columns.
//
// Exact splits read the rows in the order of every column. A node owns the same range [begin, end)
// of every column. When it is split, the range of each column is partitioned stably, so the
// children are in order again without sorting: O(rows × columns) per level. Random splits need no
// order and read the codes by row. Of sparse columns a node owns one range of all stored entries,
// ordered by column and code, which is partitioned in the same way: O(entries) per level. Columns
// are distributed over threads, each scanned by one. Below a size that depends on the data alone,
// one thread grows the whole subtree of a node
// (`postponed`), and subtrees are distributed instead. Random numbers come from a seed of the node,
// so neither the number of threads nor the order of growth changes a bit of the tree.
#pragma once

#include <atomic>
#include <numeric>
#include <span>
#include <utility>

#include "core/parallel.hpp"
#include "trees/exact/column_splits.hpp"
#include "trees/field.hpp"

namespace thetahat::trees {

// Rows × columns below which one thread grows a whole subtree.
constexpr std::size_t shared_work = std::size_t{1} << 17;

template <typename Measure> class StatisticEngine {
  public:
    using State = NodeState;
    using Open = Leaf<State>;

    StatisticEngine(Field &field, const Measure &measure, const Settings &settings,
                    std::size_t postpone_below, int threads)
        : field(field), columns(field.columns), measure(measure), settings(settings),
          splits(field.columns, measure, settings, field.weight), postpone_below(postpone_below),
          threads(threads) {}

    std::vector<Open> postponed{};
    Open *start = nullptr; // where a subtree begins, else at all rows

    void open(Tree &tree, Open &root) {
        if (start) {
            const std::int32_t node = root.node;
            root = std::move(*start);
            root.node = node;
        } else {
            root.end = field.rows.size();
            root.state.last = field.sparse.size();
            root.state.seed = settings.seed;
        }
        describe(tree, root);
        if (!start)
            field.weight = root.state.summary.weight;
    }

    void find(Tree &, Open &leaf) {
        if (leaf_stays(leaf) || postpone(leaf))
            return;
        search(leaf);
    }

    void find_both(Tree &, Open &left, Open &right) {
        const bool search_left = !leaf_stays(left), search_right = !leaf_stays(right);
        if (!search_left && !search_right)
            return;
        if (columns.sparse)
            left.state.last = right.state.first =
                left.state.first + part_entries(field.sparse.data() + left.state.first,
                                                right.state.last - left.state.first,
                                                field.goes_left.data(), kept);
        else if (columns.ordered)
            divide_columns(left, right);
        if (search_left && !postpone(left))
            search(left);
        if (search_right && !postpone(right))
            search(right);
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
        left.state.first = parent.state.first;
        right.state.last = parent.state.last;
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
    // Mark the rows of a node that go left; returns the number of rows that have a value.
    std::size_t send(const Tree &, const Open &node) {
        const Split &split = node.split;
        const auto j = static_cast<std::size_t>(split.feature);
        if (columns.ordered && !columns.sparse)
            return send_in_order(node, j);
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
        if (columns.sparse) {
            for (std::size_t i = node.begin; i < node.end; ++i)
                decide(field.rows[i], columns.zero[j]);
            for (const SparseEntry &entry : stored(j, node)) {
                present -= columns.zero[j] != missing;
                decide(entry.row, entry.code);
            }
        } else {
            const std::uint32_t *codes = columns.codes_of(j);
            for (std::size_t i = node.begin; i < node.end; ++i)
                decide(field.rows[i], codes[field.rows[i]]);
        }
        return present;
    }

    // The same for rows in the order of column j, of which the first go left.
    std::size_t send_in_order(const Open &node, std::size_t j) {
        const Split &split = node.split;
        const OrderedRow *rows = stretch(j, node);
        const std::size_t n = node.n_rows(), present = count_present(rows, n);
        for (std::size_t i = 0; i < present; ++i)
            field.goes_left[rows[i].number()] = split.categorical
                                                    ? split.left.holds(columns.category(j, rows[i]))
                                                    : i <= split.code;
        for (std::size_t i = present; i < n; ++i)
            field.goes_left[rows[i].number()] = split.missing_left;
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
        const int sign = splits.monotone(parent.split.feature);
        if (sign == 0)
            return;
        const std::size_t last = tree.width - 1;
        const double middle =
            0.5 * tree.value(left.node)[last] + 0.5 * tree.value(right.node)[last];
        (sign > 0 ? left : right).state.upper = middle;
        (sign > 0 ? right : left).state.lower = middle;
    }

    bool leaf_stays(const Open &leaf) const {
        const std::size_t n = leaf.n_rows();
        return leaf.state.summary.pure || n < settings.min_split || n < 2 * settings.min_leaf ||
               leaf.state.summary.weight < 2.0 * settings.min_weight;
    }

    bool postpone(const Open &leaf) {
        if ((columns.sparse ? leaf.state.last - leaf.state.first : leaf.n_rows()) >= postpone_below)
            return false;
        postponed.push_back(leaf);
        return true;
    }

    const OrderedRow *stretch(std::size_t j, const Open &leaf) {
        return (leaf.depth == 0 && field.root_in_columns ? columns.column(j) : field.column(j)) +
               leaf.begin;
    }

    int threads_for(std::size_t n_cells) const { return n_cells < shared_work ? 1 : threads; }

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
        share(columns.n_columns, threads_for(n * columns.n_columns),
              [&](SplitWorker &worker, std::size_t j) {
                  OrderedRow *to = field.column(j) + left.begin;
                  const OrderedRow *from = from_root ? columns.column(j) + left.begin : to;
                  // A column that is constant here is constant below, so its rows need no
                  // partition.
                  if (!from_root && trees::constant(from))
                      return;
                  part_rows(from, n, field.goes_left.data(), to, worker.rows);
              });
    }

    // The entries of a node in column j, where columns are sparse.
    std::span<const SparseEntry> stored(std::size_t j, const Open &leaf) const {
        const auto first = field.sparse.begin() + static_cast<std::ptrdiff_t>(leaf.state.first),
                   last = field.sparse.begin() + static_cast<std::ptrdiff_t>(leaf.state.last);
        const auto found = std::ranges::equal_range(first, last, j, {}, &SparseEntry::column);
        return {found.begin(), found.end()};
    }

    SparseColumn sparse_column(std::span<const SparseEntry> entries, const Open &leaf) const {
        const std::size_t j = entries[0].column;
        return {entries, leaf.n_rows(), columns.zero[j], columns.missing(j)};
    }

    // Columns to try: all, or the requested number of columns not constant in the node, at random.
    // The draws are undone afterwards, so that a node costs as much as it draws.
    void draw_features(const Open &leaf) {
        const std::size_t d = columns.n_columns;
        features.clear();
        if (settings.max_features >= d) {
            features.resize(d);
            std::iota(features.begin(), features.end(), 0u);
            return;
        }
        if (order.empty()) {
            order.resize(d);
            std::iota(order.begin(), order.end(), 0u);
        }
        Random random(leaf.state.seed ^ 0x5851F42D4C957F2DULL);
        swaps.clear();
        const auto swap = [&](std::size_t a, std::size_t b) {
            std::swap(order[a], order[b]);
            swaps.emplace_back(a, b);
        };
        for (std::size_t i = 0; i < d && features.size() < settings.max_features; ++i) {
            swap(i, i + random.below(d - i));
            if (constant(order[i], leaf))
                continue;
            swap(features.size(), i);
            features.push_back(order[features.size()]);
        }
        for (std::size_t k = swaps.size(); k-- > 0;)
            std::swap(order[swaps[k].first], order[swaps[k].second]);
    }

    bool constant(std::size_t j, const Open &leaf) {
        const std::size_t n = leaf.n_rows();
        if (columns.sparse) {
            const std::span<const SparseEntry> entries = stored(j, leaf);
            return entries.empty() || sparse_column(entries, leaf).constant();
        }
        if (columns.ordered)
            return trees::constant(stretch(j, leaf));
        const std::uint32_t *codes = columns.codes_of(j), *rows = field.rows.data() + leaf.begin;
        const std::uint32_t first = codes[rows[0]];
        return std::all_of(rows, rows + n, [&](std::uint32_t row) { return codes[row] == first; });
    }

    void search(Open &leaf) {
        if (columns.sparse)
            search_sparse(leaf);
        else {
            draw_features(leaf);
            search_in(leaf, features.size(), 1, leaf.n_rows() * columns.n_columns,
                      [&](SplitWorker &worker, std::size_t k) {
                          return split_along(worker, features[k], leaf);
                      });
        }
        // Rounding may make a gain of 0 slightly negative.
        constexpr double rounding = std::numeric_limits<double>::epsilon();
        const double of_node = leaf.split.gain * field.weight / leaf.state.summary.weight;
        if (!(leaf.split.gain + rounding >= settings.min_decrease &&
              of_node + rounding >= settings.min_gain))
            leaf.split = Split{};
    }

    // The columns that have entries in the node; the others are constant.
    void search_sparse(Open &leaf) {
        stretches.clear();
        if (settings.max_features < columns.n_columns) {
            draw_features(leaf);
            for (const std::uint32_t j : features)
                stretches.push_back(stored(j, leaf));
        } else {
            const SparseEntry *entries = field.sparse.data();
            for (std::size_t i = leaf.state.first, first = i; i < leaf.state.last; first = i) {
                while (i < leaf.state.last && entries[i].column == entries[first].column)
                    ++i;
                stretches.emplace_back(entries + first, i - first);
            }
        }
        search_in(leaf, stretches.size(), 64, leaf.state.last - leaf.state.first,
                  [&](SplitWorker &worker, std::size_t k) -> Split {
                      const SparseColumn column = sparse_column(stretches[k], leaf);
                      const std::size_t j = stretches[k][0].column;
                      if (column.constant())
                          return {};
                      return columns.ordered ? splits.best(worker, j, column, leaf.state)
                                             : splits.random(worker, j, column, leaf.state);
                  });
    }

    Split split_along(SplitWorker &worker, std::size_t j, const Open &leaf) {
        if (constant(j, leaf))
            return {};
        const std::size_t n = leaf.n_rows();
        return columns.ordered
                   ? splits.best(worker, j, stretch(j, leaf), n, leaf.state)
                   : splits.random(worker, j, field.rows.data() + leaf.begin, n, leaf.state);
    }

    // The best of the splits k < n, `together` of them at a time.
    template <typename SplitOf>
    void search_in(Open &leaf, std::size_t n, std::size_t together, std::size_t n_cells,
                   const SplitOf &split_of) {
        found.assign((n + together - 1) / together, Split{});
        share(found.size(), threads_for(n_cells), [&](SplitWorker &worker, std::size_t piece) {
            worker.scratch.resize(measure.scratch(leaf.state.summary));
            for (std::size_t k = piece * together; k < std::min(n, (piece + 1) * together); ++k)
                keep_better(found[piece], split_of(worker, k), leaf);
        });
        for (Split &split : found)
            keep_better(leaf.split, std::move(split), leaf);
    }

    void keep_better(Split &best, Split &&split, const Open &leaf) const {
        if (!split.exists())
            return;
        // The position of a column in a random order, which depends on the node.
        const auto turn = [&](const Split &of) {
            const auto column = static_cast<std::uint64_t>(of.feature);
            return Random(leaf.state.seed ^ ((column + 1) << 32)).next();
        };
        const bool tied = settings.random_ties && split.gain == best.gain;
        if (!best.exists() || (tied ? turn(split) > turn(best) : better(split, best)))
            best = std::move(split);
    }

    Field &field;
    const SortedColumns &columns;
    const Measure &measure;
    const Settings &settings;
    ColumnSplits<Measure> splits;
    std::size_t postpone_below;
    int threads;
    std::vector<SplitWorker> workers{};
    std::vector<std::uint32_t> features{}, order{}; // columns to try; all columns
    std::vector<std::pair<std::size_t, std::size_t>> swaps{};
    std::vector<std::span<const SparseEntry>> stretches{};
    std::vector<SparseEntry> kept{};
    std::vector<Split> found{};
};

} // namespace thetahat::trees
