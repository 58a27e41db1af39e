// Coordinate descent on a working set of columns, for least squares with separable terms, in place:
//
//     F(β) = ½‖y − Xβ‖² + Σ_j (l1_j |β_j| + ½ l2_j β_j²),   β_j ≥ lower_j,   lower_j ∈ {−∞, 0}
//
// One template, three ways to hold r = y − Xβ: dense columns, compressed sparse columns (their
// means taken off implicitly), or the Gram matrix, where the slopes Xᵀr stand for r. Each is a
// vector that is linear in β, so iterates can be extrapolated: after every MEMORY + 1 sweeps the
// affine combination of the last iterates with the least change (Anderson) is tried, and kept if F
// falls.
//
// Invariant: the vector belongs to β throughout, and F never rises. Coordinates are visited in the
// order given, by one thread, so there is one order of sums. Stops when the duality gap of the
// working set is within the tolerance, or when a sweep moves nothing beyond rounding.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "dots.hpp"
#include "kernels.hpp"
#include "lasso_gap.hpp"

namespace thetahat {

namespace {

constexpr std::size_t MEMORY = 5;         // differences of iterates that are combined
constexpr std::size_t SWEEPS_PER_GAP = 5; // the gap costs about a sweep

double shrunk(double value, double threshold) {
    return value > threshold ? value - threshold : value < -threshold ? value + threshold : 0.0;
}

template <typename T> struct DenseColumns {
    const T *x;
    const double *mean, *y;
    std::size_t n;
    double *r;

    std::size_t size() const { return n; }
    double *numbers() { return r; }
    double slope(std::size_t j) const { return dot(x + j * n, r, n); }
    void move(std::size_t j, double by) {
        const T *column = x + j * n;
        const double centre = mean[j];
        for (std::size_t i = 0; i < n; ++i)
            r[i] -= by * (static_cast<double>(column[i]) - centre);
    }
    double squared() const { return dot(r, r, n); }
    double with_target(const double *) const { return dot(y, r, n); }
};

// r = rest + shift·q, where q holds the roots of the weights and Σq² = total: taking the mean off a
// sparse column changes `shift` alone. qᵀr = 0 whenever there are means to take off.
template <typename T, typename Index> struct SparseColumns {
    const T *value;
    const Index *row, *bound;
    const double *mean, *y;
    double total;
    std::size_t n;
    double *r; // n entries of `rest`, then the shift

    std::size_t size() const { return n + 1; }
    double *numbers() { return r; }
    double slope(std::size_t j) const {
        double even = 0.0, odd = 0.0;
        Index k = bound[j];
        for (; k + 1 < bound[j + 1]; k += 2) {
            even += static_cast<double>(value[k]) * r[row[k]];
            odd += static_cast<double>(value[k + 1]) * r[row[k + 1]];
        }
        if (k < bound[j + 1])
            even += static_cast<double>(value[k]) * r[row[k]];
        return even + odd + r[n] * total * mean[j];
    }
    void move(std::size_t j, double by) {
        for (Index k = bound[j]; k < bound[j + 1]; ++k)
            r[row[k]] -= by * static_cast<double>(value[k]);
        r[n] += by * mean[j];
    }
    double squared() const { return std::max(0.0, dot(r, r, n) - r[n] * r[n] * total); }
    double with_target(const double *) const { return dot(y, r, n); }
};

struct GramColumns {
    const double *gram, *start; // start = Xᵀy
    std::size_t stride, k;
    double yy;
    double *slopes;
    const double *beta;

    std::size_t size() const { return k; }
    double *numbers() { return slopes; }
    double slope(std::size_t j) const { return slopes[j]; }
    void move(std::size_t j, double by) {
        const double *row = gram + j * stride;
        for (std::size_t i = 0; i < k; ++i)
            slopes[i] -= by * row[i];
    }
    double squared() const {
        return std::max(0.0, yy - dot(beta, start, k) - dot(beta, slopes, k));
    }
    double with_target(const double *b) const { return yy - dot(b, start, k); }
};

// Weights c with Σc = 1 that make ‖Σ c_i (β_{i+1} − β_i)‖ least; false when they are not to be had.
bool combination(const std::vector<double> &steps, std::size_t k, double *weights) {
    double system[MEMORY][MEMORY + 1];
    double trace = 0.0;
    for (std::size_t i = 0; i < MEMORY; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            system[i][j] = system[j][i] = dot(&steps[i * k], &steps[j * k], k);
    for (std::size_t i = 0; i < MEMORY; ++i)
        trace += system[i][i];
    if (!(trace > 0.0))
        return false;
    for (std::size_t i = 0; i < MEMORY; ++i) {
        system[i][i] += 1e-14 * trace;
        system[i][MEMORY] = 1.0;
    }
    for (std::size_t p = 0; p < MEMORY; ++p) { // positive definite: no pivoting
        if (!(system[p][p] > 0.0))
            return false;
        for (std::size_t i = p + 1; i < MEMORY; ++i) {
            const double factor = system[i][p] / system[p][p];
            for (std::size_t j = p; j <= MEMORY; ++j)
                system[i][j] -= factor * system[p][j];
        }
    }
    double sum = 0.0;
    for (std::size_t p = MEMORY; p-- > 0;) {
        double rest = system[p][MEMORY];
        for (std::size_t j = p + 1; j < MEMORY; ++j)
            rest -= system[p][j] * weights[j];
        weights[p] = rest / system[p][p];
        sum += weights[p];
    }
    if (!std::isfinite(sum) || sum == 0.0)
        return false;
    for (std::size_t p = 0; p < MEMORY; ++p)
        weights[p] /= sum;
    return true;
}

// Keeps the last MEMORY + 1 iterates, and jumps ahead from them.
template <typename Columns> class Extrapolation {
  public:
    Extrapolation(std::size_t k, std::size_t m)
        : k_(k), m_(m), betas_((MEMORY + 1) * k), numbers_((MEMORY + 1) * m), steps_(MEMORY * k),
          kept_beta_(k), kept_numbers_(m) {}

    void after_sweep(Columns &columns, double *beta, Terms terms) {
        std::copy(beta, beta + k_, &betas_[held_ * k_]);
        std::copy(columns.numbers(), columns.numbers() + m_, &numbers_[held_ * m_]);
        if (++held_ <= MEMORY)
            return;
        held_ = 0;
        for (std::size_t i = 0; i < MEMORY; ++i)
            for (std::size_t a = 0; a < k_; ++a)
                steps_[i * k_ + a] = betas_[(i + 1) * k_ + a] - betas_[i * k_ + a];
        double weights[MEMORY];
        if (!combination(steps_, k_, weights))
            return;
        const double before = 0.5 * columns.squared() + penalty(beta, terms, k_);
        std::copy(beta, beta + k_, kept_beta_.begin());
        std::copy(columns.numbers(), columns.numbers() + m_, kept_numbers_.begin());
        combine(betas_, k_, weights, beta);
        combine(numbers_, m_, weights, columns.numbers());
        bool feasible = true;
        for (std::size_t a = 0; a < k_; ++a)
            feasible = feasible && beta[a] >= terms.lower[a];
        const double after = 0.5 * columns.squared() + penalty(beta, terms, k_);
        if (feasible && after < before)
            return;
        std::copy(kept_beta_.begin(), kept_beta_.end(), beta);
        std::copy(kept_numbers_.begin(), kept_numbers_.end(), columns.numbers());
    }

  private:
    static void combine(const std::vector<double> &held, std::size_t width, const double *weights,
                        double *out) {
        for (std::size_t a = 0; a < width; ++a) {
            double sum = 0.0;
            for (std::size_t i = 0; i < MEMORY; ++i)
                sum += weights[i] * held[(i + 1) * width + a];
            out[a] = sum;
        }
    }

    std::size_t k_, m_, held_ = 0;
    std::vector<double> betas_, numbers_, steps_, kept_beta_, kept_numbers_;
};

using Progress = std::tuple<std::size_t, double, bool>; // sweeps, gap, whether nothing moves

template <typename Columns, typename At>
Progress descend(Columns &columns, At at, std::size_t k, const double *squares, Terms terms,
                 double *beta, double tolerance, double floor, std::size_t max_sweeps) {
    Extrapolation<Columns> extrapolation(k, columns.size());
    const auto gap_here = [&] {
        return duality_gap(beta, terms, k, columns.squared(), columns.with_target(beta),
                           [&](std::size_t a) { return columns.slope(at(a)); })
            .gap;
    };
    double gap = std::numeric_limits<double>::infinity();
    for (std::size_t sweep = 1; sweep <= max_sweeps; ++sweep) {
        double largest = 0.0;
        for (std::size_t a = 0; a < k; ++a) {
            const double curvature = squares[a] + terms.l2[a];
            if (!(curvature > 0.0))
                continue; // a column of zeros: β_a = 0 is as good as any
            const double pull = squares[a] * beta[a] + columns.slope(at(a));
            const double best = std::max(shrunk(pull, terms.l1[a]) / curvature, terms.lower[a]);
            const double by = best - beta[a];
            if (by == 0.0)
                continue;
            columns.move(at(a), by);
            beta[a] = best;
            largest = std::max(largest, std::abs(by) * std::sqrt(curvature));
        }
        const bool stuck = largest <= floor;
        if (stuck || sweep == 1 || sweep % SWEEPS_PER_GAP == 0 || sweep == max_sweeps) {
            gap = gap_here();
            if (stuck || gap <= tolerance || sweep == max_sweeps)
                return {sweep, gap, stuck};
        }
        extrapolation.after_sweep(columns, beta, terms);
    }
    return {0, gap_here(), false};
}

void require_terms(std::size_t k, const Vector<const double> &squares,
                   const Vector<const double> &l1, const Vector<const double> &l2,
                   const Vector<const double> &lower, const Vector<double> &beta) {
    require(squares.shape(0) == k && l1.shape(0) == k && l2.shape(0) == k && lower.shape(0) == k &&
                beta.shape(0) == k,
            "squares, l1, l2, lower and beta must have one entry per column of the working set");
}

void require_working(const Vector<const std::int64_t> &working, std::size_t d) {
    for (std::size_t a = 0; a < working.shape(0); ++a)
        require(working.data()[a] >= 0 && static_cast<std::size_t>(working.data()[a]) < d,
                "a column of the working set is out of range");
}

template <typename T>
Progress descend_dense(nb::ndarray<const T, nb::ndim<2>, nb::f_contig, nb::device::cpu> x,
                       Vector<const double> mean, Vector<const double> y,
                       Vector<const std::int64_t> working, Vector<const double> squares,
                       Vector<const double> l1, Vector<const double> l2, Vector<const double> lower,
                       Vector<double> beta, Vector<double> residual, double tolerance, double floor,
                       std::size_t max_sweeps) {
    const std::size_t n = x.shape(0), d = x.shape(1), k = working.shape(0);
    require(mean.shape(0) == d, "mean must have one entry per column");
    require(y.shape(0) == n && residual.shape(0) == n, "y and residual need one entry per row");
    require_terms(k, squares, l1, l2, lower, beta);
    require_working(working, d);
    DenseColumns<T> columns{x.data(), mean.data(), y.data(), n, residual.data()};
    const std::int64_t *which = working.data();
    nb::gil_scoped_release unlocked;
    return descend(
        columns, [which](std::size_t a) { return static_cast<std::size_t>(which[a]); }, k,
        squares.data(), {l1.data(), l2.data(), lower.data()}, beta.data(), tolerance, floor,
        max_sweeps);
}

template <typename T, typename Index>
Progress descend_sparse(Vector<const T> data, Vector<const Index> indices,
                        Vector<const Index> indptr, Vector<const double> mean, double total,
                        Vector<const double> y, Vector<const std::int64_t> working,
                        Vector<const double> squares, Vector<const double> l1,
                        Vector<const double> l2, Vector<const double> lower, Vector<double> beta,
                        Vector<double> residual, double tolerance, double floor,
                        std::size_t max_sweeps) {
    const std::size_t n = y.shape(0), d = mean.shape(0), k = working.shape(0);
    require(residual.shape(0) == n + 1, "residual must have one entry more than there are rows");
    require(indptr.shape(0) == d + 1, "indptr must have one entry more than there are columns");
    require(indices.shape(0) == data.shape(0), "indices and data must have the same length");
    require_terms(k, squares, l1, l2, lower, beta);
    require_working(working, d);
    const Index *bound = indptr.data(), *row = indices.data();
    for (std::size_t a = 0; a < k; ++a) {
        const std::size_t j = static_cast<std::size_t>(working.data()[a]);
        require(bound[j] >= 0 && bound[j] <= bound[j + 1] &&
                    static_cast<std::size_t>(bound[j + 1]) <= data.shape(0),
                "indptr must not decrease, nor point past the stored entries");
        for (Index e = bound[j]; e < bound[j + 1]; ++e)
            require(row[e] >= 0 && static_cast<std::size_t>(row[e]) < n,
                    "a row index is out of range");
    }
    SparseColumns<T, Index> columns{data.data(), row,   bound, mean.data(),
                                    y.data(),    total, n,     residual.data()};
    const std::int64_t *which = working.data();
    nb::gil_scoped_release unlocked;
    return descend(
        columns, [which](std::size_t a) { return static_cast<std::size_t>(which[a]); }, k,
        squares.data(), {l1.data(), l2.data(), lower.data()}, beta.data(), tolerance, floor,
        max_sweeps);
}

// The leading k × k entries of `gram`, whose rows may be longer; start = Xᵀy, slopes = Xᵀ(y − Xβ).
Progress descend_gram(Matrix<const double> gram, Vector<const double> start, double yy,
                      Vector<const double> l1, Vector<const double> l2, Vector<const double> lower,
                      Vector<double> beta, Vector<double> slopes, double tolerance, double floor,
                      std::size_t max_sweeps) {
    const std::size_t k = beta.shape(0), stride = gram.shape(1);
    require(gram.shape(0) >= k && stride >= k, "gram must be at least as large as beta");
    require(start.shape(0) == k && slopes.shape(0) == k,
            "start and slopes must have the size of beta");
    require(l1.shape(0) == k && l2.shape(0) == k && lower.shape(0) == k,
            "l1, l2 and lower must have the size of beta");
    nb::gil_scoped_release unlocked;
    std::vector<double> squares(k);
    for (std::size_t a = 0; a < k; ++a)
        squares[a] = gram.data()[a * stride + a];
    GramColumns columns{gram.data(), start.data(), stride, k, yy, slopes.data(), beta.data()};
    return descend(
        columns, [](std::size_t a) { return a; }, k, squares.data(),
        {l1.data(), l2.data(), lower.data()}, beta.data(), tolerance, floor, max_sweeps);
}

template <typename T> void bind_dense(nb::module_ &module) {
    module.def("descend_dense", &descend_dense<T>, nb::arg("x").noconvert(), nb::arg("mean"),
               nb::arg("y"), nb::arg("working"), nb::arg("squares"), nb::arg("l1"), nb::arg("l2"),
               nb::arg("lower"), nb::arg("beta").noconvert(), nb::arg("residual").noconvert(),
               nb::arg("tolerance"), nb::arg("floor"), nb::arg("max_sweeps"));
}

template <typename T, typename Index> void bind_sparse(nb::module_ &module) {
    module.def("descend_sparse", &descend_sparse<T, Index>, nb::arg("data").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("mean"),
               nb::arg("total"), nb::arg("y"), nb::arg("working"), nb::arg("squares"),
               nb::arg("l1"), nb::arg("l2"), nb::arg("lower"), nb::arg("beta").noconvert(),
               nb::arg("residual").noconvert(), nb::arg("tolerance"), nb::arg("floor"),
               nb::arg("max_sweeps"));
}

} // namespace

void bind_working_sets(nb::module_ &module) {
    bind_dense<double>(module);
    bind_dense<float>(module);
    bind_sparse<double, std::int32_t>(module);
    bind_sparse<float, std::int32_t>(module);
    bind_sparse<double, std::int64_t>(module);
    bind_sparse<float, std::int64_t>(module);
    module.def("descend_gram", &descend_gram, nb::arg("gram").noconvert(), nb::arg("start"),
               nb::arg("yy"), nb::arg("l1"), nb::arg("l2"), nb::arg("lower"),
               nb::arg("beta").noconvert(), nb::arg("slopes").noconvert(), nb::arg("tolerance"),
               nb::arg("floor"), nb::arg("max_sweeps"));
}

} // namespace thetahat
