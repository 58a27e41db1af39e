// Random splits: a threshold, or the set of categories that go left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "trees/random.hpp"
#include "trees/tree.hpp"

namespace thetahat::trees {

// At least one category goes left and one right; the others go to random sides.
inline CategorySet draw_categories(Random &random, std::vector<std::uint32_t> codes) {
    for (std::size_t i = 0; i + 1 < codes.size() && i < 2; ++i)
        std::swap(codes[i], codes[i + random.below(codes.size() - i)]);
    CategorySet left;
    left.add(codes[0]);
    for (std::size_t i = 2; i < codes.size(); ++i)
        if (random.next() & 1)
            left.add(codes[i]);
    return left;
}

// A threshold t with least ≤ t < most.
inline double draw_threshold(Random &random, double least, double most) {
    constexpr double huge = std::numeric_limits<double>::max();
    const double share = random.uniform();
    const double drawn = (1.0 - share) * std::max(least, -huge) + share * std::min(most, huge);
    return drawn >= least && drawn < most ? drawn : least;
}

} // namespace thetahat::trees
