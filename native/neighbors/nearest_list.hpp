// The k nearest rows seen so far, kept in the arrays of the caller.
//
// Rows are ordered by (distance, row): of two rows at the same distance the one with the smaller
// number is nearer. The order is total, so the list does not depend on the order of the offers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace thetahat::neighbors {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();

inline bool before(double a, std::int64_t i, double b, std::int64_t j) {
    return a < b || (a == b && i < j);
}

// A short list is kept sorted, a long one as a heap with the farthest row on top.
class NearestList {
  public:
    NearestList(double *distance, std::int64_t *row, std::size_t k)
        : distance_(distance), row_(row), k_(k) {}

    void clear() {
        std::fill(distance_, distance_ + k_, infinity);
        std::fill(row_, row_ + k_, no_row);
    }

    std::size_t size() const { return k_; }
    double worst() const { return distance_[sorted() ? k_ - 1 : 0]; }
    std::int64_t worst_row() const { return row_[sorted() ? k_ - 1 : 0]; }
    bool admits(double distance, std::int64_t row) const {
        return before(distance, row, worst(), worst_row());
    }

    // Requires `admits`.
    void insert(double distance, std::int64_t row) {
        if (sorted()) {
            std::size_t at = k_ - 1;
            for (; at > 0 && before(distance, row, distance_[at - 1], row_[at - 1]); --at)
                move(at - 1, at);
            put(at, distance, row);
        } else {
            sink(0, k_, distance, row);
        }
    }

    // The nearest first; the list takes no more rows afterwards.
    void finish() {
        if (sorted())
            return;
        for (std::size_t n = k_; n-- > 1;) {
            const double distance = distance_[n];
            const std::int64_t row = row_[n];
            move(0, n);
            sink(0, n, distance, row);
        }
    }

  private:
    bool sorted() const { return k_ <= 24; }
    void move(std::size_t from, std::size_t to) { put(to, distance_[from], row_[from]); }
    void put(std::size_t at, double distance, std::int64_t row) {
        distance_[at] = distance;
        row_[at] = row;
    }
    void sink(std::size_t at, std::size_t n, double distance, std::int64_t row) {
        for (std::size_t child; (child = 2 * at + 1) < n; at = child) {
            if (child + 1 < n &&
                before(distance_[child], row_[child], distance_[child + 1], row_[child + 1]))
                ++child;
            if (!before(distance, row, distance_[child], row_[child]))
                break;
            move(child, at);
        }
        put(at, distance, row);
    }

    double *distance_;
    std::int64_t *row_;
    std::size_t k_;
};

// All rows within a distance, in the order in which they were found.
struct WithinList {
    double radius;
    std::vector<std::pair<double, std::int64_t>> found{};

    double worst() const { return radius; }
    std::int64_t worst_row() const { return no_row; }
    bool admits(double distance, std::int64_t) const { return distance <= radius; }
    void insert(double distance, std::int64_t row) { found.emplace_back(distance, row); }
};

// The number of rows within a distance.
struct CountList {
    double radius;
    std::int64_t count = 0;

    double worst() const { return radius; }
    std::int64_t worst_row() const { return no_row; }
    bool admits(double distance, std::int64_t) const { return distance <= radius; }
    void insert(double, std::int64_t) { ++count; }
};

} // namespace thetahat::neighbors
