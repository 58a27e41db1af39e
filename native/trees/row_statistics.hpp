// What the rows of a node add up to: their weight, and one sum or many.
//
// A bin, a side of a split and a node are all described by `stride` numbers: the weight W, then the
// sums that criteria.hpp scores. Rows carry what they add, so that a node reads them in order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace thetahat::trees {

// One sum Σ w·y: a regression of one output, or two classes with y in {0, 1}.
struct OneSum {
    struct Row {
        double w, y;
    };
    const double *y;
    double centre; // subtracted from y in sums, so that a large mean does not swamp the rest

    static constexpr std::size_t stride() { return 2; }
    Row row(std::uint32_t at, double w) const { return {w, y[at]}; }
    void add(double *sums, const Row &row) const {
        sums[0] += row.w;
        sums[1] += row.w * (row.y - centre);
    }
    bool same(const Row &a, const Row &b) const { return a.y == b.y; }

    // The sums of the rows i for which `counts(i)`; in four strands, so that additions do not wait
    // for one another; without branches, for sides of splits cannot be foreseen.
    template <typename Counts>
    void total(std::span<const Row> rows, double *sums, const Counts &counts) const {
        std::array<double, 4> w{}, s{};
        std::size_t i = 0;
        for (; i + 4 <= rows.size(); i += 4)
            for (std::size_t k = 0; k < 4; ++k) {
                const double weight = rows[i + k].w * static_cast<double>(counts(i + k));
                w[k] += weight;
                s[k] += weight * (rows[i + k].y - centre);
            }
        for (; i < rows.size(); ++i) {
            const double weight = rows[i].w * static_cast<double>(counts(i));
            w[0] += weight;
            s[0] += weight * (rows[i].y - centre);
        }
        sums[0] = (w[0] + w[1]) + (w[2] + w[3]);
        sums[1] = (s[0] + s[1]) + (s[2] + s[3]);
    }

    // Σ w·(y − mean)² of few rows, the mean counted from the centre; more than enough of many.
    double spread(std::span<const Row> rows, double mean) const {
        if (rows.size() > few)
            return std::numeric_limits<double>::infinity();
        double sum = 0.0;
        for (const Row &row : rows)
            sum += row.w * ((row.y - centre) - mean) * ((row.y - centre) - mean);
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
    template <typename Counts>
    void total(std::span<const Row> rows, double *sums, const Counts &counts) const {
        std::fill(sums, sums + stride(), 0.0);
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (counts(i))
                add(sums, rows[i]);
    }
};

} // namespace thetahat::trees
