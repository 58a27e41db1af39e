// The Cholesky factor LLᵀ = G_SS + diag(l2_S) of an active set S of columns, kept while columns
// join and leave. A few columns that leave are removed one by one; if many leave, the rows of L
// after the first of them are computed again. Columns are held in the order in which they joined,
// and one thread does all the work, so the order of sums follows from the calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "linalg/cholesky_factor.hpp"

namespace thetahat {

class ActiveSet {
  public:
    // `rank`: the largest number of independent columns, where it is known.
    explicit ActiveSet(std::size_t rank) : rank(rank) {}

    const std::size_t rank;

    const std::vector<std::size_t> &members() const { return columns; }

    void clear() { shrink(0); }

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
    void solve(double *x) const { factor.solve(x); }

  private:
    // Shares of its square that a column must add to those before it, without and with an l2 term.
    static constexpr double least_new = 1e-9, least_lifted = 1e-13;
    static constexpr std::size_t TOGETHER = 2; // columns that join in one pass over L
    static constexpr std::size_t rotation = 3; // cost of a rotation, in products of a new row

    void shrink(std::size_t s) {
        columns.resize(s);
        lifts.resize(s);
        factor.shrink(s);
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
        shrink(first);
    }

    void remove(std::size_t p) {
        factor.remove(p);
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(p));
        lifts.erase(lifts.begin() + static_cast<std::ptrdiff_t>(p));
    }

    // Let at most `TOGETHER` columns join, or refuse them.
    void add(const double *gram, std::size_t stride, const double *l2, const std::size_t *which,
             std::size_t count) {
        const std::size_t s = columns.size();
        fresh.assign(TOGETHER * s, 0.0);
        for (std::size_t b = 0; b < count; ++b)
            for (std::size_t i = 0; i < s; ++i)
                fresh[b * s + i] = gram[which[b] * stride + columns[i]];
        factor.forward<TOGETHER>(fresh.data(), s);
        for (std::size_t b = 0; b < count; ++b) {
            const std::size_t j = which[b];
            double *products = factor.next();
            std::copy_n(fresh.data() + b * s, s, products);
            for (std::size_t i = s; i < columns.size(); ++i)
                products[i] = gram[j * stride + columns[i]];
            const double least = l2[j] > 0.0 ? least_lifted : least_new;
            if ((l2[j] == 0.0 && columns.size() >= rank) ||
                !factor.append(gram[j * stride + j] + l2[j], least, s)) {
                refused.push_back(j);
                continue;
            }
            columns.push_back(j);
            lifts.push_back(l2[j]);
        }
    }

    CholeskyFactor factor;
    std::vector<std::size_t> columns, joins, refused;
    std::vector<double> fresh, lifts; // lifts: the l2 of each member
    std::vector<char> inside;
};

} // namespace thetahat
