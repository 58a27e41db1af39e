// Rows w ≥ 0 of a factor of X ≈ WH, while the other factor is fixed.
//
//     nonnegative_sweeps   coordinate descent on ½ wᵀGw − cᵀw per row, with G = HHᵀ and c = Hx
//     swept_products       the same from dense X, and Xᵀ times the new rows
//     sparse_divergence    Σ_j x_j (wh)_j^(β − 2) h_j over the stored entries of a sparse row, and
//                          the part of the β-divergence that depends on them
//
// Rows are independent of each other. Sweeps take some at a time, one per lane of the vector
// registers, and a row has the same bits whatever the others are. The caller gives every thread its
// own rows; sums over rows are taken in their order.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rows.hpp"
#include "core/skinny.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace factors {

namespace {

template <typename T> void add_multiple(T *to, T factor, const T *from, std::size_t k) {
    for (std::size_t s = 0; s < k; ++s)
        to[s] += factor * from[s];
}

// Some rows at a time, one per lane of PARTS vector registers. Entry t of lane l of all rows is at
// [t·LANES + l]; registers are read from and written to it.
constexpr std::size_t WIDTH = 16, PARTS = 8;

template <typename T> struct Register {
    typedef T type __attribute__((vector_size(WIDTH)));
    static constexpr std::size_t lanes = PARTS * WIDTH / sizeof(T);
};

template <typename T> using Lane = typename Register<T>::type;

template <typename T> struct Rows {
    std::vector<Lane<T>> w, cross;
    Lane<T> violation[PARTS], decrease[PARTS], active[PARTS];

    explicit Rows(std::size_t k) : w(k * PARTS), cross(k * PARTS) {}
};

// One sweep over the coordinates. `decrease` becomes a lower bound of twice the decrease of the
// objective, and `violation` grows by |projected gradient| if it is the first sweep.
template <typename T>
void sweep(const T *gram, std::size_t k, const std::int64_t *order, bool is_first, Rows<T> &rows) {
    const Lane<T> zero = {};
    Lane<T> decrease[PARTS] = {};
    for (std::size_t s = 0; s < k; ++s) {
        const auto t = static_cast<std::size_t>(order[s]);
        const T *curvatures = gram + t * k;
        Lane<T> slope[PARTS];
        for (std::size_t p = 0; p < PARTS; ++p)
            slope[p] = -rows.cross[t * PARTS + p];
        const Lane<T> *each = rows.w.data();
        for (std::size_t r = 0; r < k; ++r, each += PARTS)
#pragma GCC unroll 8
            for (std::size_t p = 0; p < PARTS; ++p)
                slope[p] += curvatures[r] * each[p];
        const T curvature = curvatures[t], inverse = T(1) / curvature;
        Lane<T> *w = rows.w.data() + t * PARTS;
        for (std::size_t p = 0; p < PARTS; ++p) {
            const Lane<T> down = slope[p] < zero ? -slope[p] : zero;
            if (is_first)
                rows.violation[p] += w[p] > zero ? (slope[p] < zero ? down : slope[p]) : down;
            if (!(curvature > T(0)))
                continue;
            const Lane<T> free = w[p] - slope[p] * inverse;
            const Lane<T> after = free > zero ? free : zero;
            const Lane<T> next = rows.active[p] > zero ? after : w[p];
            decrease[p] += (next - w[p]) * (next - w[p]) * curvature;
            w[p] = next;
        }
    }
    std::copy(decrease, decrease + PARTS, rows.decrease);
}

// At most `most` sweeps of each of n rows, until one lowers the objective by less than `tolerance`
// times the first. Returns Σ |projected gradient| in the first sweep.
template <typename T>
double sweep_rows(const T *gram, const T *cross, std::size_t n, std::size_t k,
                  const std::int64_t *order, std::int64_t most, T tolerance, Rows<T> &lanes, T *w) {
    constexpr std::size_t LANES = Register<T>::lanes, PER_PART = LANES / PARTS;
    double violation = 0.0;
    for (std::size_t start = 0; start < n; start += LANES, w += LANES * k, cross += LANES * k) {
        const std::size_t count = std::min(LANES, n - start);
        std::fill(lanes.w.begin(), lanes.w.end(), Lane<T>{});
        std::fill(lanes.cross.begin(), lanes.cross.end(), Lane<T>{});
        std::fill(lanes.violation, lanes.violation + PARTS, Lane<T>{});
        std::fill(lanes.active, lanes.active + PARTS, Lane<T>{});
        for (std::size_t l = 0; l < count; ++l) {
            const std::size_t part = l / PER_PART, place = l % PER_PART;
            lanes.active[part][place] = T(1);
            for (std::size_t s = 0; s < k; ++s) {
                lanes.w[s * PARTS + part][place] = w[l * k + s];
                lanes.cross[s * PARTS + part][place] = cross[l * k + s];
            }
        }
        T first[LANES];
        for (std::int64_t number = 0; number < most; ++number) {
            sweep(gram, k, order, number == 0, lanes);
            bool any = false;
            for (std::size_t l = 0; l < count; ++l) {
                const std::size_t part = l / PER_PART, place = l % PER_PART;
                const T decrease = lanes.decrease[part][place];
                if (number == 0)
                    first[l] = decrease;
                if (!(decrease > tolerance * first[l]))
                    lanes.active[part][place] = T(0);
                any = any || lanes.active[part][place] > T(0);
            }
            if (!any)
                break;
        }
        for (std::size_t l = 0; l < count; ++l) {
            const std::size_t part = l / PER_PART, place = l % PER_PART;
            violation += static_cast<double>(lanes.violation[part][place]);
            for (std::size_t s = 0; s < k; ++s)
                w[l * k + s] = lanes.w[s * PARTS + part][place];
        }
    }
    return violation;
}

template <typename T>
void require_sweeps(const Matrix<const T> &gram, const Vector<const std::int64_t> &order,
                    std::size_t k) {
    require(gram.shape(0) == k && gram.shape(1) == k, "gram must be square, one row per component");
    require(order.shape(0) == k, "order must hold every component");
    for (std::size_t s = 0; s < k; ++s)
        require(order.data()[s] >= 0 && static_cast<std::size_t>(order.data()[s]) < k,
                "order must hold numbers of components");
}

template <typename T>
double nonnegative_sweeps(Matrix<const T> gram, Matrix<const T> cross,
                          Vector<const std::int64_t> order, std::int64_t sweeps, double tolerance,
                          Matrix<T> rows) {
    const std::size_t n = rows.shape(0), k = rows.shape(1);
    require_sweeps(gram, order, k);
    require(cross.shape(0) == n && cross.shape(1) == k, "cross must have the shape of the rows");
    nb::gil_scoped_release unlocked;
    Rows<T> lanes(k);
    return sweep_rows(gram.data(), cross.data(), n, k, order.data(), sweeps,
                      static_cast<T>(tolerance), lanes, rows.data());
}

// Rows whose two products with X follow each other while X is in the cache.
constexpr std::size_t ROWS_AT_ONCE = 32;

// Sweeps of the rows of `left` with c = Hx − l1 from dense X, and back = Xᵀ·left afterwards. X is
// read from memory once.
template <typename T>
double swept_products(Matrix<const T> x, Matrix<const T> right, Matrix<const T> gram, double l1,
                      Vector<const std::int64_t> order, std::int64_t sweeps, double tolerance,
                      Matrix<T> left, Matrix<T> back) {
    const std::size_t n = x.shape(0), d = x.shape(1), k = left.shape(1);
    require_sweeps(gram, order, k);
    require(left.shape(0) == n, "left must have one row per row");
    require(right.shape(0) == d && right.shape(1) == k,
            "right must have one row per column and the components of the left factor");
    require(back.shape(0) == d && back.shape(1) == k, "back must have the shape of right");
    nb::gil_scoped_release unlocked;
    Rows<T> lanes(k);
    std::vector<T> cross(ROWS_AT_ONCE * k);
    std::fill_n(back.data(), d * k, T(0));
    double violation = 0.0;
    for (std::size_t start = 0; start < n; start += ROWS_AT_ONCE) {
        const std::size_t count = std::min(ROWS_AT_ONCE, n - start);
        const T *rows = x.data() + start * d;
        T *w = left.data() + start * k;
        std::fill(cross.begin(), cross.end(), static_cast<T>(-l1));
        add_row_products(rows, count, d, right.data(), k, cross.data());
        violation += sweep_rows(gram.data(), cross.data(), count, k, order.data(), sweeps,
                                static_cast<T>(tolerance), lanes, w);
        add_column_products(rows, count, d, w, k, back.data());
    }
    return violation;
}

// numerator = Σ_j x_j p_j^(β − 2) h_j with p = max(wh, floor). Returns Σ x log(x/p) for β = 1,
// Σ x/p − log(x/p) for β = 0 and Σ x p^(β − 1) otherwise, or 0 if `valued` is false.
template <typename T, typename Index>
double sparse_divergence(Vector<const T> data, Vector<const Index> indices,
                         Vector<const Index> indptr, Matrix<const T> left, Matrix<const T> right,
                         double beta, double floor, bool valued, Matrix<T> numerator) {
    const std::size_t n = left.shape(0), k = left.shape(1), d = right.shape(0);
    require(right.shape(1) == k, "both factors must have the same components");
    require(numerator.shape(0) == n && numerator.shape(1) == k,
            "numerator must have the shape of the left factor");
    require(indptr.shape(0) == n + 1, "indptr must have one entry more than there are rows");
    SparseRows<T, Index>(data, indices, indptr, d); // refuses what is not where it says
    const Index *column = indices.data(), *bound = indptr.data();
    nb::gil_scoped_release unlocked;
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const T *w = left.data() + i * k;
        T *sum = numerator.data() + i * k;
        std::fill(sum, sum + k, T(0));
        for (Index e = bound[i]; e < bound[i + 1]; ++e) {
            const double x = static_cast<double>(data.data()[e]);
            if (!(x > 0.0))
                continue;
            const T *h = right.data() + static_cast<std::size_t>(column[e]) * k;
            T dot = T(0);
            for (std::size_t s = 0; s < k; ++s)
                dot += w[s] * h[s];
            const double p = std::max(static_cast<double>(dot), floor);
            double factor;
            if (beta == 1.0)
                factor = x / p;
            else if (beta == 0.0)
                factor = x / (p * p);
            else
                factor = x * std::pow(p, beta - 2.0);
            if (valued)
                total += beta == 1.0   ? x * std::log(x / p)
                         : beta == 0.0 ? x / p - std::log(x / p)
                                       : factor * p;
            add_multiple(sum, static_cast<T>(factor), h, k);
        }
    }
    return total;
}

template <typename T, typename Index> void bind_sparse(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("sparse_divergence", &sparse_divergence<T, Index>, array("data"), array("indices"),
               array("indptr"), array("left"), array("right"), nb::arg("beta"), nb::arg("floor"),
               nb::arg("valued"), array("numerator"));
}

template <typename T> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("nonnegative_sweeps", &nonnegative_sweeps<T>, array("gram"), array("cross"),
               array("order"), nb::arg("sweeps"), nb::arg("tolerance"), array("rows"));
    module.def("swept_products", &swept_products<T>, array("x"), array("right"), array("gram"),
               nb::arg("l1"), array("order"), nb::arg("sweeps"), nb::arg("tolerance"),
               array("left"), array("back"));
    bind_sparse<T, std::int32_t>(module);
    bind_sparse<T, std::int64_t>(module);
}

} // namespace

} // namespace factors

void bind_nonnegative_rows(nb::module_ &module) {
    factors::bind<float>(module);
    factors::bind<double>(module);
}

} // namespace thetahat
