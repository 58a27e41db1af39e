// Edges of minimum spanning trees, compared by (length, smaller row, larger row): a total order, so
// that there is one tree, whatever the algorithm and the number of threads.
#pragma once

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/views.hpp"

namespace thetahat::cluster {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();
constexpr double worth_sharing = 2e5; // multiplications of one step

struct Edges {
    std::int64_t *left, *right;
    double *length;
    std::size_t count = 0;

    Edges(Vector<std::int64_t> a, Vector<std::int64_t> b, Vector<double> c, std::size_t n)
        : left(a.data()), right(b.data()), length(c.data()) {
        require(n >= 1 && a.shape(0) == n - 1 && b.shape(0) == n - 1 && c.shape(0) == n - 1,
                "there must be one place per edge");
    }
    void add(std::int64_t a, std::int64_t b, double at) {
        left[count] = std::min(a, b);
        right[count] = std::max(a, b);
        length[count++] = at;
    }
    // By length, then by rows.
    void sort() {
        std::vector<std::tuple<double, std::int64_t, std::int64_t>> all(count);
        for (std::size_t i = 0; i < count; ++i)
            all[i] = {length[i], left[i], right[i]};
        std::sort(all.begin(), all.end());
        for (std::size_t i = 0; i < count; ++i)
            std::tie(length[i], left[i], right[i]) = all[i];
    }
};

struct Candidate { // the nearest row of another component, as far as it is known
    double length = 0.0;
    std::int64_t row = no_row;
};

inline bool shorter(std::int64_t a, const Candidate &x, std::int64_t b, const Candidate &y) {
    if (x.length != y.length)
        return x.length < y.length;
    const auto key = [](std::int64_t i, std::int64_t j) {
        return std::pair(std::min(i, j), std::max(i, j));
    };
    return key(a, x.row) < key(b, y.row);
}

// The core distances, or nothing where there are none.
inline const double *core_of(Vector<const double> core, std::size_t n) {
    require(core.shape(0) == 0 || core.shape(0) == n, "there must be one core distance per row");
    return core.shape(0) == 0 ? nullptr : core.data();
}

} // namespace thetahat::cluster
