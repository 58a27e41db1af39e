// Sums of losses over rows of a linear prediction z = x̃ᵀθ, x̃ = (x, constant), in one pass.
//
//     loss_sums     Σ w ℓ(y, z)  and  Σ w ∂ℓ/∂z·x̃: value and gradient
//     curved_gram   Σ w ∂²ℓ/∂z²·x̃ x̃ᵀ: the Hessian, or the part of some entries of θ
//     curved_rows   √(w ∂²ℓ/∂z²)·x̃ for the rows where that is not 0: its factor, row by row
//
// Rows come in chunks: first the scores of a chunk, then their losses, then what is made of them.
// Sums within a chunk and over chunks are in the order of the rows, by one thread: the bits are a
// function of the arguments.

#include <vector>

#include "gram_tiles.hpp"
#include "linear_rows.hpp"
#include "losses.hpp"
#include "pairwise_sum.hpp"

namespace thetahat {

namespace {

template <typename T> struct LossRows {
    LinearRows<T> rows;
    const double *y, *weight; // no weights: null
    const double *theta;
    int loss;
    double knee;

    LossRows(StridedMatrix<const T> x, Vector<const double> targets, Vector<const double> weights,
             Vector<const double> parameters, double constant, int loss, double knee)
        : rows(x, parameters.shape(0), constant), y(targets.data()),
          weight(weights.shape(0) ? weights.data() : nullptr), theta(parameters.data()), loss(loss),
          knee(knee) {
        require(targets.shape(0) == rows.n, "y must have one entry per row");
        require(weights.shape(0) == 0 || weights.shape(0) == rows.n,
                "weight must be empty or have one entry per row");
        require(loss >= 0 && loss < n_losses, "no loss has this number");
    }

    // visit(i, √(w_i ∂²ℓ/∂z²)) for the rows where that is not 0, in order.
    template <typename Visit> void each_curved(const Visit &visit) const {
        std::array<double, most_rows> root;
        const std::size_t step = rows.chunk();
        for (std::size_t first = 0; first < rows.n; first += step) {
            const std::size_t count = std::min(step, rows.n - first);
            rows.scores(first, count, theta, root.data());
            roots(first, count, root.data());
            for (std::size_t i = 0; i < count; ++i)
                if (root[i] != 0.0)
                    visit(first + i, root[i]);
        }
    }

  private:
    // From the scores of some rows, in their place: √(w ∂²ℓ/∂z²).
    void roots(std::size_t first, std::size_t count, double *z) const {
        // Written here first, so that the compiler knows that nothing else is at the same place.
        double bend[most_rows];
        with_loss(loss, [&](auto known) {
            const double *own = y + first, bent = knee;
            for (std::size_t i = 0; i < count; ++i)
                bend[i] = loss_at<decltype(known)::value, SideBySide>(bent, own[i], z[i]).curvature;
        });
        for (std::size_t i = 0; weight != nullptr && i < count; ++i)
            bend[i] *= weight[first + i];
        for (std::size_t i = 0; i < count; ++i)
            z[i] = std::sqrt(bend[i]);
    }
};

template <typename T>
double loss_sums(StridedMatrix<const T> x, Vector<const double> y, Vector<const double> weight,
                 Vector<const double> theta, double constant, int loss, double knee,
                 Vector<double> slope) {
    const LossRows<T> of(x, y, weight, theta, constant, loss, knee);
    const LinearRows<T> &rows = of.rows;
    require(slope.shape(0) == rows.size, "slope must have the size of theta");
    double *total = slope.data();

    nb::gil_scoped_release unlocked;
    return with_loss(loss, [&](auto known) {
        std::fill(total, total + rows.size, 0.0);
        std::vector<double> part(rows.size);
        std::array<double, most_rows> z, pull;
        const std::size_t step = rows.chunk();
        PairwiseSum value;
        for (std::size_t first = 0; first < rows.n; first += step) {
            const std::size_t count = std::min(step, rows.n - first);
            rows.scores(first, count, of.theta, z.data());
            for (std::size_t i = 0; i < count; ++i) {
                const Value at =
                    loss_at<decltype(known)::value, SideBySide>(knee, of.y[first + i], z[i]);
                z[i] = at.loss;
                pull[i] = at.slope;
            }
            for (std::size_t i = 0; of.weight != nullptr && i < count; ++i) {
                z[i] *= of.weight[first + i];
                pull[i] *= of.weight[first + i];
            }
            value.add(lane_sum(z.data(), count));
            std::fill(part.begin(), part.end(), 0.0);
            rows.pull_back(first, count, pull.data(), part.data());
            for (std::size_t j = 0; j < rows.size; ++j)
                total[j] += part[j];
        }
        return value.total();
    });
}

template <typename T>
void curved_gram(StridedMatrix<const T> x, Vector<const double> y, Vector<const double> weight,
                 Vector<const double> theta, double constant, int loss, double knee,
                 Vector<const std::int64_t> entries, Matrix<double> out) {
    const LossRows<T> of(x, y, weight, theta, constant, loss, knee);
    const std::size_t some = entries.shape(0), count = some ? some : of.rows.size;
    require(out.shape(0) == count && out.shape(1) == count,
            "out must have a row and a column for each entry");
    const std::int64_t *entry = entries.data();
    for (std::size_t j = 0; j < some; ++j)
        require(entry[j] >= 0 && static_cast<std::size_t>(entry[j]) < of.rows.size,
                "entries must be those of theta");
    double *to = out.data();

    nb::gil_scoped_release unlocked;
    GramTiles gram(count);
    of.each_curved([&](std::size_t i, double root) {
        if (some)
            of.rows.scaled(i, root, entry, count, gram.next());
        else
            of.rows.scaled(i, root, gram.next());
        gram.add();
    });
    gram.write(to);
}

template <typename T>
std::int64_t curved_rows(StridedMatrix<const T> x, Vector<const double> y,
                         Vector<const double> weight, Vector<const double> theta, double constant,
                         int loss, double knee, Matrix<double> out) {
    const LossRows<T> of(x, y, weight, theta, constant, loss, knee);
    require(out.shape(0) == of.rows.n && out.shape(1) == of.rows.size,
            "out must have the rows of x and a column for each entry of theta");
    double *to = out.data();

    nb::gil_scoped_release unlocked;
    std::int64_t kept = 0;
    of.each_curved([&](std::size_t i, double root) {
        of.rows.scaled(i, root, to);
        to += of.rows.size;
        ++kept;
    });
    return kept;
}

template <typename T> void bind(nb::module_ &module) {
    module.def("loss_sums", &loss_sums<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("theta").noconvert(), nb::arg("constant"),
               nb::arg("loss"), nb::arg("knee"), nb::arg("slope").noconvert());
    module.def("curved_gram", &curved_gram<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("theta").noconvert(), nb::arg("constant"),
               nb::arg("loss"), nb::arg("knee"), nb::arg("entries").noconvert(),
               nb::arg("out").noconvert());
    module.def("curved_rows", &curved_rows<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("theta").noconvert(), nb::arg("constant"),
               nb::arg("loss"), nb::arg("knee"), nb::arg("out").noconvert());
}

} // namespace

void bind_row_losses(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
