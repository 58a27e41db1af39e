// Class probabilities of few rows from scores: e^{s_c} / Σ_k e^{s_k}, without overflow.
//
// Rows whose scores are all −inf become 0; their number is returned. One call saves the many small
// steps that cost more than the arithmetic for one row. Rows are computed one by one, in order.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/views.hpp"

namespace thetahat {

namespace {

template <typename T> std::size_t class_shares(StridedMatrix<const T> scores, Matrix<T> out) {
    const std::size_t n = scores.shape(0), classes = scores.shape(1);
    require(out.shape(0) == n && out.shape(1) == classes, "out must have the shape of the scores");
    const auto by_row = scores.stride(0), by_class = scores.stride(1);
    std::size_t impossible = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const T *from = scores.data() + static_cast<std::int64_t>(i) * by_row;
        T *to = out.data() + i * classes;
        T top = std::numeric_limits<T>::lowest(), total = T(0);
        for (std::size_t c = 0; c < classes; ++c)
            top = std::max(top, from[static_cast<std::int64_t>(c) * by_class]);
        for (std::size_t c = 0; c < classes; ++c) {
            to[c] = std::exp(from[static_cast<std::int64_t>(c) * by_class] - top);
            total += to[c];
        }
        if (total == T(0)) {
            ++impossible;
            continue;
        }
        for (std::size_t c = 0; c < classes; ++c)
            to[c] /= total;
    }
    return impossible;
}

} // namespace

void bind_class_shares(nb::module_ &module) {
    module.def("class_shares", &class_shares<double>, nb::arg("scores").noconvert(),
               nb::arg("out").noconvert());
    module.def("class_shares", &class_shares<float>, nb::arg("scores").noconvert(),
               nb::arg("out").noconvert());
}

} // namespace thetahat
