// Systems with a lower triangular L, solved in place; L is read row by row.
//
//     substitute_rows:  row ← L⁻¹ row for each of some rows, from entry `first` on (those before it
//                       are done):    y_i = (b_i − Σ_{j<i} L_ij y_j) / L_ii
//     substitute_back:  x ← L⁻ᵀ x:    x_i = x_i / L_ii, then x_j −= L_ij x_i for j < i
//
// O(k²) for each. Tiles of rows of L and of right-hand sides keep their sums in registers. An entry
// is summed in the same order in every tile, so threads may share the rows without changing a bit.
// Fused multiply-adds are used where the machine has them.
//
// independent_columns determines which columns of A are linearly independent, before an L exists:
// `order` begins with them, largest pivot first, until no pivot is above its `least`. A is
// overwritten. O(k³), for a few columns.

#include <utility>

#include "core/simd4.hpp"
#include "kernels.hpp"

namespace thetahat {

namespace {

constexpr std::size_t TALL = 4, WIDE = 4; // rows of L and right-hand sides of a tile
constexpr std::size_t TOGETHER = 8;       // right-hand sides for which rows of L are read once

struct Triangle {
    const double *first;
    std::int64_t stride;
    const double *row(std::size_t i) const { return first + static_cast<std::int64_t>(i) * stride; }
};

// y_i … y_{i+tall−1} of `wide` right-hand sides.
template <std::size_t tall, std::size_t wide>
void solve_tile(Triangle L, std::size_t i, double *const *y) {
    Double4 sums[tall][wide] = {};
    const double *l[tall];
    for (std::size_t a = 0; a < tall; ++a)
        l[a] = L.row(i + a);
    std::size_t j = 0;
    for (; j + 4 <= i; j += 4) {
        Double4 right[wide];
        for (std::size_t b = 0; b < wide; ++b)
            right[b] = load4(y[b] + j);
        for (std::size_t a = 0; a < tall; ++a) {
            const Double4 left = load4(l[a] + j);
            for (std::size_t b = 0; b < wide; ++b)
                sums[a][b] += left * right[b];
        }
    }
    for (std::size_t a = 0; a < tall; ++a)
        for (std::size_t b = 0; b < wide; ++b) {
            double rest = y[b][i + a] - sum_of(sums[a][b]);
            for (std::size_t c = j; c < i + a; ++c)
                rest -= l[a][c] * y[b][c];
            y[b][i + a] = rest / l[a][i + a];
        }
}

template <std::size_t tall>
void solve_entries(Triangle L, std::size_t i, double *const *y, std::size_t count) {
    for (; count >= WIDE; count -= WIDE, y += WIDE)
        solve_tile<tall, WIDE>(L, i, y);
    if (count == 3)
        solve_tile<tall, 3>(L, i, y);
    else if (count == 2)
        solve_tile<tall, 2>(L, i, y);
    else if (count == 1)
        solve_tile<tall, 1>(L, i, y);
}

void substitute_rows(StridedMatrix<const double> factor, StridedMatrix<double> rows,
                     std::size_t first) {
    const std::size_t k = rows.shape(1), count = rows.shape(0);
    require(factor.shape(0) >= k && factor.shape(1) >= k, "factor must have a side for each entry");
    require(k <= 1 || factor.stride(1) == 1, "rows of factor must be contiguous");
    require(k <= 1 || count == 0 || rows.stride(1) == 1, "rows must be contiguous");
    const Triangle L{factor.data(), factor.stride(0)};
    double *start = rows.data();
    const std::int64_t stride = rows.stride(0);
    nb::gil_scoped_release unlocked;
    for (std::size_t at = 0; at < count; at += TOGETHER) {
        double *y[TOGETHER];
        const std::size_t some = std::min(TOGETHER, count - at);
        for (std::size_t b = 0; b < some; ++b)
            y[b] = start + static_cast<std::int64_t>(at + b) * stride;
        std::size_t i = first;
        for (; i % TALL && i < k; ++i)
            solve_entries<1>(L, i, y, some);
        for (; i + TALL <= k; i += TALL)
            solve_entries<TALL>(L, i, y, some);
        for (; i < k; ++i)
            solve_entries<1>(L, i, y, some);
    }
}

void substitute_back(StridedMatrix<const double> factor, Vector<double> x) {
    const std::size_t k = x.shape(0);
    require(factor.shape(0) >= k && factor.shape(1) >= k, "factor must have a side for each entry");
    require(k <= 1 || factor.stride(1) == 1, "rows of factor must be contiguous");
    const Triangle L{factor.data(), factor.stride(0)};
    double *v = x.data();
    nb::gil_scoped_release unlocked;
    for (std::size_t i = k; i-- > 0;) {
        const double *row = L.row(i);
        const double here = v[i] /= row[i];
        for (std::size_t j = 0; j < i; ++j)
            v[j] -= row[j] * here;
    }
}

std::size_t independent_columns(Matrix<double> a, Vector<const double> least,
                                Vector<std::int64_t> order) {
    const std::size_t k = a.shape(0);
    require(a.shape(1) == k && least.shape(0) == k && order.shape(0) == k,
            "a must be square, least and order as long as its side");
    double *first = a.data();
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < k; ++i)
        order.data()[i] = static_cast<std::int64_t>(i);
    for (std::size_t rank = 0; rank < k; ++rank) {
        std::size_t best = k;
        double largest = 0.0;
        for (std::size_t i = rank; i < k; ++i) {
            const std::int64_t column = order.data()[i];
            const double pivot = first[column * (k + 1)];
            if (pivot > least.data()[column] && pivot > largest) {
                largest = pivot;
                best = i;
            }
        }
        if (best == k)
            return rank;
        std::swap(order.data()[rank], order.data()[best]);
        const double *row = first + order.data()[rank] * k;
        for (std::size_t i = rank + 1; i < k; ++i) {
            const std::int64_t column = order.data()[i];
            double *other = first + column * k;
            const double share = other[order.data()[rank]] / largest;
            for (std::size_t j = rank + 1; j < k; ++j)
                other[order.data()[j]] -= share * row[order.data()[j]];
        }
    }
    return k;
}

} // namespace

void bind_triangle(nb::module_ &module) {
    module.def("substitute_rows", &substitute_rows, nb::arg("factor").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("first"));
    module.def("independent_columns", &independent_columns, nb::arg("a").noconvert(),
               nb::arg("least"), nb::arg("order").noconvert());
    module.def("substitute_back", &substitute_back, nb::arg("factor").noconvert(),
               nb::arg("x").noconvert());
}

} // namespace thetahat
