// Sparse rows as a dense block of a few columns, for the walks of walk.cpp.
//
// The block is zero before and after: it is filled with the entries of some rows, and the same
// entries are set to zero again (or all cells, where they are few), so that all blocks together
// cost O(entries). One thread, because the entries are read once. Entries that are stored twice are
// added.

#include <algorithm>

#include "core/views.hpp"

namespace thetahat {

namespace {

constexpr std::size_t cells_per_entry = 8; // are set to zero faster than one entry is found

template <typename T, typename I>
void fill_sparse_block(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr,
                       Vector<const std::int32_t> places, std::size_t first, bool empty,
                       Matrix<T> block) {
    const std::size_t n = block.shape(0), width = block.shape(1), d = places.shape(0);
    require(indptr.shape(0) > 0 && first <= indptr.shape(0) - 1 && n <= indptr.shape(0) - 1 - first,
            "the block must have at most as many rows as there are");
    require(data.shape(0) == indices.shape(0), "every entry needs a column");
    const I *ends = indptr.data() + first, *column = indices.data();
    const std::int32_t *place = places.data();
    const T *value = data.data();
    T *cells = block.data();
    for (std::size_t i = 0; i < n; ++i)
        require(ends[i] >= 0 && ends[i] <= ends[i + 1], "indptr must not decrease");
    require(n == 0 || static_cast<std::size_t>(ends[n]) <= data.shape(0),
            "indptr must end with the entries");

    bool sound = true;
    nb::gil_scoped_release unlocked;
    if (empty && n > 0 &&
        n * width <= cells_per_entry * static_cast<std::size_t>(ends[n] - ends[0])) {
        std::fill_n(cells, n * width, T{0});
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        T *row = cells + i * width;
        for (I k = ends[i]; k < ends[i + 1]; ++k) {
            const auto j = static_cast<std::size_t>(column[k]); // negative ones become large
            if (j >= d) {
                sound = false;
                continue;
            }
            const std::int32_t at = place[j];
            if (at < 0)
                continue;
            if (static_cast<std::size_t>(at) >= width)
                sound = false;
            else if (empty)
                row[at] = T{0};
            else
                row[at] += value[k];
        }
    }
    nb::gil_scoped_acquire locked;
    require(sound, "an entry names a column that does not exist");
}

template <typename T, typename I> void bind(nb::module_ &module) {
    module.def("fill_sparse_block", &fill_sparse_block<T, I>, nb::arg("data").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
               nb::arg("places").noconvert(), nb::arg("first"), nb::arg("empty"),
               nb::arg("block").noconvert());
}

} // namespace

void bind_sparse_block(nb::module_ &module) {
    bind<double, std::int32_t>(module);
    bind<float, std::int32_t>(module);
    bind<double, std::int64_t>(module);
    bind<float, std::int64_t>(module);
}

} // namespace thetahat
