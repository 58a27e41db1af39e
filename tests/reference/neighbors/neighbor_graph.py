"""The approximate graph, plainly: the same walks and links, one row at a time in Python."""

import numpy as np


def between(a, b, manhattan=False):
    gap = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    return float(np.abs(gap).sum() if manhattan else (gap**2).sum())


def choose(points, row, candidates, n_links, slack):
    """Candidates (distance, row) in order, without those nearer to a chosen one by the factor."""
    chosen, equal = [], 0
    for distance, other in sorted(set(candidates)):
        if len(chosen) == n_links:
            break
        if other == row:
            continue
        if distance == 0:
            equal += 1
            if 2 * (equal - 1) >= n_links:
                continue
        if distance == 0 or all(
            slack * between(points[kept], points[other]) > distance for _, kept in chosen
        ):
            chosen.append((distance, other))
    return [other for _, other in chosen]


def walk(points, links, entry, query, width):
    """The nearest rows found, and the rows whose links were followed, as (distance, row)."""
    beam, seen, followed = [(between(query, points[entry]), entry)], {entry}, []
    while True:
        left = [each for each in beam if each not in followed]
        if not left:
            return beam, followed
        followed.append(left[0])
        for other in links[left[0][1]]:
            if other not in seen:
                seen.add(other)
                beam.append((between(query, points[other]), other))
        beam = sorted(beam)[:width]


class Graph:
    def __init__(self, points, capacity):
        self.points, self.capacity = points, capacity
        self.links = {i: [] for i in range(len(points))}

    def first(self, rows, n_links, slack):
        self.entry = rows[0]
        everything = {i: [(between(self.points[i], self.points[j]), j) for j in rows] for i in rows}
        self._link(rows, everything, n_links, slack)

    def extend(self, rows, width, n_links, slack):
        found = {
            i: walk(self.points, self.links, self.entry, self.points[i], width)[1] for i in rows
        }
        self._link(rows, found, n_links, slack)

    def _link(self, rows, candidates, n_links, slack):
        chosen = {i: choose(self.points, i, candidates[i], n_links, slack) for i in rows}
        self.links.update(chosen)
        wanted = {}
        for row, other in sorted((other, i) for i in rows for other in chosen[i]):
            wanted.setdefault(row, []).append(other)
        for row, others in wanted.items():
            own = self.links[row]
            joined = own + [other for other in others if other not in own]
            if len(joined) > self.capacity:
                near = [(between(self.points[row], self.points[j]), j) for j in joined]
                joined = choose(self.points, row, near, n_links, slack)
            self.links[row] = joined
