// A growing tree, and the loop that grows it, which all kinds of trees share.
//
// Inside the engine a feature is represented by its codes 0, 1, 2, …: bins of a histogram, ranks of
// the distinct values, or categories. An ordered split sends the codes ≤ `code` left, a categorical
// one the codes in a set; missing values go to the side given by `missing_left`. Kinds of trees
// differ in the engine passed to `grow`: how it finds the best split of a leaf, and how it divides
// the rows and statistics of the leaf.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace thetahat::trees {

constexpr std::int32_t none = -1;

// The categories that go left, one bit per code.
struct CategorySet {
    std::vector<std::uint32_t> words;

    void add(std::uint32_t code) {
        if (words.size() <= code / 32)
            words.resize(code / 32 + 1, 0u);
        words[code / 32] |= 1u << (code % 32);
    }
    bool holds(std::uint32_t code) const {
        return code / 32 < words.size() && (words[code / 32] >> (code % 32) & 1u);
    }
};

// A way to divide a leaf. `threshold` is in the units of the data: x ≤ threshold goes left, exactly
// when code(x) ≤ code does.
struct Split {
    double gain = -std::numeric_limits<double>::infinity();
    std::int32_t feature = none;
    std::uint32_t code = 0;
    double threshold = 0.0;
    bool missing_left = false;
    bool categorical = false;
    CategorySet left{};

    bool exists() const { return feature != none; }
};

// The better of two splits of one leaf: larger gain; at equal gain the smaller feature, then the
// smaller code, so that the choice does not depend on the order in which they were found.
inline bool better(const Split &a, const Split &b) {
    if (a.gain != b.gain)
        return a.gain > b.gain;
    return a.feature != b.feature
               ? static_cast<std::uint32_t>(a.feature) < static_cast<std::uint32_t>(b.feature)
               : a.code < b.code;
}

struct Node {
    std::int32_t feature = none; // none: a leaf
    std::int32_t left = none;    // the right child is left + 1
    double threshold = 0.0;
    bool missing_left = false;
    std::int32_t set = none; // of a categorical split, which of `Tree::sets` goes left
    double gain = 0.0;
    double impurity = 0.0;
    double weight = 0.0;
    std::int64_t count = 0;
};

// Nodes in the order in which they were made (parents before children, siblings side by side), and
// `width` numbers of value for each.
struct Tree {
    std::size_t width = 1;
    std::vector<Node> nodes{};
    std::vector<double> values{};
    std::vector<CategorySet> sets{};

    std::int32_t add(std::size_t n = 1) {
        const auto first = static_cast<std::int32_t>(nodes.size());
        nodes.resize(nodes.size() + n);
        values.resize(nodes.size() * width, 0.0);
        return first;
    }
    double *value(std::int32_t node) {
        return values.data() + static_cast<std::size_t>(node) * width;
    }
};

// A leaf of the growing tree: its rows are [begin, end) of the engine's row numbers.
template <typename State> struct Leaf {
    std::int32_t node = 0;
    std::uint32_t depth = 0;
    std::size_t begin = 0, end = 0;
    Split split{};
    State state{};

    std::size_t n_rows() const { return end - begin; }
};

struct Growth {
    std::size_t max_leaves = std::numeric_limits<std::size_t>::max();
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    bool best_first = false; // else depth first, left before right
};

// Grow `tree` from its root. An Engine has
//
//     using State = …;                                       what it keeps for an open leaf
//     void open(Tree &, Leaf<State> &root);                  rows, statistics and value of the root
//     void find(Tree &, Leaf<State> &);                      sets leaf.split, if there is one
//     void divide(Tree &, Leaf<State> &parent, Leaf<State> &left, Leaf<State> &right);
//                                                            rows, statistics, values of the
//                                                            children
//     void find_both(Tree &, Leaf<State> &, Leaf<State> &);  as find, for two siblings at once
//     void close(Tree &, Leaf<State> &);                     a final leaf: free its state
//
// `find_both` is called for children that may be split further (depth and number of leaves allow
// it); an engine with histograms computes the smaller one and subtracts. There is no recursion, so
// depth is limited only by memory.
template <typename Engine> void grow(Engine &engine, Tree &tree, const Growth &growth) {
    using Open = Leaf<typename Engine::State>;
    std::vector<Open> open; // a heap by gain when best first, else a stack
    // The older node first at equal gain.
    const auto later = [](const Open &a, const Open &b) {
        return a.split.gain != b.split.gain ? a.split.gain < b.split.gain : a.node > b.node;
    };
    const auto offer = [&](Open &&leaf) {
        if (!leaf.split.exists()) {
            engine.close(tree, leaf);
            return;
        }
        open.push_back(std::move(leaf));
        if (growth.best_first)
            std::push_heap(open.begin(), open.end(), later);
    };
    const auto take = [&] {
        if (growth.best_first)
            std::pop_heap(open.begin(), open.end(), later);
        Open leaf = std::move(open.back());
        open.pop_back();
        return leaf;
    };

    Open root;
    root.node = tree.add();
    engine.open(tree, root);
    if (growth.max_leaves > 1 && growth.max_depth > 0)
        engine.find(tree, root);
    offer(std::move(root));
    std::size_t leaves = 1;
    while (!open.empty()) {
        Open parent = take();
        if (leaves >= growth.max_leaves) {
            engine.close(tree, parent);
            continue;
        }
        Open left, right;
        left.depth = right.depth = parent.depth + 1;
        left.node = tree.add(2);
        right.node = left.node + 1;
        Node &node = tree.nodes[static_cast<std::size_t>(parent.node)];
        node.feature = parent.split.feature;
        node.threshold = parent.split.threshold;
        node.missing_left = parent.split.missing_left;
        node.gain = parent.split.gain;
        node.left = left.node;
        if (parent.split.categorical) {
            node.set = static_cast<std::int32_t>(tree.sets.size());
            tree.sets.push_back(parent.split.left);
        }
        engine.divide(tree, parent, left, right);
        ++leaves;
        if (left.depth < growth.max_depth && leaves < growth.max_leaves)
            engine.find_both(tree, left, right);
        // The left one on top of the stack.
        offer(std::move(right));
        offer(std::move(left));
    }
}

} // namespace thetahat::trees
