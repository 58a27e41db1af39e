// Log-likelihoods of rows in every class, Σ_j log p_j(x_ij | c), where every group of columns has
// likelihoods of its own kind. A missing entry (NaN) adds nothing.
//
// Pieces of rows are copied to contiguous float64, and every group adds to the logs of its n rows
// of d columns. A row adds its groups in the order in which they were given, and the columns of a
// group in a fixed order, whatever the number of threads.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "generative/diagonal_distance.hpp"
#include "neighbors/density_sums.hpp"

namespace thetahat {

namespace {

using neighbors::DensitySums;

constexpr std::size_t rows_per_piece = 16;
constexpr double worth_threads = 1e5; // numbers that are added

using Places = Vector<const std::int64_t>;
using Numbers = Vector<const double>;
using Table = Matrix<const double>;

std::vector<double> copied(Numbers x) { return {x.data(), x.data() + x.size()}; }
std::vector<double> copied(Table x) { return {x.data(), x.data() + x.size()}; }

// The columns of a group.
struct Group {
    std::vector<std::size_t> places;
    std::size_t classes;
    bool whole; // all columns in their order

    Group(Places given, std::size_t columns, std::size_t classes)
        : classes(classes), whole(given.shape(0) == columns) {
        for (std::size_t j = 0; j < given.shape(0); ++j) {
            const std::int64_t place = given.data()[j];
            require(place >= 0 && static_cast<std::size_t>(place) < columns,
                    "places must be columns of the rows");
            places.push_back(static_cast<std::size_t>(place));
            whole = whole && places[j] == j;
        }
    }
    double cost() const { return static_cast<double>(places.size() * classes); }
};

// −½ log 2πσ² − factor·(x − mean)² of every class and column.
struct Gaussians : Group {
    std::vector<double> mean, factor, scale, constant;

    Gaussians(Group group, Table means, Table factors, Table scales)
        : Group(std::move(group)), mean(copied(means)), factor(copied(factors)),
          scale(copied(scales)) {
        const std::size_t k = places.size();
        for (const Table &each : {means, factors, scales})
            require(each.shape(0) == classes && each.shape(1) == k,
                    "Gaussians must have one number per class and column");
        for (std::size_t c = 0; c < classes; ++c) {
            double total = 0.0;
            for (std::size_t j = 0; j < k; ++j)
                total += scale[c * k + j];
            constant.push_back(total);
        }
    }
    void add(const double *x, std::size_t n, std::size_t d, double *out) const {
        const std::size_t k = places.size();
        std::vector<double> own;
        if (!whole) {
            own.resize(n * k);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < k; ++j)
                    own[i * k + j] = x[i * d + places[j]];
        }
        const double *rows = whole ? x : own.data();
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t i = 0; i < n; ++i) {
                const double *row = rows + i * k;
                const double square =
                    diagonal_distance(row, mean.data() + c * k, factor.data() + c * k, k);
                out[i * classes + c] +=
                    std::isnan(square) ? of_known(row, c) : constant[c] - square;
            }
    }
    double of_known(const double *row, std::size_t c) const {
        const std::size_t k = places.size();
        double total = 0.0;
        for (std::size_t j = 0; j < k; ++j) {
            const double gap = row[j] - mean[c * k + j];
            if (!std::isnan(gap))
                total += scale[c * k + j] - factor[c * k + j] * gap * gap;
        }
        return total;
    }
};

// Tables of several columns, one below the other, with `more` rows at the end of each.
struct Tables : Group {
    std::vector<std::size_t> first;
    std::vector<double> table;

    Tables(Group group, Vector<const std::int64_t> starts, std::size_t more, Table logs)
        : Group(std::move(group)), table(copied(logs)) {
        require(starts.shape(0) == places.size() + 1 && starts.data()[0] == 0,
                "first must divide the entries into columns");
        for (std::size_t j = 0; j <= places.size(); ++j) {
            require(j == 0 || starts.data()[j - 1] <= starts.data()[j], "first must not decrease");
            first.push_back(static_cast<std::size_t>(starts.data()[j]));
        }
        require(logs.shape(0) == first.back() + more * places.size() && logs.shape(1) == classes,
                "the table must have one row per entry, and one column per class");
    }
};

// Sorted levels; the last row of each column is for all other values.
struct Levels : Tables {
    std::vector<double> levels;

    Levels(Tables tables, Numbers given) : Tables(std::move(tables)), levels(copied(given)) {
        require(levels.size() == first.back(), "first must divide the levels into columns");
    }
    void add(const double *x, std::size_t n, std::size_t d, double *out) const {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < places.size(); ++j) {
                const double value = x[i * d + places[j]];
                if (std::isnan(value))
                    continue;
                const double *from = table.data() + (code_of(value, j) + j) * classes;
                for (std::size_t c = 0; c < classes; ++c)
                    out[i * classes + c] += from[c];
            }
    }
    std::size_t code_of(double value, std::size_t j) const {
        const double *low = levels.data() + first[j], *high = levels.data() + first[j + 1];
        // The levels are usually 0, 1, ...
        const bool counted = value >= 0.0 && value < static_cast<double>(high - low) &&
                             low[static_cast<std::size_t>(value)] == value;
        const double *at =
            counted ? low + static_cast<std::size_t>(value) : std::lower_bound(low, high, value);
        return static_cast<std::size_t>((at < high && *at == value ? at : high) - levels.data());
    }
};

// Bin b of column j begins at low[j] + b·width[j]. Beyond the bins the density falls like e^{−s} of
// the distance s in widths, from the last two rows of the column.
struct Bins : Tables {
    std::vector<double> low, width;

    Bins(Tables tables, Numbers lows, Numbers widths)
        : Tables(std::move(tables)), low(copied(lows)), width(copied(widths)) {
        require(low.size() == places.size() && width.size() == places.size(),
                "low and width must have one number per column");
        for (std::size_t j = 0; j < places.size(); ++j)
            require(first[j] < first[j + 1], "every column must have a bin");
    }
    void add(const double *x, std::size_t n, std::size_t d, double *out) const {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < places.size(); ++j) {
                const double place = (x[i * d + places[j]] - low[j]) / width[j];
                if (std::isnan(place))
                    continue;
                const std::size_t bins = first[j + 1] - first[j];
                const double count = static_cast<double>(bins);
                std::size_t code;
                double beyond = 0.0;
                if (place < 0.0) {
                    code = bins;
                    beyond = -place;
                } else if (place < count) {
                    code = static_cast<std::size_t>(place);
                } else if (place <= count * (1.0 + 1e-12)) {
                    code = bins - 1; // the sums that gave the last edge round
                } else {
                    code = bins + 1;
                    beyond = place - count;
                }
                const double *from = table.data() + (first[j] + 2 * j + code) * classes;
                for (std::size_t c = 0; c < classes; ++c)
                    out[i * classes + c] += from[c] - beyond;
            }
    }
};

// level[j, c] + log Σ_k w_k K(|x_ij − x_k|/width[j, c]) over the values of column j in class c.
struct KernelEstimates : Group {
    std::vector<std::shared_ptr<DensitySums>> sums; // columns × classes
    int kernel;
    std::vector<double> width, level;

    KernelEstimates(Group group, std::vector<std::shared_ptr<DensitySums>> given, int kernel,
                    Table widths, Table levels)
        : Group(std::move(group)), sums(std::move(given)), kernel(kernel), width(copied(widths)),
          level(copied(levels)) {
        for (const Table &each : {widths, levels})
            require(each.shape(0) == places.size() && each.shape(1) == classes,
                    "widths and levels must be columns × classes");
        require(sums.size() == width.size(), "there must be one estimate per column and class");
        for (const auto &each : sums)
            require(each && each->columns() == 1, "estimates must have one column");
        for (const double each : width)
            require(each > 0.0, "widths must be positive");
        require(neighbors::is_density_kernel(kernel),
                "the smoothing kernel is not known, or has negative values");
    }
    void add(const double *x, std::size_t n, std::size_t d, double *out) const {
        std::vector<double> known, logs(n);
        std::vector<std::size_t> rows;
        for (std::size_t j = 0; j < places.size(); ++j) {
            known.clear();
            rows.clear();
            for (std::size_t i = 0; i < n; ++i)
                if (const double value = x[i * d + places[j]]; !std::isnan(value)) {
                    known.push_back(value);
                    rows.push_back(i);
                }
            for (std::size_t c = 0; c < classes; ++c) {
                const std::size_t at = j * classes + c;
                sums[at]->exact_logs(known.data(), known.size(), kernel, width[at], logs.data());
                for (std::size_t k = 0; k < rows.size(); ++k)
                    out[rows[k] * classes + c] += logs[k] + level[at];
            }
        }
    }
    double cost() const {
        double total = 0.0;
        for (const auto &each : sums)
            total += static_cast<double>(each->rows());
        return total;
    }
};

class ColumnLikelihoods {
  public:
    ColumnLikelihoods(std::size_t columns, std::size_t classes)
        : columns_(columns), classes_(classes) {}

    void add_gaussians(Places places, Table mean, Table factor, Table scale) {
        groups_.push_back(Gaussians(group(places), mean, factor, scale));
    }
    void add_levels(Places places, Numbers levels, Vector<const std::int64_t> first, Table table) {
        groups_.push_back(Levels(Tables(group(places), first, 1, table), levels));
    }
    void add_bins(Places places, Numbers low, Numbers width, Vector<const std::int64_t> first,
                  Table table) {
        groups_.push_back(Bins(Tables(group(places), first, 2, table), low, width));
    }
    void add_kernels(Places places, std::vector<std::shared_ptr<DensitySums>> sums, int kernel,
                     Table width, Table level) {
        groups_.push_back(KernelEstimates(group(places), std::move(sums), kernel, width, level));
    }

    // Numbers that one row adds.
    double cost() const {
        double total = 0.0;
        for (const auto &each : groups_)
            total += std::visit([](const auto &group) { return group.cost(); }, each);
        return total;
    }

    // out[i, c] = start[c] + Σ_j log p_j(x_ij | c)
    template <typename T>
    void logs(StridedMatrix<const T> x, Numbers start, Matrix<double> out, int threads) const {
        const std::size_t n = x.shape(0), d = columns_, classes = classes_;
        require(x.shape(1) == d, "rows must have the columns of the likelihoods");
        require(start.shape(0) == classes, "start must have one number per class");
        require(out.shape(0) == n && out.shape(1) == classes, "out must be rows × classes");
        const std::int64_t row = x.stride(0), column = x.stride(1);
        const T *from = x.data();
        const double *begin = start.data();
        double *to = out.data();
        nb::gil_scoped_release unlocked;
        if (static_cast<double>(n) * cost() < worth_threads)
            threads = 1;
        for_each_piece((n + rows_per_piece - 1) / rows_per_piece, threads, [&](std::size_t piece) {
            const std::size_t i0 = piece * rows_per_piece, some = std::min(rows_per_piece, n - i0);
            std::vector<double> tile(some * d);
            for (std::size_t i = 0; i < some; ++i) {
                const T *source = from + static_cast<std::int64_t>(i0 + i) * row;
                for (std::size_t j = 0; j < d; ++j)
                    tile[i * d + j] =
                        static_cast<double>(source[static_cast<std::int64_t>(j) * column]);
                std::copy(begin, begin + classes, to + (i0 + i) * classes);
            }
            for (const auto &each : groups_)
                std::visit(
                    [&](const auto &group) { group.add(tile.data(), some, d, to + i0 * classes); },
                    each);
        });
    }

  private:
    std::size_t columns_, classes_;
    std::vector<std::variant<Gaussians, Levels, Bins, KernelEstimates>> groups_;

    Group group(Places places) const { return Group(places, columns_, classes_); }
};

} // namespace

void bind_column_likelihoods(nb::module_ &module) {
    nb::class_<ColumnLikelihoods>(module, "ColumnLikelihoods")
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("columns"), nb::arg("classes"))
        .def("add_gaussians", &ColumnLikelihoods::add_gaussians, nb::arg("places"), nb::arg("mean"),
             nb::arg("factor"), nb::arg("scale"))
        .def("add_levels", &ColumnLikelihoods::add_levels, nb::arg("places"), nb::arg("levels"),
             nb::arg("first"), nb::arg("table"))
        .def("add_bins", &ColumnLikelihoods::add_bins, nb::arg("places"), nb::arg("low"),
             nb::arg("width"), nb::arg("first"), nb::arg("table"))
        .def("add_kernels", &ColumnLikelihoods::add_kernels, nb::arg("places"), nb::arg("sums"),
             nb::arg("kernel"), nb::arg("width"), nb::arg("level"))
        .def("cost", &ColumnLikelihoods::cost)
        .def("logs", &ColumnLikelihoods::logs<double>, nb::arg("x").noconvert(), nb::arg("start"),
             nb::arg("out").noconvert(), nb::arg("threads"))
        .def("logs", &ColumnLikelihoods::logs<float>, nb::arg("x").noconvert(), nb::arg("start"),
             nb::arg("out").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
