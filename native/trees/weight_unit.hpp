// Row weights in a unit in which products of their sums neither overflow nor vanish.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/views.hpp"

namespace thetahat::trees {

// Checked weights; extreme ones are copied, divided by a power of two, so that they and all results
// keep their bits.
class UnitWeights {
  public:
    // `given`: one weight per row, or none, where all are 1.
    explicit UnitWeights(const Vector<const double> &given)
        : weights(given.shape(0) == 0 ? nullptr : given.data()) {
        constexpr int usual = 64;
        double largest = 0.0;
        bool legal = true;
        for (std::size_t i = 0; i < given.shape(0); ++i) {
            legal = legal && given.data()[i] >= 0.0 && std::isfinite(given.data()[i]);
            largest = std::max(largest, given.data()[i]);
        }
        require(!weights || (legal && largest > 0.0),
                "weights must be finite and ≥ 0, and some row must have a positive weight");
        if (!weights || std::abs(std::ilogb(largest)) <= usual)
            return;
        exponent = std::ilogb(largest);
        scaled.resize(given.shape(0));
        for (std::size_t i = 0; i < scaled.size(); ++i)
            scaled[i] = std::ldexp(weights[i], -exponent);
        weights = scaled.data();
    }
    UnitWeights(const UnitWeights &) = delete;

    const double *data() const { return weights; } // null: all weights are 1
    double from_given(double weight) const { return std::ldexp(weight, -exponent); }
    double to_given(double weight) const { return std::ldexp(weight, exponent); }

  private:
    const double *weights;
    int exponent = 0;
    std::vector<double> scaled;
};

} // namespace thetahat::trees
