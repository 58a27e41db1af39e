// Least squares with separable terms at decreasing penalties, by sweeps over dense columns:
//
//     F(β) = ½‖y − Xβ‖² + Σ_j (l1_j |β_j| + ½ l2_j β_j²),   β_j ≥ lower_j ∈ {−∞, 0},
//
// where (l1, l2) are given row by row. One pass over all columns gives their slopes Xᵀr and the
// duality gap (at β = 0 the slopes are those that the caller knows, Xᵀy). Then a few sweeps follow
// over the active columns, those that would leave zero, and those that may leave zero before the
// next penalty (usually the slope of a column changes by less than l1). For small data that fit in
// the cache this is faster than keeping working sets.
//
// Invariant: r = y − Xβ, computed again before each pass over all columns, because extrapolation
// enlarges its rounding errors. One thread visits the columns in the given order, so the order of
// sums is fixed. A penalty is done when its gap is within the tolerance and its coefficients have
// settled (lasso_gap.hpp). The path ends at the first penalty whose gap takes too many sweeps, or
// where nothing moves any more, and its number is returned.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/views.hpp"
#include "sparse/coordinate_sweeps.hpp"

namespace thetahat {

namespace {

constexpr std::size_t sweeps_per_pass = 10; // over all columns
constexpr double inner_share = 0.3;         // of the tolerance, for the columns that are swept

struct DenseColumns {
    const double *x, *y; // a column after another
    std::size_t n;
    double *r;

    std::size_t size() const { return n; }
    double *numbers() { return r; }
    double slope(std::size_t j) const { return dot(x + j * n, r, n); }
    void move(std::size_t j, double by) {
        const double *column = x + j * n;
        for (std::size_t i = 0; i < n; ++i)
            r[i] -= by * column[i];
    }
    double squared() const { return dot(r, r, n); }
    double with_target(const double *) const { return dot(y, r, n); }
};

struct Reached {
    std::size_t sweeps;
    double gap, value;
};

class Sweeps {
  public:
    Sweeps(const double *x, const double *y, const double *squares, const double *start,
           const double *lower, std::size_t n, std::size_t d, const double *first, double *slopes)
        : squares(squares), start(start), lower(lower), d(d), residual(y, y + n), slopes(slopes),
          columns{x, y, n, residual.data()}, beta(first, first + d) {
        for (std::size_t j = 0; j < d; ++j)
            beta[j] = squares[j] > 0.0 ? std::max(beta[j], lower[j]) : 0.0;
    }

    const std::vector<double> &coefficients() const { return beta; }

    // Minimise at one penalty; `before` is the l1 for which the slopes were optimal.
    Reached solve(const double *l1, const double *l2, const double *before, double tolerance,
                  double floor, std::size_t most, double share, bool once) {
        const Terms terms{l1, l2, lower};
        const Settling settling{share, ROUNDING_OF_MOVES * floor};
        std::size_t sweeps = 0;
        for (bool stuck = false;; before = l1) {
            const Gap here = pass(terms, refresh());
            const bool close = here.gap <= tolerance && (sweeps > 0 || !once);
            if ((close && settled(terms, settling)) || stuck || sweeps >= most)
                return {sweeps, here.gap, 0.5 * columns.squared() + here.penalty};
            choose(terms, before);
            const auto [taken, gap, rests] = descend(
                columns, [this](std::size_t a) { return which[a]; }, which.size(), part[0].data(),
                {part[1].data(), part[2].data(), part[3].data()}, part[4].data(),
                inner_share * tolerance, floor, std::min(sweeps_per_pass, most - sweeps),
                close ? share : std::numeric_limits<double>::infinity());
            for (std::size_t a = 0; a < which.size(); ++a)
                beta[which[a]] = part[4][a];
            sweeps += taken;
            stuck = rests && taken == 1;
        }
    }

  private:
    // r of β; false where that is y.
    bool refresh() {
        bool moved = false;
        std::copy_n(columns.y, columns.n, residual.begin());
        for (std::size_t j = 0; j < d; ++j)
            if (beta[j] != 0.0) {
                columns.move(j, beta[j]);
                moved = true;
            }
        return moved;
    }

    Gap pass(Terms terms, bool moved) {
        for (std::size_t j = 0; j < d; ++j)
            slopes[j] = !(squares[j] > 0.0) ? 0.0 : moved ? columns.slope(j) : start[j];
        return duality_gap(beta.data(), terms, d, columns.squared(), columns.with_target(nullptr),
                           [this](std::size_t j) { return slopes[j]; });
    }

    bool settled(Terms terms, Settling settling) const {
        const Move next = next_move(
            beta.data(), terms, d, [this](std::size_t j) { return squares[j]; },
            [this](std::size_t j) { return slopes[j]; });
        return settling.holds(next.largest, next.size);
    }

    void choose(Terms terms, const double *before) {
        which.clear();
        for (std::size_t j = 0; j < d; ++j) {
            const double size = lower[j] == 0.0 ? slopes[j] : std::abs(slopes[j]);
            const double moves = std::max(before[j] - terms.l1[j], 0.0);
            if (squares[j] > 0.0 && (beta[j] != 0.0 || size > terms.l1[j] - moves))
                which.push_back(j);
        }
        const double *of[] = {squares, terms.l1, terms.l2, terms.lower, beta.data()};
        for (std::size_t k = 0; k < 5; ++k) {
            part[k].resize(which.size());
            for (std::size_t a = 0; a < which.size(); ++a)
                part[k][a] = of[k][which[a]];
        }
    }

    const double *squares, *start, *lower;
    std::size_t d;
    std::vector<double> residual;
    double *slopes;
    DenseColumns columns;
    std::vector<double> beta, part[5]; // squares, l1, l2, lower and β of the columns that are swept
    std::vector<std::size_t> which;
};

// Columns of X are rows of `x`. β of each penalty as a row of `betas`, F, its duality gap, and its
// sweeps, those of the penalty where the path ends too. `once`: at least one sweep, even from a
// start that is within the tolerance. `start` is Xᵀy; `slopes` becomes Xᵀr at the last β.
std::size_t sweep_path(Matrix<const double> x, Vector<const double> y, Vector<const double> squares,
                       Vector<const double> start, Matrix<const double> l1, Matrix<const double> l2,
                       Vector<const double> lower, Vector<const double> first, double tolerance,
                       double floor, std::size_t most_sweeps, double share, bool once,
                       Matrix<double> betas, Vector<double> values, Vector<double> gaps,
                       Vector<std::int64_t> sweeps, Vector<double> slopes) {
    const std::size_t d = x.shape(0), n = x.shape(1), count = l1.shape(0);
    require(y.shape(0) == n, "y must have one entry per row");
    require(squares.shape(0) == d && start.shape(0) == d && lower.shape(0) == d &&
                first.shape(0) == d && slopes.shape(0) == d,
            "squares, start, lower, first and slopes must have one entry per column");
    require(l1.shape(1) == d && l2.shape(0) == count && l2.shape(1) == d,
            "l1 and l2 must have a row per penalty and an entry per column");
    require(betas.shape(0) == count && betas.shape(1) == d,
            "betas must have a row per penalty and an entry per column");
    require(values.shape(0) == count && gaps.shape(0) == count && sweeps.shape(0) == count,
            "values, gaps and sweeps must have one entry per penalty");
    const double *absolute = l1.data(), *square = l2.data();
    double *out = betas.data(), *value = values.data(), *gap = gaps.data();
    std::int64_t *taken = sweeps.data();

    nb::gil_scoped_release unlocked;
    Sweeps path(x.data(), y.data(), squares.data(), start.data(), lower.data(), n, d, first.data(),
                slopes.data());
    for (std::size_t at = 0; at < count; ++at) {
        const double *here = absolute + at * d, *before = at > 0 ? here - d : here;
        const Reached found =
            path.solve(here, square + at * d, before, tolerance, floor, most_sweeps, share, once);
        std::copy_n(path.coefficients().data(), d, out + at * d);
        taken[at] = static_cast<std::int64_t>(found.sweeps);
        value[at] = found.value;
        gap[at] = found.gap;
        if (!(found.gap <= tolerance))
            return at;
    }
    return count;
}

} // namespace

void bind_sweep_path(nb::module_ &module) {
    module.def(
        "sweep_path", &sweep_path, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
        nb::arg("squares").noconvert(), nb::arg("start").noconvert(), nb::arg("l1").noconvert(),
        nb::arg("l2").noconvert(), nb::arg("lower").noconvert(), nb::arg("first").noconvert(),
        nb::arg("tolerance"), nb::arg("floor"), nb::arg("most_sweeps"), nb::arg("share"),
        nb::arg("once"), nb::arg("betas").noconvert(), nb::arg("values").noconvert(),
        nb::arg("gaps").noconvert(), nb::arg("sweeps").noconvert(), nb::arg("slopes").noconvert());
}

} // namespace thetahat
