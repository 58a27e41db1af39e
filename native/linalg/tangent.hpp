// A linearised least-squares problem of few parameters in factored form; see tangent.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thetahat {

// J with any strides, and r.
struct Linearisation {
    const double *jacobian;
    std::int64_t row_stride, column_stride;
    std::size_t n, d;
    const double *residuals;
};

// R of [JD⁻¹ r], (d + 1) × (d + 1); s; Vᵀ, d × d; g.
struct TangentFactors {
    double *triangle, *values, *basis, *image;
};

void factor(const Linearisation &at, const double *scale, const TangentFactors &out);

} // namespace thetahat
