// The bounds on the value of a node that monotonic constraints of its ancestors set.
#pragma once

#include <cmath>
#include <limits>

namespace thetahat::trees {

struct Bounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    bool any() const { return std::isfinite(lower) || std::isfinite(upper); }
};

} // namespace thetahat::trees
