// The steps of L-BFGS between evaluations of F: θ ← θ − t·B∇F, with B ≈ H⁻¹ from the last moves
// s = Δθ and gradient changes y = Δ∇F, and t from a line search (`wolfe_search.hpp`).
//
// `evaluate(theta)` returns F and ∇F at the array theta, `report(theta)` is called after each step;
// either may raise to end the run. The run ends by itself where the gradient is 0, F no longer
// falls, or no step is found along −∇F either. The rules are those of L-BFGS-B without bounds, so
// that the iterates are the same up to rounding: the first step has length 1, pairs without
// curvature are left out, and a search that fails forgets all pairs. O(memory·d) per step, on one
// thread with a fixed order of sums.

#include <cmath>
#include <nanobind/stl/tuple.h>
#include <vector>

#include "core/dots.hpp"
#include "core/views.hpp"
#include "descent/wolfe_search.hpp"

namespace thetahat {

namespace {

constexpr int MOST_TRIALS = 50;
constexpr double EPSILON = 2.220446049250313e-16;

using Numbers = std::vector<double>;

double inner(const Numbers &a, const Numbers &b) { return dot(a.data(), b.data(), a.size()); }

void add_times(double by, const Numbers &to_add, Numbers &sum) {
    const double *from = to_add.data();
    double *to = sum.data();
    for (std::size_t j = 0; j < sum.size(); ++j)
        to[j] += by * from[j];
}

// The last pairs, oldest first.
struct Pairs {
    struct Pair {
        Numbers move, change;
        double product; // sᵀy
    };
    std::size_t most;
    std::vector<Pair> kept;

    void add(Numbers move, Numbers change, double product) {
        if (kept.size() == most)
            kept.erase(kept.begin());
        kept.push_back({std::move(move), std::move(change), product});
    }

    // −B·slope, by the recursion over the pairs from the newest to the oldest and back.
    void direction(const Numbers &slope, Numbers &out) const {
        out = slope;
        Numbers share(kept.size());
        for (std::size_t k = kept.size(); k-- > 0;) {
            share[k] = inner(kept[k].move, out) / kept[k].product;
            add_times(-share[k], kept[k].change, out);
        }
        if (!kept.empty()) {
            const Pair &newest = kept.back();
            const double scale = newest.product / inner(newest.change, newest.change);
            for (double &entry : out)
                entry *= scale;
        }
        for (std::size_t k = 0; k < kept.size(); ++k)
            add_times(share[k] - inner(kept[k].change, out) / kept[k].product, kept[k].move, out);
        for (double &entry : out)
            entry = -entry;
    }
};

struct Search {
    nb::object evaluate, report, place;
    double *point; // the entries of `place`
    std::size_t size;
    Numbers theta, slope, direction, next_slope;
    double value = 0.0, next_value = 0.0;
    Pairs pairs;

    // F and ∇F at the point.
    double at(Numbers &gradient) const {
        const auto found = nb::cast<nb::tuple>(evaluate(place));
        const auto entries = nb::cast<Vector<const double>>(found[1]);
        require(entries.shape(0) == size, "the gradient must be as long as theta");
        std::copy_n(entries.data(), size, gradient.data());
        return nb::cast<double>(found[0]);
    }

    void begin() {
        theta.assign(point, point + size);
        slope.resize(size);
        next_slope.resize(size);
        value = at(slope);
    }

    // One step along −B∇F; false if the line search finds none.
    bool step(bool first) {
        pairs.direction(slope, direction);
        const double fall = inner(slope, direction);
        if (!(fall < 0.0))
            return false;
        const double length = std::sqrt(inner(direction, direction));
        WolfeSearch search(value, fall, first ? std::min(1.0 / length, 1e10) : 1.0);
        double reached;
        for (int trial = 0;; ++trial) {
            if (trial == MOST_TRIALS)
                return false;
            const double t = search.step();
            for (std::size_t j = 0; j < size; ++j)
                point[j] = theta[j] + t * direction[j];
            next_value = at(next_slope);
            reached = inner(next_slope, direction);
            if (search.take(next_value, reached) == WolfeSearch::ACCEPTED)
                break;
        }
        report(place);
        remember(search.step(), fall, reached);
        return true;
    }

    void remember(double t, double fall, double reached) {
        Numbers move(size), change(size);
        for (std::size_t j = 0; j < size; ++j) {
            move[j] = t * direction[j];
            change[j] = next_slope[j] - slope[j];
        }
        const double product = (reached - fall) * t;
        if (product > EPSILON * -fall * t)
            pairs.add(std::move(move), std::move(change), product);
        theta.assign(point, point + size);
        slope.swap(next_slope);
    }
};

bool vanishes(const Numbers &of) {
    return std::all_of(of.begin(), of.end(), [](double entry) { return entry == 0.0; });
}

void lbfgs(nb::object evaluate, nb::object report, nb::object place, std::size_t memory) {
    const auto entries = nb::cast<Vector<double>>(place);
    require(memory > 0, "memory must be at least 1");
    Search run{evaluate, report, place, entries.data(), entries.shape(0), {}, {}, {},
               {},       0.0,    0.0,   {memory, {}}};
    run.begin();
    for (bool first = true; !vanishes(run.slope);) {
        const double before = run.value;
        if (run.step(first)) {
            first = false;
            run.value = run.next_value;
            if (!(before > run.value))
                return;
        } else if (run.pairs.kept.empty()) {
            return;
        } else { // start again along −∇F
            run.pairs.kept.clear();
        }
    }
}

} // namespace

void bind_lbfgs(nb::module_ &module) {
    module.def("lbfgs", &lbfgs, nb::arg("evaluate"), nb::arg("report"), nb::arg("theta"),
               nb::arg("memory"));
}

} // namespace thetahat
