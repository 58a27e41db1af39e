// Four numbers at once; the compiler maps them to the vector registers of the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace thetahat {

using Double4 = double __attribute__((vector_size(4 * sizeof(double))));
using Int4 = std::int64_t __attribute__((vector_size(4 * sizeof(std::int64_t))));

inline Double4 load4(const double *from) {
    Double4 four;
    std::memcpy(&four, from, sizeof(Double4));
    return four;
}

inline Double4 load4(const float *from) {
    using Single = float __attribute__((vector_size(4 * sizeof(float))));
    Single four;
    std::memcpy(&four, from, sizeof(Single));
    return __builtin_convertvector(four, Double4);
}

// As many numbers as the machine has in one register, two or four. Compilers keep these in
// registers; a Double4 that takes two registers they often store and load again.
#if defined(__AVX__)
using Wide = Double4;
using WideMask = Int4;
#else
using Wide = double __attribute__((vector_size(2 * sizeof(double))));
using WideMask = std::int64_t __attribute__((vector_size(2 * sizeof(std::int64_t))));
#endif
constexpr std::size_t wide_size = sizeof(Wide) / sizeof(double);

inline Wide load_wide(const double *from) {
    Wide some;
    std::memcpy(&some, from, sizeof(Wide));
    return some;
}

inline double sum_of(const Double4 &a) { return (a[0] + a[1]) + (a[2] + a[3]); }

} // namespace thetahat
