// One pass over rows of a linear prediction z = xᵀβ + b: the sums that a gradient is made of, or the
// rows that a Hessian is made of.
//
//     loss_sums     Σ w ℓ(y, z)  and  Σ w ∂ℓ/∂z·(x, 1)
//     curved_rows   √(w ∂²ℓ/∂z²)·(x, 1) for the rows where that is not 0, all entries or some
//
// The 1 and b are there when θ has one entry more than x. Rows come in chunks that a cache holds, so
// that x is read from memory once: first all scores of a chunk, then their losses, then what is made
// of them. Sums within a chunk and over chunks are in the order of the rows: the bits are a function
// of the arguments.

#include <vector>

#include "loss_rows.hpp"

namespace thetahat {

namespace {

// g_j += Σ_i s_i x_ij, four rows at a time.
template <typename T>
void pull_back(const LossRows<T> &rows, std::size_t first, std::size_t count, const double *s,
               double *__restrict g) {
    const std::size_t d = rows.d;
    std::size_t i = 0;
    for (; i + together <= count; i += together) {
        const T *a = rows.row(first + i), *b = rows.row(first + i + 1);
        const T *c = rows.row(first + i + 2), *e = rows.row(first + i + 3);
        const double p = s[i], q = s[i + 1], r = s[i + 2], t = s[i + 3];
        for (std::size_t j = 0; j < d; ++j)
            g[j] += (p * static_cast<double>(a[j]) + q * static_cast<double>(b[j])) +
                    (r * static_cast<double>(c[j]) + t * static_cast<double>(e[j]));
    }
    for (; i < count; ++i) {
        const T *a = rows.row(first + i);
        for (std::size_t j = 0; j < d; ++j)
            g[j] += s[i] * static_cast<double>(a[j]);
    }
}

template <typename T>
double loss_sums(StridedMatrix<const T> x, Vector<const double> y, Vector<const double> weight,
                 Vector<const double> theta, int loss, double knee, Vector<double> slope) {
    const LossRows<T> rows = checked<T>(x, y, weight, theta, loss);
    const std::size_t d = rows.d, step = chunk_rows(d * sizeof(T));
    require(slope.shape(0) == theta.shape(0), "slope must have the size of theta");
    const double *t = theta.data(), b = theta.shape(0) > d ? t[d] : 0.0;
    double *total = slope.data();
    const bool level = slope.shape(0) > d;

    nb::gil_scoped_release unlocked;
    return with_loss(loss, [&](auto known) {
        std::fill(total, total + d + level, 0.0);
        std::vector<double> part(d);
        std::array<double, most_rows> z, pull;
        double value = 0.0;
        for (std::size_t first = 0; first < rows.n; first += step) {
            const std::size_t count = std::min(step, rows.n - first);
            scores(rows, first, count, t, b, z.data());
            for (std::size_t i = 0; i < count; ++i) {
                const Value at =
                    loss_at<decltype(known)::value, SideBySide>(knee, rows.y[first + i], z[i]);
                z[i] = at.loss;
                pull[i] = at.slope;
            }
            if (rows.weight != nullptr)
                for (std::size_t i = 0; i < count; ++i) {
                    z[i] *= rows.weight[first + i];
                    pull[i] *= rows.weight[first + i];
                }
            double losses = 0.0, pulls = 0.0;
            for (std::size_t i = 0; i < count; ++i) {
                losses += z[i];
                pulls += pull[i];
            }
            value += losses;
            if (level)
                total[d] += pulls;
            std::fill(part.begin(), part.end(), 0.0);
            pull_back(rows, first, count, pull.data(), part.data());
            for (std::size_t j = 0; j < d; ++j)
                total[j] += part[j];
        }
        return value;
    });
}

template <typename T>
std::int64_t curved_rows(StridedMatrix<const T> x, Vector<const double> y,
                         Vector<const double> weight, Vector<const double> theta, int loss,
                         double knee, Vector<const std::int64_t> entries, Matrix<double> out) {
    const LossRows<T> rows = checked<T>(x, y, weight, theta, loss);
    const std::size_t d = rows.d, size = theta.shape(0), step = chunk_rows(d * sizeof(T));
    const std::size_t some = entries.shape(0), width = some ? some : size;
    require(out.shape(0) == rows.n && out.shape(1) == width,
            "out must have the rows of x and a column for each entry");
    const std::int64_t *entry = entries.data();
    for (std::size_t j = 0; j < some; ++j)
        require(entry[j] >= 0 && static_cast<std::size_t>(entry[j]) < size,
                "entries must be those of theta");
    const double *t = theta.data(), b = size > d ? t[d] : 0.0;
    double *to = out.data();

    nb::gil_scoped_release unlocked;
    return with_loss(loss, [&](auto known) {
        std::array<double, most_rows> z;
        std::int64_t kept = 0;
        for (std::size_t first = 0; first < rows.n; first += step) {
            const std::size_t count = std::min(step, rows.n - first);
            scores(rows, first, count, t, b, z.data());
            for (std::size_t i = 0; i < count; ++i) {
                const double bend =
                    loss_at<decltype(known)::value, SideBySide>(knee, rows.y[first + i], z[i])
                        .curvature;
                z[i] = std::sqrt(bend * rows.weight_of(first + i));
            }
            for (std::size_t i = 0; i < count; ++i) {
                const double root = z[i];
                if (root == 0.0)
                    continue;
                const T *from = rows.row(first + i);
                for (std::size_t j = 0; j < some; ++j)
                    to[j] = static_cast<std::size_t>(entry[j]) < d
                                ? static_cast<double>(from[entry[j]]) * root
                                : root;
                for (std::size_t j = 0; some == 0 && j < d; ++j)
                    to[j] = static_cast<double>(from[j]) * root;
                if (some == 0 && width > d)
                    to[d] = root;
                to += width;
                ++kept;
            }
        }
        return kept;
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("loss_sums", &loss_sums<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("theta").noconvert(), nb::arg("loss"),
               nb::arg("knee"), nb::arg("slope").noconvert());
    module.def("curved_rows", &curved_rows<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("theta").noconvert(), nb::arg("loss"),
               nb::arg("knee"), nb::arg("entries").noconvert(), nb::arg("out").noconvert());
}

} // namespace

void bind_row_losses(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
