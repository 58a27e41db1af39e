// As many numbers as the machine has in one register, and functions of them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace thetahat {

#if defined(__AVX__)
constexpr std::size_t register_bytes = 32;
#else
constexpr std::size_t register_bytes = 16;
#endif

template <typename T> struct Register {
    using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef T type __attribute__((vector_size(register_bytes)));
    typedef Whole whole __attribute__((vector_size(register_bytes)));
    static constexpr std::size_t size = register_bytes / sizeof(T);
};

// w^((ν + 1)/2) by multiplications and a square root.
template <typename T> inline T tail_power(T w, int nu) {
    T result = nu % 2 ? T(1) : std::sqrt(w);
    for (int each = 0; each < (nu + 1) / 2; ++each)
        result *= w;
    return result;
}

// log u for u ≥ 1: u = 2^e·m, and log m = 2·artanh(s) with s = (m − 1)/(m + 1), m ≤ √2.
template <typename T> typename Register<T>::type logarithm(typename Register<T>::type u) {
    using R = typename Register<T>::type;
    using I = typename Register<T>::whole;
    constexpr int digits = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
    constexpr int terms = sizeof(T) == 4 ? 5 : 12;
    const I one = (I)(R{} + T(1)), bits = (I)u;
    const I part = (bits & ((typename Register<T>::Whole(1) << digits) - 1)) | one;
    const R x = (R)part - T(1);
    const R upper = (R)((I)(x > T(0.41421356)) & one); // 1 where m is halved
    const R power = __builtin_convertvector((bits >> digits) - bias, R) + upper;
    const R s = (x - upper) / (x + T(2) + upper), square = s * s;
    R sum = R{} + T(1) / T(2 * terms - 1);
    for (int each = terms - 1; each > 0; --each)
        sum = sum * square + T(1) / T(2 * each - 1);
    return power * T(0.69314718055994530942) + T(2) * s * sum;
}

} // namespace thetahat
