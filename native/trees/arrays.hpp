// A grown tree as NumPy arrays, in the order of the fields of
// `thetahat.models.tree.structure.Tree`.
#pragma once

#include <cstring>
#include <memory>

#include "core/views.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

// An array that owns its numbers.
template <typename T> nb::object owned(std::vector<T> &&numbers, std::vector<std::size_t> shape) {
    auto held = std::make_unique<std::vector<T>>(std::move(numbers));
    T *data = held->data();
    nb::capsule owner(held.release(),
                      [](void *vector) noexcept { delete static_cast<std::vector<T> *>(vector); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
}

// Feature and threshold of a leaf, as in scikit-learn.
constexpr std::int32_t undefined = -2;

inline nb::tuple as_arrays(const Tree &tree) {
    const std::size_t n = tree.nodes.size();
    const auto field = [&](auto number) {
        std::vector<decltype(number(tree.nodes[0]))> numbers(n);
        for (std::size_t i = 0; i < n; ++i)
            numbers[i] = number(tree.nodes[i]);
        return owned(std::move(numbers), {n});
    };
    std::size_t words = 0;
    for (const CategorySet &set : tree.sets)
        words = std::max(words, set.words.size());
    std::vector<std::uint32_t> sets(tree.sets.size() * words, 0u);
    for (std::size_t s = 0; s < tree.sets.size(); ++s)
        std::copy(tree.sets[s].words.begin(), tree.sets[s].words.end(), sets.begin() + s * words);
    return nb::make_tuple(
        field([](const Node &node) { return node.feature < 0 ? undefined : node.feature; }),
        field([](const Node &node) { return node.left; }),
        field([](const Node &node) { return node.feature < 0 ? undefined : node.threshold; }),
        field([](const Node &node) { return static_cast<std::uint8_t>(node.missing_left); }),
        field([](const Node &node) { return node.set; }),
        field([](const Node &node) { return node.gain; }),
        field([](const Node &node) { return node.impurity; }),
        field([](const Node &node) { return node.weight; }),
        field([](const Node &node) { return node.count; }),
        owned(std::vector<double>(tree.values), {n, tree.width}),
        owned(std::move(sets), {tree.sets.size(), words}));
}

} // namespace thetahat::trees
