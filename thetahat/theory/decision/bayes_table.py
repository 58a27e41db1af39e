"""Tables of probabilities of a few variables with finitely many values, and Bayes' rule on them.

p(x, y) = p(y)·p(x | y),   p(x) = Σ_y p(x, y),   p(y | x) = p(x, y)/p(x)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array
from thetahat.theory.decision.bayes_decision import bayes_decision
from thetahat.theory.decision.probabilities import as_dict, as_probabilities
from thetahat.theory.decision.table_text import text_of

WHO = "BayesTable"
Values = Mapping[str, Any]


class BayesTable:
    """The joint probabilities of a few variables, each with finitely many values.

    A table is built from a prior and likelihoods by the chain rule (`of`, `chain`), from counts
    (`from_counts`), or from all joint probabilities (the constructor). Marginals, conditionals and
    posteriors are also tables.

    Formula: p(y | x) = p(x | y) p(y) / Σ_k p(x | k) p(k). Cost: O(cells) for every method.

    Parameters
    ----------
    probabilities : array-like
        Joint probabilities with one axis per variable. They must be ≥ 0 and sum to 1.
    axes : dict of str to sequence
        The name of each variable, in the order of the axes, and its values.

    Attributes
    ----------
    probabilities : array
        The joint probabilities, with one axis per variable.
    axes : dict of str to tuple
        The names of the variables and their values.

    Examples
    --------
    A fault is rare, and an alarm is not certain:

    >>> import thetahat as th
    >>> table = th.theory.BayesTable.of("state", {"fault": 0.03, "fine": 0.97}).chain(
    ...     "alarm", {"fault": {"on": 0.6, "off": 0.4}, "fine": {"on": 0.1, "off": 0.9}},
    ...     given="state")
    >>> table
    p(state, alarm)
    state     on    off
    fault  0.018  0.012
    fine   0.097  0.873
    >>> round(table.probability({"alarm": "on"}), 6)
    0.115
    >>> table.given({"alarm": "on"})
    p(state | alarm = on)
       fault      fine
    0.156522  0.843478
    """

    def __init__(self, probabilities: Any, axes: Mapping[str, Sequence[Any]]) -> None:
        self.probabilities = as_probabilities(probabilities, "probabilities", WHO, whole=True)
        self.axes = {
            str(name): tuple(values) for name, values in as_dict(axes, "axes", WHO).items()
        }
        self._known: dict[str, Any] = {}
        sizes = tuple(len(values) for values in self.axes.values())
        if sizes != self.probabilities.shape:
            raise ParameterError(
                f"{WHO}: probabilities has shape {self.probabilities.shape}, but axes has the "
                f"numbers of values {sizes}. Give one axis per variable, in the same order."
            )
        for name, values in self.axes.items():
            if len(set(values)) < len(values):
                raise ParameterError(
                    f"{WHO}: variable {name!r} has a value twice: {values}. Give each value once."
                )

    @classmethod
    def of(cls, name: str, probabilities: Mapping[Any, float]) -> BayesTable:
        """Make the table of one variable, such as a prior.

        Parameters
        ----------
        name : str
            The name of the variable.
        probabilities : dict of value to float
            The probability of each value. They must be ≥ 0 and sum to 1.

        Returns
        -------
        BayesTable

        Examples
        --------
        >>> import thetahat as th
        >>> th.theory.BayesTable.of("coin", {"heads": 0.5, "tails": 0.5})
        p(coin)
        heads  tails
          0.5    0.5
        """
        given = as_dict(probabilities, "probabilities", WHO)
        return cls(list(given.values()), {name: list(given)})

    @classmethod
    def from_counts(cls, counts: Any, axes: Mapping[str, Sequence[Any]]) -> BayesTable:
        """Make a table from counts: each probability is its share of the total.

        Parameters
        ----------
        counts : array-like
            How often each combination of values occurs; ≥ 0, and not all 0.
        axes : dict of str to sequence
            The name of each variable, in the order of the axes, and its values.

        Returns
        -------
        BayesTable
        """
        found = numbers(counts, "counts", f"{WHO}.from_counts")
        if (found < 0).any() or not found.sum() > 0:
            raise DataError(
                f"{WHO}.from_counts: counts sum to {found.sum():g} with minimum "
                f"{found.min(initial=0.0):g}; they must be ≥ 0, and at least one must be positive."
            )
        return cls(found / found.sum(), axes)

    def chain(
        self, name: str, conditional: Mapping[Any, Any], given: str | Sequence[str]
    ) -> BayesTable:
        """Add a variable by the chain rule: p(old, new) = p(old)·p(new | given).

        Parameters
        ----------
        name : str
            The name of the new variable.
        conditional : dict
            For every value of `given` (a tuple of values if there are several variables) the
            probabilities of the new variable, as a dict of value to float.
        given : str or sequence of str
            The variables on which the new one depends. It is independent of all others, given
            these.

        Returns
        -------
        BayesTable
            The joint table; the new variable is the last axis.
        """
        if name in self.axes:
            raise ParameterError(f"{WHO}.chain: the table has a variable {name!r} already.")
        parents = [given] if isinstance(given, str) else list(given)
        places = [self._place(each) for each in parents]
        if not parents:
            raise ParameterError(f"{WHO}.chain: given is empty; name at least one variable.")
        cases = list(product(*(self.axes[each] for each in parents)))
        keys = [case[0] if len(parents) == 1 else case for case in cases]
        conditional = as_dict(conditional, "conditional", WHO)
        lacking = [key for key in keys if key not in conditional]
        unknown = [key for key in conditional if key not in keys]
        if lacking or unknown:
            raise DataError(
                f"{WHO}.chain: conditional "
                + (f"lacks {lacking[0]!r}" if lacking else f"has the unknown value {unknown[0]!r}")
                + f". Give the probabilities of {name!r} for each of {keys}."
            )
        values = list(dict.fromkeys(value for key in keys for value in conditional[key]))
        rows = [
            [
                as_dict(conditional[key], f"conditional[{key!r}]", WHO).get(value, 0.0)
                for value in values
            ]
            for key in keys
        ]
        likelihood = as_probabilities(rows, f"p({name} | {', '.join(parents)})", f"{WHO}.chain")
        shape = [len(self.axes[each]) for each in parents]
        spread = likelihood.reshape(*shape, len(values))
        # The axes of `spread` are in the order of `given`; those of the table are in its own.
        order = np.argsort(places)
        spread = spread.transpose(*order, len(places))
        full = [len(v) if each in parents else 1 for each, v in self.axes.items()]
        joint = self.probabilities[..., None] * spread.reshape(*full, len(values))
        return self._made(joint, {**self.axes, name: tuple(values)})

    def marginal(self, *names: str) -> BayesTable:
        """Sum over all other variables.

        Parameters
        ----------
        *names : str
            The variables to keep, in this order.

        Returns
        -------
        BayesTable
        """
        if not names or len(set(names)) < len(names):
            raise ParameterError(f"{WHO}.marginal: name at least one variable, and each once.")
        places = [self._place(name) for name in names]
        others = tuple(i for i in range(len(self.axes)) if i not in places)
        kept = np.argsort(np.argsort(places))
        summed = self.probabilities.sum(axis=others)
        return self._made(summed.transpose(kept), {name: self.axes[name] for name in names})

    def probability(self, values: Values, *, given: Values | None = None) -> float:
        """Compute the probability that some variables have given values.

        The probability of an observation, summed over all causes, is its evidence.

        Parameters
        ----------
        values : dict of str to value
            The values of some variables; all others are summed over.
        given : dict of str to value, optional
            Values that are known. By default none.

        Returns
        -------
        float

        Examples
        --------
        >>> import thetahat as th
        >>> pens = th.theory.BayesTable.from_counts(
        ...     [[2, 5], [5, 2]], {"kind": ["ball", "marker"], "colour": ["red", "blue"]})
        >>> round(pens.probability({"colour": "red"}, given={"kind": "ball"}), 6)
        0.285714
        """
        if not values:
            raise ParameterError(f"{WHO}.probability: values is empty; give at least one.")
        if both := [name for name in values if isinstance(given, Mapping) and name in given]:
            raise ParameterError(
                f"{WHO}.probability: variable {both[0]!r} is in values and in given, but each may "
                "be in one of them only. Remove it from one."
            )
        table = self if given is None else self.given(given)
        return float(table.probabilities[table._index(values)].sum())

    def given(self, values: Values) -> BayesTable:
        """Condition on known values: the posterior of all other variables.

        Parameters
        ----------
        values : dict of str to value
            The values of some variables, but not of all.

        Returns
        -------
        BayesTable
            The conditional probabilities of the other variables.
        """
        chosen = self.probabilities[self._index(values)]
        if chosen.ndim == 0 or not values:
            raise ParameterError(
                f"{WHO}.given: {values!r} must name at least one variable and leave at least "
                "one. Use `probability` for the probability of values of all variables."
            )
        total = chosen.sum()
        if not total > 0:
            raise DataError(
                f"{WHO}.given: {values!r} has probability 0, so that nothing can be "
                "conditioned on it. Check the values, or give them a positive probability."
            )
        axes = {name: known for name, known in self.axes.items() if name not in values}
        return self._made(chosen / total, axes, known={**self._known, **values})

    def conditional(self, target: str, given: str) -> Array:
        """Compute p(target | given) for all values of both.

        Parameters
        ----------
        target, given : str
            The variable whose probabilities are computed, and the variable that is given.

        Returns
        -------
        array of shape (values of given, values of target)
            Each row sums to 1; NaN where the known value has probability 0.
        """
        joint = self.marginal(given, target).probabilities
        total = joint.sum(axis=1, keepdims=True)
        return np.divide(joint, total, out=np.full(joint.shape, np.nan), where=total > 0)

    def decide(
        self, target: str, given: str, *, costs: Any = None, reject_cost: float | None = None
    ) -> dict[Any, Any]:
        """Choose the value of one variable from the value of another by the Bayes rule.

        Parameters
        ----------
        target, given : str
            The variable to decide about, and the observed variable.
        costs : array-like of shape (C, C), optional
            ``costs[k, j]`` is the cost of deciding for value j if value k is true. By default every
            error costs 1.
        reject_cost : float, optional
            The cost of a rejection, which is shown as None. By default none is rejected.

        Returns
        -------
        dict
            The decision for each value of `given` that has a positive probability.

        Examples
        --------
        >>> import thetahat as th
        >>> pens = th.theory.BayesTable.from_counts(
        ...     [[2, 5], [5, 2]], {"kind": ["ball", "marker"], "colour": ["red", "blue"]})
        >>> pens.decide("colour", given="kind")
        {'ball': 'blue', 'marker': 'red'}
        """
        posterior = self.conditional(target, given)
        possible = ~np.isnan(posterior[:, 0])
        found = bayes_decision(posterior[possible], costs=costs, reject_cost=reject_cost)
        seen = [value for value, ok in zip(self.axes[given], possible, strict=True) if ok]
        names = self.axes[target]
        return {
            value: None if k is None else names[int(k)]
            for value, k in zip(seen, found.labels.tolist(), strict=True)
        }

    def bayes_error(self, target: str, given: str) -> float:
        """Compute the smallest error of a decision about one variable after another was seen.

        Formula: 1 − Σ_x max_y p(x, y).

        Parameters
        ----------
        target, given : str
            The variable to decide about, and the observed variable.

        Returns
        -------
        float
        """
        return float(1.0 - self.marginal(given, target).probabilities.max(axis=1).sum())

    def to_frame(self) -> Any:
        """Convert to a pandas DataFrame: the last variable gives the columns, the others the index.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = optional_import("pandas", purpose=f"{WHO}.to_frame")
        *names, last = self.axes
        columns = pandas.Index(self.axes[last], name=last, tupleize_cols=False)
        flat = self.probabilities.reshape(-1, len(self.axes[last]))
        if not names:
            return pandas.DataFrame(flat, index=["p"], columns=columns)
        if len(names) == 1:
            index = pandas.Index(self.axes[names[0]], name=names[0], tupleize_cols=False)
        else:
            levels = [self.axes[name] for name in names]
            index = pandas.MultiIndex.from_product(levels, names=names)
        return pandas.DataFrame(flat, index=index, columns=columns)

    def __repr__(self) -> str:
        known = ", ".join(f"{name} = {value}" for name, value in self._known.items())
        title = f"p({', '.join(self.axes)}{' | ' + known if known else ''})"
        return "\n".join([title, *text_of(self.axes, self.probabilities)])

    def _made(
        self, probabilities: Array, axes: Mapping[str, Any], known: Values | None = None
    ) -> BayesTable:
        table = BayesTable(probabilities, axes)
        table._known = dict(self._known if known is None else known)
        return table

    def _place(self, name: str) -> int:
        if name not in self.axes:
            raise ParameterError(
                f"{WHO}: there is no variable {name!r}. The variables are {list(self.axes)}."
            )
        return list(self.axes).index(name)

    def _index(self, values: Values) -> tuple[Any, ...]:
        index: list[Any] = [slice(None)] * len(self.axes)
        for name, value in as_dict(values, "values", WHO).items():
            place = self._place(name)
            if value not in self.axes[name]:
                raise ParameterError(
                    f"{WHO}: variable {name!r} has no value {value!r}. Its values are "
                    f"{list(self.axes[name])}."
                )
            index[place] = self.axes[name].index(value)
        return tuple(index)
