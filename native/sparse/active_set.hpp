// The Cholesky factor of the Gram matrix of some columns, kept while columns join and leave: the
// rows before the first column that leaves stay valid, and a column that joins adds one row.
// Columns are held in the order in which they joined, so the order of sums follows from the calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/dots.hpp"

namespace thetahat {

class ActiveSet {
  public:
    // `least_new`: the share of its square that a column must add to those before it.
    ActiveSet(const double *gram, std::size_t k, double least_new)
        : gram(gram), k(k), least_new(least_new), factor(k * k), inside(k, 0) {}

    const std::vector<std::size_t> &members() const { return columns; }

    void clear() {
        for (const std::size_t j : columns)
            inside[j] = 0;
        columns.clear();
        factored = 0;
    }

    // The columns with a sign become the members; false if they are dependent.
    bool move_to(const std::vector<double> &signs, double l2) {
        std::size_t kept = 0, ahead = l2 == lifted ? factored : 0;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (signs[columns[i]] != 0.0)
                columns[kept++] = columns[i];
            else {
                inside[columns[i]] = 0;
                ahead = std::min(ahead, kept);
            }
        }
        columns.resize(kept);
        for (std::size_t j = 0; j < k; ++j)
            if (signs[j] != 0.0 && !inside[j]) {
                inside[j] = 1;
                columns.push_back(j);
            }
        lifted = l2;
        for (factored = ahead; factored < columns.size(); ++factored)
            if (!add_row(factored))
                return false;
        return true;
    }

    // (G_SS + l2)⁻¹ x in place.
    void solve(double *x) const {
        const std::size_t s = columns.size();
        for (std::size_t i = 0; i < s; ++i)
            x[i] = (x[i] - dot(row(i), x, i)) / row(i)[i];
        for (std::size_t i = s; i-- > 0;) {
            x[i] /= row(i)[i];
            for (std::size_t j = 0; j < i; ++j)
                x[j] -= row(i)[j] * x[i];
        }
    }

  private:
    const double *row(std::size_t i) const { return factor.data() + i * k; }

    bool add_row(std::size_t i) {
        double *own = factor.data() + i * k;
        const double *given = gram + columns[i] * k;
        for (std::size_t j = 0; j < i; ++j)
            own[j] = (given[columns[j]] - dot(own, row(j), j)) / row(j)[j];
        const double square = given[columns[i]] + lifted, left = square - dot(own, own, i);
        own[i] = std::sqrt(std::max(left, 0.0));
        return left > least_new * square;
    }

    const double *gram;
    std::size_t k, factored = 0;
    double least_new, lifted = 0.0; // the l2 that the factor was made with
    std::vector<std::size_t> columns;
    std::vector<double> factor;
    std::vector<char> inside;
};

} // namespace thetahat
