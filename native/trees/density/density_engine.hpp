// Density trees as an engine for `grow`: cells of a box, divided where the rows lie least evenly.
//
// A cell l holds the share a of its mass and the share f of its volume left of a threshold, and
// q = N_l/N of all mass in v = V_l/V of the box. Its scores are, without a difference of large
// numbers,
//
//     ise          V·(p_λ²V_λ + p_ρ²V_ρ − p_l²V_l) = (q²/v)·(a − f)² / (f·(1 − f))
//     uniformity   |a − f|
//     entropy      H_l − a·H_λ − (1 − a)·H_ρ,  H = ½ log det 2πeΣ
//
// Which threshold of a cell is best does not depend on q; which cell is divided next is decided by
// what the split does for the whole, so the last two are weighted by q. Volumes are kept as
// logarithms: those of a hundred columns leave the range of a double.
//
// Exact search: every column keeps its rows in ascending order, and one pass over them tries the
// middles between neighbouring values, the borders of the cell counted as values (the entropy needs
// two passes, one from each end, so that rows are only ever added). Random search: thresholds drawn
// between the smallest and the largest value along a column or, oblique, along a random direction.
//
// Determinism: a column's scan, and a candidate's, is the work of one thread in the order of the
// rows; the best of them is chosen in the order of columns and candidates. A candidate's random
// numbers depend on the seed, the node and its own number alone.
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
    // What one thread works with.
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
