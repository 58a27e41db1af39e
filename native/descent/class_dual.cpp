// Dual block ascent for the multi-class hinge loss of Crammer and Singer with an L2 penalty:
//
//     ½‖W‖² + Σ_i C_i max_m (1[m ≠ y_i] + z_im − z_iy),   z_i = Wᵀ(x_i, constant).
//
// Each row has one dual variable per class, with Σ_m α_im = 0 and α_im ≤ C_i·1[m = y_i]. Invariant,
// in place: W = Σ_i (x_i, constant) α_iᵀ, of shape (d + 1, classes). The block of a row is solved
// exactly: with A = ‖(x_i, constant)‖² and B_m = z_m + 1[m ≠ y] − A α_m the best α_m is min(C_i·1[m
// = y], (β − B_m)/A), with β found by sorting. The dual never decreases.
//
// Rows are visited in a random order given by the seed, by one thread. A row that does not violate
// the optimality conditions, because it is at rest or at its bounds, is skipped until the next
// round of ten epochs, or of a quarter of them all. Every few epochs, conjugate gradients climb the
// face that these have found (class_face.hpp). Returns the largest violation of the last epoch, and
// a positive number if that epoch did not visit all rows.

#include <functional>
#include <limits>
#include <vector>

#include "core/rows.hpp"
#include "descent/class_face.hpp"

namespace thetahat {

namespace {

constexpr std::size_t SHORTEST_ROUND = 10;

// scores += Wᵀx_i. With few classes, whose number compilers know, the sums stay in registers.
template <std::size_t fixed, typename Rows>
void add_scores(const Rows &rows, std::size_t i, const double *w, double *scores) {
    double sums[fixed];
    std::copy_n(scores, fixed, sums);
    rows.each(i, [&](std::size_t j, double entry) {
        for (std::size_t m = 0; m < fixed; ++m)
            sums[m] += entry * w[j * fixed + m];
    });
    std::copy_n(sums, fixed, scores);
}

template <typename Rows>
void add_scores(const Rows &rows, std::size_t i, const double *w, std::size_t classes,
                double *scores) {
    switch (classes) {
    case 2:
        return add_scores<2>(rows, i, w, scores);
    case 3:
        return add_scores<3>(rows, i, w, scores);
    case 4:
        return add_scores<4>(rows, i, w, scores);
    case 5:
        return add_scores<5>(rows, i, w, scores);
    default:
        rows.each(i, [&](std::size_t j, double entry) {
            for (std::size_t m = 0; m < classes; ++m)
                scores[m] += entry * w[j * classes + m];
        });
    }
}

// W += x_i·movesᵀ, likewise.
template <std::size_t fixed, typename Rows>
void add_moves(const Rows &rows, std::size_t i, const double *moves, double *w) {
    double by[fixed];
    std::copy_n(moves, fixed, by);
    rows.each(i, [&](std::size_t j, double entry) {
        for (std::size_t m = 0; m < fixed; ++m)
            w[j * fixed + m] += by[m] * entry;
    });
}

template <typename Rows>
void add_moves(const Rows &rows, std::size_t i, const double *moves, std::size_t classes,
               double *w) {
    switch (classes) {
    case 2:
        return add_moves<2>(rows, i, moves, w);
    case 3:
        return add_moves<3>(rows, i, moves, w);
    case 4:
        return add_moves<4>(rows, i, moves, w);
    case 5:
        return add_moves<5>(rows, i, moves, w);
    default:
        rows.each(i, [&](std::size_t j, double entry) {
            for (std::size_t m = 0; m < classes; ++m)
                w[j * classes + m] += moves[m] * entry;
        });
    }
}

template <typename Rows>
double ascend(const Rows &rows, Vector<const std::int64_t> y, Vector<const double> cost,
              double constant, Matrix<double> alpha, Matrix<double> weights, std::uint64_t seed,
              std::size_t epochs, double tolerance) {
    const std::size_t n = rows.n_rows(), d = rows.n_columns(), classes = weights.shape(1);
    require(y.shape(0) == n && cost.shape(0) == n && alpha.shape(0) == n,
            "y, cost and alpha must have one entry per row");
    require(classes >= 2 && alpha.shape(1) == classes && weights.shape(0) == d + 1,
            "weights must be (columns + 1, classes), and alpha (rows, classes)");
    const std::int64_t *right_class = y.data();
    for (std::size_t i = 0; i < n; ++i)
        require(right_class[i] >= 0 && static_cast<std::size_t>(right_class[i]) < classes,
                "y must hold class numbers below the number of classes");
    const double *c = cost.data();
    double *a = alpha.data(), *w = weights.data();

    nb::gil_scoped_release unlocked;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> squares(n), scores(classes), pull(classes), sorted(classes), moves(classes);
    std::vector<std::size_t> active(n);
    for (std::size_t i = 0; i < n; ++i) {
        squares[i] = rows.square(i) + constant * constant;
        active[i] = i;
    }
    std::size_t n_active = n;
    double largest = 0.0;
    bool whole = true; // whether the last epoch visited all rows
    const std::size_t round = std::max(SHORTEST_ROUND, epochs / 4);
    Shuffler random(seed);
    ClassFace<Rows> face(rows, right_class, c, squares.data(), constant, classes);
    std::size_t pause = SHORTEST_ROUND, next = SHORTEST_ROUND;
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
        if (epoch % round == 0)
            n_active = n;
        whole = n_active == n;
        random.shuffle(active.data(), n_active);
        largest = 0.0;
        for (std::size_t place = 0; place < n_active;) {
            prefetch_next(rows, active.data(), place, n_active);
            const std::size_t i = active[place], right = static_cast<std::size_t>(right_class[i]);
            const double square = squares[i];
            double *own = a + i * classes;
            if (!(square > 0.0) || !(c[i] > 0.0)) { // does not affect W
                std::swap(active[place], active[--n_active]);
                continue;
            }
            for (std::size_t m = 0; m < classes; ++m)
                scores[m] = constant * w[d * classes + m];
            add_scores(rows, i, w, classes, scores.data());
            // Gradient of the dual of this row: the largest over all classes minus the smallest
            // over the classes that may still change.
            double highest = -infinity, lowest = infinity;
            for (std::size_t m = 0; m < classes; ++m) {
                const double slope = scores[m] + (m == right ? 0.0 : 1.0);
                highest = std::max(highest, slope);
                const double bound = m == right ? c[i] : 0.0;
                if (own[m] < bound)
                    lowest = std::min(lowest, slope);
            }
            const double violation = std::max(0.0, highest - lowest);
            if (violation == 0.0) { // at rest, or at its bound: looked at again soon
                std::swap(active[place], active[--n_active]);
                continue;
            }
            ++place;
            largest = std::max(largest, violation);
            for (std::size_t m = 0; m < classes; ++m) {
                pull[m] = scores[m] + (m == right ? 0.0 : 1.0) - square * own[m];
                sorted[m] = pull[m] + (m == right ? square * c[i] : 0.0);
            }
            std::sort(sorted.begin(), sorted.end(), std::greater<double>());
            double level = sorted[0] - square * c[i];
            std::size_t count = 1;
            while (count < classes && level < static_cast<double>(count) * sorted[count])
                level += sorted[count++];
            level /= static_cast<double>(count);
            bool moved = false;
            for (std::size_t m = 0; m < classes; ++m) {
                const double bound = m == right ? c[i] : 0.0;
                const double after = std::min(bound, (level - pull[m]) / square);
                moves[m] = after - own[m];
                moved = moved || moves[m] != 0.0;
                own[m] = after;
            }
            if (!moved)
                continue;
            add_moves(rows, i, moves.data(), classes, w);
            for (std::size_t m = 0; m < classes; ++m)
                w[d * classes + m] += moves[m] * constant;
        }
        // A face that is still changing is climbed less often; epochs follow even the last climb.
        if (epoch + 1 == next && epoch + 1 < epochs && largest > 0.0) {
            pause = face.climb(a, w) ? SHORTEST_ROUND : 2 * pause;
            next += pause;
            n_active = n;
        } else if (largest <= tolerance) {
            if (whole)
                break;
            n_active = n;
        }
    }
    return whole ? largest : std::max(largest, std::numeric_limits<double>::min());
}

} // namespace

void bind_class_dual(nb::module_ &module) {
    bind_for_rows<Vector<const std::int64_t>, Vector<const double>, double, Matrix<double>,
                  Matrix<double>, std::uint64_t, std::size_t, double>(
        module, "class_dual_epochs",
        [](const auto &rows, auto... arguments) { return ascend(rows, arguments...); },
        nb::arg("y").noconvert(), nb::arg("cost").noconvert(), nb::arg("constant"),
        nb::arg("alpha").noconvert(), nb::arg("weights").noconvert(), nb::arg("seed"),
        nb::arg("epochs"), nb::arg("tolerance"));
}

} // namespace thetahat
