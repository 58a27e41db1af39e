// Log-densities of forests with constant or Gaussian leaves, several forests in one call: the
// forests of the classes of a classifier.
//
// All numbers of a leaf lie side by side, so that a row reads few lines of memory. Terms are added
// relative to the largest so far, as in `gaussian_leaves` and with its bits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/views.hpp"
#include "trees/prediction/walk.hpp"

namespace thetahat {

namespace {

using trees::Nodes;
using trees::PackedNode;

enum class Leaf { constant, diagonal, full };
constexpr std::size_t together = 4; // trees

class ForestDensities {
  public:
    // `place` has the number of each node among all leaves.
    void add(Nodes nodes, Vector<const std::int64_t> roots, Vector<const std::int32_t> place,
             Vector<const double> low, Vector<const double> high, Matrix<const double> means,
             Matrix<const double> factors, Vector<const double> log_scale) {
        const std::size_t d = low.shape(0), n_leaves = means.shape(0);
        require(forests_.empty() || d == d_, "forests must have the same columns");
        const std::size_t entries = factors.shape(1);
        require(d > 0 && high.shape(0) == d && means.shape(1) == (entries == 0 ? 0 : d),
                "bounds and means must have one number per column");
        require(factors.shape(0) == n_leaves && (entries == d * d || entries == d || entries == 0),
                "factors must hold a triangle or a diagonal per leaf, or nothing");
        require(log_scale.shape(0) == n_leaves, "log_scale must have one entry per leaf");
        require(nodes.shape(1) == sizeof(PackedNode) && place.shape(0) == nodes.shape(0),
                "there must be one place per node of 16 bytes");
        const std::size_t n_nodes = nodes.shape(0);
        Forest forest{{low.data(), low.data() + d},
                      {high.data(), high.data() + d},
                      entries == 0   ? Leaf::constant
                      : entries == d ? Leaf::diagonal
                                     : Leaf::full,
                      {},
                      {},
                      {}};
        const auto *given = reinterpret_cast<const PackedNode *>(nodes.data());
        forest.nodes.assign(given, given + n_nodes);
        for (std::size_t t = 0; t + 1 < roots.shape(0); ++t) {
            const std::int64_t begin = roots.data()[t], end = roots.data()[t + 1];
            require(begin >= 0 && begin < end && static_cast<std::size_t>(end) <= n_nodes,
                    "roots must bound the nodes of every tree");
            for (std::int64_t i = begin; i < end; ++i) {
                PackedNode &node = forest.nodes[static_cast<std::size_t>(i)];
                if (node.feature < 0) {
                    const std::int32_t leaf = place.data()[i];
                    require(leaf >= 0 && static_cast<std::size_t>(leaf) < n_leaves,
                            "a leaf must name a row of the means");
                    node.child = leaf;
                    continue;
                }
                node.feature &= ~trees::missing_left_flag; // no value is missing
                require(static_cast<std::size_t>(node.feature) < d, "a node must name a column");
                require(node.child > i - begin && node.child + 1 < end - begin,
                        "children must come after their parent");
                node.child += static_cast<std::int32_t>(begin);
            }
            forest.roots.push_back(static_cast<std::size_t>(begin));
        }
        for (std::size_t l = 0; l < n_leaves; ++l) {
            forest.leaves.push_back(log_scale.data()[l]);
            const double *mean = means.data() + l * d, *factor = factors.data() + l * entries;
            for (std::size_t k = 0; entries > 0 && k < d; ++k)
                forest.leaves.push_back(mean[k]);
            for (std::size_t k = 0; entries > 0 && k < d; ++k)
                for (std::size_t j = entries == d ? k : 0; j <= k; ++j)
                    forest.leaves.push_back(factor[entries == d ? k : k * d + j]);
        }
        d_ = d;
        forests_.push_back(std::move(forest));
    }

    // out[i, c] = start[c] + log Σ_t p_t(x_i) of forest c; −inf outside its box.
    void logs(Matrix<const double> x, Vector<const double> start, Matrix<double> out) const {
        const std::size_t n = x.shape(0), classes = forests_.size();
        require(x.shape(1) == d_, "x must have the columns of the forests");
        require(start.shape(0) == classes && out.shape(0) == n && out.shape(1) == classes,
                "there must be one number per row and forest");
        nb::gil_scoped_release unlocked;
        std::vector<double> spare(d_);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t c = 0; c < classes; ++c)
                out.data()[i * classes + c] =
                    start.data()[c] + forests_[c].log_sum(x.data() + i * d_, spare.data());
    }

  private:
    struct Forest {
        std::vector<double> low, high;
        Leaf kind;
        std::vector<PackedNode> nodes; // children numbered in all trees, leaves in all leaves
        std::vector<std::size_t> roots;
        std::vector<double> leaves; // log scale, mean and factor of each

        double log_sum(const double *x, double *y) const {
            constexpr double none = -std::numeric_limits<double>::infinity();
            const std::size_t d = low.size(), size = kind == Leaf::constant ? 1
                                                     : kind == Leaf::diagonal
                                                         ? 1 + 2 * d
                                                         : 1 + d + d * (d + 1) / 2;
            for (std::size_t k = 0; k < d; ++k)
                if (!(low[k] <= x[k] && x[k] <= high[k]))
                    return none;
            double largest = none, sum = 0.0;
            for (std::size_t t = 0; t < roots.size(); t += together) {
                std::size_t at[together];
                walk(x, t, at);
                for (std::size_t l = 0; l < std::min(together, roots.size() - t); ++l) {
                    const auto number = static_cast<std::size_t>(nodes[at[l]].child);
                    const double *leaf = leaves.data() + number * size;
                    const double term = kind == Leaf::constant ? leaf[0]
                                        : kind == Leaf::diagonal
                                            ? log_gaussian<false>(x, leaf, d, y)
                                            : log_gaussian<true>(x, leaf, d, y);
                    if (term > largest) {
                        sum = sum * std::exp(largest - term) + 1.0;
                        largest = term;
                    } else if (term > none) {
                        sum += std::exp(term - largest);
                    }
                }
            }
            return largest + std::log(sum);
        }

        // The leaves of x in the trees from the first on, of which none waits for another.
        void walk(const double *x, std::size_t first, std::size_t (&at)[together]) const {
            for (std::size_t l = 0; l < together; ++l)
                at[l] = roots[std::min(first + l, roots.size() - 1)];
            for (bool inside = true; inside;) {
                inside = false;
                for (std::size_t &node : at) {
                    const PackedNode &own = nodes[node];
                    const bool leaf = own.feature < 0;
                    const auto next = static_cast<std::size_t>(own.child) +
                                      (x[leaf ? 0 : own.feature] > own.threshold);
                    node = leaf ? node : next;
                    inside |= !leaf;
                }
            }
        }

        template <bool triangle>
        static double log_gaussian(const double *x, const double *leaf, std::size_t d, double *y) {
            const double *mean = leaf + 1, *factor = mean + d;
            double length = 0.0;
            for (std::size_t k = 0; k < d; ++k) {
                double rest = x[k] - mean[k];
                for (std::size_t j = 0; triangle && j < k; ++j)
                    rest -= *factor++ * y[j];
                y[k] = rest / *factor++;
                length += y[k] * y[k];
            }
            return leaf[0] - 0.5 * length;
        }
    };

    std::size_t d_ = 0;
    std::vector<Forest> forests_;
};

} // namespace

void bind_forest_densities(nb::module_ &module) {
    nb::class_<ForestDensities>(module, "ForestDensities")
        .def(nb::init<>())
        .def("add", &ForestDensities::add, nb::arg("nodes"), nb::arg("roots"), nb::arg("place"),
             nb::arg("low"), nb::arg("high"), nb::arg("means"), nb::arg("factors"),
             nb::arg("log_scale"))
        .def("logs", &ForestDensities::logs, nb::arg("x").noconvert(), nb::arg("start"),
             nb::arg("out").noconvert());
}

} // namespace thetahat
