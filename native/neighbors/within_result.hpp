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
    WithinResult(std::size_t n_queries, std::size_t most) : found_(n_queries), most_(most) {}

    void take(std::size_t query, WithinList &list, bool by_distance) {
        if ((total_ += list.found.size()) > most_)
            throw std::bad_alloc();
        if (by_distance)
            std::sort(list.found.begin(), list.found.end());
        else
            std::sort(list.found.begin(), list.found.end(),
                      [](const auto &a, const auto &b) { return a.second < b.second; });
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
    std::vector<std::vector<std::pair<double, std::int64_t>>> found_;
    std::size_t most_;
    std::atomic<std::size_t> total_{0};
    std::vector<std::int64_t> counts_{}, rows_{};
    std::vector<double> distances_{};
};

} // namespace thetahat::neighbors
