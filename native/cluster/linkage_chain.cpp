// Complete, average and Ward linkage of given dissimilarities, by chains of nearest neighbours.
//
// The upper triangle of the dissimilarities lies row by row in one array, which is overwritten. A
// chain goes from a cluster to its nearest one, from there to the nearest of that, and so on; where
// two are nearest to each other, they are merged, and the rest of the chain stays valid (the
// linkages are reducible). Ward's takes and gives squared distances. Of equal dissimilarities the
// previous cluster of the chain is taken, or else the one with the smallest row. When half of the
// clusters are gone, the triangle is packed, so that later searches read half as much. O(n²) time;
// one thread.

#include <algorithm>
#include <cmath>
#include <limits>

#include "cluster/linkage.hpp"
#include "core/simd4.hpp"

namespace thetahat {

namespace cluster {

namespace {

enum Linkage { complete = 1, average = 2, ward = 3 };

constexpr double infinity = std::numeric_limits<double>::infinity();

double smallest(const double *values, std::size_t n) {
    double least = infinity;
    std::size_t i = 0;
    if (n >= 4 * wide_size) {
        Wide part[4];
        for (std::size_t l = 0; l < 4; ++l)
            part[l] = load_wide(values + l * wide_size);
        for (i = 4 * wide_size; i + 4 * wide_size <= n; i += 4 * wide_size)
            for (std::size_t l = 0; l < 4; ++l) {
                const Wide some = load_wide(values + i + l * wide_size);
                part[l] = some < part[l] ? some : part[l];
            }
        for (const Wide &some : part)
            for (std::size_t j = 0; j < wide_size; ++j)
                least = std::min(least, static_cast<double>(some[j]));
    }
    for (; i < n; ++i)
        least = std::min(least, values[i]);
    return least;
}

} // namespace

class LinkageChain {
  public:
    LinkageChain(Vector<double> triangle, std::size_t n, int linkage)
        : values_(triangle), size_(n, 1.0), row_(n), alive_(n, 1),
          linkage_(static_cast<Linkage>(linkage)), n_(n), left_(n) {
        require(n >= 1 && triangle.shape(0) == n * (n - 1) / 2,
                "there must be n(n - 1)/2 dissimilarities");
        require(linkage >= complete && linkage <= ward, "the linkage is not known");
        for (std::size_t i = 0; i < n; ++i)
            row_[i] = static_cast<std::int64_t>(i);
        merges_.reserve(n - 1);
    }

    // At most `count` further merges; the number of those that are still to be made.
    std::size_t advance(std::size_t count) {
        nb::gil_scoped_release unlocked;
        for (; count > 0 && left_ > 1; --count)
            merge_next();
        return left_ - 1;
    }

    void copy_merges(Vector<std::int64_t> left, Vector<std::int64_t> right,
                     Vector<double> height) const {
        cluster::copy_merges(merges_, left, right, height);
    }

  private:
    double *data() const { return values_.data(); }
    // The place of (i, j) is start(i) + j, for i < j.
    std::ptrdiff_t start(std::size_t i) const {
        return static_cast<std::ptrdiff_t>(n_ * i - i * (i + 1) / 2) -
               static_cast<std::ptrdiff_t>(i + 1);
    }
    double &at(std::size_t i, std::size_t j) const {
        return i < j ? (data() + start(i))[j] : (data() + start(j))[i];
    }

    // Dissimilarities from clusters that are gone are infinite.
    std::size_t nearest(std::size_t x, std::size_t before) const {
        double least = before < n_ ? at(before, x) : infinity;
        std::size_t found = before;
        const double *column = data() + x - 1; // of (0, x), and (i + 1, x) is n − i − 2 further
        for (std::size_t i = 0; i < x; column += n_ - i - 2, ++i)
            if (*column < least) {
                least = *column;
                found = i;
            }
        const double *rest = data() + start(x) + x + 1;
        const std::size_t n_rest = n_ - x - 1;
        if (const double value = smallest(rest, n_rest); value < least) {
            found = x + 1;
            while (rest[found - x - 1] != value)
                ++found;
        }
        if (found < n_)
            return found;
        for (found = 0; found == x || !alive_[found];) // all are infinitely far
            ++found;
        return found;
    }

    void merge_next() {
        if (4 * left_ <= 3 * n_ && n_ > 64)
            pack();
        if (chain_.empty()) {
            while (!alive_[first_])
                ++first_;
            chain_.push_back(first_);
        }
        for (;;) {
            const std::size_t x = chain_.back();
            const std::size_t before = chain_.size() > 1 ? chain_[chain_.size() - 2] : n_;
            const std::size_t y = nearest(x, before);
            if (y == before)
                return merge(std::min(x, y), std::max(x, y));
            chain_.push_back(y);
        }
    }

    // x stands for both from now on, so that the first row of a cluster is its name.
    void merge(std::size_t x, std::size_t y) {
        chain_.pop_back();
        chain_.pop_back();
        merges_.push_back({row_[x], row_[y], at(x, y)});
        const double a = size_[x], b = size_[y], between = at(x, y);
        if (linkage_ == complete)
            update(x, y, [](double p, double q, double) { return p > q ? p : q; });
        else if (linkage_ == average)
            update(x, y, [a, b](double p, double q, double) {
                return p == q ? p : (a * p + b * q) / (a + b);
            });
        else
            update(x, y, [a, b, between](double p, double q, double c) {
                const double found = ((a + c) * p + (b + c) * q - c * between) / (a + b + c);
                return found > 0.0 ? found : 0.0;
            });
        size_[x] = a + b;
        alive_[y] = 0;
        --left_;
    }

    // joined(from x, from y, size) for all other clusters, in the place of x.
    template <typename Joined> void update(std::size_t x, std::size_t y, const Joined &joined) {
        const auto join = [&](double &of_x, double &of_y, std::size_t i) {
            if (alive_[i])
                of_x = joined(of_x, of_y, size_[i]);
            of_y = infinity;
        };
        double *p = data() + x - 1, *q = data() + y - 1;
        std::size_t i = 0;
        for (; i < x; p += n_ - i - 2, q += n_ - i - 2, ++i)
            join(*p, *q, i);
        at(x, y) = infinity;
        double *of_x = data() + start(x);
        for (q += n_ - i - 2, ++i; i < y; q += n_ - i - 2, ++i)
            join(of_x[i], *q, i);
        double *of_y = data() + start(y);
        for (i = y + 1; i < n_; ++i)
            join(of_x[i], of_y[i], i);
    }

    void pack() {
        std::vector<std::size_t> kept, place(n_, 0);
        for (std::size_t i = 0; i < n_; ++i)
            if (alive_[i]) {
                place[i] = kept.size();
                kept.push_back(i);
            }
        double *to = data();
        for (std::size_t a = 0; a < kept.size(); ++a) {
            const double *from = data() + start(kept[a]);
            for (std::size_t b = a + 1; b < kept.size(); ++b)
                *to++ = from[kept[b]];
        }
        for (std::size_t a = 0; a < kept.size(); ++a) {
            size_[a] = size_[kept[a]];
            row_[a] = row_[kept[a]];
        }
        for (std::size_t &link : chain_)
            link = place[link];
        n_ = kept.size();
        alive_.assign(n_, 1);
        first_ = 0;
    }

    Vector<double> values_;
    std::vector<double> size_;
    std::vector<std::int64_t> row_;
    std::vector<char> alive_;
    std::vector<std::size_t> chain_{};
    Merges merges_{};
    Linkage linkage_;
    std::size_t n_, left_, first_ = 0;
};

} // namespace cluster

void bind_linkage_chain(nb::module_ &module) {
    using cluster::LinkageChain;
    nb::class_<LinkageChain>(module, "LinkageChain")
        .def(nb::init<Vector<double>, std::size_t, int>(), nb::arg("triangle").noconvert(),
             nb::arg("n"), nb::arg("linkage"))
        .def("advance", &LinkageChain::advance, nb::arg("count"))
        .def("copy_merges", &LinkageChain::copy_merges, nb::arg("left").noconvert(),
             nb::arg("right").noconvert(), nb::arg("height").noconvert());
}

} // namespace thetahat
