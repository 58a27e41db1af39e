// Log-densities of Gaussians with diagonal covariances:
// out[i, c] = constant[c] − Σ_j factor[c, j]·(x_ij − mean[c, j])², with factor = 1/(2σ²).
//
// The differences are squared directly, so that large means lose no digits. Tiles of rows are
// copied to contiguous float64, so that every class is read once per tile. Every entry of the
// output is one sum over the columns, in a fixed order of partial sums.

#include <algorithm>
#include <vector>

#include "core/views.hpp"
#include "generative/diagonal_distance.hpp"

namespace thetahat {

namespace {

constexpr std::size_t TILE = 16;

template <typename T>
void diagonal_gaussians(StridedMatrix<const T> x, Matrix<const double> mean,
                        Matrix<const double> factor, Vector<const double> constant,
                        Matrix<double> out) {
    const std::size_t n = x.shape(0), d = x.shape(1), classes = mean.shape(0);
    require(mean.shape(1) == d, "mean must have one column per column of x");
    require(factor.shape(0) == classes && factor.shape(1) == d,
            "factor must have the shape of mean");
    require(constant.shape(0) == classes, "constant must have one entry per class");
    require(out.shape(0) == n && out.shape(1) == classes, "out must be rows × classes");
    const std::int64_t row = x.stride(0), column = x.stride(1);
    const T *source = x.data();
    const double *m = mean.data(), *f = factor.data(), *start = constant.data();
    double *to = out.data();

    nb::gil_scoped_release unlocked;
    std::vector<double> tile(std::min(n, TILE) * d);
    for (std::size_t i0 = 0; i0 < n; i0 += TILE) {
        const std::size_t rows = std::min(TILE, n - i0);
        for (std::size_t i = 0; i < rows; ++i) {
            const T *from = source + static_cast<std::int64_t>(i0 + i) * row;
            for (std::size_t j = 0; j < d; ++j)
                tile[i * d + j] = static_cast<double>(from[static_cast<std::int64_t>(j) * column]);
        }
        for (std::size_t k = 0; k < classes; ++k)
            for (std::size_t i = 0; i < rows; ++i)
                to[(i0 + i) * classes + k] =
                    start[k] - diagonal_distance(tile.data() + i * d, m + k * d, f + k * d, d);
    }
}

template <typename T> void bind(nb::module_ &module) {
    module.def("diagonal_gaussians", &diagonal_gaussians<T>, nb::arg("x").noconvert(),
               nb::arg("mean"), nb::arg("factor"), nb::arg("constant"), nb::arg("out").noconvert());
}

} // namespace

void bind_diagonal_gaussians(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
