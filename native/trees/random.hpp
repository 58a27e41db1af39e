// Random numbers from a 64-bit counter (the splitmix generator): one sequence per seed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thetahat::trees {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state(seed) {}

    std::uint64_t next() {
        std::uint64_t bits = (state += 0x9E3779B97F4A7C15ULL);
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
        return bits ^ (bits >> 31);
    }
    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    // One of 0, …, n − 1.
    std::size_t below(std::size_t n) {
        return static_cast<std::size_t>((next() >> 32) * n >> 32); // n < 2^32
    }

  private:
    std::uint64_t state;
};

} // namespace thetahat::trees
