// e^{rate·r + shift}/√(2π) of many reduced distances, in place.
#pragma once

#include <cstddef>

namespace thetahat::neighbors {

// rate ≤ 0 ≤ shift; the exponent is at most about 0. Below −708 the result is 0.
void gaussian_values(double *r, std::size_t n, double rate, double shift);

} // namespace thetahat::neighbors
