// Weighted decision stumps for two classes, grown repeatedly on the same columns.
//
// Boosting fits many stumps to the same rows with changing weights. Every column is divided once
// into ranges of its sorted rows ("bins" of about a hundred rows, divided between distinct values).
// Each boosting iteration sums the weights by bin and class, in one pass over the rows, and
// examines the rows of a bin only if the best split might lie inside. With a and b the weights of
// the classes on the left and A and B in total, the gain in Gini impurity is a convex function of
// (a, b),
//
//     score = (b·W − B·(a + b))² / (W·(a + b)·(W − a − b)),         W = A + B,
//
// and inside a bin a and b lie between their values at its ends. So no split inside exceeds the
// larger score of the two remaining corners (a₀, b₁) and (a₁, b₀). This excludes most bins, and the
// stump is exactly that of a pass over all sorted rows. Rows with missing values are tried on both
// sides.
//
// Columns are distributed over threads; one thread computes the sums of a column in a fixed order,
// and bins are excluded by the best score at the ends of all bins, which is known before.

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/arrays.hpp"
#include "trees/criteria.hpp"
#include "trees/exact/sorted_columns.hpp"
#include "trees/weight_unit.hpp"

namespace thetahat {

namespace {

using namespace trees;

constexpr std::size_t rows_per_bin = 128, most_bins = 512;
constexpr std::size_t shared_work = std::size_t{1} << 23; // rows × columns for a second thread

// The bins of sorted columns, and the slot of each row: its bin and class.
struct StumpBins {
    std::size_t n_rows = 0, n_columns = 0;
    std::vector<std::uint8_t> classes{};              // by row
    std::vector<std::uint16_t> slots{};               // n_columns × n_rows: 2·bin + class
    std::vector<std::vector<std::uint32_t>> begins{}; // of the bins among the sorted rows

    const std::uint16_t *column(std::size_t j) const { return slots.data() + j * n_rows; }
    // Rows without a value are counted in a bin after the last.
    std::size_t n_bins(std::size_t j) const { return begins[j].size() - 1; }
    std::size_t present(std::size_t j) const { return begins[j].back(); }
};

void cut_column(const SortedColumns &columns, std::size_t j, std::size_t width, StumpBins &bins) {
    const std::size_t n = columns.n_rows;
    const OrderedRow *rows = columns.column(j);
    std::uint16_t *slots = bins.slots.data() + j * n;
    std::vector<std::uint32_t> &begins = bins.begins[j];
    const std::size_t present = count_present(rows, n);
    begins.push_back(0);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t bin = begins.size() - 1;
        const std::uint32_t row = rows[i].number();
        slots[row] = static_cast<std::uint16_t>(2 * bin + bins.classes[row]);
        const bool full = i + 1 - begins.back() >= width;
        if (i + 1 == present || (i + 1 < present && full && rows[i + 1].differs()))
            begins.push_back(static_cast<std::uint32_t>(i + 1));
    }
}

StumpBins stump_bins(const SortedColumns &columns, Vector<const std::uint8_t> classes,
                     int threads) {
    const std::size_t n = columns.n_rows, d = columns.n_columns;
    require(columns.ordered && !columns.sparse, "stumps need columns with their rows in order");
    require(classes.shape(0) == n, "there must be one class per row");
    StumpBins bins;
    bins.n_rows = n;
    bins.n_columns = d;
    bins.classes.assign(classes.data(), classes.data() + n);
    bool legal = true;
    for (std::size_t i = 0; i < n; ++i)
        legal = legal && bins.classes[i] <= 1;
    require(legal, "classes must be 0 or 1");
    for (std::size_t j = 0; j < d; ++j)
        require(!columns.categorical[j], "stumps on bins take columns of numbers only");
    bins.slots.resize(n * d);
    bins.begins.resize(d);
    nb::gil_scoped_release unlocked;
    const std::size_t width = std::max(rows_per_bin, (n + most_bins - 1) / most_bins);
    for_each_piece(d, n * d < shared_work ? 1 : threads,
                   [&](std::size_t j) { cut_column(columns, j, width, bins); });
    return bins;
}

// The weight of some rows, and that of the second class among them.
struct Share {
    double weight = 0.0, second = 0.0;
};

inline double score(const Share &left, const Share &all) {
    const double apart = left.second * all.weight - all.second * left.weight;
    const double scale = all.weight * (left.weight * (all.weight - left.weight));
    return scale > 0.0 ? apart * apart / scale : -std::numeric_limits<double>::infinity();
}

// No split inside a bin with these ends has a larger score.
inline double most_inside(const Share &begin, const Share &end, const Share &all) {
    const double first_begin = begin.weight - begin.second, first_end = end.weight - end.second;
    const Share corners[] = {{first_begin + end.second, end.second},
                             {first_end + begin.second, begin.second}};
    double most = 0.0;
    for (const Share &corner : corners) {
        const double rest = all.weight - corner.weight;
        if (!(corner.weight > 0.0 && rest > 0.0))
            return std::numeric_limits<double>::infinity();
        most = std::max(most, score(corner, all));
    }
    return most;
}

// The weights of a column up to the beginning of each bin, and those of the rows without a value.
struct Profile {
    std::vector<Share> before{};
    Share missing{};
    double best = -std::numeric_limits<double>::infinity(); // at the ends of bins
};

// hist[slot] = the sum of the weights of its rows. Two histograms are used in turn, so that
// consecutive additions do not depend on each other.
void add_up(const std::uint16_t *slots, const double *weight, std::size_t n,
            std::vector<double> &hist) {
    const std::size_t half = hist.size() / 2;
    double *even = hist.data(), *odd = hist.data() + half;
    std::fill(hist.begin(), hist.end(), 0.0);
    std::size_t i = 0;
    for (; i + 1 < n; i += 2) {
        even[slots[i]] += weight[i];
        odd[slots[i + 1]] += weight[i + 1];
    }
    if (i < n)
        even[slots[i]] += weight[i];
    for (std::size_t slot = 0; slot < half; ++slot)
        even[slot] += odd[slot];
}

void profile_column(const StumpBins &bins, std::size_t j, const double *weight, const Share &all,
                    Profile &profile) {
    const std::size_t n_bins = bins.n_bins(j);
    std::vector<double> hist(4 * (n_bins + 1));
    add_up(bins.column(j), weight, bins.n_rows, hist);
    profile.before.assign(n_bins + 1, Share{});
    for (std::size_t b = 0; b < n_bins; ++b) {
        const double first = hist[2 * b], second = hist[2 * b + 1];
        profile.before[b + 1] = {profile.before[b].weight + (first + second),
                                 profile.before[b].second + second};
    }
    const double second = hist[2 * n_bins + 1];
    profile.missing = {hist[2 * n_bins] + second, second};
    for (const bool missing_left : {false, true}) {
        const Share offset = missing_left ? profile.missing : Share{};
        for (std::size_t b = 1; b <= n_bins; ++b)
            profile.best = std::max(profile.best, score({profile.before[b].weight + offset.weight,
                                                         profile.before[b].second + offset.second},
                                                        all));
        if (!(profile.missing.weight > 0.0))
            break;
    }
}

struct Place {
    double score = -std::numeric_limits<double>::infinity();
    std::size_t last = 0; // the last row on the left
    bool missing_left = false;
    bool exists() const { return score > -std::numeric_limits<double>::infinity(); }
};

// The first of the best splits of a column. A split that is better by at most `rounding` does not
// replace an earlier one, and splits with a score below `least` may be skipped.
Place best_place(const SortedColumns &columns, const StumpBins &bins, std::size_t j,
                 const double *weight, const Share &all, const Profile &profile, double least,
                 double rounding) {
    const OrderedRow *rows = columns.column(j);
    const std::vector<std::uint32_t> &begins = bins.begins[j];
    const std::size_t present = bins.present(j);
    Place best;
    for (const bool missing_left : {false, true}) {
        if (missing_left && !(profile.missing.weight > 0.0))
            break;
        const Share offset = missing_left ? profile.missing : Share{};
        const auto at = [&](std::size_t b) {
            return Share{profile.before[b].weight + offset.weight,
                         profile.before[b].second + offset.second};
        };
        for (std::size_t b = 0; b + 1 < begins.size(); ++b) {
            constexpr double slack = 1.0 + 1e-9; // for rounding
            if (most_inside(at(b), at(b + 1), all) * slack < least)
                continue;
            Share left = at(b);
            for (std::size_t i = begins[b]; i < begins[b + 1]; ++i) {
                const std::uint32_t row = rows[i].number();
                left.weight += weight[row];
                left.second += bins.classes[row] ? weight[row] : 0.0;
                if (i + 1 < present && !rows[i + 1].differs())
                    continue;
                const double found = score(left, all);
                if (found > best.score + rounding || (!best.exists() && found > best.score))
                    best = {found, i, missing_left};
            }
        }
    }
    return best;
}

// A number between two values: low ≤ t < high.
inline double between(double low, double high) {
    const double middle = 0.5 * low + 0.5 * high;
    return middle >= low && middle < high ? middle : low;
}

// The split at a place, with its threshold between values of rows of positive weight.
Split split_at(const SortedColumns &columns, const StumpBins &bins, std::size_t j,
               const double *weight, const Place &place) {
    const OrderedRow *rows = columns.column(j);
    std::size_t next = place.last + 1;
    while (next < bins.present(j) && !(weight[rows[next].number()] > 0.0))
        ++next;
    Split split;
    split.feature = static_cast<std::int32_t>(j);
    split.code = static_cast<std::uint32_t>(place.last);
    split.missing_left = place.missing_left;
    split.threshold = next == bins.present(j) ? std::numeric_limits<double>::infinity()
                                              : between(columns.value(j, rows[place.last]),
                                                        columns.value(j, rows[next]));
    return split;
}

struct Side {
    double sums[2] = {0.0, 0.0};
    double weight = 0.0;
    std::int64_t count = 0;

    void add(std::size_t k, double w) {
        sums[k] += w;
        weight += w;
        count += w > 0.0;
    }
    bool pure() const { return !(sums[0] > 0.0 && sums[1] > 0.0); }
    double impurity() const {
        constexpr Squares<2> gini{2, 1};
        return pure() ? 0.0 : gini.impurity(sums, weight, gini.class_q(weight));
    }
    void describe(Tree &tree, std::int32_t number) const {
        Node &node = tree.nodes[static_cast<std::size_t>(number)];
        node.impurity = impurity();
        node.weight = weight;
        node.count = count;
        tree.value(number)[0] = sums[0] / weight;
        tree.value(number)[1] = sums[1] / weight;
    }
};

// left[i] = whether row i goes left, with the sums of both sides. If no row of positive weight has
// a missing value, rows with missing values go to the larger side.
void divide(const SortedColumns &columns, const StumpBins &bins, Split &split, std::size_t last,
            const double *weight, std::uint8_t *left, Side (&sides)[2]) {
    const auto j = static_cast<std::size_t>(split.feature);
    const std::uint16_t *slots = bins.column(j);
    const OrderedRow *rows = columns.column(j);
    const std::vector<std::uint32_t> &begins = bins.begins[j];
    const std::size_t present = bins.present(j), n_bins = bins.n_bins(j);
    // Rows of weight 0 may lie between the split and its threshold.
    while (last + 1 < present && columns.value(j, rows[last + 1]) <= split.threshold)
        ++last;
    const auto bin = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), last) -
                                              begins.begin() - 1);
    for (std::size_t i = 0; i < bins.n_rows; ++i) {
        const std::size_t of_row = slots[i] / 2;
        left[i] = of_row == n_bins ? split.missing_left : of_row < bin;
    }
    for (std::size_t i = begins[bin]; i <= last; ++i)
        left[rows[i].number()] = 1;
    for (std::size_t i = 0; i < bins.n_rows; ++i)
        sides[left[i] ? 0 : 1].add(bins.classes[i], weight[i]);
    const bool holes = std::any_of(rows + present, rows + bins.n_rows,
                                   [&](OrderedRow row) { return weight[row.number()] > 0.0; });
    if (holes)
        return;
    split.missing_left = sides[0].count > sides[1].count;
    for (std::size_t i = present; i < bins.n_rows; ++i)
        left[rows[i].number()] = split.missing_left;
}

Tree grow(const SortedColumns &columns, const StumpBins &bins, const double *weight,
          std::uint8_t *left, int threads) {
    Side root;
    for (std::size_t i = 0; i < bins.n_rows; ++i)
        root.add(bins.classes[i], weight[i]);
    Tree tree{2};
    root.describe(tree, tree.add());
    if (root.pure())
        return tree;

    const Share all{root.weight, root.sums[1]};
    const double spread = root.weight * root.impurity(), unit = 2.0;
    const double rounding = spread / unit * 0x1p-30;
    const std::size_t d = bins.n_columns;
    const int workers = bins.n_rows * d < shared_work ? 1 : threads;
    std::vector<Profile> profiles(d);
    for_each_piece(d, workers,
                   [&](std::size_t j) { profile_column(bins, j, weight, all, profiles[j]); });
    double least = -std::numeric_limits<double>::infinity();
    for (const Profile &profile : profiles)
        least = std::max(least, profile.best - rounding);
    std::vector<Place> places(d);
    for_each_piece(d, workers, [&](std::size_t j) {
        places[j] = best_place(columns, bins, j, weight, all, profiles[j], least, rounding);
    });
    Split best;
    std::size_t last = 0;
    for (std::size_t j = 0; j < d; ++j) {
        if (!places[j].exists())
            continue;
        Split split = split_at(columns, bins, j, weight, places[j]);
        split.gain = rounded_gain(unit * places[j].score, spread) / root.weight;
        if (!best.exists() || better(split, best)) {
            best = split;
            last = places[j].last;
        }
    }
    if (!best.exists())
        return tree;

    Side sides[2];
    divide(columns, bins, best, last, weight, left, sides);
    const std::int32_t child = tree.add(2);
    Node &node = tree.nodes[0];
    node.feature = best.feature;
    node.threshold = best.threshold;
    node.missing_left = best.missing_left;
    node.gain = best.gain;
    node.left = child;
    sides[0].describe(tree, child);
    sides[1].describe(tree, child + 1);
    return tree;
}

nb::tuple grow_stump(const SortedColumns &columns, const StumpBins &bins,
                     Vector<const double> weight, Vector<std::uint8_t> left, int threads) {
    const std::size_t n = columns.n_rows;
    require(bins.n_rows == n && bins.n_columns == columns.n_columns,
            "the bins must be those of the columns");
    require(weight.shape(0) == n && left.shape(0) == n,
            "weight and left must have one entry per row");
    const UnitWeights weights(weight);
    std::fill_n(left.data(), n, std::uint8_t{0});
    Tree tree;
    {
        nb::gil_scoped_release unlocked;
        tree = grow(columns, bins, weights.data(), left.data(), threads);
    }
    for (Node &node : tree.nodes)
        node.weight = weights.to_given(node.weight);
    return as_arrays(tree);
}

} // namespace

void bind_stump(nb::module_ &module) {
    nb::class_<StumpBins>(module, "StumpBins")
        .def_ro("n_rows", &StumpBins::n_rows)
        .def_ro("n_columns", &StumpBins::n_columns);
    module.def("stump_bins", &stump_bins, nb::arg("columns"), nb::arg("classes").noconvert(),
               nb::arg("threads"));
    module.def("grow_stump", &grow_stump, nb::arg("columns"), nb::arg("bins"),
               nb::arg("weight").noconvert(), nb::arg("left").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
