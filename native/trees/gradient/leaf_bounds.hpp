// The ranges of the rows of each leaf.
#pragma once

#include <cstdint>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

// The rows of leaves, as `grow_gradient_tree` gives them, checked.
inline std::vector<std::int64_t> checked_bounds(const Vector<const std::uint32_t> &order,
                                                const Vector<const std::int64_t> &bounds,
                                                std::size_t n) {
    require(bounds.shape(0) >= 1 && bounds.data()[0] == 0 &&
                bounds.data()[bounds.shape(0) - 1] == static_cast<std::int64_t>(order.shape(0)),
            "bounds must go from 0 to the number of ordered rows");
    for (std::size_t leaf = 0; leaf + 1 < bounds.shape(0); ++leaf)
        require(bounds.data()[leaf] <= bounds.data()[leaf + 1], "bounds must ascend");
    for (std::size_t i = 0; i < order.shape(0); ++i)
        require(order.data()[i] < n, "order must hold numbers of rows");
    return {bounds.data(), bounds.data() + bounds.shape(0)};
}

} // namespace thetahat
