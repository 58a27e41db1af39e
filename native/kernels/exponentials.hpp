// e^x of eight numbers at once, in vector registers of two.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__FMA__)
#include <immintrin.h>
#endif

namespace thetahat::smo {

namespace {

using Two = double __attribute__((vector_size(2 * sizeof(double))));
using Words = std::uint64_t __attribute__((vector_size(2 * sizeof(double))));

inline Two load(const double *from) {
    Two two;
    std::memcpy(&two, from, sizeof two);
    return two;
}

// a·b + c, rounded once where the machine can do that
inline Two fused(Two a, Two b, Two c) {
#if defined(__aarch64__)
    return vfmaq_f64(c, a, b);
#elif defined(__FMA__)
    return _mm_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
}

inline Two both(double x) { return Two{x, x}; }

// 2^(j/64) for j = 0..63 as words, less j·2⁴⁶: adding k·2⁴⁶ for k = 64e + j gives 2^(k/64).
struct Powers {
    std::uint64_t words[64];
    Powers() {
        for (std::uint64_t j = 0; j < 64; ++j)
            words[j] =
                std::bit_cast<std::uint64_t>(std::exp2(static_cast<double>(j) / 64)) - (j << 46);
    }
};
const Powers powers;

// e^(factor·v) of eight numbers v in place, for exponents ≤ 0; 0 below −708.
//
//     e^x = 2^(k/64) · e^r,   k = round(64·x / log 2),   |r| ≤ log 2 / 128
//
// e^r is its Taylor sum up to the 5th power, whose remainder is below an ulp. The four chains of
// operations do not wait for each other.
inline void exponentials_of_eight(double *values, double factor) {
    const Two lowest = both(-708.0), shift = both(6755399441055744.0);
    for (int i = 0; i < 8; i += 2) {
        const Two x = factor * load(values + i);
        const Two kept = x < lowest ? lowest : x;
        const Two shifted = fused(kept, both(64 * 1.44269504088896340736), shift);
        const Two k = shifted - shift;
        const Two r = fused(k, both(-1.90821492927058770002e-10 / 64),
                            fused(k, both(-6.93147180369123816490e-01 / 64), kept));
        const Two square = r * r;
        const Two low = fused(r, both(1.0 / 6.0), both(0.5));
        const Two high = fused(r, both(1.0 / 120.0), both(1.0 / 24.0));
        const Two rest = fused(square, fused(square, high, low), r);
        const Words bits = std::bit_cast<Words>(shifted);
        const Words start = {powers.words[bits[0] & 63], powers.words[bits[1] & 63]};
        const Two power = std::bit_cast<Two>(start + (bits << 46));
        const Two found = x < lowest ? Two{} : fused(power, rest, power);
        std::memcpy(values + i, &found, sizeof found);
    }
}

} // namespace

} // namespace thetahat::smo
