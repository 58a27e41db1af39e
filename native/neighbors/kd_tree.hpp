// A kd-tree over rows: every inner node divides its rows at a value of one column, and every node
// has the smallest box around its rows. The rows of a leaf lie together, four by four, so that four
// distances are computed at once. Of two nodes at the same distance, the one with the smaller row
// number is searched first, so that many equal rows do not lead to a search of all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thetahat::neighbors {

struct Node {
    std::int32_t child;        // the first of two neighbouring nodes; −1 at a leaf
    std::uint32_t begin, end;  // places of its rows in `order`
    std::uint32_t first_group; // of a leaf
    std::int64_t least;        // the smallest number of a row
};

enum class Axis { widest, alternating };
enum class Pivot { median, random };

struct Construction {
    std::size_t leaf_size;
    Axis axis;
    Pivot pivot;
    std::uint64_t seed;
};

struct KdTree {
    std::size_t n, d;
    std::vector<Node> nodes{};
    std::vector<double> boxes{};        // per node: the low ends of all columns, then the high ones
    std::vector<std::uint32_t> order{}; // the rows, leaf by leaf
    std::vector<double> points{};       // per group of four rows: column 0, column 1, ...

    KdTree(const double *rows, std::size_t n, std::size_t d, const Construction &plan, int threads);

    const double *box(std::size_t node) const { return boxes.data() + 2 * d * node; }
    bool is_one_leaf() const { return nodes[0].child < 0; }
};

} // namespace thetahat::neighbors
