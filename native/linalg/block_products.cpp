// Sums of products of the columns of a block of rows, for z_i = ((x_i, y_i) − c) · scale · root_i:
//
//     out = Σ_i z_i z_iᵀ (symmetric),    sums = Σ_i root_i · z_i.
//
// The rows are centred and scaled into panels of `wide` columns, `deep` rows at a time, and every
// pair of panels at or above the diagonal is multiplied in tiles that stay in registers. This reads
// the rows once; BLAS needs the centred rows in memory first. An entry is a sum over `deep` rows in
// order, added to the total of the rows before, whatever the tile: the bits depend neither on the
// number of threads nor on the width of the registers.
//
// This file is compiled with fused multiply-adds where the machine has them; no decision depends
// on the last bits of these sums.

#include <algorithm>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

// `lanes` numbers fill a register; a tile has `tall` rows and up to `most` registers in each. Its
// sums, a row of the right panel and one number of the left one fit in the registers.
#if defined(__AVX512F__)
constexpr std::size_t lanes = 8, tall = 8, most = 3;
#elif defined(__AVX__)
constexpr std::size_t lanes = 4, tall = 4, most = 3;
#elif defined(__aarch64__)
constexpr std::size_t lanes = 2, tall = 4, most = 4;
#else
constexpr std::size_t lanes = 2, tall = 2, most = 4;
#endif
constexpr std::size_t wide = lanes * most;
static_assert(tall % lanes == 0 && wide % tall == 0);
// A right panel of 128 rows takes at most 24 KiB: it stays in the first-level cache (32 KiB or
// more) while the left panels of a group, 120 KiB, come from the second level.
constexpr std::size_t deep = 128, group = 120;
static_assert(group % wide == 0);

using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));
struct Register { // a template argument drops the alignment of a bare vector
    Lanes numbers;
};

// tile[k, l] += Σ_i left[i, k] · right[i, l] for k < tall, l < parts·lanes.
template <std::size_t parts>
void add_tile(const double *left, std::size_t left_step, const Register *right, std::size_t rows,
              Register *tile) {
    Lanes sums[tall][parts] = {};
    for (std::size_t i = 0; i < rows; ++i, left += left_step, right += parts) {
#pragma GCC unroll 8
        for (std::size_t k = 0; k < tall; ++k)
#pragma GCC unroll 4
            for (std::size_t p = 0; p < parts; ++p)
                sums[k][p] += left[k] * right[p].numbers;
    }
#pragma GCC unroll 8
    for (std::size_t k = 0; k < tall; ++k)
#pragma GCC unroll 4
        for (std::size_t p = 0; p < parts; ++p)
            tile[k * parts + p].numbers += sums[k][p];
}

void add_tile(std::size_t parts, const double *left, std::size_t left_step, const Register *right,
              std::size_t rows, Register *tile) {
    switch (parts) {
    case 1:
        return add_tile<1>(left, left_step, right, rows, tile);
    case 2:
        return add_tile<2>(left, left_step, right, rows, tile);
    case 3:
        return add_tile<3>(left, left_step, right, rows, tile);
    default:
        return add_tile<most>(left, left_step, right, rows, tile);
    }
}

// Up to `deep` rows. Panels lie one after the other; each holds its columns of row 0, then of row
// 1, ...; the last one is as narrow as whole tiles allow, with zeros beside the last column. The
// tiles of the product lie in the order of their computation.
struct Panels {
    std::size_t width, padded, rows = 0;
    std::vector<Register> entries, tiles;

    explicit Panels(std::size_t width)
        : width(width), padded((width + tall - 1) / tall * tall), entries(deep * padded / lanes) {
        std::size_t registers = 0;
        for_tiles([&](std::size_t, std::size_t b) { registers += tall * columns_at(b) / lanes; });
        tiles.resize(registers);
    }

    std::size_t columns_at(std::size_t first) const { return std::min(wide, padded - first); }
    Register *panel_at(std::size_t first) { return entries.data() + first * deep / lanes; }
    double *at(std::size_t row, std::size_t first) {
        return reinterpret_cast<double *>(panel_at(first)) + row * columns_at(first);
    }

    // Visit (a, b) for every tile with entries at or above the diagonal: its left columns begin at
    // a, its right panel at b.
    template <typename Visit> void for_tiles(Visit visit) const {
        for (std::size_t start = 0; start < padded; start += group)
            for (std::size_t b = start; b < padded; b += wide)
                for (std::size_t a = start; a < std::min(start + group, b + columns_at(b));
                     a += tall)
                    visit(a, b);
    }

    void add_products() {
        Register *tile = tiles.data();
        for_tiles([&](std::size_t a, std::size_t b) {
            const std::size_t panel = a / wide * wide, parts = columns_at(b) / lanes;
            add_tile(parts, at(0, panel) + (a - panel), columns_at(panel), panel_at(b), rows, tile);
            tile += tall * parts;
        });
    }

    // Both triangles of the product.
    void write(double *out) const {
        const double *tile = reinterpret_cast<const double *>(tiles.data());
        for_tiles([&](std::size_t a, std::size_t b) {
            const std::size_t columns = columns_at(b), end = std::min(width, b + columns);
            for (std::size_t k = a; k < std::min(width, a + tall); ++k)
                for (std::size_t l = std::max(k, b); l < end; ++l)
                    out[k * width + l] = tile[(k - a) * columns + l - b];
            for (std::size_t l = b; l < end; ++l)
                for (std::size_t k = a; k < std::min(l, a + tall); ++k)
                    out[l * width + k] = tile[(k - a) * columns + l - b];
            tile += tall * columns;
        });
    }
};

// One kind of columns (x or y), which stand from `offset` on in the panels.
template <typename T> struct Columns {
    const T *entries;
    std::int64_t row_step, column_step;
    std::size_t count, offset;

    // A few rows at a time, so that the rows are read in the order of memory.
    void pack(std::size_t first_row, const double *centre, const double *scale, const double *root,
              Panels &panels, double *sums) const {
        constexpr std::size_t few = 16;
        for (std::size_t i = 0; i < panels.rows; i += few)
            for (std::size_t j = 0; j < count;) {
                const std::size_t column = offset + j, panel = column / wide * wide;
                const std::size_t step = panels.columns_at(panel);
                const std::size_t here = std::min(count - j, panel + step - column);
                const std::size_t rows = std::min(few, panels.rows - i);
                const T *from = entries + static_cast<std::int64_t>(first_row + i) * row_step +
                                static_cast<std::int64_t>(j) * column_step;
                const double *by = root ? root + first_row + i : nullptr;
                double *to = panels.at(i, panel) + (column - panel);
                if (here == wide && column_step == 1)
                    pack_panel<wide>(from, here, 1, centre + column, scale + column, by, rows, to,
                                     wide, sums + column);
                else
                    pack_panel<0>(from, here, column_step, centre + column, scale + column, by,
                                  rows, to, step, sums + column);
                j += here;
            }
    }

  private:
    // Columns of one panel; `fixed` is their number where compilers are to know it.
    template <std::size_t fixed>
    void pack_panel(const T *from, std::size_t count, std::int64_t column_step,
                    const double *centre, const double *scale, const double *root, std::size_t rows,
                    double *to, std::size_t step, double *sums) const {
        const std::size_t columns = fixed ? fixed : count;
        // Copies that nothing else points to stay in registers.
        double c[wide], s[wide], total[wide];
        std::copy_n(centre, columns, c);
        std::copy_n(scale, columns, s);
        std::copy_n(sums, columns, total);
        for (std::size_t i = 0; i < rows; ++i, to += step, from += row_step) {
            const double by = root ? root[i] : 1.0;
            for (std::size_t l = 0; l < columns; ++l) {
                const double entry =
                    static_cast<double>(from[static_cast<std::int64_t>(l) * column_step]);
                const double z = (entry - c[l]) * s[l] * by;
                to[l] = z;
                total[l] += z * by;
            }
        }
        std::copy_n(total, columns, sums);
    }
};

template <typename T>
void block_products(StridedMatrix<const T> x, StridedMatrix<const double> y,
                    Vector<const double> centre, Vector<const double> scale,
                    Vector<const double> root_weight, Matrix<double> out, Vector<double> sums) {
    const std::size_t n = x.shape(0), d = x.shape(1), width = d + y.shape(1);
    require(y.shape(0) == n, "y must have the rows of x");
    require(centre.shape(0) == width && scale.shape(0) == width && sums.shape(0) == width,
            "centre, scale and sums must have one entry per column of x and y");
    require(root_weight.shape(0) == 0 || root_weight.shape(0) == n,
            "root_weight must be empty or have one entry per row of x");
    require(out.shape(0) == width && out.shape(1) == width,
            "out must have a row and a column per column of x and y");
    const Columns<T> left{x.data(), x.stride(0), x.stride(1), d, 0};
    const Columns<double> right{y.data(), y.stride(0), y.stride(1), y.shape(1), d};
    const double *root = root_weight.shape(0) ? root_weight.data() : nullptr;
    const double *c = centre.data(), *s = scale.data();
    double *total = sums.data();

    nb::gil_scoped_release unlocked;
    Panels panels(width);
    std::fill_n(total, width, 0.0);
    for (std::size_t i = 0; i < n; i += deep) {
        panels.rows = std::min(deep, n - i);
        left.pack(i, c, s, root, panels, total);
        right.pack(i, c, s, root, panels, total);
        panels.add_products();
    }
    panels.write(out.data());
}

template <typename T> void bind(nb::module_ &module) {
    module.def("block_products", &block_products<T>, nb::arg("x").noconvert(),
               nb::arg("y").noconvert(), nb::arg("centre"), nb::arg("scale"),
               nb::arg("root_weight"), nb::arg("out").noconvert(), nb::arg("sums").noconvert());
}

} // namespace

void bind_block_products(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
