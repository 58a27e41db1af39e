// Least angle regression (least_angle_walk.hpp) for many targets on the Gram matrix G and c = Xᵀy,
// row by row of `coef`; and for one target with its path, on the Gram matrix or the columns of X.
// One thread computes each target in a fixed order.

#include "core/views.hpp"
#include "sparse/least_angle_walk.hpp"
#include "trees/arrays.hpp"

namespace thetahat {

namespace {

void least_angles(Matrix<const double> gram, Matrix<const double> correlation, std::size_t most,
                  Matrix<double> coef) {
    const std::size_t d = gram.shape(0), targets = correlation.shape(0);
    require(gram.shape(1) == d && correlation.shape(1) == d && coef.shape(1) == d,
            "gram must be square, correlation and coef as wide as it");
    require(coef.shape(0) == targets, "coef must have the rows of correlation");
    require(most <= d, "no more steps than columns");
    nb::gil_scoped_release unlocked;
    GramRows rows(gram.data(), d);
    LeastAngleWalk walk(rows, {most, most, 0.0, false, false});
    for (std::size_t t = 0; t < targets; ++t)
        walk.walk(correlation.data() + t * d, coef.data() + t * d, [](double, const double *) {});
}

template <typename Rows>
nb::tuple path(Rows rows, const double *c, LeastAngleRules rules, bool keep_path) {
    const std::size_t d = rows.size();
    std::vector<double> beta(d), largest, coefs;
    std::vector<std::int64_t> active;
    std::size_t steps = 0, dependent = 0;
    PathEnd end;
    {
        nb::gil_scoped_release unlocked;
        LeastAngleWalk walk(rows, rules);
        end = walk.walk(c, beta.data(), [&](double now, const double *here) {
            if (!keep_path) {
                largest.clear();
                coefs.clear();
            }
            largest.push_back(now);
            coefs.insert(coefs.end(), here, here + d);
        });
        active.assign(walk.active.begin(), walk.active.end());
        steps = walk.steps;
        dependent = walk.dependent;
    }
    const std::size_t nodes = largest.size(), members = active.size();
    return nb::make_tuple(
        trees::owned(std::move(largest), {nodes}), trees::owned(std::move(coefs), {nodes, d}),
        trees::owned(std::move(active), {members}), steps, dependent, static_cast<int>(end));
}

// C at every node of the path, β at every node (or only at the last), the active columns, the
// number of steps, the number of columns left out as linearly dependent, and how the path ended:
// 0 at `lowest`, 1 after `most_steps`, 2 because of rounding. `by_columns`: the matrix has a row
// for each column of X; otherwise it is the Gram matrix.
nb::tuple least_angle_path(Matrix<const double> matrix, Vector<const double> correlation,
                           bool by_columns, std::size_t most_steps, std::size_t widest,
                           double lowest, bool lasso, bool positive, bool keep_path) {
    const std::size_t d = correlation.shape(0);
    require(matrix.shape(0) == d, "the matrix must have a row for each entry of correlation");
    require(by_columns || matrix.shape(1) == d, "gram must be square");
    require(widest <= d, "no more active columns than columns");
    require(lowest >= 0.0, "the lowest correlation must not be negative");
    const LeastAngleRules rules{most_steps, widest, lowest, lasso, positive};
    if (by_columns)
        return path(RowsOfColumns(matrix.data(), d, matrix.shape(1)), correlation.data(), rules,
                    keep_path);
    return path(GramRows(matrix.data(), d), correlation.data(), rules, keep_path);
}

} // namespace

void bind_least_angles(nb::module_ &module) {
    module.def("least_angles", &least_angles, nb::arg("gram").noconvert(),
               nb::arg("correlation").noconvert(), nb::arg("most"), nb::arg("coef").noconvert());
    module.def("least_angle_path", &least_angle_path, nb::arg("matrix").noconvert(),
               nb::arg("correlation").noconvert(), nb::arg("by_columns"), nb::arg("most_steps"),
               nb::arg("widest"), nb::arg("lowest"), nb::arg("lasso"), nb::arg("positive"),
               nb::arg("keep_path"));
}

} // namespace thetahat
