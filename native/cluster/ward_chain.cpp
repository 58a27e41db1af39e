// Ward's hierarchy of rows in O(n d) memory, by chains of nearest neighbours among the centres.
//
//     d(A, B)² = 2 |A||B|/(|A| + |B|) ‖c_A − c_B‖²
//
// A chain goes from a cluster to its nearest one, from there to the nearest of that, and so on,
// until two are nearest to each other; these are merged. The centres lie in a kd-tree. A node
// excludes all of its clusters if the distance of its box, with the size of its smallest cluster,
// is larger than the best so far: |A||B|/(|A| + |B|) grows with |B|. The tree is built again when
// half of the clusters are gone. Distances are exact, bounds are a little lower than they need be,
// and of equal distances the previous cluster of the chain is taken, or else the one with the
// smallest row, so the result is that of a full search. One thread.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "cluster/linkage.hpp"
#include "neighbors/nearest_list.hpp"
#include "neighbors/tree_search.hpp"

namespace thetahat {

namespace cluster {

namespace {

using neighbors::Branch;
using neighbors::KdTree;
using neighbors::Node;
using neighbors::Squares;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double a_little_less = 1.0 - 1e-12; // more than the rounding of a bound
constexpr std::size_t leaf_size = 16;
constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

double factor(double a, double b) { return a * b / (a + b); }

} // namespace

class WardChain {
  public:
    WardChain(Matrix<const double> rows) : d_(rows.shape(1)), left_(rows.shape(0)) {
        require(left_ > 0 && d_ > 0, "there must be at least one row and one column");
        require(left_ < (std::size_t{1} << 30), "there must be less than 2^30 rows");
        const std::vector<double> centres(rows.data(), rows.data() + left_ * d_);
        std::vector<double> size(left_, 1.0);
        std::vector<std::int64_t> row(left_);
        for (std::size_t i = 0; i < left_; ++i)
            row[i] = static_cast<std::int64_t>(i);
        merges_.reserve(left_ - 1);
        build(centres, size, row);
    }

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
    // Clusters are known by their place in the order of the tree.
    void build(const std::vector<double> &centres, const std::vector<double> &size,
               const std::vector<std::int64_t> &row) {
        const std::size_t n = size.size();
        const neighbors::Construction plan{leaf_size, neighbors::Axis::widest,
                                           neighbors::Pivot::median, 0};
        tree_ = std::make_unique<KdTree>(centres.data(), n, d_, plan, 1);
        size_.resize(n + 3); // four sizes are read at once
        row_.resize(n);
        leaf_.resize(n);
        place_of_.resize(n);
        smallest_.assign(tree_->nodes.size(), infinity);
        for (std::size_t place = 0; place < n; ++place) {
            size_[place] = size[tree_->order[place]];
            row_[place] = row[tree_->order[place]];
            place_of_[tree_->order[place]] = place;
        }
        for (std::size_t node = tree_->nodes.size(); node-- > 0;) {
            const Node &of = tree_->nodes[node];
            if (of.child >= 0)
                smallest_[node] = std::min(smallest_[of.child], smallest_[of.child + 1]);
            else
                for (std::size_t place = of.begin; place < of.end; ++place) {
                    leaf_[place] = node;
                    smallest_[node] = std::min(smallest_[node], size_[place]);
                }
        }
        built_ = n;
        first_ = 0;
    }

    double *point(std::size_t place) const {
        const Node &leaf = tree_->nodes[leaf_[place]];
        const std::size_t i = place - leaf.begin;
        return tree_->points.data() + (leaf.first_group + i / 4) * 4 * d_ + i % 4;
    }

    void read(std::size_t place, std::vector<double> &to) const {
        const double *from = point(place);
        to.resize(d_);
        for (std::size_t j = 0; j < d_; ++j)
            to[j] = from[4 * j];
    }

    struct Best {
        double distance = infinity;
        std::int64_t row = std::numeric_limits<std::int64_t>::max();
        std::size_t place = nowhere;
    };

    void scan(const Node &leaf, std::size_t self, double size, Best &best) const {
        const double *points = tree_->points.data() + leaf.first_group * 4 * d_;
        for (std::size_t place = leaf.begin; place < leaf.end; place += 4, points += 4 * d_) {
            double squares[4];
            WideMask near = {};
            for (std::size_t i = 0; i < 4; i += wide_size) {
                const Wide some = neighbors::reduced<0, Wide>(Squares{}, d_, [&](std::size_t j) {
                    return query_[j] - load_wide(points + 4 * j + i);
                });
                std::memcpy(squares + i, &some, sizeof some);
                // Without a division; false for clusters that are gone, which give 0·∞.
                const Wide sizes = load_wide(size_.data() + place + i);
                near |= a_little_less * (size * sizes * some) <= best.distance * (size + sizes);
            }
            if (!neighbors::any(near))
                continue;
            const std::size_t n = std::min<std::size_t>(4, leaf.end - place);
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t other = place + i;
                if (size_[other] == 0.0 || other == self)
                    continue;
                const double distance = factor(size, size_[other]) * squares[i];
                if (distance < best.distance ||
                    (distance == best.distance && row_[other] < best.row))
                    best = {distance, row_[other], other};
            }
        }
    }

    double bound(std::size_t node, double size) const {
        const double least = smallest_[node];
        if (least == infinity)
            return infinity;
        return a_little_less * factor(size, least) *
               neighbors::to_box<0>(*tree_, Squares{}, query_.data(), node);
    }

    Best nearest(std::size_t self, std::size_t before) {
        read(self, query_);
        const double size = size_[self];
        Best best;
        if (before != nowhere) { // comes before all others at the same distance
            read(before, other_);
            const double square = neighbors::reduced<0, double>(
                Squares{}, d_, [&](std::size_t j) { return query_[j] - other_[j]; });
            best = {factor(size, size_[before]) * square, -1, before};
        }
        waiting_.clear();
        waiting_.push_back({0.0, 0});
        while (!waiting_.empty()) {
            Branch branch = waiting_.back();
            waiting_.pop_back();
            while (branch.bound <= best.distance && smallest_[branch.node] < infinity) {
                const Node &node = tree_->nodes[branch.node];
                if (node.child < 0) {
                    scan(node, self, size, best);
                    break;
                }
                const auto child = static_cast<std::size_t>(node.child);
                Branch near{bound(child, size), child}, far{bound(child + 1, size), child + 1};
                if (far.bound < near.bound)
                    std::swap(near, far);
                if (far.bound <= best.distance)
                    waiting_.push_back(far);
                branch = near;
            }
        }
        return best;
    }

    void merge_next() {
        if (2 * left_ <= built_ && built_ > 2 * leaf_size)
            rebuild();
        if (chain_.empty()) {
            while (size_[first_] == 0.0)
                ++first_;
            chain_.push_back(first_);
        }
        for (;;) {
            const std::size_t x = chain_.back();
            const std::size_t before = chain_.size() > 1 ? chain_[chain_.size() - 2] : nowhere;
            const Best best = nearest(x, before);
            if (best.place == before)
                return merge(x, before, best.distance);
            chain_.push_back(best.place);
        }
    }

    // The larger cluster keeps its place, which is nearest to the new centre.
    void merge(std::size_t x, std::size_t y, double distance) {
        chain_.pop_back();
        chain_.pop_back();
        merges_.push_back(
            {std::min(row_[x], row_[y]), std::max(row_[x], row_[y]), std::sqrt(2.0 * distance)});
        if (size_[x] < size_[y] || (size_[x] == size_[y] && row_[y] < row_[x]))
            std::swap(x, y);
        const double total = size_[x] + size_[y], share = size_[y] / total;
        double *to = point(x), *from = point(y);
        for (std::size_t j = 0; j < 4 * d_; j += 4) {
            to[j] += share * (from[j] - to[j]);
            from[j] = infinity;
        }
        size_[x] = total;
        size_[y] = 0.0;
        row_[x] = std::min(row_[x], row_[y]);
        --left_;
        refresh(leaf_[x]);
        if (leaf_[x] != leaf_[y])
            refresh(leaf_[y]);
    }

    // The box and the smallest size of a leaf and of the nodes above it.
    void refresh(std::size_t node) {
        const Node &leaf = tree_->nodes[node];
        double *low = tree_->boxes.data() + 2 * d_ * node, *high = low + d_;
        std::fill(low, low + d_, infinity);
        std::fill(high, high + d_, -infinity);
        smallest_[node] = infinity;
        for (std::size_t place = leaf.begin; place < leaf.end; ++place)
            if (size_[place] > 0.0) {
                smallest_[node] = std::min(smallest_[node], size_[place]);
                const double *x = point(place);
                for (std::size_t j = 0; j < d_; ++j) {
                    low[j] = std::min(low[j], x[4 * j]);
                    high[j] = std::max(high[j], x[4 * j]);
                }
            }
        while (node > 0) { // nodes are numbered level by level
            node = (node - 1) / 2;
            const auto child = static_cast<std::size_t>(tree_->nodes[node].child);
            const double *a = tree_->box(child), *b = tree_->box(child + 1);
            low = tree_->boxes.data() + 2 * d_ * node;
            for (std::size_t j = 0; j < d_; ++j) {
                low[j] = std::min(a[j], b[j]);
                low[d_ + j] = std::max(a[d_ + j], b[d_ + j]);
            }
            smallest_[node] = std::min(smallest_[child], smallest_[child + 1]);
        }
    }

    void rebuild() {
        std::vector<std::size_t> kept, number(built_, nowhere);
        for (std::size_t place = 0; place < built_; ++place)
            if (size_[place] > 0.0)
                kept.push_back(place);
        std::vector<double> centres(kept.size() * d_), size(kept.size());
        std::vector<std::int64_t> row(kept.size());
        for (std::size_t i = 0; i < kept.size(); ++i) {
            read(kept[i], other_);
            std::copy(other_.begin(), other_.end(), centres.begin() + i * d_);
            size[i] = size_[kept[i]];
            row[i] = row_[kept[i]];
            number[kept[i]] = i;
        }
        build(centres, size, row);
        for (std::size_t &link : chain_)
            link = place_of_[number[link]];
    }

    std::size_t d_, left_, built_ = 0, first_ = 0;
    std::unique_ptr<KdTree> tree_{};
    std::vector<double> size_{}, smallest_{}; // of a place (0: gone), and of a node
    std::vector<std::int64_t> row_{};         // the smallest row of a cluster
    std::vector<std::size_t> leaf_{}, place_of_{}, chain_{};
    std::vector<double> query_{}, other_{};
    std::vector<Branch> waiting_{};
    Merges merges_{};
};

} // namespace cluster

void bind_ward_chain(nb::module_ &module) {
    using cluster::WardChain;
    nb::class_<WardChain>(module, "WardChain")
        .def(nb::init<Matrix<const double>>(), nb::arg("rows").noconvert())
        .def("advance", &WardChain::advance, nb::arg("count"))
        .def("copy_merges", &WardChain::copy_merges, nb::arg("left").noconvert(),
             nb::arg("right").noconvert(), nb::arg("height").noconvert());
}

} // namespace thetahat
