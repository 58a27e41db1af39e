"""A plain version of the compiled step of Adam."""

import numpy as np


def adam_step(
    gradient, theta, first, second, rate, beta1, beta2, correction1, correction2, epsilon
):
    first[:] = beta1 * first + (1 - beta1) * gradient
    second[:] = beta2 * second + (1 - beta2) * gradient**2
    theta -= rate * (first / correction1) / (np.sqrt(second / correction2) + epsilon)
