// Four numbers at once; the compiler finds the registers of the machine for them.
#pragma once

#include <cstdint>
#include <cstring>

namespace thetahat {

using Four = double __attribute__((vector_size(4 * sizeof(double))));
using FourBits = std::int64_t __attribute__((vector_size(4 * sizeof(std::int64_t))));

inline Four four_at(const double *from) {
    Four four;
    std::memcpy(&four, from, sizeof(Four));
    return four;
}

inline Four four_at(const float *from) {
    using Single = float __attribute__((vector_size(4 * sizeof(float))));
    Single four;
    std::memcpy(&four, from, sizeof(Single));
    return __builtin_convertvector(four, Four);
}

inline double sum_of(const Four &a) { return (a[0] + a[1]) + (a[2] + a[3]); }

} // namespace thetahat
