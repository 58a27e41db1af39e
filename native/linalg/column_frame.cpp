// A rough centre and a power of two near the size of each column, from some rows:
//
//     centre_j = the mean, clipped to the range of the column,
//     unit_j   = 2^e > max(high_j − centre_j, centre_j − low_j), or of |centre_j| where that is 0.
//
// The mean of equal numbers may round to another number; clipping makes their deviations 0. Columns
// of zeros, and those whose size is not finite, have the unit 1; a centre that is not finite is 0.
// Each sum belongs to one column and runs over the rows in order.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr int largest_exponent = 1022; // 2 to this power and its inverse are finite

template <typename T>
void column_frame(StridedMatrix<const T> x, Vector<double> centre, Vector<double> unit,
                  std::size_t first) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(n > 0, "x must have a row");
    require(first + d <= centre.shape(0) && first + d <= unit.shape(0),
            "centre and unit have no room for these columns");
    const std::int64_t down = x.stride(0), across = x.stride(1);
    const T *start = x.data();
    double *middles = centre.data() + first, *units = unit.data() + first;

    nb::gil_scoped_release unlocked;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> low(d, infinite), high(d, -infinite), sum(d, 0.0);
    const auto take = [&](const T *at, std::size_t j) {
        const auto entry = static_cast<double>(*at);
        low[j] = std::min(low[j], entry);
        high[j] = std::max(high[j], entry);
        sum[j] += entry;
    };
    if (across == 1) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < d; ++j)
                take(start + static_cast<std::int64_t>(i) * down + j, j);
    } else {
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t i = 0; i < n; ++i)
                take(start + static_cast<std::int64_t>(i) * down +
                         static_cast<std::int64_t>(j) * across,
                     j);
    }
    for (std::size_t j = 0; j < d; ++j) {
        const double mean = sum[j] / static_cast<double>(n);
        const double middle = std::isnan(mean) ? mean : std::min(std::max(mean, low[j]), high[j]);
        const double extent = std::max(high[j] - middle, middle - low[j]);
        const double size = extent > 0.0 ? extent : std::abs(middle);
        int exponent = 1;
        std::frexp(std::isfinite(size) && size > 0.0 ? size : 1.0, &exponent);
        units[j] = std::ldexp(1.0, std::clamp(exponent, -largest_exponent, largest_exponent));
        middles[j] = std::isfinite(middle) ? middle : 0.0;
    }
}

template <typename T> void bind(nb::module_ &module) {
    module.def("column_frame", &column_frame<T>, nb::arg("x").noconvert(),
               nb::arg("centre").noconvert(), nb::arg("unit").noconvert(), nb::arg("first"));
}

} // namespace

void bind_column_frame(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
