// Sums of losses over rows of a linear prediction z = x̃ᵀθ, x̃ = (x, constant), in one pass.
//
//     loss_sums     Σ w ℓ(y, z)  and  Σ w ∂ℓ/∂z·x̃: value and gradient
//     curved_gram   Σ w ∂²ℓ/∂z²·x̃ x̃ᵀ: the Hessian, or the part of some entries of θ

#include "core/views.hpp"
#include "losses/row_sums.hpp"

namespace thetahat {

namespace {

template <typename T>
double loss_sums(StridedMatrix<const T> x, Vector<const double> y, Vector<const double> weight,
                 Vector<const double> theta, double constant, int loss, double knee,
                 Vector<double> slope) {
    const LossRows<T> of(x, y, weight, theta, constant, loss, knee);
    require(slope.shape(0) == of.rows.size, "slope must have the size of theta");
    double *total = slope.data();

    nb::gil_scoped_release unlocked;
    return sum_losses(of, total);
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
    if (!some)
        return sum_curvatures(of, to);
    GramTiles gram(count);
    of.each_curved([&](std::size_t i, double root) {
        of.rows.scaled(i, root, entry, count, gram.next());
        gram.add();
    });
    gram.write(to);
}

template <typename T> void bind(nb::module_ &module) {
    module.def("loss_sums", &loss_sums<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("theta").noconvert(), nb::arg("constant"),
               nb::arg("loss"), nb::arg("knee"), nb::arg("slope").noconvert());
    module.def("curved_gram", &curved_gram<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("theta").noconvert(), nb::arg("constant"),
               nb::arg("loss"), nb::arg("knee"), nb::arg("entries").noconvert(),
               nb::arg("out").noconvert());
}

} // namespace

void bind_row_losses(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
