// Σ_i r_i r_iᵀ for rows that arrive one after another. They are collected in a buffer that fits in
// the innermost cache, and every tile of the sum adds its products over a full buffer in registers.
// Rows and buffers are added in order.
#pragma once

#include <cstddef>
#include <vector>

namespace thetahat {

class GramTiles {
  public:
    explicit GramTiles(std::size_t width);

    // Where the next row is to be written, `width` entries of it; then `add` it.
    double *next() { return buffer.data() + held * padded; }
    void add() {
        if (++held == room)
            add_products();
    }

    // The sum, both halves, as a matrix of the width in rows.
    void write(double *out);

  private:
    void add_products();

    std::size_t width, padded, room, held = 0;
    std::vector<double> buffer, gram;
};

} // namespace thetahat
