// Binding of exchange_columns.hpp.

#include "sparse/exchange_columns.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace {

using Numbers = Vector<double>;

Exchanged columns_of(Vector<std::int64_t> &which, Numbers &beta, Numbers &sign, Numbers &l1) {
    const std::size_t count = which.shape(0);
    require(beta.shape(0) == count && sign.shape(0) == count && l1.shape(0) == count,
            "beta, sign and l1 must have one entry per column");
    return {which.data(), beta.data(), sign.data(), l1.data(), count};
}

void exchange(Matrix<double> table, Vector<std::int64_t> inside, Numbers beta_inside,
              Numbers sign_inside, Numbers l1_inside, Vector<std::int64_t> outside,
              Numbers beta_outside, Numbers sign_outside, Numbers l1_outside) {
    const Exchanged in = columns_of(inside, beta_inside, sign_inside, l1_inside);
    const Exchanged out = columns_of(outside, beta_outside, sign_outside, l1_outside);
    require(table.shape(0) == out.count && table.shape(1) == in.count,
            "table must have a row per column outside and a column per column inside");
    nb::gil_scoped_release unlocked;
    exchange_columns(table.data(), in, out);
}

} // namespace

void bind_exchange_columns(nb::module_ &module) {
    module.def("exchange_columns", &exchange, nb::arg("table").noconvert(),
               nb::arg("inside").noconvert(), nb::arg("beta_inside").noconvert(),
               nb::arg("sign_inside").noconvert(), nb::arg("l1_inside").noconvert(),
               nb::arg("outside").noconvert(), nb::arg("beta_outside").noconvert(),
               nb::arg("sign_outside").noconvert(), nb::arg("l1_outside").noconvert());
}

} // namespace thetahat
