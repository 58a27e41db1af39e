// Small integer codes for values, as histograms need them.
//
//     code(x) = number of cut points < x,   so that  x ≤ cut[c]  ⇔  code(x) ≤ c
//
// `quantile_cuts` places the cut points of one column. Values with more than the share of one bin
// get a bin of their own. The other values fill the remaining bins in ascending order, each bin as
// close to its share of the remaining weight as whole values allow; when there are at most as many
// values as bins left, each value gets a bin. A cut lies midway between two values.
//
// `bin_codes` reads rows of numbers in blocks, searches all rows of a block together (without
// branches: the cuts are padded to 2^k − 1 with +∞) and writes the codes row by row, column by
// column, or both. A missing value has the code after the last bin; categories are looked up.
// Blocks write disjoint outputs, so the number of threads changes no bit.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "trees/arrays.hpp"

namespace thetahat {

namespace {

constexpr std::size_t most_bins = 255; // with a code for missing values: one byte
constexpr std::size_t block = 512;     // rows searched together

// A number in [low, high), the midpoint unless rounding or infinities prevent it.
double between(double low, double high) {
    const double middle = low + (high / 2 - low / 2);
    return middle >= low && middle < high ? middle : low;
}

template <typename T>
nb::object quantile_cuts(Vector<const T> sorted, Vector<const double> weight,
                         std::size_t max_bins) {
    const std::size_t n = sorted.shape(0);
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per value");
    require(max_bins >= 1 && max_bins <= most_bins, "max_bins must lie between 1 and 255");
    const T *value = sorted.data();
    const double *w = weight.shape(0) ? weight.data() : nullptr;
    std::vector<double> cuts;
    {
        nb::gil_scoped_release unlocked;
        // The distinct values, and the weight up to and including each.
        std::vector<double> distinct(n), below(n);
        std::size_t last = 0; // of the distinct values, plus one
        double total = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double x = static_cast<double>(value[i]);
            last += last == 0 || x > distinct[last - 1];
            distinct[last - 1] = x;
            total += w ? w[i] : 1.0;
            below[last - 1] = total;
        }
        distinct.resize(last);
        below.resize(last);
        // Values with more weight than the share of a bin get their own bin.
        const auto weight_of = [&](std::size_t k) { return below[k] - (k ? below[k - 1] : 0.0); };
        std::vector<char> heavy(distinct.size(), 0);
        double light = total; // weight of the others, and the bins left for them
        std::size_t shared = max_bins;
        for (bool found = true; found && shared > 1;) {
            found = false;
            const double share = light / static_cast<double>(shared);
            for (std::size_t k = 0; k < distinct.size() && shared > 1; ++k)
                if (!heavy[k] && weight_of(k) > share) {
                    heavy[k] = found = true;
                    light -= weight_of(k);
                    --shared;
                }
        }
        std::size_t start = 0;
        double base = 0.0;
        for (std::size_t left = max_bins; left > 1 && start + 1 < distinct.size(); --left) {
            std::size_t end = start + 1;
            if (distinct.size() - start > left && !heavy[start]) {
                const double target = base + light / static_cast<double>(shared);
                while (end < distinct.size() - 1 && !heavy[end] && below[end - 1] < target)
                    ++end;
                if (end > start + 1 && target - below[end - 2] < below[end - 1] - target)
                    --end;
            }
            if (!heavy[start]) {
                light -= below[end - 1] - base;
                shared -= shared > 1;
            }
            cuts.push_back(between(distinct[end - 1], distinct[end]));
            base = below[end - 1];
            start = end;
        }
    }
    const std::size_t n_cuts = cuts.size();
    return trees::owned(std::move(cuts), {n_cuts});
}

// How one column is coded.
struct Coding {
    std::array<double, most_bins + 1> cuts; // padded with +∞
    std::size_t reach = 0;                  // 2^k ≥ number of cuts + 1
    std::uint8_t missing = 0;
    const std::uint8_t *lookup = nullptr;
    std::size_t n_categories = 0;
};

void search(const Coding &coding, const double *x, std::size_t n, std::uint8_t *codes) {
    std::uint32_t at[block] = {};
    for (std::size_t half = coding.reach / 2; half > 0; half /= 2) {
        const double *cuts = coding.cuts.data() + (half - 1);
        for (std::size_t i = 0; i < n; ++i)
            at[i] += cuts[at[i]] < x[i] ? static_cast<std::uint32_t>(half) : 0u;
    }
    for (std::size_t i = 0; i < n; ++i)
        codes[i] = x[i] == x[i] ? static_cast<std::uint8_t>(at[i]) : coding.missing;
}

void look_up(const Coding &coding, const double *x, std::size_t n, std::uint8_t *codes) {
    const double end = static_cast<double>(coding.n_categories);
    for (std::size_t i = 0; i < n; ++i)
        codes[i] = x[i] >= 0.0 && x[i] < end && x[i] == std::floor(x[i])
                       ? coding.lookup[static_cast<std::size_t>(x[i])]
                       : coding.missing;
}

template <typename T>
void bin_codes(StridedMatrix<const T> x, Vector<const double> cuts,
               Vector<const std::int64_t> cut_offsets, Vector<const std::uint8_t> lookup,
               Vector<const std::int64_t> lookup_offsets, Matrix<std::uint8_t> by_row,
               Matrix<std::uint8_t> by_column, int threads) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(cut_offsets.shape(0) == d + 1 && lookup_offsets.shape(0) == d + 1,
            "offsets must bound the cuts and the lookup of every column");
    const bool rows = by_row.shape(0) > 0, columns = by_column.shape(0) > 0;
    require(!rows || (by_row.shape(0) == n && by_row.shape(1) >= d),
            "by_row must have a row per row of x, and a place per column");
    require(!columns || (by_column.shape(0) == d && by_column.shape(1) == n),
            "by_column must have a row per column of x");
    std::vector<Coding> codings(d);
    for (std::size_t j = 0; j < d; ++j) {
        const std::int64_t begin = cut_offsets.data()[j], end = cut_offsets.data()[j + 1];
        require(0 <= begin && begin <= end && end - begin < static_cast<std::int64_t>(most_bins) &&
                    static_cast<std::size_t>(end) <= cuts.shape(0),
                "a column has at most 254 cuts");
        const std::int64_t first = lookup_offsets.data()[j], last = lookup_offsets.data()[j + 1];
        require(0 <= first && first <= last && static_cast<std::size_t>(last) <= lookup.shape(0),
                "lookup_offsets must stay within the lookup");
        Coding &coding = codings[j];
        coding.cuts.fill(std::numeric_limits<double>::infinity());
        std::copy(cuts.data() + begin, cuts.data() + end, coding.cuts.begin());
        for (coding.reach = 1; coding.reach < static_cast<std::size_t>(end - begin) + 1;)
            coding.reach *= 2;
        coding.missing = static_cast<std::uint8_t>(end - begin + 1);
        if (last > first) {
            coding.lookup = lookup.data() + first;
            coding.n_categories = static_cast<std::size_t>(last - first);
            const std::uint8_t largest =
                *std::max_element(coding.lookup, coding.lookup + coding.n_categories);
            require(largest < most_bins, "a column has at most 255 bins");
            coding.missing = static_cast<std::uint8_t>(largest + 1);
        }
    }
    const T *data = x.data();
    const std::int64_t down = x.stride(0), across = x.stride(1);
    const std::size_t width = by_row.shape(1);
    std::uint8_t *row_codes = by_row.data(), *column_codes = by_column.data();

    nb::gil_scoped_release unlocked;
    for_each_piece((n + block - 1) / block, threads, [&](std::size_t piece) {
        const std::size_t first = piece * block, count = std::min(block, n - first);
        double column[block];
        std::uint8_t codes[block];
        for (std::size_t j = 0; j < d; ++j) {
            const T *from = data + static_cast<std::int64_t>(first) * down +
                            static_cast<std::int64_t>(j) * across;
            for (std::size_t i = 0; i < count; ++i)
                column[i] = static_cast<double>(from[static_cast<std::int64_t>(i) * down]);
            (codings[j].lookup ? look_up : search)(codings[j], column, count, codes);
            if (columns)
                std::copy(codes, codes + count, column_codes + j * n + first);
            if (rows)
                for (std::size_t i = 0; i < count; ++i)
                    row_codes[(first + i) * width + j] = codes[i];
        }
        if (rows)
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t j = d; j < width; ++j)
                    row_codes[(first + i) * width + j] = 0;
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("quantile_cuts", &quantile_cuts<T>, nb::arg("sorted").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("max_bins"));
    module.def("bin_codes", &bin_codes<T>, nb::arg("x").noconvert(), nb::arg("cuts").noconvert(),
               nb::arg("cut_offsets").noconvert(), nb::arg("lookup").noconvert(),
               nb::arg("lookup_offsets").noconvert(), nb::arg("by_row").noconvert(),
               nb::arg("by_column").noconvert(), nb::arg("threads"));
}

} // namespace

void bind_bins(nb::module_ &module) {
    bind<float>(module);
    bind<double>(module);
}

} // namespace thetahat
