"""One pass of the perceptron over the rows, written plainly."""


def perceptron_pass(rows, signs, weights):
    """The weights after the pass, and its mistakes."""
    weights, mistakes = weights.copy(), 0
    for row, sign in zip(rows, signs, strict=True):
        if (row @ weights > 0) != (sign > 0):
            weights += sign * row
            mistakes += 1
    return weights, mistakes


def kernel_perceptron_pass(K, constant, signs, steps, values, counts):
    """The function values and the counts of mistakes after the pass, and its mistakes."""
    values, counts = values.copy(), counts.copy()
    before = counts.sum()
    for i, sign in enumerate(signs):
        if (values[i] > 0) != (sign > 0):
            values += steps[i] * (K[i] + constant)
            counts[i] += 1
    return values, counts, counts.sum() - before
