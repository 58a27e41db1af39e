// Losses with kinks in their dual form, smoothed around a dual variable of every row:
//
//     ℓ_i(z) = max over lower_i ≤ m ≤ upper_i of m(y_i − z) − kink·|m| − curvature·m²/2
//     φ_i(z) = the same with −(m − anchor_i)²/(2·reach) under the maximum
//
// (hinge, squared hinge, ε-insensitive and its square). φ has the continuous slope −m_i, and if m_i
// is strictly inside its box and not at the kink, its curvature is 1/(curvature + 1/reach).
//
//     rounded_rows   m, w·m and w·φ″ of every row; the sums of w·φ, of w·ℓ, of the dual's terms
//                    w·(m·y − kink·|m| − curvature·m²/2), and of w·(m − anchor)²/(2·reach)
//     rounded_sums   the same for z = x̃ᵀθ, x̃ = (x, constant), in one pass: z and m of every row,
//                    the sums, Σ w·m·x̃ and Σ w·φ″·x̃ x̃ᵀ
//     flat_step      a step along a direction at which the mean of φ has nearly zero slope
//
// Every row is computed separately. Sums are over chunks of rows in order, and chunks are added in
// pairs, by one thread; the caller distributes blocks of rows over threads.

#include "losses/smoothed_kinks.hpp"

namespace thetahat {

namespace {

void rounded_rows(Vector<const double> z, Vector<const double> y, Vector<const double> anchor,
                  Vector<const double> weight, Vector<const double> lower,
                  Vector<const double> upper, double kink, double curvature, double reach,
                  Vector<double> multipliers, Vector<double> pull, Vector<double> bend,
                  Vector<double> sums) {
    const std::size_t n = z.shape(0);
    const Rounding of(n, y, anchor, weight, lower, upper, kink, curvature, reach);
    require(multipliers.shape(0) == n && pull.shape(0) == n && bend.shape(0) == n,
            "multipliers, pull and bend must have one entry per row");
    require(sums.shape(0) == 4, "sums must have four entries");
    const double *score = z.data();
    double *m = multipliers.data(), *pulled = pull.data(), *bent = bend.data(), *to = sums.data();

    nb::gil_scoped_release unlocked;
    RoundedChunk chunk;
    for (std::size_t start = 0; start < n; start += sum_rows) {
        const std::size_t size = std::min(sum_rows, n - start);
        std::copy_n(score + start, size, chunk.z);
        chunk.take(of, start, size);
        std::copy_n(chunk.m, size, m + start);
        std::copy_n(chunk.pull, size, pulled + start);
        std::copy_n(chunk.bend, size, bent + start);
    }
    chunk.write_sums(to);
}

template <typename T>
void rounded_sums(StridedMatrix<const T> x, Vector<const double> theta, double constant,
                  Vector<const double> y, Vector<const double> anchor, Vector<const double> weight,
                  Vector<const double> lower, Vector<const double> upper, double kink,
                  double curvature, double reach, Vector<double> z, Vector<double> multipliers,
                  Vector<double> sums, Vector<double> pull, Matrix<double> gram) {
    const LinearRows<T> rows(x, theta.shape(0), constant);
    const Rounding of(rows.n, y, anchor, weight, lower, upper, kink, curvature, reach);
    require(z.shape(0) == rows.n && multipliers.shape(0) == rows.n,
            "z and multipliers must have one entry per row");
    require(sums.shape(0) == 4, "sums must have four entries");
    require(pull.shape(0) == rows.size && gram.shape(0) == rows.size && gram.shape(1) == rows.size,
            "pull and gram must have the size of theta");
    const double *t = theta.data();
    double *score = z.data(), *m = multipliers.data(), *to = sums.data();
    double *total = pull.data(), *bent = gram.data();

    nb::gil_scoped_release unlocked;
    round_rows(rows, of, t, score, m, to, total, bent);
}

double flat_step(Vector<const double> y, Vector<const double> z, Vector<const double> across,
                 Vector<const double> anchor, Vector<const double> share,
                 Vector<const double> lower, Vector<const double> upper, double kink,
                 double curvature, double reach, double level, double rise, double flat) {
    const std::size_t n = y.shape(0);
    require(z.shape(0) == n && across.shape(0) == n && anchor.shape(0) == n &&
                share.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n,
            "z, across, anchor, share, lower and upper must have one entry per row");
    const double *target = y.data(), *score = z.data(), *along = across.data();
    const double *before = anchor.data(), *s = share.data();

    nb::gil_scoped_release unlocked;
    const Box box{lower.data(), upper.data(), kink, curvature + 1.0 / reach};
    std::vector<double> gap(n), pull(n);
    for (std::size_t i = 0; i < n; ++i) {
        gap[i] = target[i] - score[i] + before[i] / reach;
        pull[i] = s[i] * along[i];
    }
    return flat_length(gap, pull, along, box, level, rise, flat);
}

template <typename T> void bind(nb::module_ &module) {
    module.def("rounded_sums", &rounded_sums<T>, nb::arg("x").noconvert(),
               nb::arg("theta").noconvert(), nb::arg("constant"), nb::arg("y").noconvert(),
               nb::arg("anchor").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("kink"),
               nb::arg("curvature"), nb::arg("reach"), nb::arg("z").noconvert(),
               nb::arg("multipliers").noconvert(), nb::arg("sums").noconvert(),
               nb::arg("pull").noconvert(), nb::arg("gram").noconvert());
}

} // namespace

void bind_smoothed_kinks(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
    module.def("rounded_rows", &rounded_rows, nb::arg("z").noconvert(), nb::arg("y").noconvert(),
               nb::arg("anchor").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("kink"),
               nb::arg("curvature"), nb::arg("reach"), nb::arg("multipliers").noconvert(),
               nb::arg("pull").noconvert(), nb::arg("bend").noconvert(),
               nb::arg("sums").noconvert());
    module.def("flat_step", &flat_step, nb::arg("y").noconvert(), nb::arg("z").noconvert(),
               nb::arg("across").noconvert(), nb::arg("anchor").noconvert(),
               nb::arg("share").noconvert(), nb::arg("lower").noconvert(),
               nb::arg("upper").noconvert(), nb::arg("kink"), nb::arg("curvature"),
               nb::arg("reach"), nb::arg("level"), nb::arg("rise"), nb::arg("flat"));
}

} // namespace thetahat
