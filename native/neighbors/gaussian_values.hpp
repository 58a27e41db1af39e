// e^{rate·r + shift}/√(2π) of many reduced distances, in place.
#pragma once

#include <cstddef>

namespace thetahat::neighbors {

// The relative error of a coarse value, which takes two thirds of the time.
constexpr double coarse_error = 3e-10;

// rate ≤ 0 ≤ shift; the exponent is at most about 0. Below −708 the result is 0.
void gaussian_values(double *r, std::size_t n, double rate, double shift, bool coarse);

} // namespace thetahat::neighbors
