// The lasso on one Gram matrix for many targets, in place: row by row of `codes`,
//
//     min_u ½ uᵀGu − cᵀu + l1·‖u‖₁,   u ≥ 0 where `positive`
//
// by cyclic coordinate descent from the given codes. Invariant: slopes = c − Gu throughout a row.
// If a sweep does not change any sign, the system G_AA u_A = c_A − l1·sign is solved and accepted
// if it keeps the signs: this avoids the slow final phase, and the optimum is exact up to rounding.
// A row costs O(k) per sweep plus O(k) per coordinate that moves. Each row is computed by one
// thread, independently of the others, so the bits do not depend on the distribution over threads.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/views.hpp"
#include "linalg/cholesky_factor.hpp"
#include "sparse/coordinate_sweep.hpp"

namespace thetahat {

namespace {

class Lasso {
  public:
    Lasso(const double *gram, std::size_t k, double l1, bool positive)
        : k(k), terms{l1, 0.0, positive ? 0.0 : -std::numeric_limits<double>::infinity()},
          slopes(k), columns{gram, k, k, slopes.data()}, solved(k) {
        active.reserve(k);
    }

    void restart(const double *c, const double *u) {
        std::copy_n(c, k, slopes.begin());
        for (std::size_t j = 0; j < k; ++j)
            if (u[j] != 0.0)
                columns.move(j, u[j]);
    }

    // One pass over the coordinates; whether any of them changed its sign.
    bool pass(double *u) {
        bool changed = false;
        sweep(columns, terms, u, [&](std::size_t, double from, double to, double) {
            changed |= (to > 0.0) != (from > 0.0) || (to < 0.0) != (from < 0.0);
        });
        return changed;
    }

    // The largest distance of the slopes from the subdifferential of the penalty.
    double violation(const double *u) const {
        double worst = 0.0;
        for (std::size_t j = 0; j < k; ++j) {
            double distance = 0.0;
            if (u[j] > 0.0)
                distance = std::abs(slopes[j] - terms.l1);
            else if (u[j] < 0.0)
                distance = std::abs(slopes[j] + terms.l1);
            else if (columns.square(j) > 0.0)
                distance = (terms.lower == 0.0 ? slopes[j] : std::abs(slopes[j])) - terms.l1;
            worst = std::max(worst, distance);
        }
        return worst;
    }

    // The optimum on the support, if it has the signs that u has.
    void solve_support(const double *c, double *u) {
        active.clear();
        for (std::size_t j = 0; j < k; ++j)
            if (u[j] != 0.0)
                active.push_back(j);
        const std::size_t size = active.size();
        factor.shrink(0);
        for (std::size_t a = 0; a < size; ++a) {
            const std::size_t j = active[a];
            double *products = factor.next();
            for (std::size_t b = 0; b < a; ++b)
                products[b] = columns.gram[j * k + active[b]];
            if (!factor.append(columns.square(j), least_new))
                return;
            solved[a] = c[j] - (u[j] > 0.0 ? terms.l1 : -terms.l1);
        }
        factor.solve(solved.data());
        for (std::size_t a = 0; a < size; ++a)
            if (!(solved[a] * u[active[a]] > 0.0))
                return;
        for (std::size_t a = 0; a < size; ++a)
            u[active[a]] = solved[a];
        restart(c, u);
    }

  private:
    static constexpr double least_new = 1e-12;

    std::size_t k;
    SameTerms terms;
    std::vector<double> slopes;
    GramSlopes columns;
    CholeskyFactor factor;
    std::vector<double> solved;
    std::vector<std::size_t> active;
};

void sparse_codes(Matrix<const double> gram, double l1, bool positive,
                  Matrix<const double> correlation, Matrix<double> codes, double tolerance,
                  std::size_t most_sweeps, Vector<double> violation) {
    const std::size_t k = gram.shape(0), n = correlation.shape(0);
    require(gram.shape(1) == k && correlation.shape(1) == k && codes.shape(1) == k,
            "gram must be square, correlation and codes as wide as it");
    require(codes.shape(0) == n && violation.shape(0) == n,
            "codes and violation must have the rows of correlation");
    nb::gil_scoped_release unlocked;
    Lasso lasso(gram.data(), k, l1, positive);
    for (std::size_t i = 0; i < n; ++i) {
        const double *c = correlation.data() + i * k;
        double *u = codes.data() + i * k;
        double size = 0.0;
        for (std::size_t j = 0; j < k; ++j) {
            if (positive)
                u[j] = std::max(u[j], 0.0);
            size = std::max(size, std::abs(c[j]));
        }
        lasso.restart(c, u);
        double gap = lasso.violation(u);
        std::size_t next_try = 1;
        for (std::size_t sweep = 1; sweep <= most_sweeps && gap > tolerance * size; ++sweep) {
            const bool changed = lasso.pass(u);
            if (!changed && sweep >= next_try) {
                next_try = 2 * sweep; // less and less often, because a solve may fail again
                lasso.solve_support(c, u);
            }
            gap = lasso.violation(u);
        }
        violation.data()[i] = size > 0.0 ? gap / size : 0.0;
    }
}

} // namespace

void bind_sparse_codes(nb::module_ &module) {
    module.def("sparse_codes", &sparse_codes, nb::arg("gram").noconvert(), nb::arg("l1"),
               nb::arg("positive"), nb::arg("correlation").noconvert(),
               nb::arg("codes").noconvert(), nb::arg("tolerance"), nb::arg("most_sweeps"),
               nb::arg("violation").noconvert());
}

} // namespace thetahat
