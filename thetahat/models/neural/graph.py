"""The graph of a network: variables are nodes, weights are edges."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NetworkGraph:
    """The nodes and edges of a network of dense layers.

    Formula: node (l, i) is variable i of layer l, with layer 0 for the inputs; the edge from (l, i)
    to (l + 1, j) has the weight W_l[i, j]. Bias nodes are (l, "bias"). Cost: O(number of weights).

    Attributes
    ----------
    nodes : tuple of (layer, name) pairs
        The variables of all layers, from the inputs to the outputs.
    edges : tuple of (node, node, weight) triples
        The weights, from the inputs to the outputs.

    Examples
    --------
    >>> import thetahat as th
    >>> network = th.neural.Network(2, [th.neural.Dense(1, "identity")])
    >>> graph = network.with_weights([([[2.0], [3.0]], [0.5])]).graph(bias=True)
    >>> graph.nodes
    ((0, 0), (0, 1), (0, 'bias'), (1, 0))
    >>> graph.edges[-1]
    ((0, 'bias'), (1, 0), 0.5)
    """

    nodes: tuple[tuple[int, int | str], ...]
    edges: tuple[tuple[tuple[int, int | str], tuple[int, int | str], float], ...]

    def to_dot(self) -> str:
        """Return the graph in the language of Graphviz.

        Examples
        --------
        >>> import thetahat as th
        >>> print(th.neural.Network(1, [th.neural.Dense(1)]).with_weights([([[2.0]], [0.0])])
        ...       .graph().to_dot())
        digraph network {
          rankdir=LR;
          "0.0" -> "1.0" [label="2"];
        }
        """
        lines = ["digraph network {", "  rankdir=LR;"]
        for (layer, name), (after, other), weight in self.edges:
            lines.append(f'  "{layer}.{name}" -> "{after}.{other}" [label="{weight:.3g}"];')
        return "\n".join([*lines, "}"])
