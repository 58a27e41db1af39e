// A jump of the model of precision_model.hpp to its minimum over the pairs with β ≠ 0 and the
// diagonal, with the signs of β fixed: P(WXW)P = residual, by conjugate gradients. Coordinate
// descent needs a number of sweeps that grows with the square of the condition of W; conjugate
// gradients with the preconditioner P(QRQ)P, the inverse without the projection P, need few
// products. A product costs O(d) per pair, in a fixed order.
//
// Entries that would change their sign become 0. If this does not lower the model, a shorter jump
// is tried; one without a change of sign always lowers it.
#pragma once

#include <algorithm>

#include "graphical/precision_model.hpp"

namespace thetahat {

// Σ a_i b_i of rows of a few dozen or hundred entries, with fewer partial sums than `dot`.
inline double short_dot(const double *a, const double *b, std::size_t n) {
    constexpr std::size_t LANES = 8;
    double part[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (std::size_t l = 0; l < LANES; ++l)
            part[l] += a[i + l] * b[i + l];
    for (std::size_t l = 0; i < n; ++i, ++l)
        part[l] += a[i] * b[i];
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
}

class PrecisionJump {
  public:
    explicit PrecisionJump(PrecisionModel &model)
        : model_(model), d_(model.d), product_(d_ * d_), turned_(d_ * d_), rows_(d_), entries_(d_) {
        std::size_t filled = 0;
        for (std::size_t i = 0; i < d_; ++i) {
            for (std::size_t k = 0; k < d_; ++k)
                if (model.q[i * d_ + k] != 0.0)
                    rows_[i].push_back(static_cast<std::uint32_t>(k));
            filled += rows_[i].size();
        }
        dense_ = 8 * filled > d_ * d_;
    }

    // The number of conjugate gradient steps.
    std::size_t jump(double tolerance, std::size_t most) {
        support_.clear();
        for (std::size_t pair = 0; pair < model_.size(); ++pair)
            if (model_.beta[pair] != 0.0 || model_.is_diagonal(pair))
                support_.push_back(pair);
        for (std::vector<Entry> &row : entries_)
            row.clear();
        for (std::size_t a = 0; a < support_.size(); ++a) {
            const std::uint32_t i = model_.first[support_[a]], j = model_.second[support_[a]];
            entries_[i].push_back({j, static_cast<std::uint32_t>(a)});
            if (i != j)
                entries_[j].push_back({i, static_cast<std::uint32_t>(a)});
        }
        const std::size_t k = support_.size();
        std::vector<double> residual(k), found(k), conjugate(k), image(k), improved(k);
        turn(model_.u.data());
        for (std::size_t a = 0; a < k; ++a) {
            const std::size_t pair = support_[a];
            residual[a] = model_.pull(pair) - inner(pair, model_.w) - sign_of(pair) * model_.alpha;
        }
        precondition(residual, improved);
        double size = weighted(residual, improved);
        const double first = size;
        conjugate = improved;
        std::size_t steps = 0;
        while (steps < most && size > tolerance * tolerance * first) {
            apply(conjugate, image, model_.w);
            const double curved = weighted(conjugate, image);
            if (!(curved > 0.0))
                break;
            ++steps;
            const double length = size / curved;
            for (std::size_t a = 0; a < k; ++a) {
                found[a] += length * conjugate[a];
                residual[a] -= length * image[a];
            }
            precondition(residual, improved);
            const double next = weighted(residual, improved);
            for (std::size_t a = 0; a < k; ++a)
                conjugate[a] = improved[a] + next / size * conjugate[a];
            size = next;
        }
        take(found);
        return steps;
    }

  private:
    struct Entry {
        std::uint32_t column, place; // in the matrix, in the support
    };

    PrecisionModel &model_;
    std::size_t d_;
    std::vector<double> product_, turned_;
    std::vector<std::vector<std::uint32_t>> rows_; // of the entries of Q that are not 0
    std::vector<std::vector<Entry>> entries_;      // of the support, in both triangles
    std::vector<std::size_t> support_;
    bool dense_; // products with the zeros of Q are then faster than without

    double sign_of(std::size_t pair) const {
        const double at = model_.beta[pair];
        return model_.is_diagonal(pair) || at == 0.0 ? 0.0 : at > 0.0 ? 1.0 : -1.0;
    }

    // tr(XY): pairs off the diagonal count twice.
    double weighted(const std::vector<double> &x, const std::vector<double> &y) const {
        return sum_in_lanes(x.size(), [&](std::size_t a) {
            return (model_.is_diagonal(support_[a]) ? 1.0 : 2.0) * x[a] * y[a];
        });
    }

    void turn(const double *matrix) { // in blocks, for the cache
        constexpr std::size_t BLOCK = 16;
        for (std::size_t i = 0; i < d_; i += BLOCK)
            for (std::size_t j = 0; j < d_; j += BLOCK)
                for (std::size_t r = i; r < std::min(d_, i + BLOCK); ++r)
                    for (std::size_t c = j; c < std::min(d_, j + BLOCK); ++c)
                        turned_[c * d_ + r] = matrix[r * d_ + c];
    }

    // (matrix·product)_ij of the product that was turned.
    double inner(std::size_t pair, const double *matrix) const {
        return short_dot(matrix + model_.first[pair] * d_,
                         turned_.data() + model_.second[pair] * d_, d_);
    }

    // product = X·matrix, row by row: a row of the product stays in the cache.
    void multiply(const std::vector<double> &x, const double *matrix) {
        for (std::size_t i = 0; i < d_; ++i) {
            double *__restrict to = product_.data() + i * d_;
            std::fill_n(to, d_, 0.0);
            const std::vector<Entry> &row = entries_[i];
            std::size_t at = 0;
            for (; at + 4 <= row.size(); at += 4) {
                const double x0 = x[row[at].place], x1 = x[row[at + 1].place],
                             x2 = x[row[at + 2].place], x3 = x[row[at + 3].place];
                const double *m0 = matrix + row[at].column * d_,
                             *m1 = matrix + row[at + 1].column * d_,
                             *m2 = matrix + row[at + 2].column * d_,
                             *m3 = matrix + row[at + 3].column * d_;
                for (std::size_t k = 0; k < d_; ++k)
                    to[k] += (x0 * m0[k] + x1 * m1[k]) + (x2 * m2[k] + x3 * m3[k]);
            }
            for (; at < row.size(); ++at) {
                const double by = x[row[at].place];
                const double *from = matrix + row[at].column * d_;
                for (std::size_t k = 0; k < d_; ++k)
                    to[k] += by * from[k];
            }
        }
        turn(product_.data());
    }

    // image = P(WXW), or P(QXQ) where Q is dense.
    void apply(const std::vector<double> &x, std::vector<double> &image, const double *matrix) {
        multiply(x, matrix);
        for (std::size_t a = 0; a < support_.size(); ++a)
            image[a] = inner(support_[a], matrix);
    }

    // improved = P(QRQ)
    void precondition(const std::vector<double> &r, std::vector<double> &improved) {
        if (dense_)
            return apply(r, improved, model_.q);
        for (std::size_t i = 0; i < d_; ++i) {
            double *to = product_.data() + i * d_;
            std::fill_n(to, d_, 0.0);
            for (const Entry &entry : entries_[i])
                for (const std::uint32_t k : rows_[entry.column])
                    to[k] += r[entry.place] * model_.q[entry.column * d_ + k];
        }
        turn(product_.data());
        for (std::size_t a = 0; a < support_.size(); ++a) {
            const std::size_t i = model_.first[support_[a]];
            const double *column = turned_.data() + model_.second[support_[a]] * d_;
            double sum = 0.0;
            for (const std::uint32_t k : rows_[i])
                sum += model_.q[i * d_ + k] * column[k];
            improved[a] = sum;
        }
    }

    // β + t·x without changes of sign, for the first t = 1, ½, ¼ ... that lowers the model.
    void take(const std::vector<double> &x) {
        const std::size_t k = support_.size();
        std::vector<double> clipped(k), image(k);
        bool crosses = true;
        for (double length = 1.0; crosses; length /= 2.0) {
            crosses = false;
            for (std::size_t a = 0; a < k; ++a) {
                const double from = model_.beta[support_[a]], to = from + length * x[a];
                const bool turns = !model_.is_diagonal(support_[a]) && to * from < 0.0;
                clipped[a] = turns ? -from : length * x[a];
                crosses |= turns;
            }
            apply(clipped, image, model_.w);
            if (crosses && change(clipped, image) < 0.0)
                break;
        }
        for (std::size_t a = 0; a < k; ++a) {
            double &beta = model_.beta[support_[a]];
            beta = clipped[a] == -beta ? 0.0 : beta + clipped[a];
        }
        for (std::size_t i = 0; i < d_ * d_; ++i)
            model_.u[i] += product_[i];
        model_.current = d_; // the column that was kept is out of date
    }

    // m(D + X) − m(D), where no sign changes; image = P(WXW).
    double change(const std::vector<double> &x, const std::vector<double> &image) {
        turn(model_.u.data());
        return sum_in_lanes(x.size(), [&](std::size_t a) {
            const std::size_t pair = support_[a];
            const double slope = inner(pair, model_.w) - model_.pull(pair) +
                                 sign_of(pair) * model_.alpha + 0.5 * image[a];
            return (model_.is_diagonal(pair) ? 1.0 : 2.0) * x[a] * slope;
        });
    }
};

} // namespace thetahat
