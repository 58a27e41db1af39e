// Typed views over NumPy arrays, and the checks made once at the boundary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace thetahat {

namespace nb = nanobind;

template <typename T> using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Any strides: rows of a Fortran-ordered or sliced array are read in place.
template <typename T> using StridedMatrix = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

inline void require(bool holds, const char *rule) {
    if (!holds)
        throw std::invalid_argument(rule);
}

} // namespace thetahat
