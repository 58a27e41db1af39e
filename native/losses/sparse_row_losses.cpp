// Sums of losses over compressed rows of a linear prediction z = x̃ᵀθ, x̃ = (x, constant):
//
//     sparse_loss_sums     Σ w ℓ(y, z)  and  Σ w ∂ℓ/∂z·x̃: value and gradient
//
// Rows are processed in chunks: first the raw predictions of a chunk, then their losses, so that
// the loop over these is vectorised, then the sums. All sums are in the order of the rows, by one
// thread, so the bits are a function of the arguments.

#include <array>

#include "core/linear_rows.hpp"
#include "core/pairwise_sum.hpp"
#include "core/rows.hpp"
#include "core/views.hpp"
#include "losses/losses.hpp"

namespace thetahat {

namespace {

template <typename T, typename Index>
double sparse_loss_sums(Vector<const T> data, Vector<const Index> indices,
                        Vector<const Index> indptr, std::size_t columns, Vector<const double> y,
                        Vector<const double> weight, Vector<const double> theta, double constant,
                        int loss, double knee, Vector<double> slope) {
    const SparseRows<T, Index> rows(data, indices, indptr, columns);
    const std::size_t n = rows.n_rows(), d = rows.n_columns(), size = theta.shape(0);
    require(size == d || size == d + 1, "theta must have one entry per column of x, or one more");
    require(y.shape(0) == n, "y must have one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == n,
            "weight must be empty or have one entry per row");
    require(slope.shape(0) == size, "slope must have the size of theta");
    require(loss >= 0 && loss < n_losses, "no loss has this number");
    const double *target = y.data(), *share = weight.shape(0) ? weight.data() : nullptr;
    const double *parameter = theta.data();
    double *total = slope.data();

    nb::gil_scoped_release unlocked;
    return with_loss(loss, [&](auto known) {
        std::fill(total, total + size, 0.0);
        const double level = size > d ? constant * parameter[d] : 0.0;
        std::array<double, most_rows> z, pull;
        PairwiseSum value, all;
        for (std::size_t first = 0; first < n; first += most_rows) {
            const std::size_t count = std::min(most_rows, n - first);
            for (std::size_t i = 0; i < count; ++i)
                z[i] = rows.dot(first + i, parameter) + level;
            for (std::size_t i = 0; i < count; ++i) {
                const Value at =
                    loss_at<decltype(known)::value, SideBySide>(knee, target[first + i], z[i]);
                z[i] = at.loss;
                pull[i] = at.slope;
            }
            for (std::size_t i = 0; share != nullptr && i < count; ++i) {
                z[i] *= share[first + i];
                pull[i] *= share[first + i];
            }
            value.add(lane_sum(z.data(), count));
            all.add(lane_sum(pull.data(), count));
            for (std::size_t i = 0; i < count; ++i)
                rows.add(first + i, pull[i], total);
        }
        if (size > d)
            total[d] = constant * all.total();
        return value.total();
    });
}

template <typename T, typename Index> void bind(nb::module_ &module) {
    module.def("sparse_loss_sums", &sparse_loss_sums<T, Index>, nb::arg("data").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("columns"),
               nb::arg("y").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("theta").noconvert(), nb::arg("constant"), nb::arg("loss"), nb::arg("knee"),
               nb::arg("slope").noconvert());
}

} // namespace

void bind_sparse_row_losses(nb::module_ &module) {
    bind<double, std::int32_t>(module);
    bind<double, std::int64_t>(module);
    bind<float, std::int32_t>(module);
    bind<float, std::int64_t>(module);
}

} // namespace thetahat
