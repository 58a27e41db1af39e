// Sums over the rows of each class: weighted means and squared deviations, or weighted sums.
//
//   mean[c, j] = Σ_{i in c} w_i x_ij / W_c,   scatter[c, j] = Σ_{i in c} w_i (x_ij − mean[c, j])²
//
// Two passes over a block of rows that is in the cache: the first adds differences from the first
// row of the class, so that equal numbers have an exact mean and large means lose no digits; the
// second squares differences from the mean. Every sum is added in the order of the rows by one
// thread; the caller distributes blocks of rows over threads and merges them in order.

#include <algorithm>
#include <limits>
#include <vector>

#include "core/rows.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t NONE = std::numeric_limits<std::size_t>::max();

void require_codes(Vector<const std::int64_t> code, std::size_t n, std::size_t classes) {
    require(code.shape(0) == n, "code must have one entry per row of x");
    const std::int64_t *c = code.data();
    for (std::size_t i = 0; i < n; ++i)
        require(c[i] >= 0 && static_cast<std::size_t>(c[i]) < classes, "a code is out of range");
}

// visit(i, j, from, width) for pieces of at most `widest` columns of every row, rows in order
// within the same columns. Rows that are not contiguous are copied in bands first: adding one
// column after the other would wait for every sum.
template <typename T, typename Visit>
void each_piece(StridedMatrix<const T> x, std::size_t widest, Visit visit) {
    constexpr std::size_t band = 32;
    const std::size_t n = x.shape(0), d = x.shape(1);
    const std::int64_t row = x.stride(0), column = x.stride(1);
    std::vector<T> held(column == 1 ? 0 : band * std::min(d, widest));
    for (std::size_t j = 0; j < d; j += widest) {
        const std::size_t width = std::min(widest, d - j);
        const T *corner = x.data() + static_cast<std::int64_t>(j) * column;
        for (std::size_t start = 0; start < n; start += band) {
            const std::size_t rows = std::min(band, n - start);
            const T *from = corner + static_cast<std::int64_t>(start) * row;
            for (std::size_t k = 0; k < width && column != 1; ++k)
                for (std::size_t i = 0; i < rows; ++i)
                    held[i * width + k] = from[static_cast<std::int64_t>(i) * row +
                                               static_cast<std::int64_t>(k) * column];
            for (std::size_t i = 0; i < rows; ++i)
                visit(start + i, j,
                      column == 1 ? from + static_cast<std::int64_t>(i) * row
                                  : held.data() + i * width,
                      width);
        }
    }
}

template <typename T>
void class_moments(StridedMatrix<const T> x, Vector<const std::int64_t> code,
                   Vector<const double> weight, Vector<double> total, Matrix<double> mean,
                   Matrix<double> scatter) {
    const std::size_t n = x.shape(0), d = x.shape(1), classes = total.shape(0);
    require(mean.shape(0) == classes && mean.shape(1) == d, "mean must be classes × columns");
    require(scatter.shape(0) == classes && scatter.shape(1) == d,
            "scatter must be classes × columns");
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row of x");
    require_codes(code, n, classes);
    const std::int64_t row = x.stride(0), column = x.stride(1);
    const T *source = x.data();
    const std::int64_t *c = code.data();
    const double *w = weight.data();
    const bool weighted = weight.shape(0) != 0;
    double *W = total.data(), *m = mean.data(), *s = scatter.data();

    nb::gil_scoped_release unlocked;
    std::vector<std::size_t> first(classes, NONE);
    std::fill(W, W + classes, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        const double own = weighted ? w[i] : 1.0;
        if (own == 0)
            continue;
        W[c[i]] += own;
        if (first[c[i]] == NONE)
            first[c[i]] = i;
    }
    const auto entry = [=](std::size_t i, std::size_t j) {
        return static_cast<double>(
            source[static_cast<std::int64_t>(i) * row + static_cast<std::int64_t>(j) * column]);
    };
    std::fill(m, m + classes * d, 0.0);
    std::fill(s, s + classes * d, 0.0);
    std::vector<double> origin(classes * d, 0.0);
    for (std::size_t k = 0; k < classes; ++k)
        if (first[k] != NONE)
            for (std::size_t j = 0; j < d; ++j)
                origin[k * d + j] = entry(first[k], j);

    const auto sweep = [&](auto add) {
        const std::size_t widest = std::clamp<std::size_t>(8192 / classes, 16, 128);
        each_piece<T>(x, widest,
                      [&](std::size_t i, std::size_t j, const T *from, std::size_t width) {
                          const double own = weighted ? w[i] : 1.0;
                          if (own != 0)
                              add(from, static_cast<std::size_t>(c[i]) * d + j, width, own);
                      });
    };
    sweep([&](const T *from, std::size_t at, std::size_t width, double own) {
        double *__restrict to = m + at;
        const double *start = origin.data() + at;
        for (std::size_t j = 0; j < width; ++j)
            to[j] += own * (static_cast<double>(from[j]) - start[j]);
    });
    for (std::size_t k = 0; k < classes; ++k)
        if (W[k] > 0)
            for (std::size_t j = 0; j < d; ++j)
                m[k * d + j] = origin[k * d + j] + m[k * d + j] / W[k];
    sweep([&](const T *from, std::size_t at, std::size_t width, double own) {
        double *__restrict to = s + at;
        const double *middle = m + at;
        for (std::size_t j = 0; j < width; ++j) {
            const double gap = static_cast<double>(from[j]) - middle[j];
            to[j] += own * gap * gap;
        }
    });
}

// What a sum of an entry is: the entry, or 1 where it exceeds a threshold.
struct Reading {
    bool binary;
    double threshold;
    double operator()(double value) const {
        return binary ? (value > threshold ? 1.0 : 0.0) : value;
    }
};

// sums[c, j] += Σ_{i in c} w_i x_ij; returns the smallest entry of x.
template <typename T>
double class_sums(StridedMatrix<const T> x, Vector<const std::int64_t> code,
                  Vector<const double> weight, bool binary, double threshold, Matrix<double> sums) {
    const std::size_t n = x.shape(0), d = x.shape(1);
    require(sums.shape(1) == d, "sums must have one column per column of x");
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row of x");
    require_codes(code, n, sums.shape(0));
    const std::int64_t *c = code.data();
    const double *w = weight.data();
    const bool weighted = weight.shape(0) != 0;
    double *out = sums.data();
    const Reading read{binary, threshold};

    nb::gil_scoped_release unlocked;
    double lowest = std::numeric_limits<double>::infinity();
    each_piece<T>(x, 128, [&](std::size_t i, std::size_t j, const T *from, std::size_t width) {
        double *__restrict to = out + static_cast<std::size_t>(c[i]) * d + j;
        const double own = weighted ? w[i] : 1.0;
        for (std::size_t k = 0; k < width; ++k) {
            const double value = static_cast<double>(from[k]);
            lowest = value < lowest ? value : lowest;
            to[k] += own * read(value);
        }
    });
    return lowest;
}

// The same for compressed sparse rows, of which the stored entries are read.
template <typename T, typename Index>
double class_sums_sparse(Vector<const T> data, Vector<const Index> indices,
                         Vector<const Index> indptr, Vector<const std::int64_t> code,
                         Vector<const double> weight, bool binary, double threshold,
                         Matrix<double> sums) {
    const std::size_t d = sums.shape(1);
    SparseRows<T, Index>(data, indices, indptr, d); // refuses what is not where it says
    const std::size_t n = indptr.shape(0) - 1;
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    require_codes(code, n, sums.shape(0));
    const T *value = data.data();
    const Index *column = indices.data(), *bound = indptr.data();
    const std::int64_t *c = code.data();
    const double *w = weight.data();
    const bool weighted = weight.shape(0) != 0;
    double *out = sums.data();
    const Reading read{binary, threshold};

    nb::gil_scoped_release unlocked;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
        double *to = out + static_cast<std::size_t>(c[i]) * d;
        const double own = weighted ? w[i] : 1.0;
        for (Index k = bound[i]; k < bound[i + 1]; ++k) {
            const double entry = static_cast<double>(value[k]);
            lowest = entry < lowest ? entry : lowest;
            to[column[k]] += own * read(entry);
        }
    }
    return lowest;
}

template <typename T> void bind_dense(nb::module_ &module) {
    module.def("class_moments", &class_moments<T>, nb::arg("x").noconvert(), nb::arg("code"),
               nb::arg("weight"), nb::arg("total").noconvert(), nb::arg("mean").noconvert(),
               nb::arg("scatter").noconvert());
    module.def("class_sums", &class_sums<T>, nb::arg("x").noconvert(), nb::arg("code"),
               nb::arg("weight"), nb::arg("binary"), nb::arg("threshold"),
               nb::arg("sums").noconvert());
}

template <typename T, typename Index> void bind_sparse(nb::module_ &module) {
    module.def("class_sums_sparse", &class_sums_sparse<T, Index>, nb::arg("data").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("code"),
               nb::arg("weight"), nb::arg("binary"), nb::arg("threshold"),
               nb::arg("sums").noconvert());
}

} // namespace

void bind_class_moments(nb::module_ &module) {
    bind_dense<double>(module);
    bind_dense<float>(module);
    bind_sparse<double, std::int32_t>(module);
    bind_sparse<float, std::int32_t>(module);
    bind_sparse<double, std::int64_t>(module);
    bind_sparse<float, std::int64_t>(module);
}

} // namespace thetahat
