// log(1 + x) for 0 ≤ x ≤ 1, written so that the compiler can vectorise it.
//
//     log(1 + x) = 2·artanh(s),  s = x/(2 + x);    beyond √2 − 1 that of (1 + x)/2, and log 2
//
// |s| ≤ 0.172, and artanh(s) = s + s³/3 + s⁵/5 + … up to the 23rd power has an error below half an
// ulp. Small x keep all their digits, because s does.
#pragma once

namespace thetahat {

inline double log_one_plus(double x) {
    const bool upper = x > 0.41421356237309503;
    const double s = upper ? (x - 1.0) / (x + 3.0) : x / (x + 2.0), square = s * s;
    double sum = 1.0 / 23.0;
    sum = sum * square + 1.0 / 21.0;
    sum = sum * square + 1.0 / 19.0;
    sum = sum * square + 1.0 / 17.0;
    sum = sum * square + 1.0 / 15.0;
    sum = sum * square + 1.0 / 13.0;
    sum = sum * square + 1.0 / 11.0;
    sum = sum * square + 1.0 / 9.0;
    sum = sum * square + 1.0 / 7.0;
    sum = sum * square + 1.0 / 5.0;
    sum = sum * square + 1.0 / 3.0;
    const double twice = 2.0 * s;
    return (upper ? 0.69314718055994530942 : 0.0) + (twice + twice * square * sum);
}

} // namespace thetahat
