// Two functions of rows and Gaussian classes, and ‖v‖² in the last column of out, v = (x − m)·s:
// squared distances ‖Aᵀv − b‖² in double precision, and quadratic forms vᵀQv − bᵀv in single
// precision, whose errors the caller bounds.
//
// Rows are taken in tiles that are stored column by column, and the matrices in panels of a few
// columns up to their last row that is not zero, so that triangular ones cost half. A tile's
// products and their sums stay in registers. Every row is summed on its own in a fixed order.
// Products may be fused: no decision depends on their last bits.

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename F> using Cube = nb::ndarray<F, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Bytes of a register, and the registers of a tile: with `side` columns they are all in use.
#ifdef __AVX__
constexpr std::size_t bytes = 32, parts = 3;
#else
constexpr std::size_t bytes = 16, parts = 4;
#endif
constexpr std::size_t side = 4;
constexpr std::size_t tiles_at_once = 16;

template <typename F> struct Register;
template <> struct Register<double> {
    using Type = double __attribute__((vector_size(bytes)));
};
template <> struct Register<float> {
    using Type = float __attribute__((vector_size(bytes)));
};

template <typename F> struct Lanes {
    static constexpr std::size_t count = bytes / sizeof(F), tile = parts * count;
    using Type = typename Register<F>::Type;

    static Type load(const F *from) {
        Type some;
        std::memcpy(&some, from, bytes);
        return some;
    }
};

// `side` columns of a root and of its offset; `height` rows of them are not zero.
template <typename F> struct Panel {
    std::size_t height, start;
    F offset[side];
};

template <typename F> struct Roots {
    std::vector<Panel<F>> panels;
    std::vector<F> entries;
    std::size_t per_class;

    Roots(const F *roots, const F *offsets, std::size_t classes, std::size_t d, std::size_t r)
        : per_class((r + side - 1) / side) {
        const auto is_zero = [](F entry) { return entry == F(0); };
        std::size_t used = 0;
        panels.reserve(classes * per_class);
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t j = 0; j < r; j += side) {
                const std::size_t wide = std::min(side, r - j);
                Panel<F> panel{d, used, {}};
                std::copy_n(offsets + c * r + j, wide, panel.offset);
                for (; panel.height > 0; --panel.height) {
                    const F *last = roots + (c * d + panel.height - 1) * r + j;
                    if (!std::all_of(last, last + wide, is_zero))
                        break;
                }
                used += panel.height * side;
                panels.push_back(panel);
            }
        entries.resize(used);
        const Panel<F> *panel = panels.data();
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t j = 0; j < r; j += side, ++panel) {
                const std::size_t wide = std::min(side, r - j);
                F *to = entries.data() + panel->start;
                for (std::size_t k = 0; k < panel->height; ++k, to += side) {
                    const F *from = roots + (c * d + k) * r + j;
                    if (wide == side)
                        std::memcpy(to, from, side * sizeof(F));
                    else
                        std::copy_n(from, wide, to);
                }
            }
    }
};

// squares[t] = Σ_j away·away with away = Σ_k rows[k][t]·root[k][j] − offset[j], or with `form`
// Σ_j rows[j][t]·away.
template <typename F, bool form>
void add_squares(const F *rows, std::size_t d, const Roots<F> &roots, std::size_t c, F *squares) {
    using Some = typename Lanes<F>::Type;
    constexpr std::size_t lanes = Lanes<F>::count, tile = Lanes<F>::tile;
    Some sums[parts] = {};
    const Panel<F> *panel = roots.panels.data() + c * roots.per_class;
    for (std::size_t j = 0; j < roots.per_class * side; j += side, ++panel) {
        Some along[side][parts] = {};
        const F *row = rows, *entry = roots.entries.data() + panel->start;
        for (std::size_t k = 0; k < panel->height; ++k, row += tile, entry += side)
            for (std::size_t p = 0; p < parts; ++p) {
                const Some some = Lanes<F>::load(row + p * lanes);
                for (std::size_t s = 0; s < side; ++s)
                    along[s][p] += entry[s] * some;
            }
        for (std::size_t s = 0; s < side; ++s) {
            const F *own = rows + std::min(j + s, d - 1) * tile; // past the end, away is 0
            for (std::size_t p = 0; p < parts; ++p) {
                const Some away = along[s][p] - panel->offset[s];
                sums[p] += away * (form ? Lanes<F>::load(own + p * lanes) : away);
            }
        }
    }
    for (std::size_t p = 0; p < parts; ++p)
        std::memcpy(squares + p * lanes, &sums[p], bytes);
}

template <typename T, typename F, bool form>
void squares_of_rows(StridedMatrix<const T> x, Vector<const double> centre,
                     Vector<const double> scale, Cube<const F> roots, Matrix<const F> offsets,
                     Matrix<double> out) {
    const std::size_t n = x.shape(0), d = x.shape(1), classes = roots.shape(0), r = roots.shape(2);
    require(centre.shape(0) == d && scale.shape(0) == d && roots.shape(1) == d,
            "centre, scale and roots must have one entry per column of x");
    require(offsets.shape(0) == classes && offsets.shape(1) == r,
            "offsets must have one entry per column of the roots");
    require(!form || r == d, "the matrices of forms must be square");
    require(out.shape(0) == n && out.shape(1) == classes + 1,
            "out must have one row per row of x, and one column more than classes");
    const T *from = x.data();
    const auto by_row = x.stride(0), by_column = x.stride(1);
    const double *middle = centre.data(), *factor = scale.data();
    double *target = out.data();
    nb::gil_scoped_release unlocked;
    const Roots<F> packed(roots.data(), offsets.data(), classes, d, r);
    constexpr std::size_t tile = Lanes<F>::tile, most = tiles_at_once * tile;
    std::vector<F> rows(most * d);
    for (std::size_t i0 = 0; i0 < n; i0 += most) {
        const std::size_t held = std::min(n - i0, most);
        if (held < most)
            std::fill(rows.begin(), rows.end(), F(0));
        for (std::size_t i = 0; i < held; ++i) {
            const T *row = from + static_cast<std::int64_t>(i0 + i) * by_row;
            F *place = rows.data() + i / tile * tile * d + i % tile;
            double norms[4] = {};
            for (std::size_t k = 0; k < d; ++k) {
                const auto at = static_cast<std::int64_t>(k) * by_column;
                const double moved = (static_cast<double>(row[at]) - middle[k]) * factor[k];
                norms[k % 4] += moved * moved;
                place[k * tile] = static_cast<F>(moved);
            }
            target[(i0 + i) * (classes + 1) + classes] =
                (norms[0] + norms[1]) + (norms[2] + norms[3]);
        }
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t t = 0; t < held; t += tile) {
                F squares[tile];
                add_squares<F, form>(rows.data() + t * d, d, packed, c, squares);
                for (std::size_t i = 0; i < std::min(tile, held - t); ++i)
                    target[(i0 + t + i) * (classes + 1) + c] = static_cast<double>(squares[i]);
            }
    }
}

template <typename T, typename F, bool form> void bind(nb::module_ &module, const char *name) {
    module.def(name, &squares_of_rows<T, F, form>, nb::arg("x").noconvert(), nb::arg("centre"),
               nb::arg("scale"), nb::arg("roots").noconvert(), nb::arg("offsets").noconvert(),
               nb::arg("out").noconvert());
}

} // namespace

void bind_whitened_squares(nb::module_ &module) {
    bind<double, double, false>(module, "whitened_squares");
    bind<float, double, false>(module, "whitened_squares");
    bind<double, float, true>(module, "quadratic_forms");
    bind<float, float, true>(module, "quadratic_forms");
}

} // namespace thetahat
