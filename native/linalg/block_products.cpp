// Sums of products of the columns of rows, for z_i = ((x_i, y_i) − c) · scale · root_i:
//
//     out = Σ_i z_i z_iᵀ (symmetric),    sums = Σ_i root_i · z_i.
//
// The rows are centred and scaled into panels of `wide` columns and `deep` rows, and every pair of
// panels at or above the diagonal is multiplied in tiles that stay in registers. This reads the
// rows once; BLAS needs the centred rows in memory first. Threads share the spans of narrow rows,
// and the columns and tiles of wide ones. An entry is a sum over `deep` rows in order; these are
// added to the sum of their span, and spans to the total, in order and whatever the tile. So the
// bits depend neither on the number of threads nor on the width of the registers, and spans that
// are given one by one, and added, have the sums of all.
//
// This file is compiled with fused multiply-adds where the machine has them; no decision depends
// on the last bits of these sums.

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
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
// The tiles of a piece, up to `reach` panels beside a group, stay in the second-level cache over
// all rows of a span. Narrower rows have too few pieces to share.
constexpr std::size_t reach = 10, narrow = 256;
// So many rows before it is packed, a row is requested from memory: few columns of many rows are
// read at a time, which processors do not foresee.
constexpr std::int64_t soon = 32;

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

// The tiles of the product, in the order of their computation. The last panel is as narrow as whole
// tiles allow.
struct Layout {
    // The tiles of the left columns from `start` on with the right panels in [first, last).
    struct Piece {
        std::size_t start, first, last, registers;
    };

    std::size_t width, padded, registers = 0;
    std::vector<Piece> pieces;

    explicit Layout(std::size_t width) : width(width), padded((width + tall - 1) / tall * tall) {
        for (std::size_t start = 0; start < padded; start += group)
            for (std::size_t b = start; b < padded; b += reach * wide) {
                pieces.push_back({start, b, std::min(padded, b + reach * wide), registers});
                for_tiles(pieces.back(), [&](std::size_t, std::size_t c) {
                    registers += tall * columns_at(c) / lanes;
                });
            }
    }

    std::size_t columns_at(std::size_t first) const { return std::min(wide, padded - first); }
    std::size_t end_of(std::size_t piece) const {
        return piece + 1 < pieces.size() ? pieces[piece + 1].registers : registers;
    }

    // Visit (a, b) for every tile of a piece with entries at or above the diagonal: its left
    // columns begin at a, its right panel at b.
    template <typename Visit> void for_tiles(const Piece &piece, Visit visit) const {
        for (std::size_t b = piece.first; b < piece.last; b += wide)
            for (std::size_t a = piece.start; a < std::min(piece.start + group, b + columns_at(b));
                 a += tall)
                visit(a, b);
    }

    // Both triangles of the product.
    void write(const Piece &piece, const Register *tiles, double *out) const {
        const double *tile = reinterpret_cast<const double *>(tiles + piece.registers);
        for_tiles(piece, [&](std::size_t a, std::size_t b) {
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

// Packed rows in layers of `deep` rows, or one layer of fewer. The panels of a layer lie one after
// the other; each holds its columns of row 0, then of row 1, ..., with zeros beside the last
// column.
struct Panels {
    const Layout &layout;
    std::size_t depth, rows = 0;
    std::vector<Register> entries;

    Panels(const Layout &layout, std::size_t most_rows)
        : layout(layout), depth(std::min(deep, most_rows)),
          entries((most_rows + deep - 1) / deep * depth * layout.padded / lanes) {}

    Register *panel_at(std::size_t layer, std::size_t first) {
        return entries.data() + (layer * layout.padded + first) * depth / lanes;
    }
    double *at(std::size_t row, std::size_t first) {
        return reinterpret_cast<double *>(panel_at(row / deep, first)) +
               row % deep * layout.columns_at(first);
    }

    void add_products(const Layout::Piece &piece, Register *tiles) {
        for (std::size_t first = 0; first < rows; first += deep) {
            const std::size_t here = std::min(deep, rows - first);
            Register *tile = tiles + piece.registers;
            layout.for_tiles(piece, [&](std::size_t a, std::size_t b) {
                const std::size_t panel = a / wide * wide;
                const std::size_t parts = layout.columns_at(b) / lanes;
                add_tile(parts, at(first, panel) + (a - panel), layout.columns_at(panel),
                         panel_at(first / deep, b), here, tile);
                tile += tall * parts;
            });
        }
    }
};

// One kind of columns (x or y), which stand from `offset` on in the panels.
template <typename T> struct Columns {
    const T *entries;
    std::int64_t row_step, column_step;
    std::size_t count, offset, n_rows;

    // The columns that stand in [start, stop) of the panels, as many rows at a time as fit in the
    // first-level cache, so that the rows are read in the order of memory.
    void pack(std::size_t start, std::size_t stop, std::size_t first_row, const double *centre,
              const double *scale, const double *root, Panels &panels, double *sums) const {
        const std::size_t few = std::clamp<std::size_t>(2048 / panels.layout.padded, 16, deep);
        const std::size_t first = std::max(start, offset) - offset;
        const std::size_t last = std::min(std::max(stop, offset) - offset, count);
        for (std::size_t i = 0; i < panels.rows; i += few)
            for (std::size_t j = first; j < last;) {
                const std::size_t column = offset + j, panel = column / wide * wide;
                const std::size_t step = panels.layout.columns_at(panel);
                const std::size_t left = std::min(last - j, panel + step - column);
                const std::size_t rows = std::min(few, panels.rows - i);
                const T *from = entries + static_cast<std::int64_t>(first_row + i) * row_step +
                                static_cast<std::int64_t>(j) * column_step;
                const double *by = root ? root + first_row + i : nullptr;
                double *to = panels.at(i, panel) + (column - panel);
                const std::int64_t ahead =
                    first_row + i + rows + soon <= n_rows ? soon * row_step : 0;
                const auto packed = [&]<std::size_t columns>() {
                    pack_columns<columns>(from, ahead, centre + column, scale + column, by, rows,
                                          to, step, sums + column);
                    j += columns;
                };
                if (left >= wide)
                    packed.template operator()<wide>();
                else if (left >= 8)
                    packed.template operator()<8>();
                else if (left >= 4)
                    packed.template operator()<4>();
                else if (left >= 2)
                    packed.template operator()<2>();
                else
                    packed.template operator()<1>();
            }
    }

  private:
    // Their number is known to the compiler, which keeps what belongs to them in registers.
    template <std::size_t columns>
    void pack_columns(const T *from, std::int64_t ahead, const double *centre, const double *scale,
                      const double *root, std::size_t rows, double *to, std::size_t step,
                      double *sums) const {
        if (column_step == 1)
            pack_columns<columns>(from, 1, ahead, centre, scale, root, rows, to, step, sums);
        else
            pack_columns<columns>(from, column_step, ahead, centre, scale, root, rows, to, step,
                                  sums);
    }

    template <std::size_t columns>
    [[gnu::always_inline]] inline void
    pack_columns(const T *from, std::int64_t across, std::int64_t ahead, const double *centre,
                 const double *scale, const double *root, std::size_t rows, double *to,
                 std::size_t step, double *sums) const {
        double c[columns], s[columns], total[columns];
        std::copy_n(centre, columns, c);
        std::copy_n(scale, columns, s);
        std::copy_n(sums, columns, total);
        for (std::size_t i = 0; i < rows; ++i, to += step, from += row_step) {
            __builtin_prefetch(from + ahead);
            const double by = root ? root[i] : 1.0;
            for (std::size_t l = 0; l < columns; ++l) {
                const double entry =
                    static_cast<double>(from[static_cast<std::int64_t>(l) * across]);
                const double z = (entry - c[l]) * s[l] * by;
                to[l] = z;
                total[l] += z * by;
            }
        }
        std::copy_n(total, columns, sums);
    }
};

// All columns, and the sums of the product.
template <typename T> struct Products {
    Columns<T> x;
    Columns<double> y;
    const double *centre, *scale, *root;
    std::size_t n, span;
    Layout layout;
    std::vector<Register> tiles;
    double *sums;

    void pack(std::size_t start, std::size_t stop, std::size_t row, Panels &panels,
              double *part) const {
        x.pack(start, stop, row, centre, scale, root, panels, part);
        y.pack(start, stop, row, centre, scale, root, panels, part);
    }

    void add(std::size_t first, std::size_t last, const Register *part) {
        for (std::size_t i = first; i < last; ++i)
            tiles[i].numbers += part[i].numbers;
    }
    void add(const std::vector<double> &part) {
        for (std::size_t l = 0; l < layout.width; ++l)
            sums[l] += part[l];
    }

    // Threads take spans, some at a time, which are added in order.
    void of_narrow_rows(int threads) {
        struct Part {
            Panels panels;
            std::vector<Register> tiles;
            std::vector<double> sums;
        };
        const std::size_t spans = (n + span - 1) / span;
        const std::size_t most =
            std::min(spans, threads > 1 ? 4 * static_cast<std::size_t>(threads) : 1);
        std::vector<Part> parts;
        parts.reserve(most);
        for (std::size_t place = 0; place < most; ++place)
            parts.push_back({Panels(layout, std::min({n, span, deep})),
                             std::vector<Register>(layout.registers),
                             {}});
        for (std::size_t base = 0; base < spans; base += parts.size()) {
            const std::size_t here = std::min(parts.size(), spans - base);
            for_each_piece(here, threads, [&](std::size_t place) {
                const std::size_t first = (base + place) * span, last = std::min(n, first + span);
                Part &part = parts[place];
                std::fill(part.tiles.begin(), part.tiles.end(), Register{});
                part.sums.assign(layout.width, 0.0);
                for (std::size_t i = first; i < last; i += deep) {
                    part.panels.rows = std::min(deep, last - i);
                    pack(0, layout.width, i, part.panels, part.sums.data());
                    for (const Layout::Piece &piece : layout.pieces)
                        part.panels.add_products(piece, part.tiles.data());
                }
            });
            for (std::size_t place = 0; place < here; ++place) {
                add(0, layout.registers, parts[place].tiles.data());
                add(parts[place].sums);
            }
        }
    }

    // Threads take columns to pack, then tiles to multiply, of one span after another.
    void of_wide_rows(int threads) {
        Panels panels(layout, std::min(n, span));
        std::vector<Register> part(layout.registers);
        std::vector<double> part_sums;
        for (std::size_t i = 0; i < n; i += span) {
            panels.rows = std::min(span, n - i);
            part_sums.assign(layout.width, 0.0);
            for_each_piece((layout.width + group - 1) / group, threads, [&](std::size_t place) {
                pack(place * group, (place + 1) * group, i, panels, part_sums.data());
            });
            for_each_piece(layout.pieces.size(), threads, [&](std::size_t place) {
                const std::size_t first = layout.pieces[place].registers;
                const std::size_t last = layout.end_of(place);
                std::fill(part.begin() + static_cast<std::ptrdiff_t>(first),
                          part.begin() + static_cast<std::ptrdiff_t>(last), Register{});
                panels.add_products(layout.pieces[place], part.data());
                add(first, last, part.data());
            });
            add(part_sums);
        }
    }
};

template <typename T>
void block_products(StridedMatrix<const T> x, StridedMatrix<const double> y,
                    Vector<const double> centre, Vector<const double> scale,
                    Vector<const double> root_weight, Matrix<double> out, Vector<double> sums,
                    std::size_t span, int threads) {
    const std::size_t n = x.shape(0), d = x.shape(1), width = d + y.shape(1);
    require(y.shape(0) == n, "y must have the rows of x");
    require(centre.shape(0) == width && scale.shape(0) == width && sums.shape(0) == width,
            "centre, scale and sums must have one entry per column of x and y");
    require(root_weight.shape(0) == 0 || root_weight.shape(0) == n,
            "root_weight must be empty or have one entry per row of x");
    require(out.shape(0) == width && out.shape(1) == width,
            "out must have a row and a column per column of x and y");
    require(span > 0 && threads > 0, "span and threads must be positive");
    double *to = out.data();

    nb::gil_scoped_release unlocked;
    Products<T> found{{x.data(), x.stride(0), x.stride(1), d, 0, n},
                      {y.data(), y.stride(0), y.stride(1), y.shape(1), d, n},
                      centre.data(),
                      scale.data(),
                      root_weight.shape(0) ? root_weight.data() : nullptr,
                      n,
                      span,
                      Layout(width),
                      {},
                      sums.data()};
    found.tiles.resize(found.layout.registers);
    std::fill_n(found.sums, width, 0.0);
    if (width < narrow)
        found.of_narrow_rows(threads);
    else
        found.of_wide_rows(threads);
    for_each_piece(found.layout.pieces.size(), threads, [&](std::size_t place) {
        found.layout.write(found.layout.pieces[place], found.tiles.data(), to);
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("block_products", &block_products<T>, nb::arg("x").noconvert(),
               nb::arg("y").noconvert(), nb::arg("centre"), nb::arg("scale"),
               nb::arg("root_weight"), nb::arg("out").noconvert(), nb::arg("sums").noconvert(),
               nb::arg("span"), nb::arg("threads"));
}

} // namespace

void bind_block_products(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
