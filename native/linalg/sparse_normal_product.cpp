// Products of compressed sparse rows with a factor Q of few columns, in registers, row by row:
//
//     sparse_products         XQ
//     sparse_normal_product   XᵀW(XQ − 1sᵀ): z = Qᵀx − s, then back += w·x·zᵀ
//
// Both products of a row follow each other, so that X is read once and needs no transpose. Rows are
// added in order by one thread; the caller distributes blocks of rows over threads.

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/rows.hpp"
#include "core/skinny.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t MOST_PARTS = 8, LANES = skinny::Lanes<double>::count;
using Lane = skinny::Lanes<double>::type;

// Vectors and sums that do not fit into the cache are fetched ahead: the sums while a row of X is
// multiplied with the vectors, and the vectors of the next row while its sums are added.
constexpr std::size_t CACHED = 1 << 16;

template <int WRITES> inline void prefetch(const double *row, std::size_t k) {
    for (std::size_t s = 0; s < k; s += 8)
        __builtin_prefetch(row + s, WRITES, 3);
}

// The stored entries of one row.
template <typename T, typename Index> struct Entries {
    const T *value;
    const Index *column;
    std::size_t count, k;
};

// z[s] += Σ x_j Q[j, s] for PARTS registers of columns.
struct AddImage {
    const double *q;

    template <std::size_t PARTS, typename T, typename Index>
    void run(const Entries<T, Index> &row, std::size_t s, double *z) const {
        Lane sums[PARTS] = {};
        for (std::size_t e = 0; e < row.count; ++e) {
            const double x = static_cast<double>(row.value[e]);
            const double *from = q + static_cast<std::size_t>(row.column[e]) * row.k + s;
#pragma GCC unroll 8
            for (std::size_t p = 0; p < PARTS; ++p)
                sums[p] += x * skinny::load<double>(from + p * LANES);
        }
        for (std::size_t p = 0; p < PARTS; ++p)
            for (std::size_t l = 0; l < LANES; ++l)
                z[s + p * LANES + l] += sums[p][l];
    }
    template <typename T, typename Index>
    void one(const Entries<T, Index> &row, std::size_t s, double *z) const {
        for (std::size_t e = 0; e < row.count; ++e)
            z[s] += static_cast<double>(row.value[e]) *
                    q[static_cast<std::size_t>(row.column[e]) * row.k + s];
    }
};

// back[j, s] += x_j z[s] for PARTS registers of columns.
struct AddBack {
    double *back;

    template <std::size_t PARTS, typename T, typename Index>
    void run(const Entries<T, Index> &row, std::size_t s, double *z) const {
        Lane image[PARTS];
        for (std::size_t p = 0; p < PARTS; ++p)
            image[p] = skinny::load<double>(z + s + p * LANES);
        for (std::size_t e = 0; e < row.count; ++e) {
            const double x = static_cast<double>(row.value[e]);
            double *to = back + static_cast<std::size_t>(row.column[e]) * row.k + s;
#pragma GCC unroll 8
            for (std::size_t p = 0; p < PARTS; ++p) {
                const Lane sum = skinny::load<double>(to + p * LANES) + x * image[p];
                std::memcpy(to + p * LANES, &sum, sizeof(sum));
            }
        }
    }
    template <typename T, typename Index>
    void one(const Entries<T, Index> &row, std::size_t s, double *z) const {
        for (std::size_t e = 0; e < row.count; ++e)
            back[static_cast<std::size_t>(row.column[e]) * row.k + s] +=
                static_cast<double>(row.value[e]) * z[s];
    }
};

// All k columns: as many registers at once as there are, then single columns.
template <std::size_t PARTS = MOST_PARTS, typename Step, typename T, typename Index>
void all_columns(const Step &step, const Entries<T, Index> &row, double *z, std::size_t s = 0) {
    for (; s + PARTS * LANES <= row.k; s += PARTS * LANES)
        step.template run<PARTS>(row, s, z);
    if constexpr (PARTS > 1)
        all_columns<PARTS - 1>(step, row, z, s);
    else
        for (; s < row.k; ++s)
            step.one(row, s, z);
}

template <typename T, typename Index>
void sparse_products(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
                     Matrix<const double> vectors, Matrix<double> out) {
    const std::size_t d = vectors.shape(0), k = vectors.shape(1);
    SparseRows<T, Index>(data, indices, indptr, d); // refuses what is not where it says
    const std::size_t n = indptr.shape(0) - 1;
    require(out.shape(0) == n && out.shape(1) == k, "out needs one row per row and k columns");
    const Index *bound = indptr.data();

    nb::gil_scoped_release unlocked;
    std::fill_n(out.data(), n * k, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        const Entries<T, Index> row{data.data() + bound[i], indices.data() + bound[i],
                                    static_cast<std::size_t>(bound[i + 1] - bound[i]), k};
        all_columns(AddImage{vectors.data()}, row, out.data() + i * k);
    }
}

// `total` becomes Σ w·z.
template <typename T, typename Index>
void sparse_normal_product(Vector<const T> data, Vector<const Index> indices,
                           Vector<const Index> indptr, Vector<const double> weight,
                           Matrix<const double> vectors, Vector<const double> shift,
                           Matrix<double> back, Vector<double> total) {
    const std::size_t d = vectors.shape(0), k = vectors.shape(1);
    SparseRows<T, Index>(data, indices, indptr, d); // refuses what is not where it says
    const std::size_t n = indptr.shape(0) - 1;
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    require(shift.shape(0) == k && total.shape(0) == k, "shift and total need k entries");
    require(back.shape(0) == d && back.shape(1) == k, "back must have the shape of the vectors");
    const T *value = data.data();
    const Index *column = indices.data(), *bound = indptr.data();

    nb::gil_scoped_release unlocked;
    std::vector<double> z(k);
    std::fill_n(back.data(), d * k, 0.0);
    std::fill_n(total.data(), k, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        const Entries<T, Index> row{value + bound[i], column + bound[i],
                                    static_cast<std::size_t>(bound[i + 1] - bound[i]), k};
        if (d * k > CACHED)
            for (Index e = bound[i]; e < bound[i + 1]; ++e)
                prefetch<1>(back.data() + static_cast<std::size_t>(column[e]) * k, k);
        std::transform(shift.data(), shift.data() + k, z.data(), [](double s) { return -s; });
        all_columns(AddImage{vectors.data()}, row, z.data());
        const double w = weight.shape(0) ? weight.data()[i] : 1.0;
        double *sum = total.data();
        for (std::size_t s = 0; s < k; ++s) {
            z[s] *= w;
            sum[s] += z[s];
        }
        if (d * k > CACHED && i + 1 < n)
            for (Index e = bound[i + 1]; e < bound[i + 2]; ++e)
                prefetch<0>(vectors.data() + static_cast<std::size_t>(column[e]) * k, k);
        all_columns(AddBack{back.data()}, row, z.data());
    }
}

template <typename T, typename Index> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("sparse_products", &sparse_products<T, Index>, array("data"), array("indices"),
               array("indptr"), array("vectors"), array("out"));
    module.def("sparse_normal_product", &sparse_normal_product<T, Index>, array("data"),
               array("indices"), array("indptr"), nb::arg("weight"), array("vectors"),
               array("shift"), array("back"), array("total"));
}

} // namespace

void bind_sparse_normal_product(nb::module_ &module) {
    bind<double, std::int32_t>(module);
    bind<float, std::int32_t>(module);
    bind<double, std::int64_t>(module);
    bind<float, std::int64_t>(module);
}

} // namespace thetahat
