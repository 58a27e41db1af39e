// The Cholesky factor LLᵀ of a symmetric matrix that grows and shrinks by one row and column, such
// as the Gram matrix of the columns in use. A new column adds a row to L in O(s²); one that leaves
// is removed by rotations in O(s²). One thread does all the work, so the order of sums follows from
// the calls.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/simd4.hpp"

namespace thetahat {

class CholeskyFactor {
  public:
    double pivot(std::size_t i) const { return row(i)[i]; }

    // Keeps the first `size` rows and columns.
    void shrink(std::size_t size) { size_ = size; }

    // Room for the products of the next column with those before it, which `append` reads.
    double *next() {
        const std::size_t needed = (size_ + 1) * (size_ + 2) / 2;
        if (rows.size() < needed)
            rows.resize(needed);
        return row(size_);
    }

    // Appends a column with the products in `next`, of which the first `done` are already entries
    // of L⁻¹x. If at most the share `least` of its square lies outside the span of those before it,
    // it returns false and leaves the factor unchanged.
    bool append(double square, double least, std::size_t done = 0) {
        double *own = row(size_);
        forward<1>(own, 0, done);
        const double left = square - sum_of_squares(own, size_);
        if (!(left > least * square))
            return false;
        own[size_++] = std::sqrt(left);
        return true;
    }

    // Row r of the new factor is row r + 1 of the old one, which has an entry more; a rotation of
    // two neighbouring columns for each row removes it.
    void remove(std::size_t p) {
        const std::size_t s = size_;
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
        size_ = s - 1;
    }

    // L⁻¹x in place for `count` right-hand sides that begin `width` numbers apart, in one pass over
    // L. Their first `done` entries are known.
    template <std::size_t count>
    void forward(double *x, std::size_t width = 0, std::size_t done = 0) const {
        std::size_t i = done;
        for (; i + 4 <= size_; i += 4)
            solve_tile<4, count>(i, x, width);
        for (; i < size_; ++i)
            solve_tile<1, count>(i, x, width);
    }

    // L⁻ᵀx in place.
    void backward(double *x) const {
        for (std::size_t i = size_; i-- > 0;) {
            const double *own = row(i);
            const double value = x[i] /= own[i];
            for (std::size_t j = 0; j < i; ++j)
                x[j] -= own[j] * value;
        }
    }

    // (LLᵀ)⁻¹x in place.
    void solve(double *x) const {
        forward<1>(x);
        backward(x);
    }

  private:
    // Row i of L has i + 1 entries.
    const double *row(std::size_t i) const { return rows.data() + i * (i + 1) / 2; }
    double *row(std::size_t i) { return rows.data() + i * (i + 1) / 2; }

    static double sum_of_squares(const double *x, std::size_t n) {
        Double4 sums = {};
        std::size_t i = 0;
        for (; i + 4 <= n; i += 4)
            sums += load4(x + i) * load4(x + i);
        double sum = sum_of(sums);
        for (; i < n; ++i)
            sum += x[i] * x[i];
        return sum;
    }

    // Entries i … i + tall − 1 of L⁻¹x, where the entries before are done. A tile keeps its sums in
    // registers and reads each row of L once.
    template <std::size_t tall, std::size_t count>
    void solve_tile(std::size_t i, double *x, std::size_t width) const {
        Double4 sums[tall][count] = {};
        std::size_t c = 0;
        for (; c + 4 <= i; c += 4)
            for (std::size_t a = 0; a < tall; ++a) {
                const Double4 left = load4(row(i + a) + c);
                for (std::size_t b = 0; b < count; ++b)
                    sums[a][b] += left * load4(x + b * width + c);
            }
        for (std::size_t a = 0; a < tall; ++a)
            for (std::size_t b = 0; b < count; ++b) {
                const double *l = row(i + a);
                double *own = x + b * width, rest = own[i + a] - sum_of(sums[a][b]);
                for (std::size_t e = c; e < i + a; ++e)
                    rest -= l[e] * own[e];
                own[i + a] = rest / l[i + a];
            }
    }

    std::size_t size_ = 0;
    std::vector<double> rows, cosines, sines;
};

} // namespace thetahat
