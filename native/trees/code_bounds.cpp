// The least and the greatest value that has a code, of every column.
//
// A code that no row has takes the greatest value below it, so that bounds ascend with the codes.
// Columns are spread over threads; each writes its own bounds.

#include <cmath>
#include <limits>

#include "../kernels.hpp"
#include "../parallel.hpp"

namespace thetahat {

namespace {

template <typename T>
void code_bounds(StridedMatrix<const T> x, Matrix<const std::uint8_t> codes,
                 Vector<const double> weight, Vector<const std::int64_t> first,
                 Vector<double> lowest, Vector<double> highest, int threads) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(codes.shape(0) == d && codes.shape(1) == n, "codes must match the rows and columns");
    require(weight.shape(0) == 0 || weight.shape(0) == n, "weight must be empty or match the rows");
    require(first.shape(0) == d + 1 && lowest.shape(0) == highest.shape(0),
            "bounds must have a place for every code");
    for (std::size_t j = 0; j < d; ++j)
        require(0 <= first.data()[j] && first.data()[j] <= first.data()[j + 1] &&
                    static_cast<std::size_t>(first.data()[j + 1]) <= lowest.shape(0),
                "bounds must have a place for every code");
    const T *data = x.data();
    const std::int64_t down = x.stride(0), across = x.stride(1);
    const double *w = weight.shape(0) ? weight.data() : nullptr;

    nb::gil_scoped_release unlocked;
    for_each_piece(d, threads, [&](std::size_t j) {
        const auto n_codes = static_cast<std::size_t>(first.data()[j + 1] - first.data()[j]);
        double *low = lowest.data() + first.data()[j], *high = highest.data() + first.data()[j];
        constexpr double infinity = std::numeric_limits<double>::infinity();
        std::fill(low, low + n_codes, infinity);
        std::fill(high, high + n_codes, -infinity);
        const std::uint8_t *column = codes.data() + j * n;
        const T *value = data + static_cast<std::int64_t>(j) * across;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t code = column[i];
            if (code >= n_codes || (w && w[i] == 0.0))
                continue; // missing, or not there
            const double at = static_cast<double>(value[static_cast<std::int64_t>(i) * down]);
            low[code] = std::min(low[code], at);
            high[code] = std::max(high[code], at);
        }
        double below = -infinity;
        for (std::size_t code = 0; code < n_codes; ++code) {
            if (low[code] > high[code])
                low[code] = high[code] = below;
            below = high[code];
        }
    });
}

} // namespace

void bind_code_bounds(nb::module_ &module) {
    const auto bind = [&](auto number) {
        using T = decltype(number);
        module.def("code_bounds", &code_bounds<T>, nb::arg("x").noconvert(), nb::arg("codes"),
                   nb::arg("weight"), nb::arg("first"), nb::arg("lowest").noconvert(),
                   nb::arg("highest").noconvert(), nb::arg("threads"));
    };
    bind(float{});
    bind(double{});
}

} // namespace thetahat
