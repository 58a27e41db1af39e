// Rows that may be near, from bounds: with g = qᵀx the squared distance is ‖q‖² + ‖x‖² − 2g, and
// with g = Σ_j min(|q_j|, |x_j|)·1[q_j x_j > 0] the Manhattan distance is ‖q‖₁ + ‖x‖₁ − 2g.
//
// Such sums carry rounding errors, so they serve as a filter only. With `low[j]` = (1 − c)·‖x_j‖
// and c beyond all rounding of the formula, low[j] − 2 g[j] + (1 − c)·‖q‖ is a lower bound, and the
// same with 1 + c an upper bound. A row whose lower bound does not exceed the distance of the
// farthest kept row is measured anew, in float64 as metrics.hpp defines it: the result has the bits
// of a scan. The test is written so that a bound that overflowed (NaN) passes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "neighbors/nearest_list.hpp"

namespace thetahat::neighbors {

// The smallest number of type T that is not less.
template <typename T> T rounded_up(double value) {
    const T near = static_cast<T>(value);
    return static_cast<double>(near) < value
               ? std::nextafter(near, std::numeric_limits<T>::infinity())
               : near;
}

// take(c) for every c < n where low[c] − 2 g[c] did not exceed the limit when the rows around it
// were looked at; `take` may lower the limit.
template <typename T, typename Take>
void for_passing(const T *g, const T *low, std::size_t n, const T &limit, const Take &take) {
    constexpr std::size_t chunk = 64;
    for (std::size_t j = 0; j < n; j += chunk) {
        const std::size_t size = std::min(n - j, chunk);
        const T now = limit;
        int any = 0;
        for (std::size_t c = j; c < j + size; ++c)
            any |= !(low[c] - 2 * g[c] > now);
        if (!any)
            continue;
        std::uint64_t passing = 0;
        for (std::size_t c = 0; c < size; ++c)
            passing |= static_cast<std::uint64_t>(!(low[j + c] - 2 * g[j + c] > now)) << c;
        for (; passing; passing &= passing - 1)
            take(j + static_cast<std::size_t>(std::countr_zero(passing)));
    }
}

// Rows that wait to be offered to a list; measure(rows, count, distances) measures several at once.
template <typename Measure, typename List> class Offers {
  public:
    Offers(const Measure &measure, List &list) : measure_(measure), list_(list) {}

    void add(std::size_t row) {
        row_[count_++] = row;
        if (count_ == most)
            flush();
    }

    void flush() {
        double distance[most];
        measure_(row_, count_, distance);
        for (std::size_t i = 0; i < count_; ++i) {
            const auto number = static_cast<std::int64_t>(row_[i]);
            if (list_.admits(distance[i], number))
                list_.insert(distance[i], number);
        }
        count_ = 0;
    }

  private:
    static constexpr std::size_t most = 16;
    const Measure &measure_;
    List &list_;
    std::size_t row_[most], count_ = 0;
};

// Rows that may be among the k nearest of each of several queries. The k-th smallest upper bound
// excludes most of them before any is measured. Rows come block by block and are measured when all
// have come, or when too many wait: distances may be equal, or the bounds wide. The bounds of a
// long list are not kept in order, which would cost more than the distances that it saves.
template <typename T> class NearCandidates {
  public:
    NearCandidates(std::size_t m, std::size_t k)
        : k_(k <= 64 ? k : 0), room_(32 + 2 * k_), upper_(m * k_, infinity_), limit_(m, infinity_),
          count_(m, 0), waiting_(m * room_) {}

    std::size_t n_queries() const { return limit_.size(); }
    std::size_t n_rows() const { return n_rows_; } // of the blocks that have come

    void expect(std::size_t n_rows) { n_rows_ = std::max(n_rows_, n_rows); }

    // Rows from `first` on that query i may be near to.
    template <typename Measure>
    void add(std::size_t i, const T *g, const T *low, double query_low, double slack, std::size_t n,
             std::size_t first, const Measure &measure, NearestList &list) {
        const double share = (1 + slack) / (1 - slack);
        const T ratio = rounded_up<T>(share);
        T *upper = upper_.data() + i * k_, &limit = limit_[i];
        const auto exclude = [&](T bound) {
            lower_limit(i, static_cast<double>(bound) + (share - 1) * query_low);
        };
        if (k_ > 0 && k_ <= n && limit == infinity_)
            exclude(first_bound(g, low, ratio, n));
        for_passing(g, low, n, limit, [&](std::size_t c) {
            const T lower = low[c] - 2 * g[c];
            if (lower > limit)
                return;
            if (count_[i] == room_)
                make_room(i, query_low, measure, list);
            waiting_[i * room_ + count_[i]++] = {lower, static_cast<std::uint32_t>(first + c)};
            if (k_ == 0)
                return;
            const T bound = ratio * low[c] - 2 * g[c];
            if (!(bound < upper[k_ - 1]))
                return;
            for (std::size_t at = k_ - 1; at > 0; --at)
                upper[at] = std::max(upper[at - 1], std::min(upper[at], bound));
            upper[0] = std::min(upper[0], bound);
            exclude(upper[k_ - 1]);
        });
    }

    // Measure those of query i that still wait.
    template <typename Measure>
    void finish(std::size_t i, const Measure &measure, NearestList &list) {
        const Waiting *waiting = waiting_.data() + i * room_;
        Offers<Measure, NearestList> offers(measure, list);
        for (std::size_t w = 0; w < count_[i]; ++w)
            if (!(waiting[w].lower > limit_[i]))
                offers.add(waiting[w].row);
        offers.flush();
        count_[i] = 0;
    }

  private:
    static constexpr T infinity_ = std::numeric_limits<T>::infinity();

    struct Waiting {
        T lower;
        std::uint32_t row;
    };

    // A number that k upper bounds do not exceed, without their order. Rows are dealt to lanes: the
    // least bounds of the lanes belong to different rows, and of four lanes for each neighbour few
    // hold two.
    T first_bound(const T *g, const T *low, T ratio, std::size_t n) {
        constexpr std::size_t together = 16;
        const std::size_t lanes = (4 * k_ + together - 1) / together * together;
        least_.resize(lanes);
        for (std::size_t lane = 0; lane < lanes; lane += together) {
            T some[together];
            std::fill(some, some + together, infinity_);
            std::size_t c = lane;
            for (; c + together <= n; c += lanes)
                for (std::size_t l = 0; l < together; ++l) {
                    const T bound = ratio * low[c + l] - 2 * g[c + l];
                    some[l] = bound < some[l] ? bound : some[l];
                }
            for (std::size_t l = 0; c + l < n && l < together; ++l)
                some[l] = std::min(some[l], ratio * low[c + l] - 2 * g[c + l]);
            std::copy(some, some + together, least_.begin() + lane);
        }
        std::nth_element(least_.begin(), least_.begin() + (k_ - 1), least_.end());
        return least_[k_ - 1];
    }

    void lower_limit(std::size_t i, double limit) {
        limit_[i] = std::min(limit_[i], rounded_up<T>(limit));
    }

    template <typename Measure>
    void make_room(std::size_t i, double query_low, const Measure &measure, NearestList &list) {
        Waiting *waiting = waiting_.data() + i * room_;
        const T limit = limit_[i];
        Waiting *end = std::remove_if(waiting, waiting + count_[i],
                                      [&](const Waiting &each) { return each.lower > limit; });
        count_[i] = static_cast<std::size_t>(end - waiting);
        if (2 * count_[i] <= room_)
            return;
        finish(i, measure, list);
        lower_limit(i, list.worst() - query_low);
    }

    std::size_t k_, room_, n_rows_ = 0;
    std::vector<T> upper_, limit_, least_;
    std::vector<std::size_t> count_;
    std::vector<Waiting> waiting_;
};

} // namespace thetahat::neighbors
