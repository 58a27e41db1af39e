// A graph in which every row is linked to near rows, and some farther ones: a search walks from row
// to row towards its query, and keeps a beam of the nearest rows seen.
//
// Rows are compared in float32; what is returned is measured again by the caller. The order of rows
// is by (distance, row), which is total.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thetahat::neighbors {

using Float4 = float __attribute__((vector_size(4 * sizeof(float))));

struct Near {
    float distance;
    std::uint32_t row;
    bool operator<(const Near &other) const {
        return distance < other.distance || (distance == other.distance && row < other.row);
    }
};

struct ProximityGraph {
    std::size_t n, d; // d: columns, filled up with zeros to a multiple of 4
    bool manhattan;
    std::vector<float> points;
    std::size_t capacity; // links of a row at most
    std::vector<std::int32_t> links;
    std::vector<std::int32_t> counts;
    std::size_t entry = 0;

    const float *point(std::size_t i) const { return points.data() + i * d; }
    const std::int32_t *linked(std::size_t i) const { return links.data() + i * capacity; }
    float between(const float *a, const float *b) const;
};

// What one search needs; made once for many searches.
struct Walk {
    std::vector<std::uint8_t> seen; // number of the search that saw a row
    std::uint8_t search = 0;
    std::vector<Near> beam;     // sorted; the highest bit of `row` marks those that were left
    std::vector<Near> expanded; // rows whose links were followed

    void begin(std::size_t n);
    bool see(std::uint32_t row) {
        if (seen[row] == search)
            return false;
        seen[row] = search;
        return true;
    }
};

// The beam of the `width` nearest rows found from the entry; rows whose links were followed are in
// `expanded`.
void walk(const ProximityGraph &graph, const float *query, std::size_t width, Walk &state);

} // namespace thetahat::neighbors
