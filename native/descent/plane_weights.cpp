// Pairwise ascent on the dual of cutting planes with an L2 penalty:
//
//     D(a) = Σ_i c_i Σ_y a_i(y) Δ_i(y) − λ/2·‖w‖²,   w = Σ_i c_i Σ_y a_i(y) ψ_i(y)/λ,
//
// with the weights a_i of every term on a simplex. Invariant, in place: w belongs to a. For each
// term in turn, weight moves from the plane of the smallest value Δ − w·ψ that has weight to that
// of the largest, by the best amount; D never decreases. The planes of term i are the rows
// order[starts[i]], …, order[starts[i + 1] − 1] of psi.
//
// Every step depends on the step before, so one thread makes all of them. Returns the gap of these
// planes, summed over the terms of the last pass, each at the time of its visit.

#include <cmath>
#include <limits>
#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

double ascend(Matrix<const double> psi, Vector<const double> delta, Vector<double> a,
              Vector<const std::int64_t> order, Vector<const std::int64_t> starts,
              Vector<const double> shares, double alpha, Vector<double> w, std::size_t passes,
              double tolerance) {
    const std::size_t count = order.shape(0), size = psi.shape(1), terms = shares.shape(0);
    require(psi.shape(0) >= count && delta.shape(0) >= count && a.shape(0) >= count,
            "psi, delta and a must have one entry per plane");
    require(starts.shape(0) == terms + 1 && w.shape(0) == size && alpha > 0.0,
            "starts must have one entry more than shares, and w one per column of psi");
    const std::int64_t *rows = order.data(), *first = starts.data();
    for (std::size_t place = 0; place < count; ++place)
        require(rows[place] >= 0 && static_cast<std::size_t>(rows[place]) < count,
                "order must hold row numbers");
    require(first[0] == 0 && static_cast<std::size_t>(first[terms]) == count,
            "starts must begin with 0 and end with the number of planes");
    for (std::size_t term = 0; term < terms; ++term)
        require(first[term] <= first[term + 1], "starts must not decrease");
    const double *planes = psi.data(), *height = delta.data(), *share = shares.data();
    double *weight = a.data(), *at = w.data();

    nb::gil_scoped_release unlocked;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double gap = infinity;
    for (std::size_t pass = 0; pass < passes && gap > tolerance; ++pass) {
        gap = 0.0;
        for (std::size_t term = 0; term < terms; ++term) {
            if (first[term + 1] - first[term] < 2)
                continue;
            double top = -infinity, low = infinity, mean = 0.0;
            std::int64_t to = 0, from = 0;
            for (std::int64_t place = first[term]; place < first[term + 1]; ++place) {
                const std::int64_t row = rows[place];
                const double *plane = planes + static_cast<std::size_t>(row) * size;
                double value = height[row];
                for (std::size_t j = 0; j < size; ++j)
                    value -= plane[j] * at[j];
                mean += weight[row] * value;
                if (value > top)
                    top = value, to = row;
                if (weight[row] > 0.0 && value < low)
                    low = value, from = row;
            }
            gap += share[term] * std::max(0.0, top - mean);
            if (!(top - low > 1e-15 * (1.0 + std::abs(top))) || to == from)
                continue;
            const double *up = planes + static_cast<std::size_t>(to) * size;
            const double *down = planes + static_cast<std::size_t>(from) * size;
            double square = 0.0;
            for (std::size_t j = 0; j < size; ++j)
                square += (up[j] - down[j]) * (up[j] - down[j]);
            const double wanted =
                square > 0.0 ? alpha * (top - low) / (share[term] * square) : infinity;
            const double step = std::min(wanted, weight[from]);
            weight[to] += step;
            weight[from] = wanted >= weight[from] ? 0.0 : weight[from] - step;
            const double factor = share[term] * step / alpha;
            for (std::size_t j = 0; j < size; ++j)
                at[j] += factor * (up[j] - down[j]);
        }
    }
    return gap;
}

} // namespace

void bind_plane_weights(nb::module_ &module) {
    module.def("plane_weights", &ascend, nb::arg("psi").noconvert(), nb::arg("delta").noconvert(),
               nb::arg("a").noconvert(), nb::arg("order").noconvert(),
               nb::arg("starts").noconvert(), nb::arg("shares").noconvert(), nb::arg("alpha"),
               nb::arg("w").noconvert(), nb::arg("passes"), nb::arg("tolerance"));
}

} // namespace thetahat
