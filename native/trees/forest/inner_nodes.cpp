// The numbers of the inner nodes of a tree, which follow from those of its leaves.

#include <cmath>

#include "core/views.hpp"

namespace thetahat {

namespace {

// Σ w·y·log y of a mean, the part of Poisson's deviance that a split changes.
double y_log_y(double y) { return y > 0.0 ? y * std::log(y) : 0.0; }

// Arrays hold the numbers of the leaves, and of the inner nodes afterwards. The children of a node
// are `left` and `left` + 1, behind it; `left` is −1 for a leaf. Values are means. Impurities, if
// there are any, are those of squared errors or of Poisson's deviance.
void complete_inner_nodes(Vector<const std::int32_t> left, Vector<std::int64_t> count,
                          Vector<double> weight, Vector<double> impurity, Matrix<double> values,
                          bool poisson) {
    const std::size_t n = left.shape(0), width = values.shape(1);
    require(count.shape(0) == n && weight.shape(0) == n && values.shape(0) == n,
            "every node must have its numbers");
    require(impurity.shape(0) == 0 || impurity.shape(0) == n,
            "impurities must be empty or belong to the nodes");
    for (std::size_t node = n; node-- > 0;) {
        if (left.data()[node] < 0)
            continue;
        const auto a = static_cast<std::size_t>(left.data()[node]), b = a + 1;
        require(node < a && b < n, "children must come after their parents");
        count.data()[node] = count.data()[a] + count.data()[b];
        weight.data()[node] = weight.data()[a] + weight.data()[b];
        const double share = weight.data()[b] / weight.data()[node];
        const double *of_a = values.data() + a * width, *of_b = values.data() + b * width;
        double *own = values.data() + node * width, between = 0.0;
        for (std::size_t k = 0; k < width; ++k) {
            const double apart = of_b[k] - of_a[k];
            own[k] = of_a[k] + share * apart;
            if (!poisson) {
                between += share * (1.0 - share) * apart * apart;
                continue;
            }
            const double cost = y_log_y(of_a[k]);
            between += cost + share * (y_log_y(of_b[k]) - cost) - y_log_y(own[k]);
        }
        if (impurity.shape(0) > 0) {
            const double first = impurity.data()[a];
            impurity.data()[node] =
                first + share * (impurity.data()[b] - first) + between / static_cast<double>(width);
        }
    }
}

} // namespace

void bind_inner_nodes(nb::module_ &module) {
    module.def("complete_inner_nodes", &complete_inner_nodes, nb::arg("left"),
               nb::arg("count").noconvert(), nb::arg("weight").noconvert(),
               nb::arg("impurity").noconvert(), nb::arg("values").noconvert(), nb::arg("poisson"));
}

} // namespace thetahat
