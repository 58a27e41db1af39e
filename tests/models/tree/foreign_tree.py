"""scikit-learn's trees in our structure: siblings side by side, parents before children."""

import numpy as np

from thetahat.models.tree.structure import Tree


def as_tree(peer):
    """The `tree_` of a fitted scikit-learn tree, renumbered breadth first."""
    order, left = [0], []
    for node in order:
        child = peer.children_left[node]
        left.append(-1 if child < 0 else len(order))
        if child >= 0:
            order += [child, peer.children_right[node]]
    order = np.array(order)
    inner = peer.children_left[order] >= 0
    return Tree(
        feature=np.where(inner, peer.feature[order], -1).astype(np.int32),
        left=np.array(left, dtype=np.int32),
        threshold=np.where(inner, peer.threshold[order], 0.0),
        missing_left=np.where(inner, peer.missing_go_to_left[order], 0).astype(np.uint8),
        category_set=np.full(order.size, -1, dtype=np.int32),
        gain=np.zeros(order.size),
        impurity=peer.impurity[order],
        weight=peer.weighted_n_node_samples[order],
        count=peer.n_node_samples[order],
        values=peer.value[order].reshape(order.size, -1),
        category_sets=np.zeros((0, 0), dtype=np.uint32),
        n_features=peer.n_features,
        n_outputs=peer.n_outputs,
        n_classes=tuple(peer.n_classes.tolist()),
    )
