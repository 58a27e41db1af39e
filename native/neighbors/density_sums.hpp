// Sums of a smoothing kernel over all rows of a kd-tree, of which far nodes are approximated.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/views.hpp"
#include "neighbors/kd_tree.hpp"

namespace thetahat::neighbors {

// K(s) of the scaled distance s = factor·r^power/width, where r is the reduced distance.
struct KernelShape {
    int kernel;
    double power, factor, width;
    bool coarse; // whether errors of 10⁻⁹ do not matter

    // K of every reduced distance times e^shift, in place.
    void values(double *r, std::size_t n, double shift) const;
    // The shift that makes K of a distance on the tail of an unbounded kernel a normal number.
    double tail(double r) const;
    bool is_unbounded() const;
};

struct Tolerance {
    double absolute, relative;
};

// Whether a smoothing kernel is known, and has no negative values.
bool is_density_kernel(int kernel);

class DensitySums {
  public:
    DensitySums(std::shared_ptr<const KdTree> tree, double p, const double *weights);

    // log Σ_i w_i K(d(q, x_i)/h) of every query; −inf where the sum is 0. The sum is off by at most
    // atol + rtol·sum.
    void logs(Matrix<const double> queries, int kernel, double power, double factor, double width,
              double atol, double rtol, Vector<double> result, int threads) const;
    // The same to rounding on one thread, for distances that are not reduced.
    void exact_logs(const double *from, std::size_t m, int kernel, double width, double *to) const;

    std::size_t rows() const { return tree_->n; }
    std::size_t columns() const { return tree_->d; }

  private:
    struct Open {
        std::size_t node;
        double least, most; // of the kernel on its rows
    };

    void logs_of(const double *from, std::size_t m, const KernelShape &shape,
                 const Tolerance &tolerance, double *to, int threads) const;
    template <int D, typename Metric>
    double log_sum(const Metric &metric, const KernelShape &shape, const double *query,
                   const Tolerance &tolerance, std::vector<Open> &open) const;
    template <int D, typename Metric>
    double sum(const Metric &metric, const KernelShape &shape, const double *query, double nearest,
               const Tolerance &tolerance, std::vector<Open> &open) const;
    template <int D, typename Metric>
    double leaf_sum(const Metric &metric, const KernelShape &shape, const double *query,
                    double shift, const Node &leaf) const;

    std::shared_ptr<const KdTree> tree_;
    double p_;
    std::vector<double> weights_;      // in the order of the packed points, filled up with 0
    std::vector<double> node_weights_; // sums over the rows of every node
};

} // namespace thetahat::neighbors
