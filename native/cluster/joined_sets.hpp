// Sets of numbers that several threads join at once. The partition does not depend on the order of
// the joins, and the smallest number of a set is its root.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace thetahat::cluster {

class JoinedSets {
  public:
    explicit JoinedSets(std::size_t n) : above_(n) {
        for (std::size_t i = 0; i < n; ++i)
            above_[i].store(static_cast<std::uint32_t>(i), std::memory_order_relaxed);
    }
    std::uint32_t root(std::uint32_t i) {
        for (;;) {
            const std::uint32_t up = above_[i].load(std::memory_order_relaxed);
            if (up == i)
                return i;
            const std::uint32_t next = above_[up].load(std::memory_order_relaxed);
            if (next != up) {
                std::uint32_t seen = up; // shorten the way; another thread may have done it
                above_[i].compare_exchange_weak(seen, next, std::memory_order_relaxed);
            }
            i = up;
        }
    }
    void join(std::uint32_t a, std::uint32_t b) {
        for (;;) {
            a = root(a), b = root(b);
            if (a == b)
                return;
            if (a < b)
                std::swap(a, b);
            std::uint32_t own = a;
            if (above_[a].compare_exchange_strong(own, b, std::memory_order_relaxed))
                return;
        }
    }

  private:
    std::vector<std::atomic<std::uint32_t>> above_;
};

} // namespace thetahat::cluster
