// The rows of a growing tree on other machines, which divide leaves and count histograms.
//
// A leaf there has a number, its place: the root 0, the children of a leaf two further numbers.
// When a leaf is divided whose children are not known yet, all open leaves that may still be
// divided are sent at once, because their splits are known too. So a tree takes about as many
// messages as it has levels, although it grows best first. Children of leaves that are not divided
// in the end remain unused. Sums of words are exact, so the tree is that of the same rows in one
// process.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "trees/gradient/gradient_engine.hpp"
#include "trees/gradient/node_values.hpp"

namespace thetahat::trees {

// Sums over the rows of a leaf.
struct RemoteLeaf {
    LeafSums sums{};
    double squared_weights = 0.0;
    bool counted = false;                // whether its histogram was computed, not its sibling's
    std::vector<std::int64_t> words{};   // the histogram, d × stride, until the engine takes it
    std::vector<double> weights{};       // of the rows by code, d × stride; empty if never needed
    std::int32_t parent = -1, left = -1; // places
    std::int32_t node = -1;              // of the tree; −1: not in it
};

struct Proposal {
    std::int32_t place, node, feature;
    double gain;
    std::uint32_t depth;
    bool left_smaller;
    std::vector<std::uint8_t> goes_left; // by code
};

enum class Side : std::uint8_t { none, left, right };

// Divides some leaves; `sides` tells of which child the histogram is wanted.
using Divide = std::function<std::vector<RemoteLeaf>(const std::vector<Proposal> &,
                                                     const std::vector<Side> &sides)>;

class RemoteRows {
  public:
    static constexpr bool elsewhere = true;

    RemoteRows(RemoteLeaf root, std::size_t d, std::size_t stride, const Growth &growth,
               Divide divide)
        : d_(d), stride_(stride), growth_(growth), divide_(std::move(divide)) {
        root.node = 0;
        leaves_.push_back(std::move(root));
    }

    const std::vector<RemoteLeaf> &leaves() const { return leaves_; }

    template <typename Open> void open(Open &root) {
        root.begin = 0, root.end = static_cast<std::size_t>(leaves_[0].sums.count);
        root.state.total = std::accumulate(leaves_[0].words.begin(),
                                           leaves_[0].words.begin() + stride_, std::int64_t{0});
    }

    template <typename Open> double weight_of(const Open &leaf) const {
        return of(leaf).sums.weight;
    }
    template <typename Open> bool counts_left(const Open &left, const Open &) const {
        return of(left).counted;
    }

    template <typename Open> void count(Open &leaf, HistogramPool &pool) {
        std::vector<std::int64_t> &words = leaves_[leaf.state.place].words;
        std::copy(words.begin(), words.end(), pool[leaf.state.histogram]);
        words = {};
    }

    template <typename Open> LeafSquares squares(const Open &leaf) const {
        return {of(leaf).sums.squares, of(leaf).sums.weight, of(leaf).squared_weights};
    }

    template <typename Open>
    std::vector<double> weights(const Open &leaf, std::size_t j, std::size_t n_codes) const {
        const auto begin = of(leaf).weights.begin() + static_cast<std::ptrdiff_t>(j * stride_);
        return {begin, begin + static_cast<std::ptrdiff_t>(n_codes)};
    }

    // The split of a leaf is known, so that it may be sent.
    template <typename Open> void propose(const Open &leaf, const std::uint8_t *goes_left) {
        proposals_.push_back({leaf.state.place, leaf.node, leaf.split.feature, leaf.split.gain,
                              leaf.depth,
                              2 * hessian_of(leaf.state.left) <= hessian_of(leaf.state.total),
                              std::vector<std::uint8_t>(goes_left, goes_left + most_codes)});
    }

    template <typename Open>
    void part(const Open &parent, Open &left, Open &right, std::size_t, const std::uint8_t *) {
        if (leaves_[parent.state.place].left < 0)
            send();
        const std::int32_t place = leaves_[parent.state.place].left;
        left.state.place = place, right.state.place = place + 1;
        leaves_[place].node = left.node, leaves_[place + 1].node = right.node;
        left.begin = parent.begin, right.end = parent.end;
        left.end = right.begin = parent.begin + static_cast<std::size_t>(leaves_[place].sums.count);
        ++n_leaves_;
        divide_weights(leaves_[parent.state.place], leaves_[place], leaves_[place + 1]);
    }

  private:
    template <typename Open> const RemoteLeaf &of(const Open &leaf) const {
        return leaves_[leaf.state.place];
    }

    // Send the leaves that may be divided before the tree is full; the best is among them.
    void send() {
        // In the order of `grow`: the older node first at equal gain.
        std::sort(proposals_.begin(), proposals_.end(), [](const Proposal &a, const Proposal &b) {
            return a.gain != b.gain ? a.gain > b.gain : a.node < b.node;
        });
        const std::size_t left = growth_.max_leaves - n_leaves_;
        std::vector<Proposal> others;
        if (growth_.best_first && proposals_.size() > left) {
            others.assign(proposals_.begin() + static_cast<std::ptrdiff_t>(left), proposals_.end());
            proposals_.resize(left);
        }
        std::vector<Side> sides;
        for (std::size_t k = 0; k < proposals_.size(); ++k) {
            // If the last one is divided at all, then after all others, and its children are final.
            const bool further = proposals_[k].depth + 1 < growth_.max_depth && k + 1 < left;
            sides.push_back(!further                     ? Side::none
                            : proposals_[k].left_smaller ? Side::left
                                                         : Side::right);
        }
        std::vector<RemoteLeaf> made = divide_(proposals_, sides);
        for (std::size_t k = 0; k < proposals_.size(); ++k) {
            const std::int32_t parent = proposals_[k].place;
            leaves_[parent].left = static_cast<std::int32_t>(leaves_.size());
            for (std::size_t side = 0; side < 2; ++side) {
                made[2 * k + side].parent = parent;
                leaves_.push_back(std::move(made[2 * k + side]));
            }
        }
        proposals_ = std::move(others);
    }

    void divide_weights(RemoteLeaf &parent, RemoteLeaf &left, RemoteLeaf &right) const {
        if (parent.weights.empty() || !(left.counted || right.counted))
            return;
        const RemoteLeaf &counted = left.counted ? left : right;
        std::vector<double> &rest = (left.counted ? right : left).weights;
        rest = std::move(parent.weights);
        for (std::size_t k = 0; k < rest.size(); ++k)
            rest[k] -= counted.weights[k];
        parent.weights = {};
    }

    std::size_t d_, stride_;
    Growth growth_;
    Divide divide_;
    std::size_t n_leaves_ = 1;
    std::vector<RemoteLeaf> leaves_;
    std::vector<Proposal> proposals_{};
};

} // namespace thetahat::trees
