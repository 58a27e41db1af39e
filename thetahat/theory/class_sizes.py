"""How many hypotheses a class has: |C| for the bound m ≥ log(|C|/δ)/ε of consistent learners.

All counts are of descriptions. Two of them may be the same function, so |C| is an upper bound of
the number of functions, which is all that the bound needs.
"""

from __future__ import annotations

from math import log2

from thetahat.estimator.parameters import boolean, check_value
from thetahat.theory.requirements import computable, whole


def disjunction_class_size(n_variables: int, *, negations: bool = False) -> int:
    """The number of disjunctions (or conjunctions) of n Boolean variables.

    Formula: 2ⁿ, because each variable is in it or not; 3ⁿ with negations, because each variable is
    in it, in it negated, or not in it. Cost: O(n).

    Parameters
    ----------
    n_variables : int
        The number of variables (n), at least 1.
    negations : bool, default=False
        Whether variables may be negated.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> size = th.theory.disjunction_class_size(10)
    >>> size, th.theory.pac_sample_size(size, error=0.1, failure=0.05)
    (1024, 100)
    """
    whole(n_variables, "n_variables", "disjunction_class_size", low=1)
    check_value(negations, boolean, "negations", "disjunction_class_size")
    base = 3 if negations else 2
    computable(
        log2(base) * int(n_variables), "the number of disjunctions", "disjunction_class_size"
    )
    return int(base ** int(n_variables))


def tree_class_size(n_variables: int, size: int) -> int:
    """The number of decision trees of at most s tests on n Boolean variables.

    Formula: Σ_{k ≤ s} C_k·nᵏ·2^{k+1}, with the Catalan number C_k = (2k)!/(k!(k + 1)!) of binary
    trees with k tests; each test asks one of n variables, and each of the k + 1 leaves has one of
    two labels. Cost: O(s).

    Parameters
    ----------
    n_variables : int
        The number of variables (n), at least 1.
    size : int
        The largest number of tests in a tree (s), at least 0. Larger trees need more rows.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.tree_class_size(20, 5)
    8673926482
    >>> th.theory.pac_sample_size(th.theory.tree_class_size(20, 5), error=0.1, failure=0.05)
    259
    """
    whole(n_variables, "n_variables", "tree_class_size", low=1)
    whole(size, "size", "tree_class_size", low=0)
    n = int(n_variables)
    # C_k is about 4ᵏ. The sum has many terms, so that fewer digits are possible than elsewhere.
    bits = (3 + log2(n)) * int(size)
    computable(bits, "the number of trees", "tree_class_size", most=100_000)
    total = term = 2
    for k in range(1, int(size) + 1):
        # C_k = C_{k−1}·2(2k − 1)/(k + 1)
        term = term * (4 * n * (2 * k - 1)) // (k + 1)
        total += term
    return total


def halfspace_class_size(n_variables: int, bound: int, *, threshold: bool = True) -> int:
    """The number of halfspaces wᵀx > θ whose weights are integers between −B and B.

    Formula: (2B + 1)^{n+1} with a threshold θ of the same range, and (2B + 1)ⁿ without one. The
    logarithm grows as n·log B, so the sample size that is sufficient grows about linearly with n.
    ``th.HalfspaceLP(integer_bound=B)`` finds a consistent one. Cost: O(n).

    Parameters
    ----------
    n_variables : int
        The number of variables (n), at least 1.
    bound : int
        The largest size of a weight (B), at least 1.
    threshold : bool, default=True
        Whether the halfspace has a threshold; without one its boundary goes through the origin.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> size = th.theory.halfspace_class_size(10, bound=5)
    >>> size, th.theory.pac_sample_size(size, error=0.1, failure=0.05)
    (285311670611, 294)
    """
    whole(n_variables, "n_variables", "halfspace_class_size", low=1)
    whole(bound, "bound", "halfspace_class_size", low=1)
    check_value(threshold, boolean, "threshold", "halfspace_class_size")
    values, weights = 2 * int(bound) + 1, int(n_variables) + bool(threshold)
    computable(log2(values) * weights, "the number of halfspaces", "halfspace_class_size")
    return int(values**weights)
