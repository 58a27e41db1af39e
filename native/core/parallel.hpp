// Parallel loops. A piece writes only its own part of the output, or sums integers, so the number
// of threads does not change a bit of the result.
#pragma once

#include <cstddef>

namespace thetahat {

// Calls work(context, piece) for every piece; see `for_each_piece`.
void run_pieces(std::size_t n, int threads, void (*work)(const void *, std::size_t),
                const void *context);

// work(piece) for every piece in [0, n), on at most `threads` threads, this one included. If a
// piece throws, no further piece is begun, and the exception is thrown here once all threads have
// stopped. Pieces are handed out one by one: give each enough to do (some ten microseconds).
template <typename Work> void for_each_piece(std::size_t n, int threads, const Work &work) {
    if (threads > 1 && n > 1)
        return run_pieces(
            n, threads,
            [](const void *context, std::size_t piece) {
                (*static_cast<const Work *>(context))(piece);
            },
            &work);
    for (std::size_t piece = 0; piece < n; ++piece)
        work(piece);
}

} // namespace thetahat
