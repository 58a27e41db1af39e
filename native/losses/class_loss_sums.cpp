// Sums of the softmax loss over rows of linear scores z = Bᵀx + b, with B (d, k), in one pass:
//
//     class_loss_sums   Σ w ℓ(y, z)  and  Σ w ∂ℓ/∂z·x̃ᵀ: value and gradient
//
// θ holds B row by row, then b if there is one. Rows are read once: the scores, losses and sums of
// a chunk that fits in the cache are computed before the next chunk. Pieces of rows have their own
// sums, which are added in order. The size of a piece depends on the rows alone, so the number of
// threads changes no bit.

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/pairwise_sum.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"
#include "core/simd4.hpp"
#include "core/skinny.hpp"
#include "core/views.hpp"
#include "losses/softmax_lanes.hpp"

namespace thetahat {

namespace {

constexpr std::size_t side = SoftmaxLanes::side;
using Numbers = std::vector<double>;

// Products of a chunk of dense rows; single precision and rows with gaps are copied.
template <typename T> struct DenseProducts {
    const T *x;
    std::int64_t stride;
    std::size_t n, d, k, chunk;
    const double *theta;
    Numbers copied;

    DenseProducts(StridedMatrix<const T> rows, std::size_t k, const double *theta)
        : x(rows.data()), stride(rows.stride(0)), n(rows.shape(0)), d(rows.shape(1)), k(k),
          theta(theta) {
        require(d <= 1 || rows.stride(1) == 1, "the entries of a row must follow one another");
        const std::size_t fitting = (1 << 15) / (sizeof(double) * std::max<std::size_t>(d, 1));
        chunk = std::clamp<std::size_t>(fitting / side, 1, 4) * side;
    }

    // At least 1024 rows, in at most 256 pieces.
    std::size_t piece() const { return std::max<std::size_t>(16, n / 256 / side + 1) * side; }
    std::size_t sums_size() const { return d * k; }

    void scores(std::size_t first, std::size_t count, double *z) {
        add_row_products(rows(first, count), count, d, theta, k, z);
    }

    // After `scores` of the same rows.
    void pull_back(std::size_t first, std::size_t count, const double *slope, double *sums) {
        const double *from = copied.empty() ? rows(first, count) : copied.data();
        add_column_products(from, count, d, slope, k, sums);
    }

    void add_to(double *slope, const double *sums) const {
        for (std::size_t e = 0; e < d * k; ++e)
            slope[e] += sums[e];
    }

  private:
    const double *rows(std::size_t first, std::size_t count) {
        const T *from = x + static_cast<std::int64_t>(first) * stride;
        if constexpr (std::is_same_v<T, double>)
            if (stride == static_cast<std::int64_t>(d))
                return from;
        copied.resize(chunk * d);
        for (std::size_t i = 0; i < count; ++i, from += stride)
            for (std::size_t j = 0; j < d; ++j)
                copied[i * d + j] = static_cast<double>(from[j]);
        return copied.data();
    }
};

// Products of compressed rows. The classes are filled up to whole registers, and some registers of
// classes at a time are summed over the entries of a row.
template <typename Rows> struct SparseProducts {
    static constexpr std::size_t lanes = wide_size, most_parts = 4;
    const Rows &all;
    std::size_t n, d, k, chunk = 4 * side, width, parts;
    const Numbers &theta;

    SparseProducts(const Rows &rows, std::size_t k, const Numbers &theta)
        : all(rows), n(rows.n_rows()), d(rows.n_columns()), k(k), width(padded(k)),
          parts(width / lanes), theta(theta) {}

    static std::size_t padded(std::size_t k) { return (k + lanes - 1) / lanes * lanes; }
    // θ with rows of whole registers.
    static Numbers packed(const double *theta, std::size_t d, std::size_t k) {
        Numbers found(d * padded(k));
        for (std::size_t j = 0; j < d; ++j)
            std::copy_n(theta + j * k, k, found.data() + j * padded(k));
        return found;
    }

    // So many entries that adding up the sums of the pieces takes little time, in at most 16
    // pieces.
    std::size_t piece() const {
        const std::size_t length = std::max<std::size_t>(all.typical_length(), 1);
        return std::max({n / 16 + 1, 8 * d / length, chunk});
    }
    std::size_t sums_size() const { return d * width; }

    void scores(std::size_t first, std::size_t count, double *z) const {
        each_tile([&](auto known, std::size_t place) {
            constexpr std::size_t P = decltype(known)::value;
            const double *const factor = theta.data() + place;
            const std::size_t used = std::min(P * lanes, k - place);
            for (std::size_t i = 0; i < count; ++i) {
                Wide sum[P] = {};
                all.each(first + i, [&](std::size_t j, double entry) {
#pragma GCC unroll 4
                    for (std::size_t p = 0; p < P; ++p)
                        sum[p] += entry * load_wide(factor + j * width + p * lanes);
                });
                double found[P * lanes];
                for (std::size_t p = 0; p < P; ++p)
                    std::memcpy(found + p * lanes, &sum[p], sizeof(Wide));
                for (std::size_t c = 0; c < used; ++c)
                    z[i * k + place + c] += found[c];
            }
        });
    }

    void pull_back(std::size_t first, std::size_t count, const double *slope, double *sums) const {
        each_tile([&](auto known, std::size_t place) {
            constexpr std::size_t P = decltype(known)::value;
            double *const sum = sums + place;
            const Rows rows(all);
            const std::size_t step = width;
            for (std::size_t i = 0; i < count; ++i) {
                double own[P * lanes] = {};
                std::copy_n(slope + i * k + place, std::min(P * lanes, k - place), own);
                // Plain stores of numbers: the compiler knows that they change no pointer.
                rows.each(first + i, [&](std::size_t j, double entry) {
                    double *__restrict to = sum + j * step;
#pragma GCC unroll 16
                    for (std::size_t c = 0; c < P * lanes; ++c)
                        to[c] += entry * own[c];
                });
            }
        });
    }

    void add_to(double *slope, const double *sums) const {
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t c = 0; c < k; ++c)
                slope[j * k + c] += sums[j * width + c];
    }

  private:
    // call(registers, first class) for each tile of classes.
    template <typename Call> static void with_parts(std::size_t count, const Call &call) {
        switch (count) {
        case 1:
            return call(std::integral_constant<std::size_t, 1>{});
        case 2:
            return call(std::integral_constant<std::size_t, 2>{});
        case 3:
            return call(std::integral_constant<std::size_t, 3>{});
        default:
            return call(std::integral_constant<std::size_t, 4>{});
        }
    }
    template <typename Call> void each_tile(const Call &call) const {
        for (std::size_t part = 0; part < parts; part += most_parts)
            with_parts(std::min(most_parts, parts - part),
                       [&](auto known) { call(known, part * lanes); });
    }
};

template <typename Products, typename Label>
double sum_losses(const Products &all, const Label *label, const double *weight, const double *b,
                  double *slope, double *level, int threads) {
    const std::size_t n = all.n, k = all.k, size = all.sums_size(), rows = all.piece();
    const std::size_t pieces = (n + rows - 1) / rows;
    Numbers values(pieces), sums(pieces * (size + k), 0.0);
    for_each_piece(pieces, threads, [&](std::size_t piece) {
        Products own(all);
        SoftmaxLanes lanes(k);
        Numbers z(own.chunk * k);
        double *const sum = sums.data() + piece * (size + k);
        const std::size_t end = std::min(n, (piece + 1) * rows);
        PairwiseSum value;
        for (std::size_t first = piece * rows; first < end; first += own.chunk) {
            const std::size_t count = std::min(own.chunk, end - first);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t c = 0; c < k; ++c)
                    z[i * k + c] = b != nullptr ? b[c] : 0.0;
            own.scores(first, count, z.data());
            for (std::size_t i = 0; i < count; i += side) {
                const std::size_t some = std::min(side, count - i);
                lanes.read(z.data() + i * k, label + first + i,
                           weight != nullptr ? weight + first + i : nullptr, some);
                lanes.losses();
                lanes.write(z.data() + i * k, some);
                value.add(SoftmaxLanes::sum(lanes.value));
                for (std::size_t c = 0; c < k; ++c)
                    sum[size + c] += SoftmaxLanes::sum(lanes.by_class.data() + c * side);
            }
            own.pull_back(first, count, z.data(), sum);
        }
        values[piece] = value.total();
    });
    std::fill_n(slope, all.d * k, 0.0);
    if (level != nullptr)
        std::fill_n(level, k, 0.0);
    PairwiseSum value;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const double *sum = sums.data() + piece * (size + k);
        value.add(values[piece]);
        all.add_to(slope, sum);
        for (std::size_t c = 0; level != nullptr && c < k; ++c)
            level[c] += sum[size + c];
    }
    return value.total();
}

template <typename Products>
double checked_sums(const Products &all, Vector<const double> y, Vector<const double> weight,
                    Vector<const double> theta, Vector<double> slope, int threads) {
    const std::size_t n = all.n, d = all.d, k = all.k;
    require(k > 0, "there must be a class");
    require(theta.shape(0) == d * k || theta.shape(0) == (d + 1) * k,
            "theta must have a row for each column of x, or one more");
    require(slope.shape(0) == theta.shape(0), "slope must have the size of theta");
    require(y.shape(0) == n, "y must have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    const double *label = y.data();
    bool inside = true;
    for (std::size_t i = 0; i < n; ++i)
        inside &= label[i] >= 0.0 && label[i] < static_cast<double>(k);
    require(inside, "y must hold numbers of classes");
    const bool has_level = theta.shape(0) > d * k;
    nb::gil_scoped_release unlocked;
    return sum_losses(all, label, weight.shape(0) ? weight.data() : nullptr,
                      has_level ? theta.data() + d * k : nullptr, slope.data(),
                      has_level ? slope.data() + d * k : nullptr, threads);
}

template <typename T> void bind_dense(nb::module_ &module) {
    module.def(
        "class_loss_sums",
        [](StridedMatrix<const T> x, Vector<const double> y, Vector<const double> weight,
           Vector<const double> theta, std::size_t n_classes, Vector<double> slope, int threads) {
            return checked_sums(DenseProducts<T>(x, n_classes, theta.data()), y, weight, theta,
                                slope, threads);
        },
        nb::arg("x").noconvert(), nb::arg("y").noconvert(), nb::arg("weight").noconvert(),
        nb::arg("theta").noconvert(), nb::arg("n_classes"), nb::arg("slope").noconvert(),
        nb::arg("threads"));
}

template <typename T, typename Index> void bind_sparse(nb::module_ &module) {
    using Rows = SparseRows<T, Index>;
    module.def(
        "class_loss_sums",
        [](Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
           std::size_t n_columns, Vector<const double> y, Vector<const double> weight,
           Vector<const double> theta, std::size_t n_classes, Vector<double> slope, int threads) {
            const Rows rows(data, indices, indptr, n_columns);
            require(theta.shape(0) >= n_columns * n_classes,
                    "theta must have a row for each column of x, or one more");
            const Numbers packed = SparseProducts<Rows>::packed(theta.data(), n_columns, n_classes);
            return checked_sums(SparseProducts<Rows>(rows, n_classes, packed), y, weight, theta,
                                slope, threads);
        },
        nb::arg("data").noconvert(), nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("n_columns"), nb::arg("y").noconvert(), nb::arg("weight").noconvert(),
        nb::arg("theta").noconvert(), nb::arg("n_classes"), nb::arg("slope").noconvert(),
        nb::arg("threads"));
}

} // namespace

void bind_class_loss_sums(nb::module_ &module) {
    bind_dense<double>(module);
    bind_dense<float>(module);
    bind_sparse<double, std::int32_t>(module);
    bind_sparse<double, std::int64_t>(module);
    bind_sparse<float, std::int32_t>(module);
    bind_sparse<float, std::int64_t>(module);
}

} // namespace thetahat
