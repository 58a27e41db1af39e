// DBSCAN on a kd-tree, in O(n) memory: rows of positive weight with enough weight within the radius
// are core rows, core rows within the radius of each other belong to one cluster, and other rows
// within the radius of a core row join the cluster of the smallest number.
//
// Leaves are compared with nodes by the distances of their boxes: what lies wholly within the
// radius is counted or joined at once, and nodes of one cluster are not searched again. Threads
// count and label disjoint rows. They join concurrently; the partition does not depend on the order
// of joins, and clusters are numbered by their first core rows. Distances are reduced (see
// neighbors/metrics.hpp), and bounds are taken over the same partial sums, so that no pair is
// counted otherwise than if it were measured.

#include <limits>

#include "cluster/joined_sets.hpp"
#include "cluster/within_radius.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace cluster {

namespace {

constexpr std::size_t leaves_per_piece = 4;
constexpr std::int64_t mixed = -1, no_core = -2;

} // namespace

class DensityClusters {
  public:
    DensityClusters(Matrix<const double> rows, Vector<const double> weights, double p,
                    bool counts_differences, double radius, double least, std::size_t leaf_size,
                    int threads)
        : rows_(rows), weights_(weights), p_(p), counts_differences_(counts_differences),
          radius_(std::min(radius, std::numeric_limits<double>::max())), least_(least),
          tree_(planted(rows, leaf_size, threads)), sets_(tree_.n), core_(tree_.n, 0),
          label_(tree_.n, -1), weight_(tree_.nodes.size()), one_(tree_.nodes.size(), no_core),
          leaves_(leaves_of(tree_)) {
        require(p > 0.0, "p must be positive");
        require(radius >= 0.0, "the radius must be at least 0");
        require(weights.shape(0) == 0 || weights.shape(0) == tree_.n,
                "there must be one weight per row");
        for (std::size_t i = 0; i < weights.shape(0); ++i)
            require(weights.data()[i] >= 0.0, "weights must be at least 0");
        nb::gil_scoped_release unlocked;
        for (std::size_t node = tree_.nodes.size(); node-- > 0;) {
            const Node &of = tree_.nodes[node];
            weight_[node] = 0.0;
            if (of.child >= 0)
                weight_[node] = weight_[of.child] + weight_[of.child + 1];
            else
                for (std::size_t place = of.begin; place < of.end; ++place)
                    weight_[node] += weight(place);
        }
    }

    DensityClusters(const DensityClusters &) = delete;

    // Work on further leaves, at most `count`; false when all is done.
    bool advance(std::size_t count, int threads) {
        require(phase_ < 3, "there is no work left");
        nb::gil_scoped_release unlocked;
        neighbors::with_metric(
            p_, counts_differences_, tree_.d, [&](auto columns, const auto &metric) {
                step<decltype(columns)::value>(metric, std::max<std::size_t>(1, count), threads);
            });
        return phase_ < 3;
    }

    void copy(Vector<std::int64_t> labels, Vector<bool> core) const {
        require(phase_ == 3, "the labels are not known yet");
        require(labels.shape(0) == tree_.n && core.shape(0) == tree_.n,
                "there must be one place per row");
        for (std::size_t place = 0; place < tree_.n; ++place) {
            labels.data()[tree_.order[place]] = label_[place];
            core.data()[tree_.order[place]] = core_[place] != 0;
        }
    }

  private:
    static KdTree planted(const Matrix<const double> &rows, std::size_t leaf_size, int threads) {
        const std::size_t n = rows.shape(0), d = rows.shape(1);
        require(n > 0 && d > 0 && n < (std::size_t{1} << 30) && leaf_size > 0,
                "there must be 1 to 2^30 rows, and a row per leaf");
        nb::gil_scoped_release unlocked;
        const neighbors::Construction plan{leaf_size, neighbors::Axis::widest,
                                           neighbors::Pivot::median, 0};
        return KdTree(rows.data(), n, d, plan, threads);
    }

    template <int D, typename Metric>
    void step(const Metric &metric, std::size_t count, int threads) {
        if (next_ == 0 && phase_ == 1)
            join_within_leaves<D>(metric, threads);
        if (phase_ == 1)
            name_nodes();
        const std::size_t from = next_, to = std::min(leaves_.size(), from + count);
        const std::size_t pieces = (to - from + leaves_per_piece - 1) / leaves_per_piece;
        if (tree_.n * tree_.d < 4096)
            threads = 1;
        for_each_piece(pieces, threads, [&](std::size_t piece) {
            LeafRows work;
            const std::size_t end = std::min(to, from + (piece + 1) * leaves_per_piece);
            for (std::size_t i = from + piece * leaves_per_piece; i < end; ++i) {
                work.load(tree_, rows_.data(), tree_.nodes[leaves_[i]]);
                if (phase_ == 0)
                    count_around<D>(metric, leaves_[i], work);
                else if (phase_ == 1)
                    join_around<D>(metric, leaves_[i], work);
                else
                    reach_core<D>(metric, leaves_[i], work);
            }
        });
        next_ = to;
        if (next_ < leaves_.size())
            return;
        next_ = 0;
        if (++phase_ == 2) {
            number_clusters();
            name_nodes();
        }
    }

    double weight(std::size_t place) const {
        return weights_.shape(0) == 0 ? 1.0 : weights_.data()[tree_.order[place]];
    }

    template <int D, typename Metric>
    Span of_boxes(const Metric &metric, std::size_t a, std::size_t b) const {
        const double *x = tree_.box(a), *y = tree_.box(b);
        return between<D>(metric, tree_.d, x, x + tree_.d, y, y + tree_.d);
    }
    template <int D, typename Metric>
    Span of_row(const Metric &metric, const double *row, std::size_t node) const {
        const double *y = tree_.box(node);
        return between<D>(metric, tree_.d, row, row, y, y + tree_.d);
    }

    template <int D, typename Metric>
    void count_around(const Metric &metric, std::size_t leaf, LeafRows &work) {
        const Node &own = tree_.nodes[leaf];
        const std::size_t n = own.end - own.begin, d = tree_.d;
        auto &sums = work.sums;
        sums.assign(n, 0.0);
        std::size_t open = n;
        const auto add = [&](std::size_t i, double w) {
            const bool enough = sums[i] >= least_;
            sums[i] += w;
            open -= !enough && sums[i] >= least_;
        };
        const auto count = [&](std::size_t node, const Span &span) {
            if (span.most <= radius_) {
                for (std::size_t i = 0; i < n; ++i)
                    add(i, weight_[node]);
                return false;
            }
            if (tree_.nodes[node].child >= 0)
                return true;
            for (std::size_t i = 0; i < n; ++i) {
                if (sums[i] >= least_)
                    continue;
                const double *query = work.rows.data() + i * d;
                const Span of = of_row<D>(metric, query, node);
                if (of.most <= radius_)
                    add(i, weight_[node]);
                else if (of.least <= radius_)
                    scan_within<D>(tree_, metric, radius_, query, tree_.nodes[node],
                                   [&](std::size_t place) {
                                       add(i, weight(place));
                                       return sums[i] < least_;
                                   });
            }
            return false;
        };
        count(leaf, of_boxes<D>(metric, leaf, leaf)); // the nearest rows first
        walk_within(
            tree_, radius_, work.waiting,
            [&](std::size_t node) {
                return open == 0 || node == leaf ? nowhere : of_boxes<D>(metric, leaf, node);
            },
            [&](std::size_t node, const Span &span) {
                const Node &of = tree_.nodes[node];
                const bool above = of.begin <= own.begin && own.end <= of.end;
                return above ? of.child >= 0 : count(node, span);
            });
        for (std::size_t i = 0; i < n; ++i)
            core_[own.begin + i] = sums[i] >= least_ && weight(own.begin + i) > 0.0;
    }

    // Join the core rows of nodes within the radius of each other, and of leaves pair by pair.
    template <int D, typename Metric> void join_within_leaves(const Metric &metric, int threads) {
        std::vector<std::size_t> open{0}, small, wide;
        while (!open.empty()) {
            const std::size_t node = open.back();
            open.pop_back();
            if (of_boxes<D>(metric, node, node).most <= radius_)
                small.push_back(node);
            else if (const std::int32_t child = tree_.nodes[node].child; child >= 0) {
                open.push_back(static_cast<std::size_t>(child));
                open.push_back(static_cast<std::size_t>(child) + 1);
            } else
                wide.push_back(node);
        }
        for (const std::size_t node : small)
            join_cores(tree_.nodes[node], first_core(tree_.nodes[node]));
        const std::size_t size = 16;
        for_each_piece((wide.size() + size - 1) / size, threads, [&](std::size_t piece) {
            LeafRows work;
            for (std::size_t k = piece * size; k < std::min(wide.size(), (piece + 1) * size); ++k) {
                const Node &leaf = tree_.nodes[wide[k]];
                work.load(tree_, rows_.data(), leaf);
                for (std::size_t i = 0; i < leaf.end - leaf.begin; ++i)
                    if (core_[leaf.begin + i])
                        join_row<D>(metric, leaf.begin + i, work.rows.data() + i * tree_.d, leaf,
                                    false);
            }
        });
    }

    std::int64_t first_core(const Node &node) const {
        for (std::size_t place = node.begin; place < node.end; ++place)
            if (core_[place])
                return static_cast<std::int64_t>(place);
        return no_core;
    }

    void join_cores(const Node &node, std::int64_t with) {
        for (std::size_t place = node.begin; place < node.end; ++place)
            if (core_[place] && with >= 0)
                sets_.join(static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(with));
    }

    template <int D, typename Metric>
    bool join_row(const Metric &metric, std::size_t place, const double *query, const Node &leaf,
                  bool once) {
        bool joined = false;
        scan_within<D>(tree_, metric, radius_, query, leaf, [&](std::size_t other) {
            if (!core_[other])
                return true;
            sets_.join(static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(other));
            joined = true;
            return !once;
        });
        return joined;
    }

    // A core row of every node whose core rows are all joined.
    void name_nodes() {
        for (std::size_t node = tree_.nodes.size(); node-- > 0;) {
            const Node &of = tree_.nodes[node];
            std::int64_t found = no_core;
            const auto meet = [&](std::int64_t other) {
                if (other == no_core || found == mixed)
                    return;
                if (found == no_core || other == mixed)
                    found = other;
                else if (root(found) != root(other))
                    found = mixed;
            };
            if (of.child >= 0) {
                meet(one_[of.child]);
                meet(one_[of.child + 1]);
            } else
                for (std::size_t place = of.begin; place < of.end; ++place)
                    meet(core_[place] ? static_cast<std::int64_t>(place) : no_core);
            one_[node] = found;
        }
    }

    std::uint32_t root(std::int64_t place) { return sets_.root(static_cast<std::uint32_t>(place)); }

    // Pairs of leaves are met once, from the earlier one.
    template <int D, typename Metric>
    void join_around(const Metric &metric, std::size_t leaf, LeafRows &work) {
        const Node &own = tree_.nodes[leaf];
        const std::int64_t name = one_[leaf];
        if (name == no_core)
            return;
        walk_within(
            tree_, radius_, work.waiting,
            [&](std::size_t node) {
                const std::int64_t other = one_[node];
                if (other == no_core || tree_.nodes[node].end <= own.end ||
                    (name >= 0 && other >= 0 && root(name) == root(other)))
                    return nowhere;
                return of_boxes<D>(metric, leaf, node);
            },
            [&](std::size_t node, const Span &span) {
                const Node &of = tree_.nodes[node];
                if (of.begin >= own.end && span.most <= radius_) {
                    const std::int64_t first = first_core(own);
                    join_cores(own, first);
                    if (one_[node] >= 0)
                        sets_.join(root(one_[node]), root(first));
                    else
                        join_cores(of, first);
                    return false;
                }
                if (of.child >= 0)
                    return true;
                for (std::size_t i = 0; i < own.end - own.begin; ++i) {
                    const std::size_t place = own.begin + i;
                    const std::int64_t other = one_[node];
                    if (!core_[place] ||
                        (other >= 0 && root(static_cast<std::int64_t>(place)) == root(other)))
                        continue;
                    const double *query = work.rows.data() + i * tree_.d;
                    if (of_row<D>(metric, query, node).least <= radius_ &&
                        join_row<D>(metric, place, query, of, other >= 0) && other >= 0 &&
                        name >= 0)
                        break;
                }
                return false;
            });
    }

    // In the order of the first core rows.
    void number_clusters() {
        std::vector<std::uint32_t> place_of(tree_.n);
        for (std::size_t place = 0; place < tree_.n; ++place)
            place_of[tree_.order[place]] = static_cast<std::uint32_t>(place);
        std::int64_t count = 0;
        for (std::size_t row = 0; row < tree_.n; ++row)
            if (core_[place_of[row]])
                if (std::int64_t &label = label_[sets_.root(place_of[row])]; label < 0)
                    label = count++;
        for (std::size_t place = 0; place < tree_.n; ++place)
            if (core_[place])
                label_[place] = label_[sets_.root(static_cast<std::uint32_t>(place))];
    }

    // The smallest cluster with a core row within the radius, for all other rows of a leaf.
    template <int D, typename Metric>
    void reach_core(const Metric &metric, std::size_t leaf, LeafRows &work) {
        const Node &own = tree_.nodes[leaf];
        for (std::size_t i = 0; i < own.end - own.begin; ++i) {
            if (core_[own.begin + i])
                continue;
            const double *query = work.rows.data() + i * tree_.d;
            std::int64_t best = std::numeric_limits<std::int64_t>::max();
            walk_within(
                tree_, radius_, work.waiting,
                [&](std::size_t node) {
                    const std::int64_t one = one_[node];
                    const bool useless = one == no_core || (one >= 0 && label_[one] >= best);
                    return useless ? nowhere : of_row<D>(metric, query, node);
                },
                [&](std::size_t node, const Span &span) {
                    if (one_[node] >= 0 && span.most <= radius_) {
                        best = label_[one_[node]];
                        return false;
                    }
                    if (tree_.nodes[node].child >= 0)
                        return true;
                    scan_within<D>(tree_, metric, radius_, query, tree_.nodes[node],
                                   [&](std::size_t place) {
                                       if (core_[place])
                                           best = std::min(best, label_[place]);
                                       return true;
                                   });
                    return false;
                });
            if (best != std::numeric_limits<std::int64_t>::max())
                label_[own.begin + i] = best;
        }
    }

    Matrix<const double> rows_;
    Vector<const double> weights_;
    double p_;
    bool counts_differences_;
    double radius_, least_;
    KdTree tree_;
    JoinedSets sets_;
    std::vector<char> core_;
    std::vector<std::int64_t> label_; // by place in the tree
    std::vector<double> weight_;
    std::vector<std::int64_t> one_;
    std::vector<std::size_t> leaves_;
    std::size_t next_ = 0;
    int phase_ = 0; // counts, joins, borders, done
};

} // namespace cluster

void bind_density_clusters(nb::module_ &module) {
    using cluster::DensityClusters;
    nb::class_<DensityClusters>(module, "DensityClusters")
        .def(nb::init<Matrix<const double>, Vector<const double>, double, bool, double, double,
                      std::size_t, int>(),
             nb::arg("rows").noconvert(), nb::arg("weights").noconvert(), nb::arg("p"),
             nb::arg("counts_differences"), nb::arg("radius"), nb::arg("least"),
             nb::arg("leaf_size"), nb::arg("threads"))
        .def("advance", &DensityClusters::advance, nb::arg("count"), nb::arg("threads"))
        .def("copy", &DensityClusters::copy, nb::arg("labels").noconvert(),
             nb::arg("core").noconvert());
}

} // namespace thetahat
