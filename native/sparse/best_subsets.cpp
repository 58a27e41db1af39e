// The best subset of each size, by branch and bound over the tree of deletions.
//
// A node is a list of columns with its triangular factor R and z = Qᵀy; its first `fixed` columns
// stay. Children drop one column i ≥ fixed and fix those before it, so every subset is reached
// once. Rotations make R without column i triangular again, and then
//
//     rss(first m columns) = rss(all) + Σ_{j ≥ m} z_j²
//
// gives the error of one subset of each size m at once. No descendant is better than its ancestor,
// so a child whose own rss improves no size that it can reach is skipped with its whole subtree.
//
// The search is depth first, and its position is kept in `cursor`: cursor[0] is the depth (−1:
// done), and cursor[1 + t] the next column to drop at depth t. A call continues from there for
// `budget` nodes; one thread, in a fixed order.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

struct Level {
    std::vector<double> factor; // row-major, d wide, upper triangle used
    std::vector<double> z;
    std::vector<std::int64_t> columns;
    double rss = 0.0;
};

// `child` becomes `parent` without its column i; p is the number of columns of the parent.
void drop(const Level &parent, Level &child, std::size_t d, std::size_t p, std::size_t i) {
    for (std::size_t r = 0; r < p; ++r) {
        const double *from = parent.factor.data() + r * d;
        double *to = child.factor.data() + r * d;
        std::copy(from + r, from + std::max(r, std::min(i, p)), to + r);
        for (std::size_t j = std::max(i + 1, r); j < p; ++j)
            to[j - 1] = from[j];
    }
    std::copy(parent.z.begin(), parent.z.begin() + static_cast<std::ptrdiff_t>(p), child.z.begin());
    for (std::size_t j = 0; j + 1 < p; ++j)
        child.columns[j] = parent.columns[j < i ? j : j + 1];
    for (std::size_t r = i; r + 1 < p; ++r) {
        double *upper = child.factor.data() + r * d, *lower = upper + d;
        const double a = upper[r], b = lower[r], length = std::hypot(a, b);
        if (!(length > 0.0))
            continue;
        const double cosine = a / length, sine = b / length;
        for (std::size_t j = r; j + 1 < p; ++j) {
            const double above = upper[j], below = lower[j];
            upper[j] = cosine * above + sine * below;
            lower[j] = cosine * below - sine * above;
        }
        const double above = child.z[r], below = child.z[r + 1];
        child.z[r] = cosine * above + sine * below;
        child.z[r + 1] = cosine * below - sine * above;
    }
    child.rss = parent.rss + child.z[p - 1] * child.z[p - 1];
}

std::size_t best_subsets(Matrix<const double> factor, Vector<const double> z, double rss,
                         std::size_t largest, Vector<std::int64_t> cursor, Vector<double> best,
                         Matrix<std::int64_t> members, std::size_t budget) {
    const std::size_t d = factor.shape(0);
    require(factor.shape(1) == d && z.shape(0) == d, "factor must be square, and z as long");
    require(cursor.shape(0) == d + 1, "cursor must have one entry more than there are columns");
    require(largest >= 1 && largest <= d, "largest must lie between 1 and the number of columns");
    require(best.shape(0) == largest + 1 && members.shape(0) == largest + 1 &&
                members.shape(1) == largest,
            "best and members must have one row per size, 0 included");
    std::int64_t *place = cursor.data();
    require(place[0] < static_cast<std::int64_t>(d), "cursor points below the last level");
    for (std::size_t t = 0; place[0] > 0 && t < static_cast<std::size_t>(place[0]); ++t)
        require(place[1 + t] >= 1 && place[1 + t] <= static_cast<std::int64_t>(d - t),
                "cursor names a column that is not there");
    double *lowest = best.data();
    std::int64_t *chosen = members.data();

    nb::gil_scoped_release unlocked;
    std::vector<Level> levels(d);
    for (std::size_t t = 0; t < d; ++t)
        levels[t] = {std::vector<double>((d - t) * d), std::vector<double>(d),
                     std::vector<std::int64_t>(d), 0.0};
    std::copy(factor.data(), factor.data() + d * d, levels[0].factor.begin());
    std::copy(z.data(), z.data() + d, levels[0].z.begin());
    for (std::size_t j = 0; j < d; ++j)
        levels[0].columns[j] = static_cast<std::int64_t>(j);
    levels[0].rss = rss;
    // One spare level: while its last row is rotated out, a child needs one row more.
    Level trial{std::vector<double>(d * d), std::vector<double>(d), std::vector<std::int64_t>(d),
                0.0};
    const auto keep = [&](std::size_t t, std::size_t rows) {
        std::copy(trial.factor.begin(),
                  trial.factor.begin() + static_cast<std::ptrdiff_t>(rows * d),
                  levels[t].factor.begin());
        std::copy(trial.z.begin(), trial.z.end(), levels[t].z.begin());
        levels[t].columns = trial.columns;
        levels[t].rss = trial.rss;
    };
    // The leading columns of a node, from size `from` up to all p of them.
    const auto judge = [&](const Level &node, std::size_t from, std::size_t p) {
        double sum = node.rss;
        for (std::size_t m = p; m >= from && m >= 1; --m) {
            if (m < p)
                sum += node.z[m] * node.z[m];
            if (m <= largest && sum < lowest[m]) {
                lowest[m] = sum;
                std::copy(node.columns.begin(),
                          node.columns.begin() + static_cast<std::ptrdiff_t>(m),
                          chosen + m * largest);
            }
        }
    };

    std::size_t visited = 0;
    if (place[0] < 0)
        return visited;
    std::size_t depth = 0;
    for (; depth < static_cast<std::size_t>(place[0]); ++depth) {
        drop(levels[depth], trial, d, d - depth, static_cast<std::size_t>(place[1 + depth]) - 1);
        keep(depth + 1, d - depth - 1);
    }
    if (depth == 0 && place[1] == 0)
        judge(levels[0], 1, d);
    while (visited < budget) {
        const std::size_t p = d - depth, i = static_cast<std::size_t>(place[1 + depth]);
        if (p < 2 || i > p - 2 || i + 1 > largest) {
            if (depth == 0) {
                place[0] = -1;
                return visited;
            }
            --depth;
            continue;
        }
        ++place[1 + depth];
        ++visited;
        drop(levels[depth], trial, d, p, i);
        const std::size_t top = std::min(p - 1, largest);
        double bar = 0.0;
        for (std::size_t m = i + 1; m <= top; ++m)
            bar = std::max(bar, lowest[m]);
        if (!(trial.rss < bar))
            continue;
        judge(trial, i + 1, p - 1);
        keep(++depth, p - 1);
        place[1 + depth] = static_cast<std::int64_t>(i);
    }
    place[0] = static_cast<std::int64_t>(depth);
    return visited;
}

} // namespace

void bind_best_subsets(nb::module_ &module) {
    module.def("best_subsets", &best_subsets, nb::arg("factor").noconvert(),
               nb::arg("z").noconvert(), nb::arg("rss"), nb::arg("largest"),
               nb::arg("cursor").noconvert(), nb::arg("best").noconvert(),
               nb::arg("members").noconvert(), nb::arg("budget"));
}

} // namespace thetahat
