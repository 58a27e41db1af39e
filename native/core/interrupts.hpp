// Interruption points of long kernels: between two steps, on the thread that called the kernel.
#pragma once

#include "core/views.hpp"

namespace thetahat {

// Throws if the user has pressed Ctrl-C. The interpreter lock must be released.
inline void notice_interrupt() {
    nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
}

// Looks for an interrupt whenever enough work has been done since the last time.
class InterruptionPoint {
  public:
    void after(double work) {
        if ((done_ += work) < enough_)
            return;
        done_ = 0.0;
        notice_interrupt();
    }

  private:
    static constexpr double enough_ = 5e7; // multiplications, some hundredths of a second
    double done_ = 0.0;
};

} // namespace thetahat
