// The criteria that are not computed in place.

#include "trees/chosen_criterion.hpp"

namespace thetahat::trees {

ChosenCriterion::ChosenCriterion(Potential potential, std::size_t n_sums, std::size_t outputs)
    : potential_(potential), n_sums_(n_sums), outputs_(outputs),
      of_squares_(potential == Potential::gini || potential == Potential::squared),
      unit_(with_criterion(potential, n_sums, outputs,
                           [](const auto &criterion) { return criterion.unit(); })) {}

double ChosenCriterion::base(const double *all, double w) const {
    return with_criterion(potential_, n_sums_, outputs_,
                          [&](const auto &criterion) { return criterion.base(all, w); });
}

double ChosenCriterion::class_q(double w) const {
    return with_criterion(potential_, n_sums_, outputs_,
                          [&](const auto &criterion) { return criterion.class_q(w); });
}

double ChosenCriterion::impurity(const double *all, double w, double q) const {
    return with_criterion(potential_, n_sums_, outputs_,
                          [&](const auto &criterion) { return criterion.impurity(all, w, q); });
}

double ChosenCriterion::other_score(const double *left, double w_left, const double *all,
                                    double w) const {
    return with_criterion(potential_, n_sums_, outputs_, [&](const auto &criterion) {
        return criterion.score(left, w_left, all, w);
    });
}

} // namespace thetahat::trees
