// Inner products of sparse rows, as a dense matrix.
//
// For every row the sums are collected over the columns it has entries in, from the other rows by
// columns, so that only common entries are visited and no sparse product is built. The entries of a
// row are added in their order.

#include "core/views.hpp"

namespace thetahat {

namespace kernels {

namespace {

// Compressed rows, or columns, whose places are below a limit.
template <typename T, typename Index> struct Compressed {
    const T *values;
    const Index *places, *start;
    std::size_t size;

    Compressed(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
               std::size_t limit)
        : values(data.data()), places(indices.data()), start(indptr.data()),
          size(indptr.shape(0) - 1) {
        require(indptr.shape(0) >= 1 && start[0] >= 0, "indptr must begin at the first entry");
        bool inside = true;
        for (std::size_t i = 0; i < size; ++i)
            inside &= start[i] <= start[i + 1];
        require(inside, "indptr must not decrease");
        const std::size_t end = static_cast<std::size_t>(start[size]);
        require(end <= data.shape(0) && end <= indices.shape(0),
                "indptr points past the stored entries");
        for (std::size_t k = static_cast<std::size_t>(start[0]); k < end; ++k)
            inside &= places[k] >= 0 && static_cast<std::size_t>(places[k]) < limit;
        require(inside, "indices must be those of rows and columns");
    }
};

// out_ij = Σ_c x_ic z_jc; the second factor is given by columns. out is 0 before.
template <typename T, typename Index>
void products_of_sparse_rows(Vector<const T> data, Vector<const Index> columns,
                             Vector<const Index> start, Vector<const T> other_data,
                             Vector<const Index> other_rows, Vector<const Index> other_start,
                             Matrix<T> out) {
    const std::size_t n = out.shape(0), m = out.shape(1);
    require(start.shape(0) == n + 1 && other_start.shape(0) >= 1,
            "out must have one row for each row, and indptr one entry more");
    const Compressed<T, Index> rows(data, columns, start, other_start.shape(0) - 1);
    const Compressed<T, Index> others(other_data, other_rows, other_start, m);
    T *sums = out.data();
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i, sums += m)
        for (Index k = rows.start[i]; k < rows.start[i + 1]; ++k) {
            const T x = rows.values[k];
            const std::size_t column = static_cast<std::size_t>(rows.places[k]);
            for (Index t = others.start[column]; t < others.start[column + 1]; ++t)
                sums[others.places[t]] += x * others.values[t];
        }
}

template <typename T, typename Index> void bind(nb::module_ &module) {
    module.def("products_of_sparse_rows", &products_of_sparse_rows<T, Index>,
               nb::arg("data").noconvert(), nb::arg("columns").noconvert(),
               nb::arg("start").noconvert(), nb::arg("other_data").noconvert(),
               nb::arg("other_rows").noconvert(), nb::arg("other_start").noconvert(),
               nb::arg("out").noconvert());
}

} // namespace

} // namespace kernels

void bind_products_of_sparse_rows(nb::module_ &module) {
    kernels::bind<double, std::int32_t>(module);
    kernels::bind<float, std::int32_t>(module);
    kernels::bind<double, std::int64_t>(module);
    kernels::bind<float, std::int64_t>(module);
}

} // namespace thetahat
