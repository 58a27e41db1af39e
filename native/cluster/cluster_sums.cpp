// Sums of the rows of each cluster about its centre, and the distances for k-means++.
//
//     cluster_sums     sums[z] += w·(x − c_z),  weight[z] += w,  count[z] += [w > 0],  Σ w·square
//     potentials       Σ w·min(nearest, ‖x − candidate‖²) for each candidate
//     take_candidate   nearest = min(nearest, ‖x − candidate‖²)
//
// Sums about the centre keep their digits when the rows are far from 0. They are over the rows of a
// block in their order, on one thread.
//
// A row that lies within half the distance between its centre and a candidate cannot be nearer to
// the candidate: reach[candidate, centre] is the square of that half.

#include <algorithm>
#include <vector>

#include "cluster/known_width.hpp"
#include "cluster/squared_distance.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace cluster {

namespace {

constexpr double a_little_less = 1.0 - 1e-12;

template <typename Numbers> void require_numbers_below(const Numbers &label, std::size_t k) {
    for (std::size_t i = 0; i < label.shape(0); ++i)
        require(label.data()[i] >= 0 && static_cast<std::size_t>(label.data()[i]) < k,
                "labels must be numbers of centres");
}

// `weight` is null: all ones. `width` is the number of columns if `known` is 0.
template <std::size_t known, typename T>
double add_rows(const T *x, std::size_t n, std::size_t width, const double *weight,
                const std::int32_t *label, const double *square, const double *centres,
                double *__restrict sums, double *__restrict total, std::int64_t *__restrict count) {
    const std::size_t d = known > 0 ? known : width;
    double loss = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double w = weight ? weight[i] : 1.0;
        if (!(w > 0.0))
            continue;
        const auto own = static_cast<std::size_t>(label[i]);
        const T *row = x + i * d;
        const double *centre = centres + own * d;
        double *__restrict sum = sums + own * d;
        if (weight)
            for (std::size_t j = 0; j < d; ++j)
                sum[j] += w * (static_cast<double>(row[j]) - centre[j]);
        else
            for (std::size_t j = 0; j < d; ++j)
                sum[j] += static_cast<double>(row[j]) - centre[j];
        total[own] += w;
        ++count[own];
        loss += w * square[i];
    }
    return loss;
}

// `weight` may be empty: all ones.
template <typename T>
double cluster_sums(Matrix<const T> x, Vector<const double> weight,
                    Vector<const std::int32_t> label, Vector<const double> square,
                    Matrix<const double> centres, Matrix<double> sums, Vector<double> total,
                    Vector<std::int64_t> count) {
    const std::size_t n = x.shape(0), d = x.shape(1), k = centres.shape(0);
    const bool weighted = weight.shape(0) > 0;
    require(centres.shape(1) == d && sums.shape(0) == k && sums.shape(1) == d,
            "rows, centres and sums must have the same columns");
    require(total.shape(0) == k && count.shape(0) == k, "one total and one count per centre");
    require(label.shape(0) == n && square.shape(0) == n && (!weighted || weight.shape(0) == n),
            "one label, square and weight per row");
    require_numbers_below(label, k);
    nb::gil_scoped_release unlocked;
    return with_known_width(d, [&](auto known) {
        return add_rows<decltype(known)::value>(x.data(), n, d, weighted ? weight.data() : nullptr,
                                                label.data(), square.data(), centres.data(),
                                                sums.data(), total.data(), count.data());
    });
}

template <typename T, typename Squares, typename Numbers>
void check_candidates(const Matrix<const T> &x, const Squares &nearest, const Numbers &owner,
                      const Matrix<const double> &candidates, const Matrix<const double> &reach) {
    require(candidates.shape(1) == x.shape(1), "candidates must have the columns of the rows");
    require(reach.shape(0) == candidates.shape(0), "one row of reaches per candidate");
    require(nearest.shape(0) == x.shape(0) && owner.shape(0) == x.shape(0),
            "one square and one owner per row");
    require_numbers_below(owner, reach.shape(1));
}

template <typename T>
void potentials(Matrix<const T> x, Vector<const double> weight, Vector<const double> nearest,
                Vector<const std::int32_t> owner, Matrix<const double> candidates,
                Matrix<const double> reach, Vector<double> total) {
    check_candidates(x, nearest, owner, candidates, reach);
    const std::size_t n = x.shape(0), d = x.shape(1), m = reach.shape(0), k = reach.shape(1);
    const bool weighted = weight.shape(0) > 0;
    require(total.shape(0) == m && (!weighted || weight.shape(0) == n),
            "one total per candidate, and one weight per row");
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i) {
        const double w = weighted ? weight.data()[i] : 1.0, at = nearest.data()[i];
        const auto own = static_cast<std::size_t>(owner.data()[i]);
        for (std::size_t t = 0; t < m; ++t) {
            double least = at;
            if (at > a_little_less * reach.data()[t * k + own])
                least =
                    std::min(at, squared_distance(x.data() + i * d, candidates.data() + t * d, d));
            total.data()[t] += w * least;
        }
    }
}

// `candidates` is one row, the centre of number `number`.
template <typename T>
void take_candidate(Matrix<const T> x, Vector<double> nearest, Vector<std::int32_t> owner,
                    Matrix<const double> candidates, Matrix<const double> reach,
                    std::int32_t number) {
    check_candidates(x, nearest, owner, candidates, reach);
    require(candidates.shape(0) == 1, "one candidate");
    const std::size_t n = x.shape(0), d = x.shape(1);
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < n; ++i) {
        const double at = nearest.data()[i];
        const auto own = static_cast<std::size_t>(owner.data()[i]);
        if (at > a_little_less * reach.data()[own]) {
            const double square = squared_distance(x.data() + i * d, candidates.data(), d);
            if (square < at) {
                nearest.data()[i] = square;
                owner.data()[i] = number;
            }
        }
    }
}

template <typename T> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("cluster_sums", &cluster_sums<T>, array("x"), array("weight"), array("label"),
               array("square"), array("centres"), array("sums"), array("total"), array("count"));
    module.def("potentials", &potentials<T>, array("x"), array("weight"), array("nearest"),
               array("owner"), array("candidates"), array("reach"), array("total"));
    module.def("take_candidate", &take_candidate<T>, array("x"), array("nearest"), array("owner"),
               array("candidates"), array("reach"), nb::arg("number"));
}

} // namespace

} // namespace cluster

void bind_cluster_sums(nb::module_ &module) {
    cluster::bind<float>(module);
    cluster::bind<double>(module);
}

} // namespace thetahat
