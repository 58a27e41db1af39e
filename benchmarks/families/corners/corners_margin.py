"""Support vector machines and regression at the edges: small, wide, sparse, many-class, float32."""

from __future__ import annotations

from benchmarks.families.corners.corners_classification import support_vectors

CASES = tuple(support_vectors())

STUDIES = ()
