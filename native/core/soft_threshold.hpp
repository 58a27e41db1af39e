// The minimiser of ½(x − value)² + threshold·|x|.
#pragma once

namespace thetahat {

inline double soft_threshold(double value, double threshold) {
    return value > threshold ? value - threshold : value < -threshold ? value + threshold : 0.0;
}

} // namespace thetahat
