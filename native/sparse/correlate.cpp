// The inner product of each column with a residual, and the squared size of the column:
//
//     slopes_j = Σ_i x_ij r_i,      squares_j = Σ_i w_i (x_ij − mean_j)²
//
// Dense arrays are read in place in any memory order: column by column if columns are contiguous,
// else row by row. Every sum belongs to one column and runs over the rows in a fixed order, so the
// caller may distribute blocks of columns over threads without changing a bit.

#include "core/dots.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T>
void correlate(StridedMatrix<const T> x, Vector<const double> r, Vector<double> out,
               std::size_t first) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(r.shape(0) == n, "r must have one entry per row");
    require(first + d <= out.shape(0), "out has no room for these columns");
    const std::int64_t down = x.stride(0), across = x.stride(1);
    const T *start = x.data();
    const double *residual = r.data();
    double *sums = out.data() + first;
    nb::gil_scoped_release unlocked;
    if (down == 1) {
        for (std::size_t j = 0; j < d; ++j)
            sums[j] = dot(start + static_cast<std::int64_t>(j) * across, residual, n);
        return;
    }
    for (std::size_t j = 0; j < d; ++j)
        sums[j] = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const T *row = start + static_cast<std::int64_t>(i) * down;
        const double scale = residual[i];
        if (across == 1)
            for (std::size_t j = 0; j < d; ++j)
                sums[j] += scale * static_cast<double>(row[j]);
        else
            for (std::size_t j = 0; j < d; ++j)
                sums[j] += scale * static_cast<double>(row[static_cast<std::int64_t>(j) * across]);
    }
}

template <typename T>
void column_squares(StridedMatrix<const T> x, Vector<const double> mean,
                    Vector<const double> weight, Vector<double> out, std::size_t first) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(mean.shape(0) == d, "mean must have one entry per column");
    require(weight.shape(0) == n, "weight must have one entry per row");
    require(first + d <= out.shape(0), "out has no room for these columns");
    const std::int64_t down = x.stride(0), across = x.stride(1);
    const T *start = x.data();
    const double *centre = mean.data(), *w = weight.data();
    double *sums = out.data() + first;
    nb::gil_scoped_release unlocked;
    if (down == 1) {
        for (std::size_t j = 0; j < d; ++j)
            sums[j] = squares_about(start + static_cast<std::int64_t>(j) * across, centre[j], w, n);
        return;
    }
    for (std::size_t j = 0; j < d; ++j)
        sums[j] = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const T *row = start + static_cast<std::int64_t>(i) * down;
        for (std::size_t j = 0; j < d; ++j) {
            const double gap =
                static_cast<double>(row[static_cast<std::int64_t>(j) * across]) - centre[j];
            sums[j] += w[i] * (gap * gap);
        }
    }
}

// out[first + j] = Σ x_ij r_i over the stored entries of compressed columns.
template <typename T, typename Index>
void correlate_sparse(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
                      Vector<const double> r, Vector<double> out, std::size_t first) {
    require(indptr.shape(0) >= 1, "indptr must have one entry more than there are columns");
    const std::size_t d = indptr.shape(0) - 1, n = r.shape(0);
    require(first + d <= out.shape(0), "out has no room for these columns");
    require(indices.shape(0) == data.shape(0), "indices and data must have the same length");
    const Index *row = indices.data(), *bound = indptr.data();
    require(bound[0] >= 0 && static_cast<std::size_t>(bound[d]) <= data.shape(0),
            "indptr points past the stored entries");
    const T *value = data.data();
    const double *residual = r.data();
    double *sums = out.data() + first;
    bool inside = true;
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t j = 0; j < d && inside; ++j) {
            inside = bound[j] <= bound[j + 1];
            double sum = 0.0;
            for (Index k = bound[j]; k < bound[j + 1] && inside; ++k) {
                inside = row[k] >= 0 && static_cast<std::size_t>(row[k]) < n;
                if (inside)
                    sum += static_cast<double>(value[k]) * residual[row[k]];
            }
            sums[j] = sum;
        }
    }
    require(inside, "indptr must not decrease, and row indices must be those of rows");
}

template <typename T> void bind(nb::module_ &module) {
    module.def("correlate", &correlate<T>, nb::arg("x").noconvert(), nb::arg("r"),
               nb::arg("out").noconvert(), nb::arg("first"));
    module.def("column_squares", &column_squares<T>, nb::arg("x").noconvert(), nb::arg("mean"),
               nb::arg("weight"), nb::arg("out").noconvert(), nb::arg("first"));
}

template <typename T, typename Index> void bind_sparse(nb::module_ &module) {
    module.def("correlate_sparse", &correlate_sparse<T, Index>, nb::arg("data").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("r"),
               nb::arg("out").noconvert(), nb::arg("first"));
}

} // namespace

void bind_correlate(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
    bind_sparse<double, std::int32_t>(module);
    bind_sparse<float, std::int32_t>(module);
    bind_sparse<double, std::int64_t>(module);
    bind_sparse<float, std::int64_t>(module);
}

} // namespace thetahat
