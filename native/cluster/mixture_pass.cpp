// One pass of expectation-maximisation over a block of rows. For every row x and component k,
//
//     log p_k(x) = log_scale[k] − ½‖Pₖᵀ(x − cₖ)‖²,   log p(x) = log Σₖ p_k(x),
//     γₖ(x) = p_k(x) / p(x),
//
// and over the rows, with weights w, the sums about the centres
//
//     Σ wγₖ,   Σ wγₖ(x − cₖ),   Σ wγₖ(x − cₖ)(x − cₖ)ᵀ.
//
// Pₖ is upper triangular, or a diagonal given as a vector. Rows are taken in tiles of 32, stored
// column by column, so that the differences of a tile stay in the innermost cache for both steps.
// The sums are taken about the centres of the current components, near which the new ones lie, so
// that little is lost when the squares are centred. A block is one thread's work and its tiles are
// added in order, so the sums do not depend on the number of threads. Products may be fused: no
// decision depends on their last bits.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/exponential.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t tile = 32, side = 4;
// Numbers of one register; compilers keep arrays of wider vectors in memory.
#ifdef __AVX__
constexpr std::size_t lanes = 4;
#else
constexpr std::size_t lanes = 2;
#endif
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));

inline Lanes load(const double *from) {
    Lanes some;
    std::memcpy(&some, from, sizeof(Lanes));
    return some;
}

inline double total(const Lanes &some) {
    double sum = 0.0;
    for (std::size_t l = 0; l < lanes; ++l)
        sum += some[l];
    return sum;
}

// Σ_t a[t] and Σ_t a[t]·b[t] over a tile, in several partial sums.
inline double sum_over_tile(const double *a) {
    Lanes even = {}, odd = {};
    for (std::size_t t = 0; t < tile; t += 2 * lanes) {
        even += load(a + t);
        odd += load(a + t + lanes);
    }
    return total(even + odd);
}

inline double dot_over_tile(const double *a, const double *b) {
    Lanes even = {}, odd = {};
    for (std::size_t t = 0; t < tile; t += 2 * lanes) {
        even += load(a + t) * load(b + t);
        odd += load(a + t + lanes) * load(b + t + lanes);
    }
    return total(even + odd);
}

// squares[t] = Σ_j (Σ_{i ≤ j} apart[i][t]·factor[i][j])²
void add_squares(const double *apart, const double *factor, std::size_t padded, double *squares) {
    constexpr std::size_t parts = 4, chunk = parts * lanes;
    for (std::size_t t = 0; t < tile; t += chunk) {
        Lanes sums[parts] = {};
        for (std::size_t j = 0; j < padded; j += side) {
            Lanes along[side][parts] = {};
            for (std::size_t i = 0; i < j + side; ++i) {
                const double *row = factor + i * padded + j;
                for (std::size_t p = 0; p < parts; ++p) {
                    const Lanes entry = load(apart + i * tile + t + p * lanes);
                    for (std::size_t s = 0; s < side; ++s)
                        along[s][p] += row[s] * entry;
                }
            }
            for (std::size_t s = 0; s < side; ++s)
                for (std::size_t p = 0; p < parts; ++p)
                    sums[p] += along[s][p] * along[s][p];
        }
        for (std::size_t p = 0; p < parts; ++p)
            std::memcpy(squares + t + p * lanes, &sums[p], sizeof(Lanes));
    }
}

// second[i][j] += Σ_t scaled[i][t]·apart[j][t] for the tiles of entries at or above the diagonal
void add_products(const double *scaled, const double *apart, std::size_t padded, double *second) {
    for (std::size_t i = 0; i < padded; i += side)
        for (std::size_t j = i; j < padded; j += side) {
            Lanes sums[side][side] = {};
            for (std::size_t t = 0; t < tile; t += lanes) {
                Lanes right[side];
                for (std::size_t b = 0; b < side; ++b)
                    right[b] = load(apart + (j + b) * tile + t);
                for (std::size_t a = 0; a < side; ++a) {
                    const Lanes left = load(scaled + (i + a) * tile + t);
                    for (std::size_t b = 0; b < side; ++b)
                        sums[a][b] += left * right[b];
                }
            }
            for (std::size_t a = 0; a < side; ++a)
                for (std::size_t b = 0; b < side; ++b)
                    second[(i + a) * padded + j + b] += total(sums[a][b]);
        }
}

template <typename T>
double mixture_pass(StridedMatrix<const T> x, Vector<const double> weight,
                    Vector<const std::int64_t> labels, Matrix<const double> given,
                    Vector<const double> log_scale, Matrix<const double> centres,
                    Matrix<const double> factors, Vector<double> count, Matrix<double> first,
                    Matrix<double> second, Vector<double> log_density, Matrix<double> rows,
                    bool posterior) {
    const std::size_t n = x.shape(0), d = x.shape(1), k = log_scale.shape(0);
    require(centres.shape(0) == k && centres.shape(1) == d && k > 0 && d > 0,
            "centres must have one row per component and the columns of x");
    const bool full = d > 1 && factors.shape(0) == k * d;
    require(factors.shape(1) == d && (full || factors.shape(0) == k),
            "factors must have k·d rows or k rows, and the columns of x");
    require(weight.shape(0) == 0 || weight.shape(0) == n, "weight: none, or one per row");
    require(labels.shape(0) == 0 || labels.shape(0) == n, "labels: none, or one per row");
    const bool has_given = given.shape(0) != 0;
    require(!has_given || (given.shape(0) == n && given.shape(1) == k),
            "given must have one row per row of x and one column per component");
    const bool summing = count.shape(0) != 0;
    require(!summing || (count.shape(0) == k && first.shape(0) == k && first.shape(1) == d &&
                         second.shape(0) == factors.shape(0) && second.shape(1) == d),
            "count, first and second must have the shapes of k, centres and factors");
    const bool logs = log_density.shape(0) != 0, writing = rows.shape(0) != 0;
    require(!logs || log_density.shape(0) == n, "log_density: none, or one per row");
    require(!writing || (rows.shape(0) == n && rows.shape(1) == k),
            "rows must have one row per row of x and one column per component");
    const std::int64_t *known = labels.shape(0) ? labels.data() : nullptr;
    for (std::size_t i = 0; known && i < n; ++i)
        require(known[i] >= -1 && known[i] < static_cast<std::int64_t>(k),
                "labels must be numbers of components, or -1");
    const std::int64_t row = x.stride(0), column = x.stride(1);
    const T *source = x.data();
    const double *w = weight.shape(0) ? weight.data() : nullptr;
    const double *c = centres.data(), *scale = log_scale.data(), *ready = given.data();
    double *N = count.data(), *S1 = first.data(), *S2 = second.data();
    double *log_out = log_density.data(), *out = rows.data();
    const double *P = factors.data();

    nb::gil_scoped_release unlocked;
    const std::size_t padded = (d + side - 1) / side * side;
    const std::size_t square = full ? padded * padded : padded;
    std::vector<double> factor(k * square, 0.0), sums(summing ? k * square : 0, 0.0);
    for (std::size_t m = 0; m < k; ++m)
        for (std::size_t i = 0; i < (full ? d : 1); ++i)
            for (std::size_t j = full ? i : 0; j < d; ++j)
                factor[m * square + i * padded + j] = P[full ? (m * d + i) * d + j : m * d + j];
    std::vector<double> points(padded * tile), apart(padded * tile), scaled(padded * tile);
    std::vector<double> share(k * tile);
    double log_likelihood = 0.0;
    const double lowest = -std::numeric_limits<double>::infinity();

    for (std::size_t start = 0; start < n; start += tile) {
        const std::size_t size = std::min(tile, n - start);
        std::fill(points.begin(), points.end(), 0.0);
        for (std::size_t t = 0; t < size; ++t) {
            const T *from = source + static_cast<std::int64_t>(start + t) * row;
            for (std::size_t j = 0; j < d; ++j)
                points[j * tile + t] =
                    static_cast<double>(from[static_cast<std::int64_t>(j) * column]);
        }
        const auto centre_at = [&](std::size_t m) {
            for (std::size_t j = 0; j < d; ++j) {
                const double middle = c[m * d + j];
                for (std::size_t t = 0; t < tile; ++t)
                    apart[j * tile + t] = points[j * tile + t] - middle;
            }
        };
        if (has_given) {
            for (std::size_t m = 0; m < k; ++m)
                for (std::size_t t = 0; t < tile; ++t)
                    share[m * tile + t] = t < size ? ready[(start + t) * k + m] : 0.0;
        } else {
            double best[tile], sum[tile], squares[tile];
            std::fill(best, best + tile, lowest);
            for (std::size_t m = 0; m < k; ++m) {
                centre_at(m);
                const double *by = factor.data() + m * square;
                if (full) {
                    add_squares(apart.data(), by, padded, squares);
                } else {
                    std::fill(squares, squares + tile, 0.0);
                    for (std::size_t j = 0; j < d; ++j)
                        for (std::size_t t = 0; t < tile; ++t) {
                            const double along = apart[j * tile + t] * by[j];
                            squares[t] += along * along;
                        }
                }
                double *joint = share.data() + m * tile;
                for (std::size_t t = 0; t < tile; ++t) {
                    joint[t] = scale[m] - 0.5 * squares[t];
                    best[t] = joint[t] > best[t] ? joint[t] : best[t];
                }
            }
            if (writing && !posterior)
                for (std::size_t t = 0; t < size; ++t)
                    for (std::size_t m = 0; m < k; ++m)
                        out[(start + t) * k + m] = share[m * tile + t];
            std::fill(sum, sum + tile, 0.0);
            for (std::size_t t = 0; known && t < size; ++t)
                if (known[start + t] >= 0)
                    log_likelihood += (w ? w[start + t] : 1.0) *
                                      share[static_cast<std::size_t>(known[start + t]) * tile + t];
            for (std::size_t m = 0; m < k; ++m) {
                double *joint = share.data() + m * tile;
                for (std::size_t t = 0; t < tile; ++t) {
                    joint[t] = exponential_below(joint[t] - best[t]);
                    sum[t] += joint[t];
                }
            }
            for (std::size_t t = 0; t < tile; ++t) {
                const bool labelled = t < size && known && known[start + t] >= 0;
                if (t < size && (logs || !labelled)) {
                    const double log_p = best[t] > lowest ? best[t] + std::log(sum[t]) : lowest;
                    if (logs)
                        log_out[start + t] = log_p;
                    if (!labelled)
                        log_likelihood += (w ? w[start + t] : 1.0) * log_p;
                }
                // A row without density, or of a known label, has no shares to be scaled.
                if (labelled || !(best[t] > lowest))
                    for (std::size_t m = 0; m < k; ++m)
                        share[m * tile + t] =
                            labelled ? (static_cast<std::int64_t>(m) == known[start + t])
                                     : 1.0 / static_cast<double>(k);
                sum[t] = labelled || !(best[t] > lowest) ? 1.0 : 1.0 / sum[t];
            }
            for (std::size_t m = 0; m < k; ++m)
                for (std::size_t t = 0; t < tile; ++t)
                    share[m * tile + t] *= sum[t];
            if (writing && posterior)
                for (std::size_t t = 0; t < size; ++t)
                    for (std::size_t m = 0; m < k; ++m)
                        out[(start + t) * k + m] = share[m * tile + t];
        }
        for (std::size_t m = 0; summing && m < k; ++m) {
            double *part = share.data() + m * tile;
            for (std::size_t t = 0; t < size && w; ++t)
                part[t] *= w[start + t];
            std::fill(part + size, part + tile, 0.0);
            const double held = sum_over_tile(part);
            if (held == 0.0)
                continue;
            N[m] += held;
            centre_at(m);
            double *into = sums.data() + m * square;
            for (std::size_t j = 0; j < d; ++j) {
                double *along = scaled.data() + j * tile;
                const double *from = apart.data() + j * tile;
                for (std::size_t t = 0; t < tile; ++t)
                    along[t] = part[t] * from[t];
                S1[m * d + j] += sum_over_tile(along);
                if (!full)
                    into[j] += dot_over_tile(along, from);
            }
            if (full)
                add_products(scaled.data(), apart.data(), padded, into);
        }
    }
    for (std::size_t m = 0; summing && m < k; ++m)
        for (std::size_t i = 0; i < (full ? d : 1); ++i)
            for (std::size_t j = full ? i : 0; j < d; ++j) {
                const double sum = sums[m * square + i * padded + j];
                if (full)
                    S2[(m * d + i) * d + j] = S2[(m * d + j) * d + i] = sum;
                else
                    S2[m * d + j] = sum;
            }
    return log_likelihood;
}

template <typename T> void bind(nb::module_ &module) {
    module.def("mixture_pass", &mixture_pass<T>, nb::arg("x").noconvert(), nb::arg("weight"),
               nb::arg("labels"), nb::arg("given"), nb::arg("log_scale"), nb::arg("centres"),
               nb::arg("factors"), nb::arg("count").noconvert(), nb::arg("first").noconvert(),
               nb::arg("second").noconvert(), nb::arg("log_density").noconvert(),
               nb::arg("rows").noconvert(), nb::arg("posterior"));
}

} // namespace

void bind_mixture_pass(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
