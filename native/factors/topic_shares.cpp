// Variational inference for topics: the steps between the sums over words.
//
//     dirichlet_weights   exp(ψ(λ_wk) − ψ(Λ_k) − m_w) for every word w and topic k, with m_w that
//                         keeps the largest near 1
//     topic_shares        for every document, γ_k ← α + Σ_w c_w φ_wk with φ_wk ∝ θ_k·β_wk and
//                         θ_k = exp(ψ(γ_k)), until γ moves no more
//     topic_counts        Σ_d c_dw φ_dwk for every word and topic
//
// φ does not change if β_wk is multiplied by a number for each word, or θ_k by one for each
// document. Both are scaled by their largest exponent, so that small priors do not underflow. With
// y = x + 6, exp(ψ(x)) = y·exp(−1/(2y) − 1/(12y²) + … − Σ_{i<6} 1/(x + i)), which needs no
// logarithm; the series has an error below 1e-11.
//
// A document gathers the rows of its words once and repeats its steps on them. Documents are
// independent of each other. Counts are summed word by word in the order of the documents, and
// threads take ranges of words, so that the number of threads does not change a bit.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/exponential.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace topics {

namespace {

#ifdef __AVX__
constexpr std::size_t lanes = 4;
#else
constexpr std::size_t lanes = 2;
#endif
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));
constexpr std::size_t side = 4;   // words that are taken together
constexpr std::size_t piece = 16; // documents of a piece of work
constexpr double floor_of_sums = 1e-200;

inline Lanes load(const double *from) {
    Lanes some;
    std::memcpy(&some, from, sizeof(Lanes));
    return some;
}

inline void store(double *to, const Lanes &some) { std::memcpy(to, &some, sizeof(Lanes)); }

inline double total(const Lanes &some) {
    double sum = 0.0;
    for (std::size_t l = 0; l < lanes; ++l)
        sum += some[l];
    return sum;
}

inline std::size_t padded(std::size_t k) { return (k + 3) / 4 * 4; }

// exp(ψ(x)) = (x + 6)·exp(exponent), for x ≥ 0.
inline double digamma_exponent(double x) {
    const double upper = 120.0 + x * (548.0 + x * (675.0 + x * (340.0 + x * (75.0 + x * 6.0))));
    const double lower = x * (120.0 + x * (274.0 + x * (225.0 + x * (85.0 + x * (15.0 + x)))));
    const double quotient = upper / lower;
    // Of x = 0 and of so large x that its powers overflow.
    const double poles = x > 1e15 ? 0.0 : (x < 1e-300 ? 1e300 : quotient);
    const double r = 1.0 / (x + 6.0), s = r * r;
    double sum = 691.0 / 32760.0;
    sum = sum * s - 1.0 / 132.0;
    sum = sum * s + 1.0 / 240.0;
    sum = sum * s - 1.0 / 252.0;
    sum = sum * s + 1.0 / 120.0;
    sum = sum * s - 1.0 / 12.0;
    return (sum * s - 0.5 * r) - poles;
}

// θ_t = exp(ψ(γ_t) − m); returns m.
double exp_digamma(const double *gamma, std::size_t k, double *theta) {
    double most = -1e301;
    for (std::size_t t = 0; t < k; ++t)
        theta[t] = digamma_exponent(gamma[t]);
    for (std::size_t t = 0; t < k; ++t)
        most = theta[t] > most ? theta[t] : most;
    for (std::size_t t = 0; t < k; ++t)
        theta[t] = (gamma[t] + 6.0) * exponential_below(theta[t] - most);
    return most;
}

void dirichlet_weights(Matrix<const double> lambda, Vector<const double> totals, int threads,
                       Matrix<double> weights, Vector<double> shift) {
    const std::size_t d = lambda.shape(0), k = lambda.shape(1);
    require(totals.shape(0) == k && shift.shape(0) == d,
            "totals and shift: one per topic and word");
    require(weights.shape(0) == d && weights.shape(1) == k,
            "weights must have the shape of lambda");
    nb::gil_scoped_release unlocked;
    std::vector<double> exponent(k), inverse(k);
    for (std::size_t t = 0; t < k; ++t) {
        exponent[t] = digamma_exponent(totals.data()[t]);
        inverse[t] = 1.0 / (totals.data()[t] + 6.0);
    }
    const std::size_t rows = std::max<std::size_t>(1, 16384 / std::max<std::size_t>(k, 1));
    for_each_piece((d + rows - 1) / rows, threads, [&](std::size_t number) {
        const std::size_t end = std::min(d, (number + 1) * rows);
        for (std::size_t w = number * rows; w < end; ++w) {
            const double *from = lambda.data() + w * k;
            double *to = weights.data() + w * k, most = -1e301;
            for (std::size_t t = 0; t < k; ++t)
                to[t] = digamma_exponent(from[t]) - exponent[t];
            for (std::size_t t = 0; t < k; ++t)
                most = to[t] > most ? to[t] : most;
            for (std::size_t t = 0; t < k; ++t)
                to[t] = (from[t] + 6.0) * inverse[t] * exponential_below(to[t] - most);
            shift.data()[w] = most;
        }
    });
}

// The words of one document: the rows of their weights, padded by zeros.
struct Document {
    std::vector<double> words, count, ratio, theta, gamma, sums;
    std::size_t size = 0, width = 0;

    template <typename T, typename Index>
    void gather(const T *data, const Index *column, std::size_t n, const double *weights,
                std::size_t k) {
        width = padded(k);
        size = (n + side - 1) / side * side;
        words.assign(size * width, 0.0);
        count.assign(size, 0.0);
        ratio.assign(size, 0.0);
        theta.assign(width, 0.0);
        sums.assign(width, 0.0);
        gamma.assign(k, 1.0);
        for (std::size_t e = 0; e < n; ++e) {
            const double *from = weights + static_cast<std::size_t>(column[e]) * k;
            std::copy(from, from + k, words.data() + e * width);
            count[e] = static_cast<double>(data[e]);
        }
        std::fill(theta.begin(), theta.begin() + static_cast<std::ptrdiff_t>(k), 1.0);
    }

    // Σ_t θ_t·β_wt of four words.
    void products(std::size_t e, double *found) const {
        const double *row = words.data() + e * width;
        Lanes along[side] = {};
        for (std::size_t t = 0; t < width; t += lanes) {
            const Lanes share = load(theta.data() + t);
            for (std::size_t s = 0; s < side; ++s)
                along[s] += share * load(row + s * width + t);
        }
        for (std::size_t s = 0; s < side; ++s) {
            const double sum = total(along[s]);
            found[s] = sum > floor_of_sums ? sum : floor_of_sums;
        }
    }

    // sums_t = Σ_w c_w·β_wt / Σ_s θ_s·β_ws
    void add_up() {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t e = 0; e < size; e += side) {
            double found[side];
            products(e, found);
            for (std::size_t s = 0; s < side; ++s)
                found[s] = count[e + s] / found[s];
            const double *row = words.data() + e * width;
            for (std::size_t t = 0; t < width; t += lanes) {
                Lanes sum = load(sums.data() + t);
                for (std::size_t s = 0; s < side; ++s)
                    sum += found[s] * load(row + s * width + t);
                store(sums.data() + t, sum);
            }
        }
    }

    // Steps until γ moves by less than `tolerance` on average; the scale of θ.
    double settle(std::size_t k, double prior, std::int64_t steps, double tolerance) {
        double scale = 0.0;
        for (std::int64_t step = 0; step < steps; ++step) {
            add_up();
            double moved = 0.0;
            for (std::size_t t = 0; t < k; ++t) {
                const double next = theta[t] * sums[t] + prior;
                moved += std::fabs(next - gamma[t]);
                gamma[t] = next;
            }
            scale = exp_digamma(gamma.data(), k, theta.data());
            if (moved < tolerance * static_cast<double>(k))
                break;
        }
        return scale;
    }

    // c_w / Σ_t θ_t·β_wt
    void divide() {
        for (std::size_t e = 0; e < size; e += side) {
            double found[side];
            products(e, found);
            for (std::size_t s = 0; s < side; ++s)
                ratio[e + s] = count[e + s] / found[s];
        }
    }

    // Σ_w c_w·log Σ_t exp(E log θ_t)·β_wt·exp(shift_w)
    template <typename Index>
    double log_likelihood(const Index *column, std::size_t n, const double *shift, double scale) {
        double sum = 0.0, all = 0.0, mass = 0.0;
        for (std::size_t e = 0; e < size; e += side) {
            double found[side];
            products(e, found);
            for (std::size_t s = 0; s < side && e + s < n; ++s) {
                sum += count[e + s] *
                       (std::log(found[s]) + shift[static_cast<std::size_t>(column[e + s])]);
                mass += count[e + s];
            }
        }
        for (const double each : gamma)
            all += each;
        return mass > 0.0 ? sum + mass * (scale - (std::log(all + 6.0) + digamma_exponent(all)))
                          : 0.0;
    }
};

template <typename T, typename Index>
void check_rows(const Vector<const T> &data, const Vector<const Index> &indices,
                const Vector<const Index> &indptr, std::size_t n, std::size_t d) {
    require(indptr.shape(0) == n + 1, "indptr must have one entry more than there are rows");
    SparseRows<T, Index>(data, indices, indptr, d); // refuses what is not where it says
}

// Writes γ, and if they have a size: θ and c/Σθβ for the counts, and the log-likelihoods.
template <typename T, typename Index>
void topic_shares(Vector<const T> data, Vector<const Index> indices, Vector<const Index> indptr,
                  Matrix<const double> weights, Vector<const double> shift, double prior,
                  std::int64_t steps, double tolerance, int threads, Matrix<double> gamma,
                  Matrix<double> theta, Vector<double> ratio, Vector<double> log_likelihood) {
    const std::size_t n = gamma.shape(0), k = gamma.shape(1), d = weights.shape(0);
    require(weights.shape(1) == k && shift.shape(0) == d, "weights: one row per word");
    const bool counting = theta.shape(0) != 0, valued = log_likelihood.shape(0) != 0;
    require(!counting ||
                (theta.shape(0) == n && theta.shape(1) == k && ratio.shape(0) == data.shape(0)),
            "theta and ratio must have the shapes of gamma and data");
    require(!valued || log_likelihood.shape(0) == n, "log_likelihood: none, or one per document");
    check_rows(data, indices, indptr, n, d);
    nb::gil_scoped_release unlocked;
    const Index *bound = indptr.data();
    for_each_piece((n + piece - 1) / piece, threads, [&](std::size_t number) {
        Document document;
        const std::size_t end = std::min(n, (number + 1) * piece);
        for (std::size_t i = number * piece; i < end; ++i) {
            const auto from = static_cast<std::size_t>(bound[i]);
            const std::size_t size = static_cast<std::size_t>(bound[i + 1]) - from;
            const Index *column = indices.data() + from;
            document.gather(data.data() + from, column, size, weights.data(), k);
            const double scale = document.settle(k, prior, steps, tolerance);
            std::copy(document.gamma.begin(), document.gamma.end(), gamma.data() + i * k);
            if (counting) {
                document.divide();
                std::copy(document.theta.data(), document.theta.data() + k, theta.data() + i * k);
                std::copy(document.ratio.data(), document.ratio.data() + size, ratio.data() + from);
            }
            if (valued)
                log_likelihood.data()[i] =
                    document.log_likelihood(column, size, shift.data(), scale);
        }
    });
}

// Rows must have their words in increasing order.
template <typename Index>
void topic_counts(Vector<const double> ratio, Vector<const Index> indices,
                  Vector<const Index> indptr, Matrix<const double> theta,
                  Matrix<const double> weights, int threads, Matrix<double> counts) {
    const std::size_t n = theta.shape(0), k = theta.shape(1), d = weights.shape(0);
    require(weights.shape(1) == k && counts.shape(0) == d && counts.shape(1) == k,
            "weights and counts: one row per word, one column per topic");
    check_rows(ratio, indices, indptr, n, d);
    nb::gil_scoped_release unlocked;
    const Index *column = indices.data(), *bound = indptr.data();
    const std::size_t pieces = std::min<std::size_t>(static_cast<std::size_t>(threads), d);
    for_each_piece(pieces, threads, [&](std::size_t number) {
        const std::size_t begin = d * number / pieces, end = d * (number + 1) / pieces;
        double *out = counts.data();
        std::fill(out + begin * k, out + end * k, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const Index *last = column + bound[i + 1];
            const Index *place =
                std::lower_bound(column + bound[i], last, static_cast<Index>(begin));
            const double *share = theta.data() + i * k;
            for (; place != last && static_cast<std::size_t>(*place) < end; ++place) {
                double *to = out + static_cast<std::size_t>(*place) * k;
                const double by = ratio.data()[place - column];
                for (std::size_t t = 0; t < k; ++t)
                    to[t] += by * share[t];
            }
        }
        const double *weight = weights.data();
        for (std::size_t e = begin * k; e < end * k; ++e)
            out[e] *= weight[e];
    });
}

template <typename T, typename Index> void bind_shares(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("topic_shares", &topic_shares<T, Index>, array("data"), array("indices"),
               array("indptr"), array("weights"), array("shift"), nb::arg("prior"),
               nb::arg("steps"), nb::arg("tolerance"), nb::arg("threads"), array("gamma"),
               array("theta"), array("ratio"), array("log_likelihood"));
}

template <typename Index> void bind_counts(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("topic_counts", &topic_counts<Index>, array("ratio"), array("indices"),
               array("indptr"), array("theta"), array("weights"), nb::arg("threads"),
               array("counts"));
}

} // namespace

} // namespace topics

void bind_topic_shares(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("dirichlet_weights", &topics::dirichlet_weights, array("lambda_"), array("totals"),
               nb::arg("threads"), array("weights"), array("shift"));
    topics::bind_shares<float, std::int32_t>(module);
    topics::bind_shares<float, std::int64_t>(module);
    topics::bind_shares<double, std::int32_t>(module);
    topics::bind_shares<double, std::int64_t>(module);
    topics::bind_counts<std::int32_t>(module);
    topics::bind_counts<std::int64_t>(module);
}

} // namespace thetahat
