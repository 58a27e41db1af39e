// Sets of rows that are joined pair by pair. It runs on one thread.

#include <algorithm>

#include "core/views.hpp"

namespace thetahat {

namespace cluster {

namespace {

// Join the rows of every pair; root[i] ≤ i is the first row of the set of row i at the end.
void join_pairs(Vector<const std::int64_t> left, Vector<const std::int64_t> right,
                Vector<std::int64_t> root) {
    const std::size_t n = root.shape(0), m = left.shape(0);
    require(right.shape(0) == m, "there must be two rows per pair");
    std::int64_t *above = root.data();
    for (std::size_t i = 0; i < n; ++i)
        require(above[i] >= 0 && static_cast<std::size_t>(above[i]) <= i,
                "a row must lie in a set of an earlier one");
    const auto inside = [&](std::int64_t i) { return i >= 0 && static_cast<std::size_t>(i) < n; };
    for (std::size_t k = 0; k < m; ++k)
        require(inside(left.data()[k]) && inside(right.data()[k]), "a pair must hold two rows");
    nb::gil_scoped_release unlocked;
    const auto first = [&](std::int64_t i) {
        while (above[i] != i)
            i = above[i] = above[above[i]];
        return i;
    };
    for (std::size_t k = 0; k < m; ++k) {
        const std::int64_t a = first(left.data()[k]), b = first(right.data()[k]);
        above[std::max(a, b)] = std::min(a, b);
    }
    for (std::size_t i = 0; i < n; ++i)
        above[i] = above[above[i]];
}

} // namespace

} // namespace cluster

void bind_join_pairs(nb::module_ &module) {
    module.def("join_pairs", &cluster::join_pairs, nb::arg("left").noconvert(),
               nb::arg("right").noconvert(), nb::arg("root").noconvert());
}

} // namespace thetahat
