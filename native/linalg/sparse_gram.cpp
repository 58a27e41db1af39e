// Weighted Gram matrix of compressed sparse rows: gram += Σ_i w_i x_i x_iᵀ, both triangles.
//
// Rows are added in order by one thread, so the order of sums is fixed; the caller distributes
// blocks of rows over threads. Cost: Σ_i nnz_i² / 2 multiply-adds.

#include "core/rows.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T, typename Index>
void sparse_gram(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
                 Vector<const double> weight, Matrix<double> gram) {
    const std::size_t d = gram.shape(0);
    require(gram.shape(1) == d, "gram must be square");
    SparseRows<T, Index>(data, indices, indptr, d); // refuses what is not where it says
    const std::size_t n = indptr.shape(0) - 1;
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    const T *value = data.data();
    const Index *column = indices.data(), *bound = indptr.data();
    const double *w = weight.data();
    const bool weighted = weight.shape(0) != 0;
    double *g = gram.data();

    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i) {
        const double scale = weighted ? w[i] : 1.0;
        for (Index a = bound[i]; a < bound[i + 1]; ++a) {
            const double left = scale * static_cast<double>(value[a]);
            double *row = g + static_cast<std::size_t>(column[a]) * d;
            for (Index b = bound[i]; b < bound[i + 1]; ++b)
                row[column[b]] += left * static_cast<double>(value[b]);
        }
    }
}

template <typename T, typename Index> void bind(nb::module_ &module) {
    module.def("sparse_gram", &sparse_gram<T, Index>, nb::arg("data").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("weight"),
               nb::arg("gram").noconvert());
}

} // namespace

void bind_sparse_gram(nb::module_ &module) {
    bind<double, std::int32_t>(module);
    bind<float, std::int32_t>(module);
    bind<double, std::int64_t>(module);
    bind<float, std::int64_t>(module);
}

} // namespace thetahat
