"""Snapshots of a long fit, so that an interrupted fit can continue.

A snapshot is one .npz file of plain arrays and a JSON text: the trees so far, the seed, and a
fingerprint of rows and parameters. It is written completely or not at all. A continued fit gives
the same bits as an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from thetahat.data.row_pieces import RowPieces
from thetahat.data.snapshot import read_snapshot, write_snapshot
from thetahat.data.source import Block
from thetahat.data.validation import is_sparse
from thetahat.foundation.atomic_file import require_place
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.distributed.boosting import on_workers
from thetahat.models.ensemble.gradient_boosting.rounds import Rows
from thetahat.models.tree.structure import Tree

Scores = dict[str, list[float]]

SECONDS_BETWEEN = 5.0
VERSION = 2
NOT_IN_FINGERPRINT = {"checkpoint", "verbose", "max_iter", "n_estimators", "warm_start"}
ARRAYS = [field.name for field in fields(Tree) if field.name not in ("n_features", "n_outputs")]
ARRAYS.remove("n_classes")


@dataclass
class Checkpoint:
    """File for the snapshots of one fit, and the snapshot found there."""

    path: Path
    fingerprint: str
    found: tuple[list[Tree], int, Scores, Array] | None = None
    """Trees, seed, scores and initial raw predictions of the snapshot that was found."""
    written: float = 0.0

    @classmethod
    def of(cls, estimator: Any, rows: Rows, held: Rows | None = None) -> Checkpoint:
        """The snapshot of this fit, if there is one; a snapshot of another fit is an error."""
        path = require_place(estimator.checkpoint)
        checkpoint = cls(path, _fingerprint(estimator, rows, held), written=time.monotonic())
        if path.exists():
            checkpoint.found = checkpoint._read(type(estimator).__name__)
        return checkpoint

    def write_now_and_then(
        self, trees: Sequence[Tree], seed: int, scores: Scores, start: Array
    ) -> None:
        """Write a snapshot if the last one is old enough."""
        if time.monotonic() - self.written >= SECONDS_BETWEEN:
            self.write(trees, seed, scores, start)

    def write(self, trees: Sequence[Tree], seed: int, scores: Scores, start: Array) -> None:
        """Write a snapshot. Cost: O(nodes)."""
        facts = {
            "version": VERSION,
            "fingerprint": self.fingerprint,
            "seed": seed,
            "scores": scores,
            "start": [float(constant) for constant in start],
            "sizes": [tree.node_count for tree in trees],
            "sets": [list(tree.category_sets.shape) for tree in trees],
            "n_features": trees[0].n_features if trees else 0,
        }
        held = {
            name: np.concatenate([np.ravel(getattr(tree, name)) for tree in trees])
            for name in ARRAYS
            if trees
        }
        write_snapshot(self.path, facts, held)
        self.written = time.monotonic()

    def remove(self) -> None:
        """Delete the snapshot after the fit has ended."""
        self.path.unlink(missing_ok=True)

    def _read(self, who: str) -> tuple[list[Tree], int, Scores, Array]:
        facts, arrays = read_snapshot(self.path, version=VERSION, mark=self.fingerprint, who=who)
        try:
            start = np.array(facts["start"], dtype=float)
            return _cut(arrays, facts), int(facts["seed"]), facts["scores"], start
        except (ValueError, KeyError, TypeError) as failure:
            raise DataError(
                f"{who}: checkpoint={str(self.path)!r} is not a snapshot of a fit ({failure}). "
                "Delete the file, or use another path."
            ) from failure


def _cut(arrays: dict[str, Array], facts: dict[str, Any]) -> list[Tree]:
    """The trees stored one after another in the arrays."""
    trees: list[Tree] = []
    node = word = 0
    for size, shape in zip(facts["sizes"], facts["sets"], strict=True):
        part: dict[str, Any] = {name: arrays[name][node : node + size] for name in ARRAYS}
        part["values"] = part["values"].reshape(size, 1)
        n_words = shape[0] * shape[1]
        part["category_sets"] = arrays["category_sets"][word : word + n_words].reshape(shape)
        if len(part["feature"]) != size:
            raise ValueError("the file ends before its last tree")
        trees.append(Tree(**part, n_features=int(facts["n_features"])))
        node, word = node + size, word + n_words
    return trees


def _fingerprint(estimator: Any, rows: Rows, held: Rows | None) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in chain(_parts(rows), () if held is None else _parts(held)):
        if part is not None:
            digest.update(str((part.shape, part.dtype)).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
    parameters = {
        name: repr(value)
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in NOT_IN_FINGERPRINT
    }
    digest.update(json.dumps([type(estimator).__name__, parameters]).encode())
    return digest.hexdigest()


def _parts(rows: Rows) -> Iterator[Array | None]:
    X = rows.X
    if on_workers(rows):
        yield from X.source.map_blocks(_digest)
    elif isinstance(X, RowPieces):
        yield from (values for _, values in X.pieces())
    else:
        yield from (X.indptr, X.indices, X.data) if is_sparse(X) else (X,)
    yield from (rows.y, rows.weight)


def _digest(block: Block) -> Array:
    """A fingerprint of the rows of a block, where they are."""
    found = hashlib.blake2b(np.ascontiguousarray(block.X).tobytes(), digest_size=16)
    return np.frombuffer(found.digest(), dtype=np.uint8)
