// e^x for x ≤ 0, written so that the compiler can vectorise it.
//
//     e^x = 2^k · e^r,   k = round(x / log 2),   |r| ≤ log 2 / 2
//
// e^r is its Taylor sum up to the 13th power, whose remainder is below half an ulp. Below −708 the
// result is 0, because it is negligible compared with 1.
#pragma once

#include <bit>
#include <cstdint>

namespace thetahat {

inline double exponential_below(double x) {
    const double log2_high = 6.93147180369123816490e-01, log2_low = 1.90821492927058770002e-10;
    const double shift = 6755399441055744.0; // 1.5·2⁵²: adding it rounds to whole numbers
    const double kept = x < -708.0 ? -708.0 : x;
    const double shifted = kept * 1.44269504088896340736 + shift;
    const double k = shifted - shift;
    const double r = (kept - k * log2_high) - k * log2_low;
    double sum = 1.0 / 6227020800.0;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    // The low bits of `shifted` are k; moved to the exponent they are 2^k.
    const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) + 1023u) << 52;
    return x < -708.0 ? 0.0 : sum * std::bit_cast<double>(power);
}

} // namespace thetahat
