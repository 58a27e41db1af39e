// The line search of Moré and Thuente (ACM Transactions on Mathematical Software 20, 1994): a step
// t with
//
//     f(t) ≤ f(0) + DECREASE·t·f′(0)    and    |f′(t)| ≤ CURVATURE·|f′(0)|,
//
// from a bracket that shrinks around such a step by cubic and quadratic interpolation.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace thetahat {

class WolfeSearch {
  public:
    enum Verdict { ANOTHER, ACCEPTED };

    WolfeSearch(double value, double slope, double step)
        : step_(step), first_value_(value), first_slope_(slope), best_{0.0, value, slope},
          other_{0.0, value, slope}, most_(step + FARTHEST * step) {}

    double step() const { return step_; }

    // The value and the slope at step(): accepted, or another step to be tried. A bracket that
    // cannot shrink further ends the search too, at its better end.
    Verdict take(double value, double slope) {
        const double test = DECREASE * first_slope_, bound = first_value_ + step_ * test;
        if (lowering_ && value <= bound && slope >= 0.0)
            lowering_ = false;
        const bool narrow = bracketed_ && (step_ <= least_ || step_ >= most_ ||
                                           most_ - least_ <= NARROWEST * most_);
        const bool ends = (step_ == LONGEST && value <= bound && slope <= test) ||
                          (step_ == 0.0 && (value > bound || slope >= test));
        if (narrow || ends || (value <= bound && std::abs(slope) <= -CURVATURE * first_slope_))
            return ACCEPTED;
        if (lowering_ && value <= best_.value && value > bound) {
            // f minus the line of sufficient decrease, which has a minimum where f falls too slowly
            best_.tilt(-test);
            other_.tilt(-test);
            interpolate({step_, value - step_ * test, slope - test});
            best_.tilt(test);
            other_.tilt(test);
        } else {
            interpolate({step_, value, slope});
        }
        if (bracketed_) {
            const double width = std::abs(other_.step - best_.step);
            if (width >= SHRINK * width_before_last_)
                step_ = best_.step + 0.5 * (other_.step - best_.step);
            width_before_last_ = width_;
            width_ = width;
            least_ = std::min(best_.step, other_.step);
            most_ = std::max(best_.step, other_.step);
        } else {
            least_ = step_ + NEAREST * (step_ - best_.step);
            most_ = step_ + FARTHEST * (step_ - best_.step);
        }
        step_ = std::clamp(step_, 0.0, LONGEST);
        if (bracketed_ &&
            (step_ <= least_ || step_ >= most_ || most_ - least_ <= NARROWEST * most_))
            step_ = best_.step;
        return ANOTHER;
    }

  private:
    static constexpr double DECREASE = 1e-3, CURVATURE = 0.9, NARROWEST = 0.1;
    static constexpr double NEAREST = 1.1, FARTHEST = 4.0, SHRINK = 0.66, LONGEST = 1e10;

    struct Trial {
        double step, value, slope;

        void tilt(double by) {
            value += step * by;
            slope += by;
        }
    };

    // Coefficients of the cubic through two trials: θ, and in `root` √(θ² − f′f′), whose sign
    // chooses between a minimum and a maximum.
    static double cubic(const Trial &from, const Trial &to, bool clip, double &root) {
        const double theta =
            3.0 * (from.value - to.value) / (to.step - from.step) + from.slope + to.slope;
        const double size = std::max({std::abs(theta), std::abs(from.slope), std::abs(to.slope)});
        const double square =
            (theta / size) * (theta / size) - (from.slope / size) * (to.slope / size);
        root = size * std::sqrt(clip ? std::max(0.0, square) : square);
        return theta;
    }

    // The next step from the trial `now`, and the new bracket.
    void interpolate(const Trial now) {
        const bool turned = now.slope * (best_.slope / std::abs(best_.slope)) < 0.0;
        const double way = now.step - best_.step;
        double root, next;
        if (now.value > best_.value) { // a minimum lies between
            const double theta = cubic(best_, now, false, root);
            root = now.step < best_.step ? -root : root;
            const double share =
                ((root - best_.slope) + theta) / (((root - best_.slope) + root) + now.slope);
            const double by_cubic = best_.step + share * way;
            const double fall = (best_.value - now.value) / way + best_.slope;
            const double by_square = best_.step + best_.slope / fall / 2.0 * way;
            const bool nearer = std::abs(by_cubic - best_.step) < std::abs(by_square - best_.step);
            next = nearer ? by_cubic : by_cubic + (by_square - by_cubic) / 2.0;
            bracketed_ = true;
        } else if (turned) { // the slope has changed its sign: a minimum lies between
            const double theta = cubic(best_, now, false, root);
            root = now.step > best_.step ? -root : root;
            const double share =
                ((root - now.slope) + theta) / (((root - now.slope) + root) + best_.slope);
            const double by_cubic = now.step - share * way;
            const double by_secant = now.step - now.slope / (now.slope - best_.slope) * way;
            const bool farther = std::abs(by_cubic - now.step) > std::abs(by_secant - now.step);
            next = farther ? by_cubic : by_secant;
            bracketed_ = true;
        } else if (std::abs(now.slope) < std::abs(best_.slope)) { // the slope has become smaller
            const double theta = cubic(best_, now, true, root);
            root = now.step > best_.step ? -root : root;
            const double share =
                ((root - now.slope) + theta) / ((root + (best_.slope - now.slope)) + root);
            const double end = now.step > best_.step ? most_ : least_;
            const double by_cubic = share < 0.0 && root != 0.0 ? now.step - share * way : end;
            const double by_secant = now.step - now.slope / (now.slope - best_.slope) * way;
            const bool nearer = std::abs(by_cubic - now.step) < std::abs(by_secant - now.step);
            next = nearer == bracketed_ ? by_cubic : by_secant;
            if (bracketed_) {
                const double edge = now.step + SHRINK * (other_.step - now.step);
                next = now.step > best_.step ? std::min(edge, next) : std::max(edge, next);
            } else {
                next = std::clamp(next, least_, most_);
            }
        } else if (bracketed_) {
            const double theta = cubic(now, other_, false, root);
            root = now.step > other_.step ? -root : root;
            const double share =
                ((root - now.slope) + theta) / (((root - now.slope) + root) + other_.slope);
            next = now.step + share * (other_.step - now.step);
        } else {
            next = now.step > best_.step ? most_ : least_;
        }
        if (now.value > best_.value) {
            other_ = now;
        } else {
            if (turned)
                other_ = best_;
            best_ = now;
        }
        step_ = next;
    }

    double step_, first_value_, first_slope_;
    Trial best_, other_;
    bool bracketed_ = false, lowering_ = true;
    double least_ = 0.0, most_;
    double width_ = LONGEST, width_before_last_ = 2.0 * LONGEST;
};

} // namespace thetahat
