// Parallel loops. A piece writes only its own part of the output, or sums integers, so the number
// of threads does not change a bit of the result.
#pragma once

#include <cstddef>

#include "core/views.hpp"

namespace thetahat {

// work(piece) for every piece in [0, n), on at most `threads` threads; `work` must not throw.
// Pieces are handed out one by one: give each enough to do (some ten microseconds).
template <typename Work> void for_each_piece(std::size_t n, int threads, const Work &work) {
#if defined(_OPENMP)
    if (threads > 1 && n > 1) {
        const auto last = static_cast<std::int64_t>(n);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (std::int64_t piece = 0; piece < last; ++piece)
            work(static_cast<std::size_t>(piece));
        return;
    }
#else
    (void)threads;
#endif
    for (std::size_t piece = 0; piece < n; ++piece)
        work(piece);
}

} // namespace thetahat
