// Coordinate descent on a working set of columns: two representations of r = y − Xβ for the sweeps
// of coordinate_sweeps.hpp, by compressed sparse columns (whose means are subtracted implicitly) or
// by the Gram matrix, with the slopes Xᵀr instead of r and with jumps to the minimum of the active
// set. Dense columns are in sweep_path.cpp.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "core/views.hpp"
#include "sparse/coordinate_sweeps.hpp"
#include "sparse/gram_jumps.hpp"

namespace thetahat {

namespace {

// r = rest + shift·q, where q contains the roots of the weights and Σq² = total, so that
// subtracting the mean of a sparse column changes only `shift`. qᵀr = 0 whenever means are
// subtracted.
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

struct GramColumns : GramSlopes {
    const double *start; // Xᵀy
    double yy;
    const double *beta;

    std::size_t size() const { return k; }
    double *numbers() { return slopes; }
    double squared() const {
        return std::max(0.0, yy - dot(beta, start, k) - dot(beta, slopes, k));
    }
    double with_target(const double *b) const { return yy - dot(b, start, k); }
};

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

template <typename T, typename Index>
Progress descend_sparse(Vector<const T> data, Vector<const Index> indices,
                        Vector<const Index> indptr, Vector<const double> mean, double total,
                        Vector<const double> y, Vector<const std::int64_t> working,
                        Vector<const double> squares, Vector<const double> l1,
                        Vector<const double> l2, Vector<const double> lower, Vector<double> beta,
                        Vector<double> residual, double tolerance, double floor,
                        std::size_t max_sweeps, double share) {
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
        max_sweeps, share);
}

constexpr double ANY_MOVE = std::numeric_limits<double>::infinity();
constexpr std::size_t most_jumps = 20, few_columns = 100; // in a row; one if columns are few and
                                                          // no more than there are rows
constexpr std::size_t sweeps_per_jump = 5, sweeps_without_jumps = 100;
constexpr std::size_t fewer = 4; // divides the number of joining columns after a failed jump

// Jump as long as F decreases; the number of jumps and the gap after them.
std::pair<std::size_t, double> jumps(GramJumps &point, bool many, double tolerance,
                                     Settling settling, std::size_t most) {
    std::size_t taken = 0, joining = 0; // the active set first follows its own terms
    double gap = std::numeric_limits<double>::infinity();
    for (std::size_t left = many ? most_jumps : 1; left > 0;) {
        const bool falls = point.jump(joining);
        left -= (falls && !point.exchanged()) || joining > 0;
        if (falls) {
            gap = point.gap();
            if (++taken >= most || (gap <= tolerance && point.settled(settling)))
                break;
            joining = point.whole() ? point.most_to_join() : 0;
        } else if (joining == 0) // the active set was optimal without the others
            joining = point.most_to_join();
        else if ((joining = point.joined() / fewer) == 0)
            break;
    }
    return {taken, gap};
}

// The leading k × k entries of `gram`, whose rows may be longer; start = Xᵀy, slopes = Xᵀ(y − Xβ),
// which are computed. `active` keeps the factor of the active set from one call to the next. A jump
// counts as a sweep.
Progress descend_gram(Matrix<const double> gram, Vector<const double> start, double yy,
                      Vector<const double> l1, Vector<const double> l2, Vector<const double> lower,
                      Vector<double> beta, Vector<double> slopes, ActiveSet &active,
                      double tolerance, double floor, std::size_t max_sweeps, double share) {
    const std::size_t k = beta.shape(0), stride = gram.shape(1);
    require(gram.shape(0) >= k && stride >= k, "gram must be at least as large as beta");
    require(start.shape(0) == k && slopes.shape(0) == k,
            "start and slopes must have the size of beta");
    require(l1.shape(0) == k && l2.shape(0) == k && lower.shape(0) == k,
            "l1, l2 and lower must have the size of beta");
    for (const std::size_t j : active.members())
        require(j < k, "the active set has columns that beta lacks");
    const Terms terms{l1.data(), l2.data(), lower.data()};
    const Settling settling{share, ROUNDING_OF_MOVES * floor};
    nb::gil_scoped_release unlocked;
    std::vector<double> squares(k);
    for (std::size_t a = 0; a < k; ++a)
        squares[a] = gram.data()[a * stride + a];
    GramColumns columns{{gram.data(), stride, k, slopes.data()}, start.data(), yy, beta.data()};
    GramJumps point(gram.data(), stride, k, start.data(), yy, terms, beta.data(), slopes.data(),
                    active);
    point.refresh();
    for (std::size_t used = 0;;) {
        std::size_t most = sweeps_per_jump;
        if (point.in_use() > 0) { // otherwise sweeps find a first active set
            const auto [taken, gap] = jumps(point, k > few_columns || k > active.rank, tolerance,
                                            settling, max_sweeps - used);
            used += taken;
            if ((gap <= tolerance && point.settled(settling)) || used >= max_sweeps) {
                point.refresh();
                return {used, gap, false};
            }
            most = taken > 0 ? sweeps_per_jump : sweeps_without_jumps;
        }
        const auto [sweeps, gap, stuck] = descend(
            columns, [](std::size_t a) { return a; }, k, squares.data(), terms, beta.data(),
            tolerance, floor, std::min(most, max_sweeps - used), share);
        used += sweeps;
        point.refresh();
        if ((gap <= tolerance && point.settled(settling)) || stuck || used >= max_sweeps)
            return {used, gap, stuck};
    }
}

template <typename T, typename Index> void bind_sparse(nb::module_ &module) {
    module.def("descend_sparse", &descend_sparse<T, Index>, nb::arg("data").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("mean"),
               nb::arg("total"), nb::arg("y"), nb::arg("working"), nb::arg("squares"),
               nb::arg("l1"), nb::arg("l2"), nb::arg("lower"), nb::arg("beta").noconvert(),
               nb::arg("residual").noconvert(), nb::arg("tolerance"), nb::arg("floor"),
               nb::arg("max_sweeps"), nb::arg("share") = ANY_MOVE);
}

} // namespace

void bind_working_sets(nb::module_ &module) {
    bind_sparse<double, std::int32_t>(module);
    bind_sparse<float, std::int32_t>(module);
    bind_sparse<double, std::int64_t>(module);
    bind_sparse<float, std::int64_t>(module);
    nb::class_<ActiveSet>(module, "ActiveSet")
        .def(nb::init<std::size_t>(), nb::arg("rank"))
        .def("clear", &ActiveSet::clear);
    module.def("descend_gram", &descend_gram, nb::arg("gram").noconvert(), nb::arg("start"),
               nb::arg("yy"), nb::arg("l1"), nb::arg("l2"), nb::arg("lower"),
               nb::arg("beta").noconvert(), nb::arg("slopes").noconvert(), nb::arg("active"),
               nb::arg("tolerance"), nb::arg("floor"), nb::arg("max_sweeps"),
               nb::arg("share") = ANY_MOVE);
}

} // namespace thetahat
