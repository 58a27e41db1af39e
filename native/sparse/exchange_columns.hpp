// Exchanges linearly dependent columns, so that Σ_j l1_j |β_j| decreases and Xβ does not change.
//
// `inside` are independent columns I, and each column q of `outside` is x_q = Σ_{i∈I} table_qi x_i.
// Along β_q + t, β_i − t·table_qi only the penalty changes, and it is linear as long as no
// coefficient changes its sign. Each q in turn moves in the direction in which the penalty
// decreases, until a coefficient is zero: its own, or that of an i, which leaves I while q replaces
// it,
//
//     x_r = Σ_{k≠i} (table_rk − f table_qk) x_k + f x_q,    f = table_ri / table_qi,    r ∈
//     outside.
//
// Where β is zero, `sign` gives the direction in which it may move. Columns, coefficients, signs
// and l1 are changed in place; those outside end at zero or where their penalty is lowest.
// O(|inside|·|outside|) for each exchange; one thread, with a fixed order of sums.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace thetahat {

inline constexpr double NOTHING = 1e-12; // the least share of a column that counts
inline constexpr double LEVEL = 1e-12;   // the least share by which a penalty must fall

struct Exchanged {
    std::int64_t *which;
    double *beta, *sign, *l1;
    std::size_t count;
};

// `first`: the table, a row per column outside.
inline void exchange_columns(double *first, const Exchanged &in, const Exchanged &out) {
    const std::size_t m = in.count;
    for (std::size_t q = 0; q < out.count; ++q) {
        double *row = first + q * m;
        const double s = out.sign[q];
        double slope = out.l1[q], scale = out.l1[q];
        for (std::size_t i = 0; i < m; ++i) {
            const double part = in.l1[i] * in.sign[i] * row[i];
            slope -= s * part;
            scale += std::abs(part);
        }
        const bool level = std::abs(slope) <= LEVEL * scale;
        if (out.beta[q] == 0.0 && (slope > 0.0 || level))
            continue;
        const double way = (slope < 0.0 && !level) ? s : -s; // of β_q
        double length = way == s ? std::numeric_limits<double>::infinity() : std::abs(out.beta[q]);
        std::size_t leaves = m;
        for (std::size_t i = 0; i < m; ++i) {
            const double by = -way * row[i];
            if (std::abs(by) > NOTHING && by * in.sign[i] < 0.0) {
                const double until = std::abs(in.beta[i] / by);
                if (until < length) {
                    length = until;
                    leaves = i;
                }
            }
        }
        if (!std::isfinite(length))
            continue;
        for (std::size_t i = 0; i < m; ++i) {
            const double moved = in.beta[i] - length * way * row[i];
            in.beta[i] = moved * in.sign[i] < 0.0 ? 0.0 : moved; // rounding must not change a sign
        }
        out.beta[q] += length * way;
        if (leaves == m) {
            out.beta[q] = 0.0;
            continue;
        }
        in.beta[leaves] = 0.0;
        const double pivot = row[leaves];
        for (std::size_t r = q + 1; r < out.count; ++r) {
            double *other = first + r * m;
            const double share = other[leaves] / pivot;
            for (std::size_t k = 0; k < m; ++k)
                other[k] -= share * row[k];
            other[leaves] = share;
        }
        std::swap(in.which[leaves], out.which[q]);
        std::swap(in.beta[leaves], out.beta[q]);
        std::swap(in.sign[leaves], out.sign[q]);
        std::swap(in.l1[leaves], out.l1[q]);
    }
}

} // namespace thetahat
