// A criterion that is chosen when the program runs, where one type per criterion would make the
// compiler write the same search many times.
//
// Gini and squared errors are computed in place, the others behind a call, which costs little
// beside their logarithms.
#pragma once

#include <cstddef>

#include "trees/criteria.hpp"

namespace thetahat::trees {

class ChosenCriterion {
  public:
    ChosenCriterion(Potential potential, std::size_t n_sums, std::size_t outputs);

    std::size_t width() const { return n_sums_; }
    double unit() const { return unit_; }
    double base(const double *all, double w) const;
    double score(const double *left, double w_left, const double *all, double w) const {
        return of_squares_ ? Squares<>{n_sums_, outputs_}.score(left, w_left, all, w)
                           : other_score(left, w_left, all, w);
    }
    double class_q(double w) const;
    double impurity(const double *all, double w, double q) const;

  private:
    double other_score(const double *left, double w_left, const double *all, double w) const;

    Potential potential_;
    std::size_t n_sums_, outputs_;
    bool of_squares_;
    double unit_;
};

// The same from one sum: of two classes, the weight of the second one.
struct ChosenOfOne {
    ChosenCriterion criterion;
    bool two_classes;

    double unit() const { return criterion.unit(); }
    double base(const double *all, double w) const {
        const double both[2] = {w - all[0], all[0]};
        return criterion.base(two_classes ? both : all, w);
    }
    double score(const double *left, double w_left, const double *all, double w) const {
        if (!two_classes)
            return criterion.score(left, w_left, all, w);
        const double both_left[2] = {w_left - left[0], left[0]}, both[2] = {w - all[0], all[0]};
        return criterion.score(both_left, w_left, both, w);
    }
};

} // namespace thetahat::trees
