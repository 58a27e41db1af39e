"""A plain twin of native/trees/gradient_tree.cpp: best first, every split tried in floats."""

import numpy as np


def best_split(codes, n_bins, g, h, w, rows, rules):
    """(gain, column, code, missing left) of the best ordered split of some rows, or None."""
    G, H = (w * g)[rows].sum(), (w * h)[rows].sum()
    counted = w * h * w[rows].sum() / H if rules["rows_by_curvature"] else w
    if w[rows].sum() < 2 * rules["min_rows"]:
        return None
    best = None
    for j, column in enumerate(codes):
        own = column[rows]
        missing = own == n_bins[j]
        for missing_left in (False, True) if missing.any() else (False,):
            for code in range(n_bins[j] - (0 if missing.any() and not missing_left else 1)):
                left = rows[((own <= code) & ~missing) | (missing & missing_left)]
                right = np.setdiff1d(rows, left)
                if min(counted[left].sum(), counted[right].sum()) < rules["min_rows"] or not len(
                    left
                ):
                    continue
                GL, HL = (w * g)[left].sum(), (w * h)[left].sum()
                GR, HR = G - GL, H - HL
                if min(HL, HR) < max(rules["min_hessian"], 1e-9):
                    continue
                l2 = rules["l2"]
                gain = GL**2 / (HL + l2) + GR**2 / (HR + l2) - G**2 / (H + l2)
                if best is None or gain > best[0] * (1 + 1e-12):
                    best = (gain, j, code, missing_left, left, right)
    return best if best is not None and best[0] > rules["min_gain"] else None


def grow(codes, n_bins, g, h, w, max_leaves, **rules):
    """Nodes as (column or −1, code, missing left, −G/(H+λ)), in the order of their making."""
    usual = {"min_rows": 1.0, "min_hessian": 0.0, "min_gain": 0.0, "l2": 0.0}
    rules = {**usual, "rows_by_curvature": False, **rules}

    def value(rows):
        return -(w * g)[rows].sum() / ((w * h)[rows].sum() + rules["l2"])

    rows = np.arange(len(g))
    nodes = [[-1, 0, False, value(rows)]]
    leaves = {0: best_split(codes, n_bins, g, h, w, rows, rules)}
    while len(leaves) < max_leaves:
        ready = [node for node, split in leaves.items() if split is not None]
        if not ready:
            break
        node = max(ready, key=lambda number: leaves[number][0])
        _, j, code, missing_left, left, right = leaves.pop(node)
        nodes[node][:3] = [j, code, missing_left]
        for part in (left, right):
            leaves[len(nodes)] = best_split(codes, n_bins, g, h, w, part, rules)
            nodes.append([-1, 0, False, value(part)])
    return nodes
