"""Plain twins of the kernels for rows about a centre of their class."""


def pack_class_rows(x, rows, codes, centres, scale, root, out, sums):
    """out = (x − centre)·scale·root, and sums += root·out of every class."""
    for i, (row, code) in enumerate(zip(rows, codes, strict=True)):
        weight = root[i] if len(root) else 1.0
        out[i] = (x[row].astype(float) - centres[code]) * scale * weight
        sums[code] += out[i] * weight


def class_squares(x, rows, codes, centres, scale, root, sums, squares):
    """The same sums, and squares += out²."""
    for i, (row, code) in enumerate(zip(rows, codes, strict=True)):
        weight = root[i] if len(root) else 1.0
        value = (x[row].astype(float) - centres[code]) * scale * weight
        sums[code] += value * weight
        squares[code] += value**2
