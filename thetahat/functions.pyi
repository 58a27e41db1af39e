# Written by `python -m tests.public_stub`; do not edit.

from thetahat.models.cluster.functions import dbscan as dbscan
from thetahat.models.cluster.functions import k_means as k_means
from thetahat.models.cluster.functions import kmeans_plusplus as kmeans_plusplus
from thetahat.models.cluster.functions import spectral_clustering as spectral_clustering
from thetahat.models.cluster.hierarchy.trees import linkage_tree as linkage_tree
from thetahat.models.cluster.hierarchy.trees import ward_tree as ward_tree

__all__ = [
    "dbscan",
    "k_means",
    "kmeans_plusplus",
    "linkage_tree",
    "spectral_clustering",
    "ward_tree",
]
