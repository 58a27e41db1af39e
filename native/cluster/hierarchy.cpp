// A hierarchy from merges in any order, the triangle of distances, and top-down division.
//
//     number_merges        merges by height, with clusters numbered as SciPy does
//     triangle_distances   reduced distances between all rows, the upper triangle row by row
//     Division             Kaufman and Rousseeuw's DIANA
//
// Every row of the triangle is written by one piece; the rest runs on one thread.

#include <algorithm>
#include <limits>
#include <numeric>

#include "cluster/linkage.hpp"
#include "core/parallel.hpp"
#include "neighbors/metrics.hpp"

namespace thetahat {

namespace cluster {

namespace {

void number_merges(Vector<const std::int64_t> left, Vector<const std::int64_t> right,
                   Vector<const double> height, Matrix<std::int64_t> children,
                   Vector<double> heights) {
    const std::size_t m = left.shape(0), n = m + 1;
    require(right.shape(0) == m && height.shape(0) == m && heights.shape(0) == m &&
                children.shape(0) == m && children.shape(1) == 2,
            "there must be one place per merge");
    for (std::size_t i = 0; i < m; ++i)
        require(left.data()[i] >= 0 && right.data()[i] >= 0 &&
                    static_cast<std::size_t>(left.data()[i]) < n &&
                    static_cast<std::size_t>(right.data()[i]) < n,
                "a merge must join two rows");
    nb::gil_scoped_release unlocked;
    std::vector<std::size_t> order(m), above(n), name(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::iota(above.begin(), above.end(), std::size_t{0});
    std::iota(name.begin(), name.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return height.data()[a] < height.data()[b];
    });
    const auto root = [&](std::size_t i) {
        while (above[i] != i)
            i = above[i] = above[above[i]];
        return i;
    };
    for (std::size_t k = 0; k < m; ++k) {
        const std::size_t a = root(static_cast<std::size_t>(left.data()[order[k]])),
                          b = root(static_cast<std::size_t>(right.data()[order[k]]));
        children.data()[2 * k] = static_cast<std::int64_t>(std::min(name[a], name[b]));
        children.data()[2 * k + 1] = static_cast<std::int64_t>(std::max(name[a], name[b]));
        heights.data()[k] = height.data()[order[k]];
        above[std::max(a, b)] = std::min(a, b);
        name[std::min(a, b)] = n + k;
    }
}

void triangle_distances(Matrix<const double> rows, double p, bool counts_differences,
                        Vector<double> out, int threads) {
    const std::size_t n = rows.shape(0), d = rows.shape(1);
    require(n > 0 && out.shape(0) == n * (n - 1) / 2, "there must be n(n - 1)/2 places");
    require(p > 0.0, "p must be positive");
    const double *x = rows.data();
    double *to = out.data();
    nb::gil_scoped_release unlocked;
    // Column by column in groups of four rows, so that four distances are computed at once.
    std::vector<double> points((n + 3) / 4 * 4 * d, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < d; ++j)
            points[i / 4 * 4 * d + 4 * j + i % 4] = x[i * d + j];
    if (double(n) * double(n) * double(d) < 1e5)
        threads = 1;
    const std::size_t size = std::max<std::size_t>(1, 65536 / (n * std::max<std::size_t>(1, d)));
    neighbors::with_metric(p, counts_differences, 0, [&](auto, const auto &metric) {
        for_each_piece((n + size - 1) / size, threads, [&](std::size_t piece) {
            for (std::size_t i = piece * size; i < std::min(n, (piece + 1) * size); ++i) {
                const double *query = x + i * d;
                double *place = to + n * i - i * (i + 1) / 2;
                for (std::size_t g = (i + 1) / 4 * 4; g < n; g += 4) {
                    const double *group = points.data() + g * d;
                    double some[4];
                    for (std::size_t k = 0; k < 4; k += wide_size) {
                        const Wide values =
                            neighbors::reduced<0, Wide>(metric, d, [&](std::size_t j) {
                                return query[j] - load_wide(group + 4 * j + k);
                            });
                        std::memcpy(some + k, &values, sizeof values);
                    }
                    const std::size_t first = std::max(g, i + 1), last = std::min(g + 4, n);
                    for (std::size_t k = first; k < last; ++k)
                        place[k - i - 1] = some[k - g];
                }
            }
        });
    });
}

// A cluster of the division: places in the order of the rows, and its diameter.
struct Group {
    std::size_t begin, end;
    double diameter;
};

} // namespace

class Division {
  public:
    Division(Vector<const double> triangle, std::size_t n) : values_(triangle), n_(n), order_(n) {
        require(n >= 1 && triangle.shape(0) == n * (n - 1) / 2,
                "there must be n(n - 1)/2 dissimilarities");
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        open_.push_back(measured(0, n_));
        splits_.reserve(n - 1);
    }

    // At most `count` further splits of the cluster of the largest diameter; of equal ones the one
    // with the first row. The number of those that are still to be made.
    std::size_t advance(std::size_t count) {
        nb::gil_scoped_release unlocked;
        for (; count > 0 && splits_.size() + 1 < n_; --count) {
            std::size_t next = open_.size();
            for (std::size_t i = 0; i < open_.size(); ++i)
                if (next == open_.size() || open_[i].diameter > open_[next].diameter ||
                    (open_[i].diameter == open_[next].diameter &&
                     order_[open_[i].begin] < order_[open_[next].begin]))
                    next = i;
            const Group whole = open_[next];
            const std::size_t middle = split(whole);
            splits_.push_back({static_cast<std::int64_t>(order_[whole.begin]),
                               static_cast<std::int64_t>(order_[middle]), whole.diameter});
            open_[next] = open_.back(); // clusters of one row are done
            open_.pop_back();
            if (middle - whole.begin > 1)
                open_.push_back(part_of(whole, whole.begin, middle));
            if (whole.end - middle > 1)
                open_.push_back(part_of(whole, middle, whole.end));
        }
        return n_ - 1 - splits_.size();
    }

    // A split joins a row of both parts, if read backwards.
    void copy_merges(Vector<std::int64_t> left, Vector<std::int64_t> right,
                     Vector<double> height) const {
        cluster::copy_merges(Merges(splits_.rbegin(), splits_.rend()), left, right, height);
    }

  private:
    double at(std::size_t i, std::size_t j) const {
        if (i == j)
            return 0.0;
        const std::size_t a = std::min(i, j), b = std::max(i, j);
        return values_.data()[n_ * a - a * (a + 1) / 2 + (b - a - 1)];
    }

    // Equal rows are split one by one, so that looking at all their pairs each time costs O(n³).
    Group part_of(const Group &whole, std::size_t begin, std::size_t end) const {
        return whole.diameter == 0.0 ? Group{begin, end, 0.0} : measured(begin, end);
    }

    Group measured(std::size_t begin, std::size_t end) const {
        double largest = 0.0;
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t j = i + 1; j < end; ++j)
                largest = std::max(largest, at(order_[i], order_[j]));
        return {begin, end, largest};
    }

    // The row with the largest mean dissimilarity from the others begins a group of its own. The
    // row that is most nearer to this group than to the rest follows, while there is one. Returns
    // the place where the group begins; both parts keep the order of their rows.
    std::size_t split(const Group &whole) {
        const std::size_t size = whole.end - whole.begin;
        if (whole.diameter == 0.0) { // the first row leaves, and no other follows
            const auto first = order_.begin() + static_cast<std::ptrdiff_t>(whole.begin);
            std::rotate(first, first + 1, first + static_cast<std::ptrdiff_t>(size));
            return whole.end - 1;
        }
        const std::size_t *rows = order_.data() + whole.begin;
        std::vector<double> rest(size, 0.0), away(size, 0.0);
        std::vector<char> gone(size, 0);
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t j = i + 1; j < size; ++j) {
                const double value = at(rows[i], rows[j]);
                rest[i] += value;
                rest[j] += value;
            }
        std::size_t chosen =
            static_cast<std::size_t>(std::max_element(rest.begin(), rest.end()) - rest.begin());
        std::size_t n_gone = 0;
        for (;;) {
            gone[chosen] = 1;
            ++n_gone;
            for (std::size_t i = 0; i < size; ++i) {
                const double value = at(rows[i], rows[chosen]);
                rest[i] -= value;
                away[i] += value;
            }
            const std::size_t n_rest = size - n_gone;
            if (n_rest < 2)
                break;
            double most = 0.0;
            chosen = size;
            for (std::size_t i = 0; i < size; ++i)
                if (!gone[i]) {
                    const double nearer = rest[i] / double(n_rest - 1) - away[i] / double(n_gone);
                    if (nearer > most * (1.0 + 1e-12) + 1e-12 * whole.diameter) {
                        most = nearer;
                        chosen = i;
                    }
                }
            if (chosen == size)
                break;
        }
        std::vector<std::size_t> parts;
        parts.reserve(size);
        for (const char second : {0, 1})
            for (std::size_t i = 0; i < size; ++i)
                if (gone[i] == second)
                    parts.push_back(rows[i]);
        std::copy(parts.begin(), parts.end(),
                  order_.begin() + static_cast<std::ptrdiff_t>(whole.begin));
        return whole.end - n_gone;
    }

    Vector<const double> values_;
    std::size_t n_;
    std::vector<std::size_t> order_;
    std::vector<Group> open_{};
    Merges splits_{};
};

} // namespace cluster

void bind_hierarchy(nb::module_ &module) {
    module.def("number_merges", &cluster::number_merges, nb::arg("left").noconvert(),
               nb::arg("right").noconvert(), nb::arg("height").noconvert(),
               nb::arg("children").noconvert(), nb::arg("heights").noconvert());
    module.def("triangle_distances", &cluster::triangle_distances, nb::arg("rows").noconvert(),
               nb::arg("p"), nb::arg("counts_differences"), nb::arg("out").noconvert(),
               nb::arg("threads"));
    using cluster::Division;
    nb::class_<Division>(module, "Division")
        .def(nb::init<Vector<const double>, std::size_t>(), nb::arg("triangle").noconvert(),
             nb::arg("n"))
        .def("advance", &Division::advance, nb::arg("count"))
        .def("copy_merges", &Division::copy_merges, nb::arg("left").noconvert(),
             nb::arg("right").noconvert(), nb::arg("height").noconvert());
}

} // namespace thetahat
