// Isotonic regression: the nearest values that do not fall, argmin Σ w(y − f)² with f_1 ≤ f_2 ≤ …
//
// Neighbouring groups whose means fall are joined until none does (pool adjacent violators). One
// thread, O(n).

#include <vector>

#include "core/views.hpp"

namespace thetahat {

namespace {

void isotonic(Vector<const double> values, Vector<const double> weights, Vector<double> out) {
    const std::size_t n = values.shape(0);
    require(weights.shape(0) == n && out.shape(0) == n, "one weight and one result per value");
    for (std::size_t i = 0; i < n; ++i)
        require(weights.data()[i] > 0.0, "weights must be positive");
    nb::gil_scoped_release unlocked;
    struct Group {
        double mean, weight;
        std::size_t end;
    };
    std::vector<Group> groups;
    groups.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        Group last{values.data()[i], weights.data()[i], i + 1};
        while (!groups.empty() && !(groups.back().mean < last.mean)) {
            const Group &before = groups.back();
            const double weight = before.weight + last.weight;
            last.mean = (before.weight * before.mean + last.weight * last.mean) / weight;
            last.weight = weight;
            groups.pop_back();
        }
        groups.push_back(last);
    }
    std::size_t i = 0;
    for (const Group &group : groups)
        for (; i < group.end; ++i)
            out.data()[i] = group.mean;
}

} // namespace

void bind_isotonic(nb::module_ &module) {
    module.def("isotonic", &isotonic, nb::arg("values").noconvert(), nb::arg("weights").noconvert(),
               nb::arg("out").noconvert());
}

} // namespace thetahat
