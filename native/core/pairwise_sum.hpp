// Sums of many terms with small rounding errors: partial sums are added in pairs, their sums in
// pairs again, and so on. The order depends only on the number of terms.
#pragma once

#include <algorithm>
#include <cstddef>

namespace thetahat {

class PairwiseSum {
  public:
    // Two partial sums of the same number of terms are added and moved up one level.
    void add(double term) {
        std::size_t level = 0;
        for (std::size_t before = count++; before & 1; before >>= 1)
            term += part[level++];
        part[level] = term;
    }

    double total() const {
        double sum = 0.0;
        for (std::size_t level = 0; count >> level; ++level)
            if (count >> level & 1)
                sum += part[level];
        return sum;
    }

  private:
    static constexpr std::size_t levels = 8 * sizeof(std::size_t);
    double part[levels];
    std::size_t count = 0;
};

// Rows whose terms are summed at once, in lanes that the compiler may keep in wide registers.
constexpr std::size_t sum_rows = 128;

// The sum of up to `sum_rows` terms.
inline double lane_sum(const double *terms, std::size_t n) {
    constexpr std::size_t lanes = 16;
    double part[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l)
            part[l] += terms[i + l];
    for (std::size_t l = 0; l < lanes && i < n; ++i, ++l)
        part[l] += terms[i];
    for (std::size_t half = lanes / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l)
            part[l] += part[l + half];
    return part[0];
}

} // namespace thetahat
