// Rows about a centre of their class: packed for BLAS, or summed and squared class by class.
//
// With v[i, j] = (x[r, j] − centre[c, j])·scale[j]·root[i] for row r = rows[i] of class c =
// codes[i] (root = √w, or 1 without weights), `pack_class_rows` writes v to out and adds
// root[i]·v[i, ·] to sums[c]; `class_squares` adds v² to squares[c] too and writes nothing else.
// One pass, on one thread: every entry of the sums adds its rows in their order, so that the bits
// do not depend on the number of threads, which work on different blocks.

#include <algorithm>

#include "core/views.hpp"

namespace thetahat {

namespace {

using Index = std::int64_t;

template <typename T> struct Rows {
    const T *x;
    std::int64_t row, column;
    const Index *rows, *codes;
    const double *centres, *scale, *root;
    std::size_t n, d;

    // Tiles keep both sides in the cache when the columns of the source are contiguous.
    template <typename Use> void each(Use use) const {
        constexpr std::size_t tile = 64;
        for (std::size_t i0 = 0; i0 < n; i0 += tile) {
            const std::size_t i1 = std::min(n, i0 + tile);
            for (std::size_t j0 = 0; j0 < d; j0 += tile) {
                const std::size_t j1 = std::min(d, j0 + tile);
                for (std::size_t i = i0; i < i1; ++i) {
                    const T *from = x + rows[i] * row;
                    const std::size_t start = static_cast<std::size_t>(codes[i]) * d;
                    const double *c = centres + start;
                    const double w = root ? root[i] : 1.0;
                    if (column == 1)
                        for (std::size_t j = j0; j < j1; ++j)
                            use(i, start, j, (static_cast<double>(from[j]) - c[j]) * scale[j] * w,
                                w);
                    else
                        for (std::size_t j = j0; j < j1; ++j) {
                            const double entry =
                                static_cast<double>(from[static_cast<Index>(j) * column]);
                            use(i, start, j, (entry - c[j]) * scale[j] * w, w);
                        }
                }
            }
        }
    }
};

template <typename T>
Rows<T> checked(StridedMatrix<const T> x, Vector<const Index> rows, Vector<const Index> codes,
                Matrix<const double> centres, Vector<const double> scale, Vector<const double> root,
                Matrix<double> sums) {
    const std::size_t n = rows.shape(0), d = x.shape(1), classes = centres.shape(0);
    require(codes.shape(0) == n, "codes must have one entry per row");
    require(centres.shape(1) == d && scale.shape(0) == d,
            "centres and scale must have one entry per column of x");
    require(root.shape(0) == 0 || root.shape(0) == n,
            "root must be empty or have one entry per row");
    require(sums.shape(0) == classes && sums.shape(1) == d, "sums must have the shape of centres");
    for (std::size_t i = 0; i < n; ++i) {
        const Index r = rows.data()[i], c = codes.data()[i];
        require(r >= 0 && static_cast<std::size_t>(r) < x.shape(0), "rows must be rows of x");
        require(c >= 0 && static_cast<std::size_t>(c) < classes, "codes must be rows of centres");
    }
    return {x.data(),
            x.stride(0),
            x.stride(1),
            rows.data(),
            codes.data(),
            centres.data(),
            scale.data(),
            root.shape(0) ? root.data() : nullptr,
            n,
            d};
}

template <typename T>
void pack_class_rows(StridedMatrix<const T> x, Vector<const Index> rows, Vector<const Index> codes,
                     Matrix<const double> centres, Vector<const double> scale,
                     Vector<const double> root, Matrix<double> out, Matrix<double> sums) {
    const Rows<T> given = checked(x, rows, codes, centres, scale, root, sums);
    require(out.shape(0) == given.n && out.shape(1) == given.d,
            "out must have the rows and the columns");
    double *target = out.data(), *sum = sums.data();
    const std::size_t d = given.d;
    nb::gil_scoped_release unlocked;
    given.each([=](std::size_t i, std::size_t start, std::size_t j, double v, double w) {
        target[i * d + j] = v;
        sum[start + j] += v * w;
    });
}

template <typename T>
void class_squares(StridedMatrix<const T> x, Vector<const Index> rows, Vector<const Index> codes,
                   Matrix<const double> centres, Vector<const double> scale,
                   Vector<const double> root, Matrix<double> sums, Matrix<double> squares) {
    const Rows<T> given = checked(x, rows, codes, centres, scale, root, sums);
    require(squares.shape(0) == sums.shape(0) && squares.shape(1) == given.d,
            "squares must have the shape of centres");
    double *sum = sums.data(), *square = squares.data();
    nb::gil_scoped_release unlocked;
    given.each([=](std::size_t, std::size_t start, std::size_t j, double v, double w) {
        sum[start + j] += v * w;
        square[start + j] += v * v;
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("pack_class_rows", &pack_class_rows<T>, nb::arg("x").noconvert(), nb::arg("rows"),
               nb::arg("codes"), nb::arg("centres"), nb::arg("scale"), nb::arg("root"),
               nb::arg("out").noconvert(), nb::arg("sums").noconvert());
    module.def("class_squares", &class_squares<T>, nb::arg("x").noconvert(), nb::arg("rows"),
               nb::arg("codes"), nb::arg("centres"), nb::arg("scale"), nb::arg("root"),
               nb::arg("sums").noconvert(), nb::arg("squares").noconvert());
}

} // namespace

void bind_class_rows(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
