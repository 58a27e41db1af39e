// The exponential of core/exponential.hpp for many numbers at once.
//
// This file is compiled with fused multiply-adds, which nearly halve its work; it shares no inline
// arithmetic with other files.

#include "neighbors/gaussian_values.hpp"

#include <cstdint>
#include <cstring>

namespace thetahat::neighbors {

namespace {

#if defined(__AVX512F__)
constexpr std::size_t lanes = 8;
#elif defined(__AVX__)
constexpr std::size_t lanes = 4;
#else
constexpr std::size_t lanes = 2;
#endif
// As wide as a register of the machine: wider ones are compared number by number.
using Doubles = double __attribute__((vector_size(lanes * sizeof(double))));
using Ints = std::int64_t __attribute__((vector_size(lanes * sizeof(std::int64_t))));
constexpr std::size_t together = 4; // registers, so that one waits while others are computed

constexpr double inverse_root = 0.39894228040143267794; // 1/√(2π)

// e^r is its Taylor sum up to this power; |r| ≤ log 2 / 2.
constexpr int fine = 13, coarse_power = 8;

template <int power> inline void exponentials(double *at, double rate, double offset) {
    const double log2_high = 6.93147180369123816490e-01, log2_low = 1.90821492927058770002e-10;
    const double round = 6755399441055744.0; // 1.5·2⁵²: adding it rounds to whole numbers
    constexpr double inverse_factorials[] = {1.0,
                                             1.0,
                                             0.5,
                                             1.0 / 6.0,
                                             1.0 / 24.0,
                                             1.0 / 120.0,
                                             1.0 / 720.0,
                                             1.0 / 5040.0,
                                             1.0 / 40320.0,
                                             1.0 / 362880.0,
                                             1.0 / 3628800.0,
                                             1.0 / 39916800.0,
                                             1.0 / 479001600.0,
                                             1.0 / 6227020800.0};
    Doubles rest[together], sum[together], rounded[together];
    Ints kept[together];
    for (std::size_t v = 0; v < together; ++v) {
        Doubles x;
        std::memcpy(&x, at + lanes * v, sizeof(x));
        x = x * rate + offset;
        kept[v] = x > -708.0;
        x = (Doubles)((Ints)x & kept[v]);
        rounded[v] = x * 1.44269504088896340736 + round;
        const Doubles k = rounded[v] - round;
        rest[v] = (x - k * log2_high) - k * log2_low;
        sum[v] = rest[v] * inverse_factorials[power] + inverse_factorials[power - 1];
    }
    for (int j = power - 2; j >= 0; --j)
        for (std::size_t v = 0; v < together; ++v)
            sum[v] = sum[v] * rest[v] + inverse_factorials[j];
    for (std::size_t v = 0; v < together; ++v) {
        // The low bits of the rounded number are k; moved to the exponent they are 2^k.
        const Ints two = ((Ints)rounded[v] + 1023) << 52;
        const Doubles found = sum[v] * (Doubles)two * inverse_root;
        const Doubles masked = (Doubles)((Ints)found & kept[v]);
        std::memcpy(at + lanes * v, &masked, sizeof(masked));
    }
}

template <int power> void all_values(double *r, std::size_t n, double rate, double shift) {
    constexpr std::size_t step = lanes * together;
    std::size_t i = 0;
    for (; i + step <= n; i += step)
        exponentials<power>(r + i, rate, shift);
    if (i < n) {
        double last[step] = {};
        std::memcpy(last, r + i, (n - i) * sizeof(double));
        exponentials<power>(last, rate, shift);
        std::memcpy(r + i, last, (n - i) * sizeof(double));
    }
}

} // namespace

void gaussian_values(double *r, std::size_t n, double rate, double shift, bool coarse) {
    if (coarse)
        return all_values<coarse_power>(r, n, rate, shift);
    all_values<fine>(r, n, rate, shift);
}

} // namespace thetahat::neighbors
