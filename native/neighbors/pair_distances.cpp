// Distances between all pairs of rows.
//
//     pair_distances(kind, X, Y, out, threads)              out[i, j] = d(x_i, y_j)
//     reduced_distances(p, counts, X, Y, out, threads)      out[i, j] = Σ_k |x_ik − y_jk|^p
//
// The first are no functions of x − y; the second are those of the searches, to the bit. The
// columns of Y lie together, so that the inner loop visits many rows of Y with one value of x. Sums
// are over columns in their order, whatever the threads: each piece writes its own rows.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/metrics.hpp"

namespace thetahat {

namespace neighbors {

namespace {

constexpr std::size_t rows_together = 256; // of Y: their sums stay in the cache

// Σ_j |x_j − y_j| / (|x_j| + |y_j|), without the columns in which both are zero
struct Canberra {
    static void add(double x, double y, double &sum, double &) {
        const double scale = std::fabs(x) + std::fabs(y);
        sum += scale > 0.0 ? std::fabs(x - y) / scale : 0.0;
    }
    static double result(double sum, double, double) { return sum; }
};

// Σ_j |x_j − y_j| / Σ_j |x_j + y_j|
struct BrayCurtis {
    static void add(double x, double y, double &sum, double &whole) {
        sum += std::fabs(x - y);
        whole += std::fabs(x + y);
    }
    static double result(double sum, double whole, double) { return sum > 0.0 ? sum / whole : 0.0; }
};

// √(d/present · Σ_present (x_j − y_j)²); NaN if no column is present in both
struct NanEuclidean {
    static void add(double x, double y, double &sum, double &present) {
        const double gap = x - y;
        const bool both = gap == gap;
        sum += both ? gap * gap : 0.0;
        present += both ? 1.0 : 0.0;
    }
    static double result(double sum, double present, double d) {
        return present > 0.0 ? std::sqrt(sum * (d / present))
                             : std::numeric_limits<double>::quiet_NaN();
    }
};

template <typename Metric>
void between(const double *X, std::size_t n, const double *Yt, std::size_t m, std::size_t d,
             double *out, int threads) {
    const std::size_t blocks = (m + rows_together - 1) / rows_together;
    for_each_piece(n * blocks, n * m * d < 20000 ? 1 : threads, [&](std::size_t piece) {
        const std::size_t i = piece / blocks, first = piece % blocks * rows_together,
                          some = std::min(rows_together, m - first);
        double sum[rows_together] = {}, other[rows_together] = {};
        for (std::size_t j = 0; j < d; ++j) {
            const double x = X[i * d + j];
            const double *y = Yt + j * m + first;
            for (std::size_t c = 0; c < some; ++c)
                Metric::add(x, y[c], sum[c], other[c]);
        }
        for (std::size_t c = 0; c < some; ++c)
            out[i * m + first + c] = Metric::result(sum[c], other[c], static_cast<double>(d));
    });
}

void pair_distances(const char *name, Matrix<const double> X, Matrix<const double> Yt,
                    Matrix<double> out, int threads) {
    const std::string_view kind = name;
    const std::size_t n = X.shape(0), d = X.shape(1), m = Yt.shape(1);
    require(Yt.shape(0) == d && out.shape(0) == n && out.shape(1) == m,
            "X must be n × d, the transposed Y d × m, and the result n × m");
    require(kind == "canberra" || kind == "braycurtis" || kind == "nan_euclidean",
            "the kind of distance is not known");
    nb::gil_scoped_release unlocked;
    const auto run = kind == "canberra"     ? &between<Canberra>
                     : kind == "braycurtis" ? &between<BrayCurtis>
                                            : &between<NanEuclidean>;
    run(X.data(), n, Yt.data(), m, d, out.data(), threads);
}

void reduced_distances(double p, bool counts_differences, Matrix<const double> X,
                       Matrix<const double> Yt, Matrix<double> out, int threads) {
    const std::size_t n = X.shape(0), d = X.shape(1), m = Yt.shape(1);
    require(Yt.shape(0) == d && out.shape(0) == n && out.shape(1) == m,
            "X must be n × d, the transposed Y d × m, and the result n × m");
    nb::gil_scoped_release unlocked;
    with_metric(p, counts_differences, d, [&](auto columns, auto metric) {
        for_each_piece(n, n * m * d < 20000 ? 1 : threads, [&](std::size_t i) {
            const double *x = X.data() + i * d, *y = Yt.data();
            double *row = out.data() + i * m;
            std::size_t c = 0;
            for (; c + wide_size <= m; c += wide_size) {
                const auto gap = [&](std::size_t j) { return x[j] - load_wide(y + j * m + c); };
                const Wide some = reduced<decltype(columns)::value, Wide>(metric, d, gap);
                std::memcpy(row + c, &some, sizeof(Wide));
            }
            for (; c < m; ++c)
                row[c] = reduced<decltype(columns)::value, double>(
                    metric, d, [&](std::size_t j) { return x[j] - y[j * m + c]; });
        });
    });
}

} // namespace

} // namespace neighbors

void bind_pair_distances(nb::module_ &module) {
    module.def("pair_distances", &neighbors::pair_distances, nb::arg("kind"),
               nb::arg("X").noconvert(), nb::arg("Y_transposed").noconvert(),
               nb::arg("out").noconvert(), nb::arg("threads"));
    module.def("reduced_distances", &neighbors::reduced_distances, nb::arg("p"),
               nb::arg("counts_differences"), nb::arg("X").noconvert(),
               nb::arg("Y_transposed").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));
}

} // namespace thetahat
