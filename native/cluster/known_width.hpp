// Calls a function with the number of columns as a constant if it is small, so that loops over the
// columns unroll; 0 stands for any number.
#pragma once

#include <cstddef>
#include <type_traits>

namespace thetahat::cluster {

template <std::size_t known> using Width = std::integral_constant<std::size_t, known>;

template <typename Function> auto with_known_width(std::size_t d, const Function &function) {
    switch (d) {
    case 1:
        return function(Width<1>{});
    case 2:
        return function(Width<2>{});
    case 3:
        return function(Width<3>{});
    case 4:
        return function(Width<4>{});
    case 5:
        return function(Width<5>{});
    case 6:
        return function(Width<6>{});
    case 7:
        return function(Width<7>{});
    default:
        return function(Width<0>{});
    }
}

} // namespace thetahat::cluster
