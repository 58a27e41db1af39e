// The sums over the rows of a node: their weight, and one sum or many.
//
// A bin, a side of a split and a node are all described by `stride` numbers: the weight W and the
// sums that criteria.hpp scores. The statistics of the rows of a node are stored in the order of
// the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/simd4.hpp"

namespace thetahat::trees {

// One sum Σ w·y: a regression of one output, or two classes with y in {0, 1}.
struct OneSum {
    struct Row {
        double w, y;
    };
    // Some rows one after the other, weights and targets each in an array of their own.
    struct Stretch {
        const double *w, *y;
        std::size_t n;

        std::size_t size() const { return n; }
        Row operator[](std::size_t i) const { return {w[i], y[i]}; }
    };
    struct Rows {
        std::vector<double> w{}, y{};

        void resize(std::size_t n) {
            w.resize(n);
            y.resize(n);
        }
        Row operator[](std::size_t i) const { return {w[i], y[i]}; }
        void put(std::size_t i, const Row &row) {
            w[i] = row.w;
            y[i] = row.y;
        }
        // The first n of `from`, from place i on.
        void put(std::size_t i, const Rows &from, std::size_t n) {
            std::copy_n(from.w.data(), n, w.data() + i);
            std::copy_n(from.y.data(), n, y.data() + i);
        }
        Stretch stretch(std::size_t begin, std::size_t n) const {
            return {w.data() + begin, y.data() + begin, n};
        }
    };

    const double *y;
    double centre; // subtracted from y in sums, so that a large mean costs no digits

    static constexpr std::size_t stride() { return 2; }
    Row row(std::uint32_t at, double w) const { return {w, y[at]}; }
    void add(double *sums, const Row &row) const {
        sums[0] += row.w;
        sums[1] += row.w * (row.y - centre);
    }
    bool same(const Row &a, const Row &b) const { return a.y == b.y; }
    double square(const Row &row) const { return (row.y - centre) * (row.y - centre); }

    void total(const Stretch &rows, double *sums) const {
        total(rows, rows.y, sums, [](const auto &y) { return y == y; });
    }

    // The sums of the rows i with `counts(values[i])`, of one number or of four at once. Without
    // branches, because the side of a row is unpredictable; in eight partial sums, so that
    // additions do not depend on each other.
    template <typename Counts>
    void total(const Stretch &rows, const double *values, double *sums,
               const Counts &counts) const {
        Double4 w[2] = {}, s[2] = {};
        constexpr Double4 nothing = {};
        std::size_t i = 0;
        for (; i + 8 <= rows.n; i += 8)
            for (std::size_t half = 0; half < 2; ++half) {
                const std::size_t at = i + 4 * half;
                const Double4 weight = counts(load4(values + at)) ? load4(rows.w + at) : nothing;
                w[half] += weight;
                s[half] += weight * (load4(rows.y + at) - centre);
            }
        double last_w = 0.0, last_s = 0.0;
        for (; i < rows.n; ++i) {
            const double weight = counts(values[i]) ? rows.w[i] : 0.0;
            last_w += weight;
            last_s += weight * (rows.y[i] - centre);
        }
        sums[0] = sum_of(w[0] + w[1]) + last_w;
        sums[1] = sum_of(s[0] + s[1]) + last_s;
    }

    // Σ w·(y − mean)² of few rows, with the mean relative to the centre; an upper bound for many.
    double spread(const Stretch &rows, double mean) const {
        if (rows.n > few)
            return std::numeric_limits<double>::infinity();
        double sum = 0.0;
        for (std::size_t i = 0; i < rows.n; ++i) {
            const double apart = (rows.y[i] - centre) - mean;
            sum += rows.w[i] * apart * apart;
        }
        return sum;
    }
    static constexpr std::size_t few = 64;
};

// Many sums: w in the slot of the row's class for each output, or w·y for each output.
struct ManySums {
    struct Row {
        double w;
        std::uint32_t at;
    };
    struct Stretch {
        const Row *rows;
        std::size_t n;

        std::size_t size() const { return n; }
        const Row &operator[](std::size_t i) const { return rows[i]; }
    };
    struct Rows {
        std::vector<Row> rows{};

        void resize(std::size_t n) { rows.resize(n); }
        const Row &operator[](std::size_t i) const { return rows[i]; }
        void put(std::size_t i, const Row &row) { rows[i] = row; }
        void put(std::size_t i, const Rows &from, std::size_t n) {
            std::copy_n(from.rows.data(), n, rows.data() + i);
        }
        Stretch stretch(std::size_t begin, std::size_t n) const { return {rows.data() + begin, n}; }
    };

    const std::uint32_t *slots; // of each row and output; null: a regression
    const double *y;            // of each row and output
    std::size_t outputs, n_sums;

    std::size_t stride() const { return 1 + n_sums; }
    Row row(std::uint32_t at, double w) const { return {w, at}; }
    void add(double *sums, const Row &row) const {
        sums[0] += row.w;
        const std::size_t first = row.at * outputs;
        if (slots)
            for (std::size_t k = first; k < first + outputs; ++k)
                sums[1 + slots[k]] += row.w;
        else
            for (std::size_t k = 0; k < outputs; ++k)
                sums[1 + k] += row.w * y[first + k];
    }
    bool same(const Row &a, const Row &b) const {
        for (std::size_t k = 0; k < outputs; ++k)
            if (y[a.at * outputs + k] != y[b.at * outputs + k])
                return false;
        return true;
    }
    double square(const Row &row) const {
        if (slots)
            return static_cast<double>(outputs);
        double sum = 0.0;
        for (std::size_t k = row.at * outputs; k < (row.at + 1) * outputs; ++k)
            sum += y[k] * y[k];
        return sum;
    }
    void total(const Stretch &rows, double *sums) const {
        std::fill(sums, sums + stride(), 0.0);
        for (std::size_t i = 0; i < rows.n; ++i)
            add(sums, rows[i]);
    }
    template <typename Counts>
    void total(const Stretch &rows, const double *values, double *sums,
               const Counts &counts) const {
        std::fill(sums, sums + stride(), 0.0);
        for (std::size_t i = 0; i < rows.n; ++i)
            if (counts(values[i]))
                add(sums, rows[i]);
    }
};

} // namespace thetahat::trees
