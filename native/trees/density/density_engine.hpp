// Density trees as an engine for `grow`: cells of a box, split where the rows are least uniform.
//
// For a threshold, a is the share of the mass and f the share of the volume of cell l on its left;
// q = N_l/N is the share of the cell in all mass and v = V_l/V in the box. Its scores, computed
// without differences of large numbers, are
//
//     ise          V·(p_λ²V_λ + p_ρ²V_ρ − p_l²V_l) = (q²/v)·(a − f)² / (f·(1 − f))
//     uniformity   |a − f|
//     entropy      H_l − a·H_λ − (1 − a)·H_ρ,  H = ½ log det 2πeΣ
//
// The best threshold of a cell does not depend on q. The cell that is split next is chosen by the
// effect of its split on the whole density, so the last two scores are weighted by q. Volumes are
// kept as logarithms, because those of a hundred columns would overflow a double.
//
// Exact search: the rows of every column are kept in ascending order, and one pass over them tries
// the midpoints between neighbouring values, where the borders of the cell count as values (the
// entropy needs two passes, one from each end, so that rows are only added). Random search:
// thresholds are drawn between the smallest and the largest value along a column or, for oblique
// splits, along a random direction.
//
// Determinism: one thread scans a column or a candidate in the order of the rows, and the best is
// chosen in the order of columns and candidates. The random numbers of a candidate depend only on
// the seed, the node and the number of the candidate.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "trees/density/scatter.hpp"
#include "trees/random.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

enum class DensityScore : int { ise = 0, uniformity = 1, entropy = 2 };

struct DensityRows {
    const double *columns; // d × n, in the units of the data
    const double *rows;    // n × d, centred and scaled; for the entropy and oblique directions
    const double *weight;
    std::size_t n, d;
};

struct DensitySearch {
    DensityScore score;
    bool full;  // covariances, else their diagonals
    bool exact; // all thresholds, else `candidates` random ones
    bool oblique;
    std::size_t candidates;
    std::uint64_t seed;
    double prior, min_weight, min_gain;
    int threads;
};

class DensityEngine {
  public:
    struct State {
        double log_volume = 0.0; // of V_l/V
        double entropy = 0.0;
        std::vector<double> low{}, high{};
        std::vector<double> mean{}; // of the rows, for the entropy
        Moments moments{0, false};  // about that mean, for random candidates
    };
    using Open = Leaf<State>;

    DensityEngine(const DensityRows &data, const DensitySearch &search, const double *low,
                  const double *high);

    void open(Tree &tree, Open &root);
    void find(Tree &, Open &leaf) { search_leaves({&leaf, nullptr}, 1); }
    void find_both(Tree &, Open &left, Open &right) { search_leaves({&left, &right}, 2); }
    void divide(Tree &tree, Open &parent, Open &left, Open &right);
    void close(Tree &, Open &) {}

    // One row per oblique node, in the units of `rows`: node.feature = d + row.
    std::vector<double> directions{};

  private:
    struct Pair {
        Open *leaf[2];
    };
    // Working memory of one thread.
    struct Lane {
        GrowingScatter scatter;
        Moments moments, rest;
        std::vector<double> values, direction, row;
        std::vector<std::uint32_t> spare;
    };

    double share(double weight) const { return weight / total_; }
    double q(const Open &leaf) const {
        return share(weights_[static_cast<std::size_t>(leaf.node)]);
    }
    double weight_of(const Open &leaf) const {
        return weights_[static_cast<std::size_t>(leaf.node)];
    }
    bool divisible(double left, double right) const;
    double spread_gain(const Open &leaf, double a, double f) const;
    void offer(const Open &leaf, Split &best, double gain, std::size_t feature, std::size_t code,
               double threshold) const;
    void search_leaves(Pair leaves, std::size_t n_leaves);
    Split scan(const Open &leaf, std::size_t feature, Lane &lane);
    Split scan_spread(const Open &leaf, std::size_t feature) const;
    Split scan_entropy(const Open &leaf, std::size_t feature, Lane &lane);
    Split try_candidate(const Open &leaf, std::size_t candidate, Lane &lane) const;
    Random stream(const Open &leaf, std::size_t candidate) const;
    void draw_direction(Random &random, std::vector<double> &direction) const;
    double along(const std::vector<double> &direction, std::uint32_t row) const;
    void settle(Tree &tree, Open &leaf);
    void find_entropy(Open &leaf);
    double candidate_entropies(const Open &leaf, double threshold, Lane &lane) const;
    template <typename Work> void spread_over_lanes(std::size_t n, std::size_t size, Work work);

    const std::uint32_t *order(std::size_t k) const { return orders_.data() + k * data_.n; }
    double column(std::size_t feature, std::uint32_t row) const {
        return data_.columns[feature * data_.n + row];
    }

    DensityRows data_;
    DensitySearch search_;
    std::vector<double> low_, high_;
    std::size_t n_orders_;
    std::vector<std::uint32_t> orders_{}; // each sorted by its column; one order when random
    std::vector<double> entropies_{};     // d × n, of the rows up to and including each
    std::vector<std::uint8_t> goes_left_{};
    std::vector<double> weights_{}; // by node
    std::vector<Lane> lanes_{};
    double total_ = 0.0;
};

} // namespace thetahat::trees
