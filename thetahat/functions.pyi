# Written by `python -m tests.public_stub`; do not edit.

from thetahat.models.cluster.functions import dbscan as dbscan
from thetahat.models.cluster.functions import k_means as k_means
from thetahat.models.cluster.functions import kmeans_plusplus as kmeans_plusplus
from thetahat.models.cluster.functions import spectral_clustering as spectral_clustering
from thetahat.models.cluster.hierarchy.trees import linkage_tree as linkage_tree
from thetahat.models.cluster.hierarchy.trees import ward_tree as ward_tree
from thetahat.models.decomposition.dictionaries import dict_learning as dict_learning
from thetahat.models.decomposition.dictionaries import dict_learning_online as dict_learning_online
from thetahat.models.decomposition.dictionaries import sparse_encode as sparse_encode
from thetahat.models.decomposition.factors.functions import fastica as fastica
from thetahat.models.decomposition.factors.functions import non_negative_factorization as non_negative_factorization
from thetahat.models.linear.least_squares.ridge_regression import ridge_regression as ridge_regression
from thetahat.models.manifold.functions import locally_linear_embedding as locally_linear_embedding
from thetahat.models.manifold.functions import smacof as smacof
from thetahat.models.manifold.functions import spectral_embedding as spectral_embedding

__all__ = [
    "dbscan",
    "dict_learning",
    "dict_learning_online",
    "fastica",
    "k_means",
    "kmeans_plusplus",
    "linkage_tree",
    "locally_linear_embedding",
    "non_negative_factorization",
    "ridge_regression",
    "smacof",
    "sparse_encode",
    "spectral_clustering",
    "spectral_embedding",
    "ward_tree",
]
