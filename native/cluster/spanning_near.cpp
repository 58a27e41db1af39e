// The minimum spanning tree of rows on a kd-tree, by Borůvka's rounds: every component takes its
// shortest edge to another one. Single linkage in O(n) memory, O(n log n) time for few columns.
//
// With core distances c, the length of an edge is max(d(x, y), c(x), c(y)). Lengths are reduced
// distances (see neighbors/metrics.hpp). Edges have a total order (see spanning_edges.hpp).

#include <atomic>
#include <numeric>

#include "cluster/linkage.hpp"
#include "cluster/spanning_edges.hpp"
#include "core/interrupts.hpp"
#include "core/parallel.hpp"
#include "neighbors/nearest_list.hpp"
#include "neighbors/tree_search.hpp"

namespace thetahat {

namespace cluster {

namespace {

using neighbors::before;
using neighbors::Branch;
using neighbors::KdTree;
using neighbors::Node;

constexpr std::size_t leaf_size = 16;
constexpr std::size_t rows_per_piece = 256;
constexpr std::size_t pieces_at_once = 32; // between two interruption points

template <int D, typename Metric> class Boruvka {
  public:
    Boruvka(const KdTree &tree, const Metric &metric, const double *rows, const double *core,
            int threads)
        : tree_(tree), metric_(metric), rows_(rows), core_(core), threads_(threads),
          component_(tree.n), found_(tree.n), of_node_(tree.nodes.size()), limit_(tree.n) {
        std::iota(component_.begin(), component_.end(), std::int64_t{0});
    }

    void run(Edges &edges) {
        while (edges.count + 1 < tree_.n)
            round(edges);
    }

  private:
    std::int64_t root(std::int64_t i) {
        while (component_[i] != i)
            i = component_[i] = component_[component_[i]];
        return i;
    }

    void round(Edges &edges) {
        const std::size_t n = tree_.n;
        for (std::size_t i = 0; i < n; ++i)
            component_[i] = root(static_cast<std::int64_t>(i));
        label_nodes();
        for (std::size_t i = 0; i < n; ++i)
            limit_[i].store(infinity, std::memory_order_relaxed);
        // What was found before still holds if it lies in another component.
        for (std::size_t i = 0; i < n; ++i)
            if (known(i))
                lower(component_[i], found_[i].length);
        const std::size_t pieces = (n + rows_per_piece - 1) / rows_per_piece;
        for (std::size_t first = 0; first < pieces; first += pieces_at_once) {
            const std::size_t some = std::min(pieces_at_once, pieces - first);
            for_each_piece(some, threads_, [&](std::size_t piece) {
                std::vector<Branch> waiting;
                const std::size_t from = (first + piece) * rows_per_piece,
                                  end = std::min(n, from + rows_per_piece);
                for (std::size_t place = from; place < end; ++place)
                    if (const std::size_t i = tree_.order[place]; !known(i))
                        look(i, waiting);
            });
            // A search visits some hundred rows, and all of them at worst.
            point_.after(double(some * rows_per_piece) * 1000.0 * double(tree_.d));
        }
        join(edges);
    }

    bool known(std::size_t i) const {
        return found_[i].row != no_row && component_[found_[i].row] != component_[i];
    }

    void lower(std::int64_t own, double length) {
        std::atomic<double> &limit = limit_[own];
        double now = limit.load(std::memory_order_relaxed);
        while (length < now &&
               !limit.compare_exchange_weak(now, length, std::memory_order_relaxed)) {
        }
    }

    // The component of all rows of a node, or −1.
    void label_nodes() {
        for (std::size_t node = tree_.nodes.size(); node-- > 0;) {
            const Node &of = tree_.nodes[node];
            std::int64_t one;
            if (of.child >= 0) {
                one = of_node_[of.child];
                if (of_node_[of.child + 1] != one)
                    one = -1;
            } else {
                one = component_[tree_.order[of.begin]];
                for (std::size_t place = of.begin + 1; place < of.end; ++place)
                    if (component_[tree_.order[place]] != one)
                        one = -1;
            }
            of_node_[node] = one;
        }
    }

    double reach(double length, std::size_t i) const {
        return core_ == nullptr ? length : std::max(length, core_[i]);
    }

    // A search within the shortest edge of the component so far. What lies beyond is a lower bound
    // for later rounds. The work depends on the order of the threads, the edges do not: no row
    // within the final limit is left out.
    void look(std::size_t i, std::vector<Branch> &waiting) {
        const std::int64_t own = component_[i];
        Candidate best{limit_[own].load(std::memory_order_relaxed), no_row};
        if (found_[i].length > best.length)
            return;
        const double *query = rows_ + i * tree_.d;
        const auto bound = [&](std::size_t node) {
            return reach(neighbors::to_box<D>(tree_, metric_, query, node), i);
        };
        const auto may_help = [&](const Branch &branch) {
            return of_node_[branch.node] != own &&
                   before(branch.bound, tree_.nodes[branch.node].least, best.length, best.row);
        };
        waiting.clear();
        waiting.push_back({reach(0.0, i), 0});
        while (!waiting.empty()) {
            Branch branch = waiting.back();
            waiting.pop_back();
            while (may_help(branch)) {
                const Node &node = tree_.nodes[branch.node];
                if (node.child < 0) {
                    scan(i, query, node, best);
                    break;
                }
                const auto child = static_cast<std::size_t>(node.child);
                Branch near{bound(child), child}, far{bound(child + 1), child + 1};
                if (before(far.bound, tree_.nodes[far.node].least, near.bound,
                           tree_.nodes[near.node].least))
                    std::swap(near, far);
                if (may_help(far))
                    waiting.push_back(far);
                branch = near;
            }
        }
        found_[i] = best;
        if (best.row != no_row)
            lower(own, best.length);
    }

    void scan(std::size_t i, const double *query, const Node &leaf, Candidate &best) const {
        const std::size_t d = D > 0 ? D : tree_.d;
        const double *points = tree_.points.data() + leaf.first_group * 4 * d;
        for (std::size_t place = leaf.begin; place < leaf.end; place += 4, points += 4 * d) {
            double lengths[4];
            for (std::size_t k = 0; k < 4; k += wide_size) {
                const Wide some = neighbors::reduced<D, Wide>(metric_, d, [&](std::size_t j) {
                    return query[j] - load_wide(points + 4 * j + k);
                });
                std::memcpy(lengths + k, &some, sizeof some);
            }
            const std::size_t n = std::min<std::size_t>(4, leaf.end - place);
            for (std::size_t k = 0; k < n; ++k) {
                const std::size_t other = tree_.order[place + k];
                if (lengths[k] > best.length || component_[other] == component_[i])
                    continue;
                const double length =
                    core_ == nullptr ? lengths[k] : std::max({lengths[k], core_[i], core_[other]});
                const auto row = static_cast<std::int64_t>(other);
                if (before(length, row, best.length, best.row))
                    best = {length, row};
            }
        }
    }

    // Every component takes its shortest edge.
    void join(Edges &edges) {
        const std::size_t n = tree_.n;
        std::vector<std::int64_t> shortest(n, -1);
        for (std::size_t i = 0; i < n; ++i) {
            if (!known(i))
                continue;
            std::int64_t &of = shortest[component_[i]];
            if (of < 0 || shorter(static_cast<std::int64_t>(i), found_[i], of,
                                  found_[static_cast<std::size_t>(of)]))
                of = static_cast<std::int64_t>(i);
        }
        for (std::size_t own = 0; own < n; ++own) {
            const std::int64_t i = shortest[own];
            if (i < 0)
                continue;
            const std::int64_t a = root(i), b = root(found_[i].row);
            if (a == b)
                continue;
            component_[std::max(a, b)] = std::min(a, b);
            edges.add(i, found_[i].row, found_[i].length);
        }
    }

    const KdTree &tree_;
    const Metric metric_;
    const double *rows_, *core_;
    int threads_;
    InterruptionPoint point_{};
    std::vector<std::int64_t> component_;
    std::vector<Candidate> found_;
    std::vector<std::int64_t> of_node_;
    std::vector<std::atomic<double>> limit_;
};

void spanning_tree_near(Matrix<const double> rows, double p, Vector<const double> core,
                        Vector<std::int64_t> left, Vector<std::int64_t> right,
                        Vector<double> length, int threads) {
    const std::size_t n = rows.shape(0), d = rows.shape(1);
    require(n > 0 && d > 0 && n < (std::size_t{1} << 30), "there must be 1 to 2^30 rows");
    require(p > 0.0, "p must be positive");
    Edges edges(left, right, length, n);
    const double *cores = core_of(core, n);
    nb::gil_scoped_release unlocked;
    const neighbors::Construction plan{leaf_size, neighbors::Axis::widest, neighbors::Pivot::median,
                                       0};
    const KdTree tree(rows.data(), n, d, plan, threads);
    if (double(n) * 200.0 * double(d) < worth_sharing)
        threads = 1;
    neighbors::with_metric(p, false, d, [&](auto columns, const auto &metric) {
        using Metric = std::decay_t<decltype(metric)>;
        Boruvka<decltype(columns)::value, Metric>(tree, metric, rows.data(), cores, threads)
            .run(edges);
    });
    edges.sort();
}

} // namespace

} // namespace cluster

void bind_spanning_near(nb::module_ &module) {
    module.def("spanning_tree_near", &cluster::spanning_tree_near, nb::arg("rows").noconvert(),
               nb::arg("p"), nb::arg("core").noconvert(), nb::arg("left").noconvert(),
               nb::arg("right").noconvert(), nb::arg("length").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
