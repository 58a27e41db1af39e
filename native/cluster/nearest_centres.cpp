// The nearest centre of each row of a block, exactly, with few distances (Hamerly's bounds).
//
// A row keeps its label, the square of its exact distance from that centre, and a lower bound of
// its distance from every other centre. When centres move, the bound falls by the longest move of
// another centre. A row whose distance is below its bound, or below half the distance of its centre
// from the next one, keeps its label:
//
//     rows_in_doubt       finds the other rows
//     scaled_rows         copies them as (x − μ)·scale in float32, for a matrix product
//     settle_by_products  measures exactly the few centres that the products leave possible
//     settle_directly     measures all centres, for small blocks and few columns
//
// Rounding only makes bounds looser, and ties go to the first centre, so labels and squares are
// those of a full search, bit for bit. Each row writes its own entries; sums over rows are taken in
// the order of the rows (cluster_sums).

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "cluster/nearest_of_rows.hpp"
#include "cluster/squared_distance.hpp"
#include "core/views.hpp"

namespace thetahat {

namespace cluster {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double a_little_less = 1.0 - 1e-12;    // more than the rounding of a root or a product
constexpr double rounding_of_one_move = 4.5e-16; // relative, of the difference bound − move
constexpr double smallest_square = 1e-30;        // scaled; below it, products may underflow

// The largest move of a centre other than `label`, from the largest two of all.
struct Moves {
    double first = 0.0, second = 0.0;
    std::size_t farthest = 0;

    Moves(const double *move, std::size_t k) {
        for (std::size_t j = 0; j < k; ++j)
            if (move[j] > first) {
                second = first;
                first = move[j];
                farthest = j;
            } else if (move[j] > second)
                second = move[j];
    }
    double of_others(std::size_t label) const { return label == farthest ? second : first; }
};

void check_labels(Vector<const std::int32_t> label, std::size_t k) {
    for (std::size_t i = 0; i < label.shape(0); ++i)
        require(label.data()[i] >= 0 && static_cast<std::size_t>(label.data()[i]) < k,
                "labels must be numbers of centres");
}

void check_rows(Vector<const std::int32_t> which, std::size_t n) {
    for (std::size_t i = 0; i < which.shape(0); ++i)
        require(which.data()[i] >= 0 && static_cast<std::size_t>(which.data()[i]) < n,
                "rows must lie within the block");
}

template <typename T>
std::size_t rows_in_doubt(Matrix<const T> x, Matrix<const double> centres,
                          Vector<const double> half_gap, Vector<const double> move,
                          Vector<const std::int32_t> label, Vector<double> square,
                          Vector<double> lower, Vector<std::int32_t> doubtful) {
    const std::size_t n = x.shape(0), d = x.shape(1), k = centres.shape(0);
    require(centres.shape(1) == d && k > 0, "rows and centres must have the same columns");
    require(half_gap.shape(0) == k && move.shape(0) == k, "one gap and one move per centre");
    require(label.shape(0) == n && square.shape(0) == n && lower.shape(0) == n &&
                doubtful.shape(0) == n,
            "one label, square, bound and place per row");
    check_labels(label, k);
    nb::gil_scoped_release unlocked;
    const Moves moves(move.data(), k);
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double before = lower.data()[i];
        bool sure = before > -infinity;
        if (sure) {
            const auto own = static_cast<std::size_t>(label.data()[i]);
            const double bound =
                before - moves.of_others(own) - rounding_of_one_move * std::fabs(before);
            lower.data()[i] = bound;
            const double most = a_little_less * std::max(bound, half_gap.data()[own]);
            // A row that is too far for certain will be measured with the other centres.
            sure = std::sqrt(square.data()[i]) - move.data()[own] < most;
            if (sure) {
                const double at = squared_distance(x.data() + i * d, centres.data() + own * d, d);
                square.data()[i] = at;
                sure = std::sqrt(at) < most;
            }
        }
        doubtful.data()[count] = static_cast<std::int32_t>(i);
        count += !sure;
    }
    return count;
}

struct Settled {
    std::int32_t *label;
    double *square, *lower;

    // Returns whether the label changed.
    bool keep(std::size_t i, const Best &best, double least_of_rest) const {
        const auto centre = static_cast<std::int32_t>(best.centre);
        const bool changed = label[i] != centre;
        label[i] = centre;
        square[i] = best.square;
        lower[i] = a_little_less * std::sqrt(std::max(0.0, std::min(best.other, least_of_rest)));
        return changed;
    }
};

template <typename T>
std::size_t settle_directly(Matrix<const T> x, Vector<const std::int32_t> which,
                            Matrix<const double> centres, Vector<std::int32_t> label,
                            Vector<double> square, Vector<double> lower) {
    const std::size_t n = x.shape(0), d = x.shape(1), k = centres.shape(0);
    require(centres.shape(1) == d && k > 0, "rows and centres must have the same columns");
    require(label.shape(0) == n && square.shape(0) == n && lower.shape(0) == n,
            "one label, square and bound per row");
    check_rows(which, n);
    nb::gil_scoped_release unlocked;
    const Settled settled{label.data(), square.data(), lower.data()};
    std::size_t changed = 0;
    search_rows(
        x.data(), d, which.data(), which.shape(0), centres.data(), k,
        [&](std::size_t i, const Best &best) { changed += settled.keep(i, best, infinity); });
    return changed;
}

// low[place] becomes (1 − slack)·‖q‖² of the scaled row q.
template <typename T>
void scaled_rows(Matrix<const T> x, Vector<const std::int32_t> which, Vector<const double> middle,
                 double scale, double slack, Matrix<float> scaled, Vector<double> low) {
    const std::size_t n = x.shape(0), d = x.shape(1), m = which.shape(0);
    require(middle.shape(0) == d && scaled.shape(0) >= m && scaled.shape(1) == d &&
                low.shape(0) >= m,
            "one scaled row per row in doubt");
    check_rows(which, n);
    nb::gil_scoped_release unlocked;
    for (std::size_t place = 0; place < m; ++place) {
        const T *from = x.data() + static_cast<std::size_t>(which.data()[place]) * d;
        float *to = scaled.data() + place * d;
        for (std::size_t j = 0; j < d; ++j)
            to[j] = static_cast<float>((static_cast<double>(from[j]) - middle.data()[j]) * scale);
        double part[4] = {};
        std::size_t j = 0;
        for (; j + 4 <= d; j += 4)
            for (std::size_t l = 0; l < 4; ++l)
                part[l] += static_cast<double>(to[j + l]) * static_cast<double>(to[j + l]);
        for (; j < d; ++j)
            part[0] += static_cast<double>(to[j]) * static_cast<double>(to[j]);
        low.data()[place] =
            (1.0 - slack) * ((part[0] + part[1]) + (part[2] + part[3])) - smallest_square;
    }
}

constexpr std::size_t lanes = 4, groups = 4; // groups of lanes do not wait for each other
using Floats = float __attribute__((vector_size(lanes * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(lanes * sizeof(std::int32_t))));

// The smallest and the second smallest of centre_low[j] + product[j], and where the first is.
struct LowestTwo {
    float first = std::numeric_limits<float>::infinity(), second = first;
    std::size_t place = 0;

    LowestTwo(const float *product, const float *centre_low, std::size_t k) {
        Floats least[groups], next[groups];
        Ints where[groups] = {};
        for (std::size_t g = 0; g < groups; ++g)
            least[g] = next[g] = first - Floats{};
        std::size_t j = 0;
        for (; j + lanes * groups <= k; j += lanes * groups)
            for (std::size_t g = 0; g < groups; ++g) {
                Floats each, add;
                std::memcpy(&each, product + j + g * lanes, sizeof(Floats));
                std::memcpy(&add, centre_low + j + g * lanes, sizeof(Floats));
                each += add;
                const Ints lower = each < least[g];
                const Floats larger = lower ? least[g] : each;
                next[g] = larger < next[g] ? larger : next[g];
                least[g] = lower ? each : least[g];
                where[g] = lower ? static_cast<std::int32_t>(j) - Ints{} : where[g];
            }
        for (std::size_t g = 0; g < groups; ++g)
            for (std::size_t l = 0; l < lanes; ++l) {
                offer(least[g][l], static_cast<std::size_t>(where[g][l]) + g * lanes + l);
                second = next[g][l] < second ? next[g][l] : second;
            }
        for (; j < k; ++j)
            offer(product[j] + centre_low[j], j);
        if (place >= k) // none is finite
            place = 0;
    }

  private:
    void offer(float value, std::size_t j) {
        if (value < first) {
            second = first;
            first = value;
            place = j;
        } else if (value < second)
            second = value;
    }
};

// products[place, j] = −2·q·c_j for scaled rows q and scaled centres; centre_low[j] = (1 −
// slack)·‖c_j‖², low[place] = (1 − slack)·‖q‖². Their sum bounds the square of the scaled distance
// from below.
template <typename T>
std::size_t settle_by_products(Matrix<const float> products, Vector<const float> centre_low,
                               Vector<const double> low, double scale, Matrix<const T> x,
                               Vector<const std::int32_t> which, Matrix<const double> centres,
                               Vector<std::int32_t> label, Vector<double> square,
                               Vector<double> lower) {
    const std::size_t n = x.shape(0), d = x.shape(1), k = centres.shape(0), m = which.shape(0);
    require(centres.shape(1) == d && k > 0, "rows and centres must have the same columns");
    require(products.shape(0) >= m && products.shape(1) == k && centre_low.shape(0) == k &&
                low.shape(0) >= m,
            "products must be rows in doubt × centres");
    require(label.shape(0) == n && square.shape(0) == n && lower.shape(0) == n,
            "one label, square and bound per row");
    check_rows(which, n);
    nb::gil_scoped_release unlocked;
    const Settled settled{label.data(), square.data(), lower.data()};
    const double area = scale * scale;
    std::size_t changed = 0;
    for (std::size_t place = 0; place < m; ++place) {
        const auto i = static_cast<std::size_t>(which.data()[place]);
        const T *row = x.data() + i * d;
        const float *product = products.data() + place * k;
        const LowestTwo lowest(product, centre_low.data(), k);
        Best best;
        best.offer(squared_distance(row, centres.data() + lowest.place * d, d), lowest.place);
        // Float rounding of the cut is covered by the factor.
        const double reach = best.square * area * (1.0 + 1e-12) - low.data()[place];
        const auto cut = static_cast<float>(reach + 1e-6 * std::fabs(reach));
        float above = lowest.second;
        if (!(above > cut)) { // rounding leaves several centres possible
            above = std::numeric_limits<float>::infinity();
            for (std::size_t j = 0; j < k; ++j) {
                const float bound = product[j] + centre_low.data()[j];
                if (bound > cut)
                    above = bound < above ? bound : above;
                else if (j != lowest.place)
                    best.offer(squared_distance(row, centres.data() + j * d, d), j);
            }
        }
        const double rest = (static_cast<double>(above) + low.data()[place]) / area;
        changed += settled.keep(i, best, rest);
    }
    return changed;
}

template <typename T> void bind(nb::module_ &module) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    module.def("rows_in_doubt", &rows_in_doubt<T>, array("x"), array("centres"), array("half_gap"),
               array("move"), array("label"), array("square"), array("lower"), array("doubtful"));
    module.def("settle_directly", &settle_directly<T>, array("x"), array("which"), array("centres"),
               array("label"), array("square"), array("lower"));
    module.def("scaled_rows", &scaled_rows<T>, array("x"), array("which"), array("middle"),
               nb::arg("scale"), nb::arg("slack"), array("scaled"), array("low"));
    module.def("settle_by_products", &settle_by_products<T>, array("products"), array("centre_low"),
               array("low"), nb::arg("scale"), array("x"), array("which"), array("centres"),
               array("label"), array("square"), array("lower"));
}

} // namespace

} // namespace cluster

void bind_nearest_centres(nb::module_ &module) {
    cluster::bind<float>(module);
    cluster::bind<double>(module);
}

} // namespace thetahat
