// Σ_i w_i ∂²ℓ(y_i, z_i)/∂z²·x̃_i x̃_iᵀ with x̃ = (x, 1) and z = x̃ᵀθ: the Hessian of a risk, in one
// pass over the rows, for few entries of θ.
//
// Rows come in chunks. Those that bend are written, times the roots of their curvatures, into a
// buffer that the innermost cache holds, and every tile of 4 × 8 entries at or above the diagonal
// adds up its products over the buffer in registers. Rows and chunks are added in order: the bits
// are a function of the arguments. Products and sums are fused where the machine can do that.

#include <vector>

#include "loss_rows.hpp"

namespace thetahat {

namespace {

constexpr std::size_t tall = 4, wide = 8;
constexpr std::size_t buffer_bytes = 1 << 14;

// The entries of θ that are asked for, where they are in a row.
struct Entries {
    const std::int64_t *some; // all of them: null
    std::size_t count, d;

    template <typename T> void scale(const T *from, double root, double *to) const {
        if (some == nullptr) {
            for (std::size_t j = 0; j < d; ++j)
                to[j] = static_cast<double>(from[j]) * root;
            if (count > d)
                to[d] = root;
            return;
        }
        for (std::size_t j = 0; j < count; ++j)
            to[j] = static_cast<std::size_t>(some[j]) < d
                        ? static_cast<double>(from[some[j]]) * root
                        : root;
    }
};

// gram += RᵀR at and above the diagonal, for `rows` rows of the width `padded`.
void add_products(const double *buffer, std::size_t rows, std::size_t padded, double *gram) {
    for (std::size_t a = 0; a < padded; a += tall)
        for (std::size_t b = a / wide * wide; b < padded; b += wide) {
            Four low[tall] = {}, high[tall] = {};
            const double *row = buffer;
            for (std::size_t i = 0; i < rows; ++i, row += padded) {
                const Four left = four_at(row + b), right = four_at(row + b + 4);
                for (std::size_t k = 0; k < tall; ++k) {
                    low[k] += row[a + k] * left;
                    high[k] += row[a + k] * right;
                }
            }
            for (std::size_t k = 0; k < tall; ++k) {
                double *to = gram + (a + k) * padded + b;
                for (std::size_t l = 0; l < 4; ++l) {
                    to[l] += low[k][l];
                    to[4 + l] += high[k][l];
                }
            }
        }
}

template <typename T>
void curved_gram(StridedMatrix<const T> x, Vector<const double> y, Vector<const double> weight,
                 Vector<const double> theta, int loss, double knee,
                 Vector<const std::int64_t> entries, Matrix<double> out) {
    const LossRows<T> rows = checked<T>(x, y, weight, theta, loss);
    const std::size_t d = rows.d, size = theta.shape(0), some = entries.shape(0);
    const std::size_t count = some ? some : size;
    require(out.shape(0) == count && out.shape(1) == count,
            "out must have a row and a column for each entry");
    for (std::size_t j = 0; j < some; ++j)
        require(entries.data()[j] >= 0 && static_cast<std::size_t>(entries.data()[j]) < size,
                "entries must be those of theta");
    const Entries asked{some ? entries.data() : nullptr, count, d};
    const double *t = theta.data(), b = size > d ? t[d] : 0.0;
    double *to = out.data();

    nb::gil_scoped_release unlocked;
    with_loss(loss, [&](auto known) {
        const std::size_t padded = (count + wide - 1) / wide * wide;
        const std::size_t room = std::max<std::size_t>(
            1, buffer_bytes / (std::max<std::size_t>(padded, 1) * sizeof(double)));
        const std::size_t step = std::min(chunk_rows(d * sizeof(T)), room);
        std::vector<double> buffer(room * padded, 0.0), gram(padded * padded, 0.0);
        std::array<double, most_rows> root;
        std::size_t held = 0;
        for (std::size_t first = 0; first < rows.n; first += step) {
            const std::size_t together = std::min(step, rows.n - first);
            scores(rows, first, together, t, b, root.data());
            for (std::size_t i = 0; i < together; ++i) {
                const Value at =
                    loss_at<decltype(known)::value, SideBySide>(knee, rows.y[first + i], root[i]);
                root[i] = std::sqrt(at.curvature * rows.weight_of(first + i));
            }
            for (std::size_t i = 0; i < together; ++i) {
                if (root[i] == 0.0)
                    continue;
                asked.scale(rows.row(first + i), root[i], buffer.data() + held * padded);
                if (++held == room) {
                    add_products(buffer.data(), held, padded, gram.data());
                    held = 0;
                }
            }
        }
        add_products(buffer.data(), held, padded, gram.data());
        for (std::size_t j = 0; j < count; ++j)
            for (std::size_t k = j; k < count; ++k)
                to[j * count + k] = to[k * count + j] = gram[j * padded + k];
    });
}

template <typename T> void bind(nb::module_ &module) {
    module.def("curved_gram", &curved_gram<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
               nb::arg("weight").noconvert(), nb::arg("theta").noconvert(), nb::arg("loss"),
               nb::arg("knee"), nb::arg("entries").noconvert(), nb::arg("out").noconvert());
}

} // namespace

void bind_curved_gram(nb::module_ &module) {
    bind<double>(module);
    bind<float>(module);
}

} // namespace thetahat
