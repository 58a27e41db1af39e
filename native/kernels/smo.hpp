// Sequential minimal optimisation of
//
//     min over β of  ½ βᵀKβ + pᵀβ + kink·Σ|β_v|,   lower ≤ β ≤ upper,   Σ β_v fixed in each group,
//
// the dual of support vector machines: classification has kink 0 and boxes [0, C] or [−C, 0],
// regression has kink ε and boxes [−C, C]. The groups are [0, split) and [split, m).
//
// Invariant, in place: G = Kβ + p. Let rise_v = G_v ± kink be the derivative of the objective to
// the right and fall_v the one to the left; infinite at a bound. β is optimal if no group has
// i, j with rise_i < fall_j. A step takes i with the least rise, and j of its group that promises
// the largest decrease, (fall_j − rise_i)²/(2η) with η = K_ii + K_jj − 2K_ij (second-order
// selection of Fan, Chen and Lin 2005), and moves β_i up and β_j down by the same amount: to the
// minimum of the parabola, or to the next bound or kink. If η ≤ 0 (K is not positive semi-definite)
// a tiny η takes the pair to a bound; the objective decreases in any case.
//
// Variables that no pair would move, because a bound or kink holds them against all others, are
// settled. Once few are not, many steps are taken with these alone, whose rows of K are gathered
// into short ones, and then the derivatives of all are brought up to date: two rows of K for each
// two variables that have moved, so that this never costs more than as many steps of all. A linear
// kernel of few columns, which leaves few variables free and takes many steps, gains most.
//
// Each step passes twice over its variables, by one thread, in four lanes whose minima are joined
// in a fixed order. Rows of K may be computed by several threads, without changing their bits.
#pragma once

#include <cstring>
#include <limits>
#include <tuple>

#include "kernels/gram_rows.hpp"

namespace thetahat::smo {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least_bend = 1e-12;
constexpr std::size_t block = 64;

// Two numbers at once: every machine has registers of this width, and compilers keep comparisons of
// them in registers, which they do not for wider vectors than the machine has.
using Two = double __attribute__((vector_size(2 * sizeof(double))));

inline Two load2(const double *from) {
    Two two;
    std::memcpy(&two, from, sizeof two);
    return two;
}
inline Two load2(const float *from) {
    using Narrow = float __attribute__((vector_size(2 * sizeof(float))));
    Narrow two;
    std::memcpy(&two, from, sizeof two);
    return __builtin_convertvector(two, Two);
}
inline void store2(double *to, const Two &two) { std::memcpy(to, &two, sizeof two); }
inline Two smaller(const Two &a, const Two &b) { return a < b ? a : b; }

struct Problem {
    std::size_t m, split;
    const double *diagonal, *lower, *upper;
    double kink;
    double *beta, *gradient;
};

// What is added to G for the derivatives to the right and to the left.
struct Sides {
    std::vector<double> rise, fall;
    explicit Sides(const Problem &p) : rise(p.m), fall(p.m) {
        for (std::size_t v = 0; v < p.m; ++v)
            update(p, v);
    }
    void update(const Problem &p, std::size_t v) {
        const double b = p.beta[v];
        rise[v] = b >= p.upper[v] ? infinity : b >= 0.0 ? p.kink : -p.kink;
        fall[v] = b <= p.lower[v] ? -infinity : b > 0.0 ? p.kink : -p.kink;
    }
};

struct Best {
    std::size_t at;
    double value;
};

// G_v += first·a_v + second·b_v for all v of the range, and the least rise afterwards.
template <bool moves, typename T>
Best least_rise(const Problem &p, const Sides &sides, std::size_t from, std::size_t to,
                double first, const T *a, double second, const T *b) {
    double *G = p.gradient;
    const double *rise = sides.rise.data();
    Best best{to, infinity};
    for (std::size_t begin = from; begin < to; begin += block) {
        const std::size_t end = std::min(to, begin + block);
        Two low = {infinity, infinity}, next = low;
        std::size_t v = begin;
        for (; v + 4 <= end; v += 4) {
            Two g = load2(G + v), h = load2(G + v + 2);
            if constexpr (moves) {
                g += first * load2(a + v) + second * load2(b + v);
                h += first * load2(a + v + 2) + second * load2(b + v + 2);
                store2(G + v, g);
                store2(G + v + 2, h);
            }
            low = smaller(g + load2(rise + v), low);
            next = smaller(h + load2(rise + v + 2), next);
        }
        low = smaller(low, next);
        double least = std::min(low[0], low[1]);
        for (; v < end; ++v) {
            if constexpr (moves)
                G[v] += first * static_cast<double>(a[v]) + second * static_cast<double>(b[v]);
            least = std::min(least, G[v] + rise[v]);
        }
        if (least < best.value) {
            best.value = least;
            for (v = begin; G[v] + rise[v] != least; ++v) {
            }
            best.at = v;
        }
    }
    return best;
}

struct Partner {
    std::size_t at;
    double gain;    // (fall_j − rise_i)²/η
    double highest; // the largest fall
};

// The best of every fourth variable, twice: (fall − rise)² as `top`, η as `bend`.
struct Lanes {
    Two top = {0.0, 0.0}, bend = {1.0, 1.0}, at = {0.0, 0.0}, high = {-infinity, -infinity}, place;
    explicit Lanes(std::size_t from)
        : place{static_cast<double>(from), static_cast<double>(from + 1)} {}

    void consider(const Two &fall, double rise, Two eta) {
        const Two none = {0.0, 0.0}, tiny = {least_bend, least_bend};
        high = fall > high ? fall : high;
        const Two gap = fall - rise;
        eta = eta > tiny ? eta : tiny;
        const Two square = gap > none ? gap * gap : none;
        const auto better = square * bend > top * eta; // square/eta > top/bend, without dividing
        top = better ? square : top;
        bend = better ? eta : bend;
        at = better ? place : at;
        place += 4.0;
    }
};

// Of the range, the j that promises the largest decrease together with i.
template <typename T>
Partner best_partner(const Problem &p, const Sides &sides, std::size_t from, std::size_t to,
                     std::size_t i, double rise, const T *row) {
    const double *G = p.gradient, *fall = sides.fall.data(), *diagonal = p.diagonal;
    const double own = diagonal[i];
    Lanes lanes[2]{Lanes(from), Lanes(from + 2)};
    std::size_t v = from;
    for (; v + 4 <= to; v += 4)
        for (std::size_t k = 0; k < 2; ++k)
            lanes[k].consider(load2(G + v + 2 * k) + load2(fall + v + 2 * k), rise,
                              own + load2(diagonal + v + 2 * k) - 2.0 * load2(row + v + 2 * k));
    Partner best{to, 0.0, -infinity};
    const auto consider = [&](std::size_t candidate, double gain) {
        if (gain > best.gain || (gain == best.gain && gain > 0.0 && candidate < best.at))
            best.at = candidate, best.gain = gain;
    };
    for (const Lanes &each : lanes)
        for (int k = 0; k < 2; ++k) {
            best.highest = std::max(best.highest, each.high[k]);
            if (each.top[k] > 0.0)
                consider(static_cast<std::size_t>(each.at[k]), each.top[k] / each.bend[k]);
        }
    for (; v < to; ++v) {
        const double d = G[v] + fall[v], gap = d - rise;
        best.highest = std::max(best.highest, d);
        if (gap > 0.0)
            consider(
                v, gap * gap /
                       std::max(least_bend, own + diagonal[v] - 2.0 * static_cast<double>(row[v])));
    }
    return best;
}

// Where β_v stops when it moves up, or down: at 0 if there is a kink, or at the bound.
inline double ceiling(const Problem &p, std::size_t v) {
    return p.kink > 0.0 && p.beta[v] < 0.0 ? std::min(0.0, p.upper[v]) : p.upper[v];
}
inline double floor_of(const Problem &p, std::size_t v) {
    return p.kink > 0.0 && p.beta[v] > 0.0 ? std::max(0.0, p.lower[v]) : p.lower[v];
}

// Rows of the kernel for some of the variables, gathered when they are first used.
template <typename T, typename Rows> struct Part {
    Rows &rows;
    const std::vector<std::size_t> &which;
    std::vector<std::vector<T>> gathered;

    Part(Rows &rows, const std::vector<std::size_t> &which)
        : rows(rows), which(which), gathered(which.size()) {}

    template <typename Source> const T *row(std::size_t i, const Source &source) {
        if (gathered[i].empty()) {
            const T *whole = rows.row(which[i], source);
            gathered[i].resize(which.size());
            for (std::size_t k = 0; k < which.size(); ++k)
                gathered[i][k] = whole[which[k]];
        }
        return gathered[i].data();
    }
};

// The variables of a range that some pair would move: not held at a bound or kink by all others.
inline void add_unsettled(const Problem &p, const Sides &sides, std::size_t from, std::size_t to,
                          double lowest_rise, double highest_fall,
                          std::vector<std::size_t> &which) {
    for (std::size_t v = from; v < to; ++v)
        if (p.gradient[v] + sides.rise[v] <= highest_fall ||
            p.gradient[v] + sides.fall[v] >= lowest_rise)
            which.push_back(v);
}

constexpr std::size_t least_to_part = 32, largest_part = 512;
constexpr std::int64_t steps_between_parts = 32, steps_after_part = 8;
constexpr int deepest = 2;             // a part has parts
constexpr double part_tolerance = 0.1; // of the violation when the part is taken

template <int depth, typename Rows, typename Source>
std::tuple<std::int64_t, double, bool> descend(const Problem &p, Rows &rows, const Source &source,
                                               std::int64_t limit, double tolerance);

// Steps of the given variables alone; then the derivatives of all variables are brought up to date
// and the least rise of each group is found. Returns the number of steps.
template <int depth, typename Rows, typename Source>
std::int64_t descend_part(const Problem &p, Sides &sides, Rows &rows, const Source &source,
                          const std::vector<std::size_t> &which, std::int64_t limit,
                          double tolerance, Best *up) {
    using T = std::remove_cvref_t<decltype(*rows.row(0, source))>;
    const std::size_t size = which.size();
    std::vector<double> numbers(5 * size);
    double *own[5];
    for (std::size_t k = 0; k < 5; ++k)
        own[k] = numbers.data() + k * size;
    const double *whole[5] = {p.diagonal, p.lower, p.upper, p.beta, p.gradient};
    for (std::size_t k = 0; k < 5; ++k)
        for (std::size_t a = 0; a < size; ++a)
            own[k][a] = whole[k][which[a]];
    const std::size_t split = static_cast<std::size_t>(
        std::lower_bound(which.begin(), which.end(), p.split) - which.begin());
    const Problem part{size, split, own[0], own[1], own[2], p.kink, own[3], own[4]};
    Part<T, Rows> part_rows(rows, which);
    const std::int64_t steps =
        std::get<0>(descend<depth + 1>(part, part_rows, source, limit, tolerance));
    std::vector<std::pair<std::size_t, double>> moved;
    for (std::size_t a = 0; a < size; ++a)
        if (own[3][a] != p.beta[which[a]]) {
            moved.emplace_back(which[a], own[3][a] - p.beta[which[a]]);
            p.beta[which[a]] = own[3][a];
            sides.update(p, which[a]);
        }
    if (moved.size() % 2)
        moved.emplace_back(moved.back().first, 0.0);
    const std::size_t bounds[3] = {0, p.split, p.m};
    for (std::size_t k = 0; k < moved.size(); k += 2) {
        const T *first = rows.row(moved[k].first, source),
                *second = rows.row(moved[k + 1].first, source);
        for (int g = 0; g < (p.split < p.m ? 2 : 1); ++g)
            up[g] = least_rise<true>(p, sides, bounds[g], bounds[g + 1], moved[k].second, first,
                                     moved[k + 1].second, second);
    }
    return steps;
}

// Steps until no pair violates optimality by more than the tolerance, at most `limit`. Returns the
// number of steps, the largest violation before the last one, and whether rounding stopped it.
template <int depth = 0, typename Rows, typename Source>
std::tuple<std::int64_t, double, bool> descend(const Problem &p, Rows &rows, const Source &source,
                                               std::int64_t limit, double tolerance) {
    Sides sides(p);
    const std::size_t bounds[3] = {0, p.split, p.m};
    const int groups = p.split < p.m ? 2 : 1;
    using T = std::remove_cvref_t<decltype(*rows.row(0, source))>;
    const T *nothing = nullptr;
    Best up[2];
    std::vector<std::size_t> which;
    std::int64_t next_part = steps_between_parts;
    for (int g = 0; g < groups; ++g)
        up[g] = least_rise<false>(p, sides, bounds[g], bounds[g + 1], 0.0, nothing, 0.0, nothing);
    for (std::int64_t step = 0;; ++step) {
        Partner down{p.m, 0.0, -infinity};
        std::size_t i = p.m;
        double violation = 0.0, highest[2] = {-infinity, -infinity};
        for (int g = 0; g < groups; ++g) {
            if (up[g].at == bounds[g + 1])
                continue;
            const T *row = rows.row(up[g].at, source);
            const Partner found =
                best_partner(p, sides, bounds[g], bounds[g + 1], up[g].at, up[g].value, row);
            violation = std::max(violation, found.highest - up[g].value);
            highest[g] = found.highest;
            if (found.gain > down.gain) {
                down = found;
                i = up[g].at;
            }
        }
        if (violation <= tolerance || i == p.m)
            return {step, violation, false};
        if (step >= limit)
            return {step, violation, false};
        if constexpr (depth < deepest)
            if (step >= next_part && p.m >= least_to_part) {
                which.clear();
                for (int g = 0; g < groups; ++g)
                    add_unsettled(p, sides, bounds[g], bounds[g + 1], up[g].value, highest[g],
                                  which);
                next_part = step + steps_between_parts;
                if (which.size() <= std::min(largest_part, p.m / 2)) {
                    const std::int64_t taken =
                        descend_part<depth>(p, sides, rows, source, which, limit - step,
                                            std::max(tolerance, part_tolerance * violation), up);
                    if (taken > 0) {
                        step += taken - 1;
                        next_part = step + steps_after_part;
                        continue;
                    }
                }
            }
        const std::size_t j = down.at;
        const T *row_i = rows.row(i, source), *row_j = rows.row(j, source);
        const double eta = std::max(least_bend, p.diagonal[i] + p.diagonal[j] -
                                                    2.0 * static_cast<double>(row_i[j]));
        const double gap = (p.gradient[j] + sides.fall[j]) - (p.gradient[i] + sides.rise[i]);
        const double before_i = p.beta[i], before_j = p.beta[j];
        const double up_to = ceiling(p, i), down_to = floor_of(p, j);
        const double room_i = up_to - before_i, room_j = before_j - down_to;
        const double move = std::min(gap / eta, std::min(room_i, room_j));
        p.beta[i] = move == room_i ? up_to : before_i + move;
        p.beta[j] = move == room_j ? down_to : before_j - move;
        const double moved_i = p.beta[i] - before_i, moved_j = p.beta[j] - before_j;
        if (moved_i == 0.0 && moved_j == 0.0)
            return {step, violation, true};
        sides.update(p, i);
        sides.update(p, j);
        for (int g = 0; g < groups; ++g)
            up[g] = least_rise<true>(p, sides, bounds[g], bounds[g + 1], moved_i, row_i, moved_j,
                                     row_j);
    }
}

} // namespace thetahat::smo
