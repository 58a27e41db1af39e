// Pack a block of rows for BLAS: out[i, offset + j] = (x[i, j] − c[j]) · scale[j] · root_weight[i].
//
// One pass: the rows are read in the precision and memory order of the caller and written as
// contiguous float64 (or float32), so that a centred, weighted product over the block is a single
// symmetric rank-k update. Each entry is computed separately, so there is no order of sums.

#include <algorithm>

#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T, typename U>
void pack_rows(StridedMatrix<const T> x, Vector<const double> centre, Vector<const double> scale,
               Vector<const double> root_weight, Matrix<U> out, std::size_t offset) {
    const std::size_t n = x.shape(0), d = x.shape(1), width = out.shape(1);
    require(centre.shape(0) == d && scale.shape(0) == d,
            "centre and scale must have one entry per column of x");
    require(root_weight.shape(0) == 0 || root_weight.shape(0) == n,
            "root_weight must be empty or have one entry per row of x");
    require(out.shape(0) == n && offset <= width && d <= width - offset,
            "out must have the rows of x and room for its columns");
    const std::int64_t row = x.stride(0), column = x.stride(1);
    const T *source = x.data();
    const double *c = centre.data(), *s = scale.data(), *w = root_weight.data();
    const bool weighted = root_weight.shape(0) != 0;
    U *target = out.data();

    nb::gil_scoped_release unlocked;
    // Tiles keep both sides in the cache when the columns of the source are contiguous.
    constexpr std::size_t tile = 64;
    for (std::size_t i0 = 0; i0 < n; i0 += tile) {
        const std::size_t i1 = std::min(n, i0 + tile);
        for (std::size_t j0 = 0; j0 < d; j0 += tile) {
            const std::size_t j1 = std::min(d, j0 + tile);
            for (std::size_t i = i0; i < i1; ++i) {
                const T *from = source + static_cast<std::int64_t>(i) * row;
                U *to = target + i * width + offset;
                const double root = weighted ? w[i] : 1.0;
                if (column == 1) {
                    for (std::size_t j = j0; j < j1; ++j)
                        to[j] = static_cast<U>((static_cast<double>(from[j]) - c[j]) * s[j] * root);
                } else {
                    for (std::size_t j = j0; j < j1; ++j) {
                        const double entry =
                            static_cast<double>(from[static_cast<std::int64_t>(j) * column]);
                        to[j] = static_cast<U>((entry - c[j]) * s[j] * root);
                    }
                }
            }
        }
    }
}

template <typename T, typename U> void bind(nb::module_ &module) {
    module.def("pack_rows", &pack_rows<T, U>, nb::arg("x").noconvert(), nb::arg("centre"),
               nb::arg("scale"), nb::arg("root_weight"), nb::arg("out").noconvert(),
               nb::arg("offset"));
}

} // namespace

void bind_pack_rows(nb::module_ &module) {
    bind<double, double>(module);
    bind<float, double>(module);
    bind<double, float>(module);
    bind<float, float>(module);
}

} // namespace thetahat
