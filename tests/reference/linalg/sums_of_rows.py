"""Packed rows, Gram matrices, exact gradients and errors of leaving rows out, plainly."""

from fractions import Fraction

import numpy as np


def pack_rows(x, centre, scale, root_weight, out, offset):
    """out[:, offset:offset+d] = (x − centre)·scale·root_weight."""
    root = root_weight[:, None] if len(root_weight) else 1.0
    out[:, offset : offset + x.shape[1]] = (x.astype(float) - centre) * scale * root


def sparse_gram(data, indices, indptr, weight, gram):
    """gram += Σ_i w_i x_i x_iᵀ."""
    for i in range(len(indptr) - 1):
        row = np.zeros(len(gram))
        row[indices[indptr[i] : indptr[i + 1]]] = data[indptr[i] : indptr[i + 1]]
        gram += (weight[i] if len(weight) else 1.0) * np.outer(row, row)


def exact_gradient(x, y, weight, centre, scale, gamma):
    """Σ_i w_i z̃_i (y_i − z̃_iᵀγ) with z̃ = (z, 1), in rational arithmetic, rounded once."""
    n, d = x.shape
    k = y.shape[1]
    result = np.zeros((k, d + 1))
    for output in range(k):
        total = [Fraction(0)] * (d + 1)
        for i in range(n):
            z = [
                (Fraction(float(x[i, j])) - Fraction(float(centre[j]))) * Fraction(float(scale[j]))
                for j in range(d)
            ] + [Fraction(1)]
            target = Fraction(float(y[i, output])) - Fraction(float(centre[d + output]))
            r = target * Fraction(float(scale[d + output])) - sum(
                value * Fraction(float(gamma[j, output])) for j, value in enumerate(z)
            )
            r *= Fraction(float(weight[i])) if len(weight) else 1
            total = [t + value * r for t, value in zip(total, z, strict=True)]
        result[output] = [float(t) for t in total]
    return result


def leave_one_out_sums(y, fitted, fit_basis, leverage, basis, weight, base, smallest, total):
    """total += Σ_i w_i (e_i/(1 − w_i·h_i))² for every penalty."""
    mass = weight if len(weight) else np.ones(len(y))
    errors = y[:, None] - fitted @ fit_basis
    kept = 1.0 - mass[:, None] * (leverage @ basis + base)
    total += mass @ (errors / np.maximum(kept, smallest)) ** 2


def column_frame(x, centre, unit, first):
    """The middle of each column, clipped to its range, and a power of two above its deviations."""
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = x.min(axis=0), x.max(axis=0)
        middle = np.minimum(np.maximum(x.sum(axis=0) / len(x), low), high)
        extent = np.maximum(high - middle, middle - low)
        size = np.where(extent > 0, extent, np.abs(middle))
    size[~np.isfinite(size) | (size == 0)] = 1.0
    middle[~np.isfinite(middle)] = 0.0
    centre[first : first + x.shape[1]] = middle
    unit[first : first + x.shape[1]] = np.ldexp(1.0, np.clip(np.frexp(size)[1], -1022, 1022))


def centre_products(products, first, weight, offset):
    """products − weight·offset offsetᵀ, offset = first/weight; how far the squares shrink."""
    offset[:] = first / weight if weight > 0 else 0.0
    before = np.diagonal(products).copy()
    products -= weight * np.outer(offset, offset)
    after = np.maximum(np.diagonal(products), np.finfo(float).eps * before)
    return max(1.0, (before[before > 0] / after[before > 0]).max(initial=1.0))
