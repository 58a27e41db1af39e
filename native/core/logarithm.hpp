// Logarithms, written so that the compiler can vectorise them.
//
// log_one_plus: log(1 + x) for 0 ≤ x ≤ 1.
//
//     log(1 + x) = 2·artanh(s),  s = x/(2 + x);    beyond √2 − 1 that of (1 + x)/2, and log 2
//
// |s| ≤ 0.172, and artanh(s) = s + s³/3 + s⁵/5 + … up to the 23rd power has an error below half an
// ulp. Small x keep all their digits, because s does.
//
// log_of: log of positive numbers with all their digits. x = m·2^e with √½ ≤ m < √2, and the same
// sum for s = (m − 1)/(m + 1).
#pragma once

#include "core/simd4.hpp"

namespace thetahat {

// 1/3 + s²/5 + s⁴/7 + …
template <typename T> inline T artanh_sum(T square) {
    T sum = square * (1.0 / 23.0) + 1.0 / 21.0;
    sum = sum * square + 1.0 / 19.0;
    sum = sum * square + 1.0 / 17.0;
    sum = sum * square + 1.0 / 15.0;
    sum = sum * square + 1.0 / 13.0;
    sum = sum * square + 1.0 / 11.0;
    sum = sum * square + 1.0 / 9.0;
    sum = sum * square + 1.0 / 7.0;
    sum = sum * square + 1.0 / 5.0;
    return sum * square + 1.0 / 3.0;
}

inline double log_one_plus(double x) {
    const bool upper = x > 0.41421356237309503;
    const double s = upper ? (x - 1.0) / (x + 3.0) : x / (x + 2.0), square = s * s;
    const double sum = artanh_sum(square), twice = 2.0 * s;
    return (upper ? 0.69314718055994530942 : 0.0) + (twice + twice * square * sum);
}

inline Double4 log_of(Double4 x) {
    constexpr std::int64_t root_half = 0x3fe6a09e667f3bcd; // the bits of √½
    Int4 bits;
    std::memcpy(&bits, &x, sizeof(bits));
    const Int4 exponent = (bits - root_half) >> 52;
    bits -= exponent << 52;
    Double4 m;
    std::memcpy(&m, &bits, sizeof(m));
    const Double4 s = (m - 1.0) / (m + 1.0), square = s * s, twice = 2.0 * s;
    const Double4 e = __builtin_convertvector(exponent, Double4);
    // The two parts of log 2 keep the digits of the sum.
    return e * 6.93147180369123816490e-01 +
           (twice + (twice * square * artanh_sum(square) + e * 1.90821492927058770002e-10));
}

} // namespace thetahat
