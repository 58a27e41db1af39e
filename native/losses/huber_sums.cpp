// Sums of Huber's loss with a scale over rows of z = x̃ᵀθ, x̃ = (x, constant), in one pass. With
// r = y − z, a row with |r| ≤ reach is inside and contributes its square; other rows are linear:
//
//     Σ_in w r²,   Σ_out w,   Σ_out w|r|,   Σ_in w r·x̃,   Σ_out w sign(r)·x̃,   Σ_in w·x̃ x̃ᵀ
//
// If the rows that were inside at another point are known, the matrix is only updated: rows that
// entered are added, rows that left are subtracted, and both are counted. Rows are summed in order,
// by one thread.

#include <cmath>
#include <vector>

#include "core/linear_rows.hpp"
#include "core/pairwise_sum.hpp"
#include "linalg/gram_tiles.hpp"

namespace thetahat {

namespace {

template <typename T>
std::int64_t huber_sums(StridedMatrix<const T> x, Vector<const double> theta, double constant,
                        Vector<const double> y, Vector<const double> weight, double reach,
                        Vector<const bool> known, Vector<bool> inside, Vector<double> sums,
                        Matrix<double> pulls, Matrix<double> gram) {
    const LinearRows<T> rows(x, theta.shape(0), constant);
    require(y.shape(0) == rows.n && inside.shape(0) == rows.n,
            "y and inside must have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == rows.n,
            "weight must be empty or have one entry per row");
    require(known.shape(0) == 0 || known.shape(0) == rows.n,
            "known must be empty or have one entry per row");
    require(sums.shape(0) == 3, "sums must have three entries");
    require(pulls.shape(0) == 2 && pulls.shape(1) == rows.size && gram.shape(0) == rows.size &&
                gram.shape(1) == rows.size,
            "pulls must have two rows, gram as many as theta, both the width of theta");
    const double *t = theta.data(), *target = y.data();
    const double *w = weight.shape(0) ? weight.data() : nullptr;
    const bool *before = known.shape(0) ? known.data() : nullptr;
    bool *in = inside.data();
    double *to = sums.data(), *pull = pulls.data(), *matrix = gram.data();

    nb::gil_scoped_release unlocked;
    PairwiseSum squares, beyond, sizes;
    GramTiles came(rows.size), went(rows.size);
    std::vector<double> part(2 * rows.size);
    std::fill_n(pull, 2 * rows.size, 0.0);
    std::array<double, most_rows> z, near, far, square, mass, size;
    const std::size_t step = rows.chunk();
    std::int64_t changes = 0;
    for (std::size_t first = 0; first < rows.n; first += step) {
        const std::size_t count = std::min(step, rows.n - first);
        rows.scores(first, count, t, z.data());
        for (std::size_t i = 0; i < count; ++i) {
            const double residual = target[first + i] - z[i], own = w ? w[first + i] : 1.0;
            const double length = std::abs(residual);
            const bool inner = length <= reach;
            in[first + i] = inner;
            near[i] = inner ? own * residual : 0.0;
            far[i] = inner ? 0.0 : residual > 0.0 ? own : residual < 0.0 ? -own : own * residual;
            square[i] = near[i] * residual;
            mass[i] = inner ? 0.0 : own;
            size[i] = mass[i] * length;
        }
        squares.add(lane_sum(square.data(), count));
        beyond.add(lane_sum(mass.data(), count));
        sizes.add(lane_sum(size.data(), count));
        std::fill(part.begin(), part.end(), 0.0);
        rows.pull_back(first, count, near.data(), part.data());
        rows.pull_back(first, count, far.data(), part.data() + rows.size);
        for (std::size_t j = 0; j < 2 * rows.size; ++j)
            pull[j] += part[j];
        for (std::size_t i = first; i < first + count; ++i) {
            const bool was = before ? before[i] : false;
            if (in[i] == was)
                continue;
            ++changes;
            GramTiles &which = in[i] ? came : went;
            rows.scaled(i, w ? std::sqrt(w[i]) : 1.0, which.next());
            which.add();
        }
    }
    to[0] = squares.total(), to[1] = beyond.total(), to[2] = sizes.total();
    came.write(matrix);
    if (before) {
        std::vector<double> off(rows.size * rows.size);
        went.write(off.data());
        for (std::size_t j = 0; j < off.size(); ++j)
            matrix[j] -= off[j];
    }
    return changes;
}

template <typename T> void bind(nb::module_ &module) {
    module.def("huber_sums", &huber_sums<T>, nb::arg("x").noconvert(), nb::arg("theta").noconvert(),
               nb::arg("constant"), nb::arg("y").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("reach"), nb::arg("known").noconvert(), nb::arg("inside").noconvert(),
               nb::arg("sums").noconvert(), nb::arg("pulls").noconvert(),
               nb::arg("gram").noconvert());
}

} // namespace

void bind_huber_sums(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
