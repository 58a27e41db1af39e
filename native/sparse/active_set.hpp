// The Cholesky factor LLᵀ = G_SS + diag(l2_S) of an active set S of columns, kept while columns
// join and leave. A column that joins adds a row to L. A few columns that leave are removed by
// rotations in O(|S|²) each; if many leave, the rows after the first of them are computed again.
// Columns are held in the order in which they joined, and one thread does all the work, so the
// order of sums follows from the calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/dots.hpp"
#include "core/simd4.hpp"

namespace thetahat {

class ActiveSet {
  public:
    // `rank`: the largest number of independent columns, where it is known.
    explicit ActiveSet(std::size_t rank) : rank(rank) {}

    const std::size_t rank;

    const std::vector<std::size_t> &members() const { return columns; }

    void clear() {
        columns.clear();
        lifts.clear();
        factor.clear();
    }

    // The columns with a sign become the members, but for those that depend linearly on others,
    // which are returned. The rows of `gram` are `stride` long.
    const std::vector<std::size_t> &move_to(const double *gram, std::size_t stride,
                                            const double *l2, const std::vector<double> &signs) {
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (lifts[i] != l2[columns[i]]) {
                clear();
                break;
            }
        joins.clear();
        refused.clear();
        leave(signs);
        inside.assign(signs.size(), 0);
        for (const std::size_t j : columns)
            inside[j] = 1;
        for (const std::size_t j : joins)
            inside[j] = 1;
        for (std::size_t j = 0; j < signs.size(); ++j)
            if (signs[j] != 0.0 && !inside[j])
                joins.push_back(j);
        for (std::size_t at = 0; at < joins.size(); at += TOGETHER)
            add(gram, stride, l2, joins.data() + at, std::min(TOGETHER, joins.size() - at));
        return refused;
    }

    // (G_SS + diag(l2_S))⁻¹ x in place.
    void solve(double *x) const {
        const std::size_t s = columns.size();
        for (std::size_t i = 0; i < s; ++i)
            x[i] = (x[i] - dot(row(i), x, i)) / row(i)[i];
        for (std::size_t i = s; i-- > 0;) {
            const double *own = row(i);
            const double value = x[i] /= own[i];
            for (std::size_t j = 0; j < i; ++j)
                x[j] -= own[j] * value;
        }
    }

  private:
    // Shares of its square that a column must add to those before it, without and with an l2 term.
    static constexpr double least_new = 1e-9, least_lifted = 1e-13;
    static constexpr std::size_t TOGETHER = 2; // columns that join in one pass over L
    static constexpr std::size_t rotation = 3; // cost of a rotation, in products of a new row

    // Row i of L has i + 1 entries.
    const double *row(std::size_t i) const { return factor.data() + i * (i + 1) / 2; }
    double *row(std::size_t i) { return factor.data() + i * (i + 1) / 2; }

    void resize(std::size_t s) {
        columns.resize(s);
        lifts.resize(s);
        factor.resize(s * (s + 1) / 2);
    }

    void leave(const std::vector<double> &signs) {
        const std::size_t s = columns.size();
        std::size_t first = s, count = 0;
        for (std::size_t i = s; i-- > 0;)
            if (signs[columns[i]] == 0.0) {
                first = i;
                ++count;
            }
        if (rotation * count <= s - first) {
            for (std::size_t i = s; i-- > first;)
                if (signs[columns[i]] == 0.0)
                    remove(i);
            return;
        }
        for (std::size_t i = first; i < s; ++i)
            if (signs[columns[i]] != 0.0)
                joins.push_back(columns[i]);
        resize(first);
    }

    // Row r of the new factor is row r + 1 of the old one, which has an entry more; a rotation of
    // two neighbouring columns for each row removes it.
    void remove(std::size_t p) {
        const std::size_t s = columns.size();
        cosines.resize(s);
        sines.resize(s);
        for (std::size_t r = p; r + 1 < s; ++r) {
            const double *from = row(r + 1);
            double *to = row(r), carried = from[p];
            for (std::size_t c = 0; c < p; ++c)
                to[c] = from[c];
            for (std::size_t c = p; c < r; ++c) {
                const double next = from[c + 1];
                to[c] = cosines[c] * carried + sines[c] * next;
                carried = cosines[c] * next - sines[c] * carried;
            }
            const double last = from[r + 1], length = std::hypot(carried, last);
            cosines[r] = carried / length;
            sines[r] = last / length;
            to[r] = length;
        }
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(p));
        lifts.erase(lifts.begin() + static_cast<std::ptrdiff_t>(p));
        resize(s - 1);
    }

    // Entries i … i + tall − 1 of L⁻¹y for `TOGETHER` right-hand sides, whose entries before are
    // done. A tile keeps its sums in registers and reads each row of L once.
    template <std::size_t tall> void solve_tile(std::size_t i, double *y, std::size_t width) const {
        Double4 sums[tall][TOGETHER] = {};
        std::size_t c = 0;
        for (; c + 4 <= i; c += 4)
            for (std::size_t a = 0; a < tall; ++a) {
                const Double4 left = load4(row(i + a) + c);
                for (std::size_t b = 0; b < TOGETHER; ++b)
                    sums[a][b] += left * load4(y + b * width + c);
            }
        for (std::size_t a = 0; a < tall; ++a)
            for (std::size_t b = 0; b < TOGETHER; ++b) {
                const double *l = row(i + a);
                double *own = y + b * width, rest = own[i + a] - sum_of(sums[a][b]);
                for (std::size_t e = c; e < i + a; ++e)
                    rest -= l[e] * own[e];
                own[i + a] = rest / l[i + a];
            }
    }

    // Let at most `TOGETHER` columns join, or refuse them.
    void add(const double *gram, std::size_t stride, const double *l2, const std::size_t *which,
             std::size_t count) {
        const std::size_t s = columns.size();
        fresh.assign(TOGETHER * s, 0.0);
        for (std::size_t b = 0; b < count; ++b)
            for (std::size_t i = 0; i < s; ++i)
                fresh[b * s + i] = gram[which[b] * stride + columns[i]];
        std::size_t i = 0;
        for (; i + 4 <= s; i += 4)
            solve_tile<4>(i, fresh.data(), s);
        for (; i < s; ++i)
            solve_tile<1>(i, fresh.data(), s);
        for (std::size_t b = 0; b < count; ++b)
            if (!add_row(gram + which[b] * stride, which[b], l2[which[b]], fresh.data() + b * s, s))
                refused.push_back(which[b]);
    }

    // Add a column whose first `done` entries of the new row are known.
    bool add_row(const double *given, std::size_t j, double l2, const double *known,
                 std::size_t done) {
        const std::size_t s = columns.size();
        const double square = given[j] + l2;
        if (l2 == 0.0 && s >= rank)
            return false;
        resize(s + 1);
        double *own = row(s);
        std::copy_n(known, done, own);
        for (std::size_t i = done; i < s; ++i)
            own[i] = (given[columns[i]] - dot(own, row(i), i)) / row(i)[i];
        const double left = square - dot(own, own, s);
        if (!(left > (l2 > 0.0 ? least_lifted : least_new) * square)) {
            resize(s);
            return false;
        }
        own[s] = std::sqrt(left);
        columns[s] = j;
        lifts[s] = l2;
        return true;
    }

    std::vector<std::size_t> columns, joins, refused;
    std::vector<double> factor, fresh, lifts, cosines, sines; // lifts: the l2 of each member
    std::vector<char> inside;
};

} // namespace thetahat
