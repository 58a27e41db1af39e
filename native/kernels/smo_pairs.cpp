// Support vector machines of many pairs of classes, several pairs at once.
//
// The rows are sorted by class: class c has the rows ends[c] … ends[c + 1] − 1. The problem of a
// pair (a, b), a < b, is that of smo.hpp over the rows of both classes, with pᵢ = −1 and βᵢ in
// [0, Cᵢ] for those of a, and pᵢ = 1 and βᵢ in [−Cᵢ, 0] for those of b. Every pair is solved by one
// thread, with a cache for all of its rows, so the number of threads does not change a bit.
//
// The coefficients of the rows of a class against the other classes, in the order of the others,
// fill a column of `beta`, which has shape (classes − 1, rows): b has place b − 1 for the rows of
// a, and a has place a for those of b.

#include <memory>

#include "kernels/smo.hpp"

namespace thetahat {

namespace smo {

namespace {

// What is known of a pair: b of its function, the steps, ½βᵀKβ + pᵀβ, the duality gap (the sum of
// the terms of Fenchel and Young, each ≥ 0), and whether the tolerance was reached.
struct Report {
    double offset, value, gap;
    std::int64_t steps;
    bool reached;
};

struct Box {
    std::vector<double> lower, upper, beta, gradient, diagonal;
    explicit Box(std::size_t m) : lower(m), upper(m), beta(m), gradient(m), diagonal(m) {}
};

double offset_of(const Box &box) {
    double sum = 0.0, low = infinity, high = -infinity;
    std::size_t free = 0;
    for (std::size_t v = 0; v < box.beta.size(); ++v) {
        const double b = box.beta[v], g = box.gradient[v];
        if (b > box.lower[v] && b < box.upper[v])
            sum += g, ++free;
        if (b < box.upper[v])
            low = std::min(low, g);
        if (b > box.lower[v])
            high = std::max(high, g);
    }
    if (free)
        return -sum / static_cast<double>(free);
    const bool below = low<infinity, above = high> - infinity;
    return below && above ? -(low + high) / 2.0 : below ? -low : above ? -high : 0.0;
}

// T is the precision of the cached rows.
template <typename T, typename Source>
Report solve(Box &box, std::size_t first, const Source &source, std::int64_t limit,
             double tolerance) {
    const std::size_t m = box.beta.size();
    const std::unique_ptr<T[]> store(new T[m * m]); // filled row by row when used
    std::vector<std::int64_t> slot_of(m, -1), held(m, -1), used(m, 0);
    Cache<T> cache{store.get(), slot_of.data(), held.data(), used.data(), m, m};
    const Problem p{m,
                    m,
                    box.diagonal.data(),
                    box.lower.data(),
                    box.upper.data(),
                    0.0,
                    box.beta.data(),
                    box.gradient.data()};
    const auto [steps, violation, stalled] = descend(p, cache, source, limit, tolerance);
    Report found{offset_of(box), 0.0, 0.0, steps, violation <= tolerance && !stalled};
    for (std::size_t v = 0; v < m; ++v) {
        const double b = box.beta[v], linear = v < first ? -1.0 : 1.0,
                     g = box.gradient[v] + found.offset;
        const double best = std::max({0.0, -box.lower[v] * g, -box.upper[v] * g});
        found.value += 0.5 * b * (box.gradient[v] + linear);
        found.gap += std::max(0.0, b * g + best);
    }
    return found;
}

struct Pairs {
    std::vector<std::size_t> ends;
    const std::int64_t *pairs; // (a, b) for each problem
    const double *cost;
    std::size_t n;
    std::int64_t limit;
    double tolerance;
    double *beta, *numbers; // numbers: offset, value and gap of each pair
    std::int64_t *steps;    // −1 where the tolerance was not reached

    // `on_rows(rows, box, solve)` sets the diagonal and calls `solve` with the source of the rows.
    template <typename T, typename OnRows> void run(std::size_t pair, const OnRows &on_rows) const {
        const std::size_t a = static_cast<std::size_t>(pairs[2 * pair]),
                          b = static_cast<std::size_t>(pairs[2 * pair + 1]);
        const std::size_t first = ends[a + 1] - ends[a], m = first + (ends[b + 1] - ends[b]);
        std::vector<std::int64_t> rows(m);
        Box box(m);
        for (std::size_t v = 0; v < m; ++v) {
            const std::size_t row = v < first ? ends[a] + v : ends[b] + (v - first);
            rows[v] = static_cast<std::int64_t>(row);
            (v < first ? box.upper : box.lower)[v] = v < first ? cost[row] : -cost[row];
            box.gradient[v] = v < first ? -1.0 : 1.0;
        }
        const Report found = on_rows(rows, box, [&](const auto &source) {
            return solve<T>(box, first, source, limit, tolerance);
        });
        for (std::size_t v = 0; v < m; ++v)
            beta[(v < first ? b - 1 : a) * n + static_cast<std::size_t>(rows[v])] = box.beta[v];
        numbers[3 * pair] = found.offset;
        numbers[3 * pair + 1] = found.value;
        numbers[3 * pair + 2] = found.gap;
        steps[pair] = found.reached ? found.steps : -1;
    }
};

using Places = Vector<const std::int64_t>;

Pairs checked(Places ends, Matrix<const std::int64_t> pairs, Vector<const double> cost,
              std::int64_t limit, double tolerance, Matrix<double> beta, Matrix<double> numbers,
              Vector<std::int64_t> steps) {
    require(ends.shape(0) >= 2 && pairs.shape(1) == 2, "pairs of at least one class are needed");
    const std::size_t k = ends.shape(0) - 1, n = cost.shape(0), count = pairs.shape(0);
    require(beta.shape(0) + 1 == k && beta.shape(1) == n,
            "beta must have one row per other class and one column per row");
    require(numbers.shape(0) == count && numbers.shape(1) == 3 && steps.shape(0) == count,
            "numbers and steps must have one row per pair");
    require(ends.data()[0] == 0 && ends.data()[k] == static_cast<std::int64_t>(n),
            "the classes must cover the rows");
    for (std::size_t c = 0; c < k; ++c)
        require(ends.data()[c] <= ends.data()[c + 1], "the ends of classes must not decrease");
    for (std::size_t p = 0; p < count; ++p)
        require(pairs.data()[2 * p] >= 0 && pairs.data()[2 * p] < pairs.data()[2 * p + 1] &&
                    pairs.data()[2 * p + 1] < static_cast<std::int64_t>(k),
                "a pair must be of two classes, the first before the second");
    return {{ends.data(), ends.data() + k + 1},
            pairs.data(),
            cost.data(),
            n,
            limit,
            tolerance,
            beta.data(),
            numbers.data(),
            steps.data()};
}

template <typename T>
void on_columns(Matrix<const T> columns, int kind, double gamma, double coef0, int degree,
                Places ends, Matrix<const std::int64_t> pairs, Vector<const double> cost,
                std::int64_t limit, double tolerance, Matrix<double> beta, Matrix<double> numbers,
                Vector<std::int64_t> steps, int threads) {
    const Pairs all = checked(ends, pairs, cost, limit, tolerance, beta, numbers, steps);
    require(columns.shape(1) == all.n, "columns must have one entry per row");
    require(kind >= 0 && kind <= 3 && degree >= 0, "unknown kernel");
    const Formula formula{static_cast<Kind>(kind), gamma, coef0, degree};
    const std::size_t d = columns.shape(0);
    const T *from = columns.data();
    nb::gil_scoped_release unlocked;
    for_each_piece(pairs.shape(0), threads, [&](std::size_t pair) {
        all.run<T>(pair, [&](const std::vector<std::int64_t> &rows, Box &box, const auto &solve) {
            const std::size_t m = rows.size();
            std::vector<T> own(d * m);
            for (std::size_t c = 0; c < d; ++c)
                for (std::size_t v = 0; v < m; ++v)
                    own[c * m + v] = from[c * all.n + static_cast<std::size_t>(rows[v])];
            const DenseSource<T> source{own.data(), d, m, formula, 1};
            for (std::size_t v = 0; v < m; ++v) {
                double square = 0.0;
                for (std::size_t c = 0; c < d && formula.kind != Kind::rbf; ++c)
                    square += static_cast<double>(own[c * m + v]) * own[c * m + v];
                box.diagonal[v] = static_cast<T>(formula(square)); // as in the cache
            }
            return solve(source);
        });
    });
}

void on_matrix(Matrix<const double> matrix, Places which, Places ends,
               Matrix<const std::int64_t> pairs, Vector<const double> cost, std::int64_t limit,
               double tolerance, Matrix<double> beta, Matrix<double> numbers,
               Vector<std::int64_t> steps, int threads) {
    const Pairs all = checked(ends, pairs, cost, limit, tolerance, beta, numbers, steps);
    const std::size_t stride = matrix.shape(1);
    require(matrix.shape(0) == stride && which.shape(0) == all.n,
            "the matrix must be square, with the number of one of its rows per row");
    for (std::size_t v = 0; v < all.n; ++v)
        require(which.data()[v] >= 0 && static_cast<std::size_t>(which.data()[v]) < stride,
                "the number of a row is out of range");
    const double *from = matrix.data();
    const std::int64_t *place = which.data();
    nb::gil_scoped_release unlocked;
    for_each_piece(pairs.shape(0), threads, [&](std::size_t pair) {
        all.run<double>(
            pair, [&](const std::vector<std::int64_t> &rows, Box &box, const auto &solve) {
                std::vector<std::int64_t> own(rows.size());
                for (std::size_t v = 0; v < rows.size(); ++v) {
                    own[v] = place[rows[v]];
                    box.diagonal[v] = from[static_cast<std::size_t>(own[v]) * (stride + 1)];
                }
                return solve(GivenSource{from, own.data(), stride, rows.size()});
            });
    });
}

template <typename... Before>
void define(nb::module_ &module, const char *name, auto function, const Before &...before) {
    module.def(name, function, before..., nb::arg("ends").noconvert(), nb::arg("pairs").noconvert(),
               nb::arg("cost").noconvert(), nb::arg("limit"), nb::arg("tolerance"),
               nb::arg("beta").noconvert(), nb::arg("numbers").noconvert(),
               nb::arg("steps").noconvert(), nb::arg("threads"));
}

template <typename T> void define_columns(nb::module_ &module) {
    define(module, "smo_pairs_columns", &on_columns<T>, nb::arg("columns").noconvert(),
           nb::arg("kind"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"));
}

} // namespace

} // namespace smo

void bind_smo_pairs(nb::module_ &module) {
    smo::define_columns<float>(module);
    smo::define_columns<double>(module);
    smo::define(module, "smo_pairs_matrix", &smo::on_matrix, nb::arg("matrix").noconvert(),
                nb::arg("which").noconvert());
}

} // namespace thetahat
