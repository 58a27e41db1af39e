// All rows within a radius of every query, joined into three arrays: counts, rows and distances.
#pragma once

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "neighbors/nearest_list.hpp"
#include "trees/arrays.hpp"

namespace thetahat::neighbors {

class WithinResult {
  public:
    // At most `most` rows in all: beyond, std::bad_alloc is thrown before more is allocated.
    WithinResult(std::size_t n_queries, std::size_t n_rows, std::size_t most)
        : found_(n_queries), n_rows_(n_rows), most_(most) {}

    void take(std::size_t query, WithinList &list, bool by_distance) {
        if ((total_ += list.found.size()) > most_)
            throw std::bad_alloc();
        if (by_distance)
            std::sort(list.found.begin(), list.found.end());
        else
            sort_by_row(list.found);
        found_[query] = std::move(list.found);
    }

    void join() {
        rows_.reserve(total_);
        distances_.reserve(total_);
        counts_.reserve(found_.size());
        for (auto &some : found_) {
            counts_.push_back(static_cast<std::int64_t>(some.size()));
            for (const auto &[distance, row] : some) {
                distances_.push_back(distance);
                rows_.push_back(row);
            }
            some = {};
        }
    }

    nb::tuple arrays() {
        const std::size_t m = found_.size(), total = rows_.size();
        return nb::make_tuple(trees::owned(std::move(counts_), {m}),
                              trees::owned(std::move(rows_), {total}),
                              trees::owned(std::move(distances_), {total}));
    }

  private:
    using Rows = std::vector<std::pair<double, std::int64_t>>;

    // A scan finds the rows in order. Out of a tree, a large share of all rows is put at its places
    // among them, which is linear.
    void sort_by_row(Rows &found) const {
        const auto by_row = [](const auto &a, const auto &b) { return a.second < b.second; };
        if (std::is_sorted(found.begin(), found.end(), by_row))
            return;
        if (found.size() < n_rows_ / 8)
            return std::sort(found.begin(), found.end(), by_row);
        constexpr double not_found = -1.0; // no distance is negative
        std::vector<double> distance(n_rows_, not_found);
        for (const auto &[value, row] : found)
            distance[static_cast<std::size_t>(row)] = value;
        auto next = found.begin();
        for (std::size_t row = 0; row < n_rows_; ++row)
            if (distance[row] != not_found)
                *next++ = {distance[row], static_cast<std::int64_t>(row)};
    }

    std::vector<Rows> found_;
    std::size_t n_rows_, most_;
    std::atomic<std::size_t> total_{0};
    std::vector<std::int64_t> counts_{}, rows_{};
    std::vector<double> distances_{};
};

} // namespace thetahat::neighbors
