// A combination of some rows of a matrix, read in place: out_i = Σ_k weights_k m(rows_k, i).
//
// Rows are taken eight at a time, each group in one sweep over out, so that out is read and written
// an eighth as often as the rows. Entry i sums its rows in the order given, by one thread.

#include <vector>

#include "kernels.hpp"

namespace thetahat {

namespace {

constexpr std::size_t TOGETHER = 8;

void combine_rows(StridedMatrix<const double> matrix, Vector<const std::int64_t> rows,
                  Vector<const double> weights, Vector<double> out) {
    const std::size_t width = out.shape(0), count = rows.shape(0);
    require(matrix.stride(1) == 1 || matrix.shape(1) <= 1 || count == 0, "rows must be contiguous");
    require(matrix.shape(1) >= width, "out is longer than a row");
    require(weights.shape(0) == count, "weights must have one entry per row");
    for (std::size_t k = 0; k < count; ++k)
        require(rows.data()[k] >= 0 && static_cast<std::size_t>(rows.data()[k]) < matrix.shape(0),
                "a row is out of range");
    const double *weight = weights.data();
    const auto row = [&](std::size_t k) {
        return matrix.data() + rows.data()[k] * matrix.stride(0);
    };
    nb::gil_scoped_release unlocked;
    std::vector<double> kept(width, 0.0);
    double *__restrict sums = kept.data();
    std::size_t k = 0;
    for (; k + TOGETHER <= count; k += TOGETHER) {
        const double *a = row(k), *b = row(k + 1), *c = row(k + 2), *d = row(k + 3);
        const double *e = row(k + 4), *f = row(k + 5), *g = row(k + 6), *h = row(k + 7);
        const double *w = weight + k;
        for (std::size_t i = 0; i < width; ++i)
            sums[i] = sums[i] + w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i] +
                      w[4] * e[i] + w[5] * f[i] + w[6] * g[i] + w[7] * h[i];
    }
    for (; k < count; ++k) {
        const double *a = row(k);
        for (std::size_t i = 0; i < width; ++i)
            sums[i] += weight[k] * a[i];
    }
    std::copy(kept.begin(), kept.end(), out.data());
}

} // namespace

void bind_combine_rows(nb::module_ &module) {
    module.def("combine_rows", &combine_rows, nb::arg("matrix").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("weights"), nb::arg("out").noconvert());
}

} // namespace thetahat
