// A combination of some rows of a matrix, read in place, by one thread.

#include <algorithm>
#include <vector>

#include "core/row_combination.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

void combine_rows(StridedMatrix<const double> matrix, Vector<const std::int64_t> rows,
                  Vector<const double> weights, Vector<double> out) {
    const std::size_t width = out.shape(0), count = rows.shape(0);
    require(matrix.stride(1) == 1 || matrix.shape(1) <= 1 || count == 0, "rows must be contiguous");
    require(matrix.shape(1) >= width, "out is longer than a row");
    require(weights.shape(0) == count, "weights must have one entry per row");
    for (std::size_t k = 0; k < count; ++k)
        require(rows.data()[k] >= 0 && static_cast<std::size_t>(rows.data()[k]) < matrix.shape(0),
                "a row is out of range");
    const double *first = matrix.data();
    const std::int64_t stride = matrix.stride(0), *which = rows.data();
    nb::gil_scoped_release unlocked;
    std::vector<double> sums(width); // out may be one of the rows
    combine(
        count, [=](std::size_t k) { return first + which[k] * stride; }, weights.data(),
        sums.data(), width);
    std::copy(sums.begin(), sums.end(), out.data());
}

} // namespace

void bind_combine_rows(nb::module_ &module) {
    module.def("combine_rows", &combine_rows, nb::arg("matrix").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("weights"), nb::arg("out").noconvert());
}

} // namespace thetahat
