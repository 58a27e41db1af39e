// Sums of a smoothing kernel over all rows, Σ_i w_i·K(d(q, x_i)/h), with a guaranteed tolerance.
//
// K decreases, so it lies between K(farthest) and K(nearest) of the box of a node on all its rows.
// A node of weight w is replaced by w·(least + most)/2 if its error, at most w·(most − least)/2,
// is within its share of what may still be spent:
//
//     w/(weight not decided yet) · (atol + rtol·L − spent),   L ≤ the whole sum
//
// Shares add up to no more than the whole, so the error of the sum is at most atol + rtol·sum.
// Nearer nodes are opened first: they make the lower bound L large. With rtol = 0 errors below the
// rounding of the sum are allowed, so that rows that cannot change a digit are not visited.
//
// Far from all rows the kernel underflows. The sum is then computed again, times e^shift, where
// the shift is that of the nearest row. Where the shift is so large that its rounding errors exceed
// all other terms of the logarithm, it is the result.
//
// A query adds its rows in the order of the tree, on one thread; no sum depends on the number of
// threads.

#include "neighbors/density_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/gaussian_values.hpp"
#include "neighbors/local_moments.hpp"
#include "neighbors/nearest_list.hpp"
#include "neighbors/tree_search.hpp"

namespace thetahat {

namespace neighbors {

namespace {

constexpr double rounding = 1e-16;
constexpr double worth_coarse = 1e-6; // relative tolerance
constexpr double vanishing = 1e-200;  // of the sum of weights; terms may have been flushed to 0
constexpr double decisive = 1e16;     // shifts from which exponents relative to them are rounded
constexpr std::size_t groups_at_once = 16;
constexpr std::size_t queries_per_piece = 16;
constexpr double worth_sharing = 2e4; // kernel values

template <int D, typename Metric>
double to_far_side(const KdTree &tree, const Metric &metric, const double *query,
                   std::size_t node) {
    const std::size_t d = D > 0 ? D : tree.d;
    const double *low = tree.box(node), *high = low + d;
    return reduced<D, double>(metric, d, [&](std::size_t j) {
        const double first = query[j] - low[j], second = high[j] - query[j];
        return first > second ? first : second;
    });
}

// A sum that keeps the digits lost in each addition.
struct Compensated {
    double sum = 0.0, lost = 0.0;
    void add(double x) {
        const double next = sum + x;
        lost += std::fabs(sum) >= std::fabs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    double value() const { return sum + lost; }
};

} // namespace

bool is_density_kernel(int kernel) {
    return kernel >= 0 && kernel < n_smoothing_kernels && kernel != 10; // 10 has negative values
}

bool KernelShape::is_unbounded() const {
    return kernel == gaussian || kernel == logistic || kernel == sigmoid || kernel == exponential;
}

double KernelShape::tail(double r) const {
    const double s = factor * std::pow(r, power) / width;
    return kernel == gaussian ? 0.5 * s * s : s;
}

void KernelShape::values(double *r, std::size_t n, double shift) const {
    if (kernel == gaussian && power == 0.5) {
        const double rate = -0.5 * (factor / width) * (factor / width);
        return gaussian_values(r, n, rate, shift, coarse);
    }
    if (kernel == gaussian && power == 1.0) { // scaled before they are squared
        for (std::size_t i = 0; i < n; ++i) {
            const double s = factor * r[i] / width;
            r[i] = s * s;
        }
        return gaussian_values(r, n, -0.5, shift, coarse);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double distance = factor * (power == 0.5   ? std::sqrt(r[i])
                                          : power == 1.0 ? r[i]
                                                         : std::pow(r[i], power));
        r[i] = distance / width;
    }
    if (shift == 0.0)
        return smooth(kernel, r, n);
    // On the tail the other kernels are multiples of e^{−s}, to the last digit.
    const double share = kernel == gaussian   ? inverse_root_two_pi
                         : kernel == logistic ? 1.0
                         : kernel == sigmoid  ? 0.63661977236758134308
                                              : 0.5;
    for (std::size_t i = 0; i < n; ++i) {
        const double exponent = kernel == gaussian ? 0.5 * r[i] * r[i] : r[i];
        r[i] = share * exponential_below(shift - exponent);
    }
}

DensitySums::DensitySums(std::shared_ptr<const KdTree> tree, double p, const double *weights)
    : tree_(std::move(tree)), p_(p), weights_(tree_->points.size() / tree_->d, 0.0),
      node_weights_(tree_->nodes.size(), 0.0) {
    for (std::size_t i = tree_->nodes.size(); i-- > 0;) { // children come after their parent
        const Node &node = tree_->nodes[i];
        if (node.child >= 0) {
            const auto child = static_cast<std::size_t>(node.child);
            node_weights_[i] = node_weights_[child] + node_weights_[child + 1];
            continue;
        }
        Compensated total;
        for (std::size_t k = 0; k < node.end - node.begin; ++k) {
            const double w = weights[tree_->order[node.begin + k]];
            weights_[4 * std::size_t{node.first_group} + k] = w;
            total.add(w);
        }
        node_weights_[i] = total.value();
    }
}

template <int D, typename Metric>
double DensitySums::leaf_sum(const Metric &metric, const KernelShape &shape, const double *query,
                             double shift, const Node &leaf) const {
    const std::size_t d = D > 0 ? D : tree_->d, groups = (leaf.end - leaf.begin + 3) / 4;
    const double *points = tree_->points.data() + std::size_t{leaf.first_group} * 4 * d;
    const double *weights = weights_.data() + 4 * std::size_t{leaf.first_group};
    double values[4 * groups_at_once];
    Double4 total = {};
    for (std::size_t begin = 0; begin < groups; begin += groups_at_once) {
        const std::size_t some = std::min(groups_at_once, groups - begin);
        for (std::size_t g = 0; g < some; ++g, points += 4 * d) {
            for (std::size_t i = 0; i < 4; i += wide_size) {
                const Wide distances = reduced<D, Wide>(metric, d, [&](std::size_t j) {
                    return query[j] - load_wide(points + 4 * j + i);
                });
                std::memcpy(values + 4 * g + i, &distances, sizeof distances);
            }
        }
        shape.values(values, 4 * some, shift);
        for (std::size_t g = 0; g < some; ++g, weights += 4)
            total += load4(values + 4 * g) * load4(weights);
    }
    return sum_of(total);
}

template <int D, typename Metric>
double DensitySums::sum(const Metric &metric, const KernelShape &shape, const double *query,
                        double nearest, const Tolerance &tolerance, std::vector<Open> &open) const {
    const KdTree &tree = *tree_;
    const double shift = nearest > 0.0 ? shape.tail(nearest) : 0.0;
    // No row is nearer than the nearest one, even where the box is: e^shift·K stays a number.
    const auto to_bounds = [&](std::size_t node, double *bounds) {
        bounds[0] = std::max(to_box<D>(tree, metric, query, node), nearest);
        bounds[1] = std::max(to_far_side<D>(tree, metric, query, node), nearest);
    };
    double bounds[4];
    to_bounds(0, bounds);
    shape.values(bounds, 2, shift);
    double undecided = node_weights_[0], lower = undecided * bounds[1], spent = 0.0;
    Compensated total;
    open.clear();
    open.push_back({0, bounds[1], bounds[0]});
    while (!open.empty()) {
        const Open at = open.back();
        open.pop_back();
        const Node &node = tree.nodes[at.node];
        const double weight = node_weights_[at.node], error = 0.5 * (at.most - at.least);
        const double left = tolerance.absolute + tolerance.relative * lower - spent;
        if (error * std::max(undecided, weight) <= std::max(left, 0.0)) {
            total.add(weight * (at.least + error));
            spent += weight * error;
            undecided -= weight;
            continue;
        }
        if (node.child < 0) {
            const double found = leaf_sum<D>(metric, shape, query, shift, node);
            total.add(found);
            lower += found - weight * at.least;
            undecided -= weight;
            continue;
        }
        const auto child = static_cast<std::size_t>(node.child);
        to_bounds(child, bounds);
        to_bounds(child + 1, bounds + 2);
        const bool second_is_nearer =
            bounds[2] < bounds[0] || (bounds[2] == bounds[0] && bounds[3] < bounds[1]);
        shape.values(bounds, 4, shift);
        const Open first{child, bounds[1], bounds[0]}, second{child + 1, bounds[3], bounds[2]};
        lower += node_weights_[child] * first.least + node_weights_[child + 1] * second.least -
                 weight * at.least;
        open.push_back(second_is_nearer ? first : second);
        open.push_back(second_is_nearer ? second : first);
    }
    return total.value();
}

template <int D, typename Metric>
double DensitySums::log_sum(const Metric &metric, const KernelShape &shape, const double *query,
                            const Tolerance &tolerance, std::vector<Open> &open) const {
    const double found = sum<D>(metric, shape, query, 0.0, tolerance, open);
    if (found > vanishing * node_weights_[0] || !shape.is_unbounded())
        return std::log(std::max(found, 0.0));
    double distance;
    std::int64_t row;
    NearestList nearest(&distance, &row, 1);
    nearest.clear();
    std::vector<Branch> waiting;
    search<D>(*tree_, metric, query, nearest, waiting);
    const double shift = shape.tail(distance);
    if (shift > decisive)
        return -shift; // −∞ beyond all numbers
    const Tolerance relative{0.0, tolerance.relative};
    return std::log(sum<D>(metric, shape, query, distance, relative, open)) - shift;
}

void DensitySums::logs(Matrix<const double> queries, int kernel, double power, double factor,
                       double width, double atol, double rtol, Vector<double> result,
                       int threads) const {
    const std::size_t m = queries.shape(0);
    require(queries.shape(1) == tree_->d, "queries must have the columns of the rows");
    require(result.shape(0) == m, "there must be one result per query");
    require(is_density_kernel(kernel), "the smoothing kernel is not known, or has negative values");
    require(width > 0.0 && factor > 0.0 && power > 0.0, "the bandwidth must be positive");
    require(atol >= 0.0 && rtol >= 0.0, "tolerances must not be negative");
    const bool coarse = rtol >= worth_coarse;
    const KernelShape shape{kernel, power, factor, width, coarse};
    const Tolerance tolerance{atol, coarse ? rtol - 2.0 * coarse_error : std::max(rtol, rounding)};
    const double *from = queries.data();
    double *to = result.data();
    nb::gil_scoped_release unlocked;
    logs_of(from, m, shape, tolerance, to, threads);
}

void DensitySums::logs_of(const double *from, std::size_t m, const KernelShape &shape,
                          const Tolerance &tolerance, double *to, int threads) const {
    const std::size_t d = tree_->d;
    if (double(m) * double(tree_->n) < worth_sharing)
        threads = 1;
    with_metric(p_, false, d, [&](auto columns, const auto &metric) {
        constexpr int D = decltype(columns)::value;
        const std::vector<std::uint32_t> order = by_leaf(*tree_, metric, from, m, threads);
        for_each_piece((m + queries_per_piece - 1) / queries_per_piece, threads,
                       [&](std::size_t piece) {
                           std::vector<Open> open;
                           const std::size_t begin = piece * queries_per_piece,
                                             end = std::min(m, begin + queries_per_piece);
                           for (std::size_t place = begin; place < end; ++place) {
                               const std::size_t i = order.empty() ? place : order[place];
                               to[i] = log_sum<D>(metric, shape, from + i * d, tolerance, open);
                           }
                       });
    });
}

void DensitySums::exact_logs(const double *from, std::size_t m, int kernel, double width,
                             double *to) const {
    logs_of(from, m, KernelShape{kernel, 1.0, 1.0, width, false}, {0.0, rounding}, to, 1);
}

} // namespace neighbors

void bind_density_sums(nb::module_ &module) {
    using neighbors::DensitySums;
    nb::class_<DensitySums>(module, "DensitySums")
        .def("logs", &DensitySums::logs, nb::arg("queries").noconvert(), nb::arg("kernel"),
             nb::arg("power"), nb::arg("factor"), nb::arg("width"), nb::arg("atol"),
             nb::arg("rtol"), nb::arg("result").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
