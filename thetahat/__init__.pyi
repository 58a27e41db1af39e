# Written by `python -m tests.public_stub`; do not edit.

from thetahat.catalog import taxonomy as taxonomy
from thetahat import data as data
from thetahat.data import datasets as datasets
from thetahat.data.distributed.from_dask import from_dask as from_dask
from thetahat.data.on_disk.predict_to_file import predict_to_file as predict_to_file
from thetahat.data.on_disk.scan import scan as scan
from thetahat.data import resampling as resampling
from thetahat import errors as errors
from thetahat.evaluation.cluster_count import how_many_clusters as how_many_clusters
from thetahat.evaluation.compare import compare as compare
from thetahat.evaluation.conformal_prediction.conformal import conformal as conformal
from thetahat.evaluation.confusion import confusion as confusion
from thetahat.evaluation.contributions.explain import explain as explain
from thetahat.evaluation.curves.bend import elbow as elbow
from thetahat.evaluation.curves.calibration import calibration_curve as calibration_curve
from thetahat.evaluation.curves.growth import learning_curve as learning_curve
from thetahat.evaluation.curves.growth import validation_curve as validation_curve
from thetahat.evaluation.curves.precision_recall import precision_recall_curve as precision_recall_curve
from thetahat.evaluation.curves.roc import roc_curve as roc_curve
from thetahat.evaluation.curves.stages import staged_curve as staged_curve
from thetahat.evaluation.curves.threshold import best_threshold as best_threshold
from thetahat.evaluation.dependence import partial_dependence as partial_dependence
from thetahat.evaluation.evaluate import evaluate as evaluate
from thetahat.evaluation.findings.check import check as check
from thetahat.evaluation.holdout import HoldOut as HoldOut
from thetahat.evaluation.importance import importances as importances
from thetahat.evaluation.regression_errors import regression_errors as regression_errors
from thetahat.evaluation.resampling.bias_variance import bias_variance as bias_variance
from thetahat.evaluation.resampling.bias_variance import ridge_bias_variance as ridge_bias_variance
from thetahat.evaluation.resampling.bootstrap import bootstrap as bootstrap
from thetahat.evaluation.resampling.resampled_bias_variance import resampled_bias_variance as resampled_bias_variance
from thetahat.evaluation.search import search as search
from thetahat.evaluation import statistics as statistics
from thetahat.evaluation.tree_pruning.prune import prune as prune
from thetahat.evaluation.tuning.tune import tune as tune
from thetahat.foundation.config import config as config
from thetahat import functions as functions
from thetahat.mathematics import activations as activations
from thetahat.mathematics import autodiff as autodiff
from thetahat.mathematics import binning as binning
from thetahat.mathematics import distances as distances
from thetahat.mathematics import distributions as distributions
from thetahat.mathematics import kernels as kernels
from thetahat.mathematics import linalg as linalg
from thetahat.mathematics import losses as losses
from thetahat.mathematics.losses.custom import loss as loss
from thetahat.mathematics import lowrank as lowrank
from thetahat.mathematics import optimizers as optimizers
from thetahat.mathematics.optimizers.minimisation import minimise as minimise
from thetahat.mathematics.optimizers.resumable import resumable as resumable
from thetahat.mathematics import penalties as penalties
from thetahat.mathematics import smoothing as smoothing
from thetahat.mathematics import structures as structures
from thetahat.migration.patching import patch_sklearn as patch_sklearn
from thetahat.migration.patching import unpatch_sklearn as unpatch_sklearn
from thetahat.models.baseline.constant_classifier import ConstantClassifier as ConstantClassifier
from thetahat.models.baseline.constant_regressor import ConstantRegressor as ConstantRegressor
from thetahat.models.cluster.bisecting_k_means import BisectingKMeans as BisectingKMeans
from thetahat.models.cluster.density.dbscan import DBSCAN as DBSCAN
from thetahat.models.cluster.density.hdbscan import HDBSCAN as HDBSCAN
from thetahat.models.cluster.hierarchy.agglomerative import AgglomerativeClustering as AgglomerativeClustering
from thetahat.models.cluster.hierarchy.divisive import DivisiveClustering as DivisiveClustering
from thetahat.models.cluster.hierarchy.feature_agglomeration import FeatureAgglomeration as FeatureAgglomeration
from thetahat.models.cluster.k_means import KMeans as KMeans
from thetahat.models.cluster.mini_batch_k_means import MiniBatchKMeans as MiniBatchKMeans
from thetahat.models.cluster.soft_k_means import SoftKMeans as SoftKMeans
from thetahat.models.cluster.spectral_clustering import SpectralClustering as SpectralClustering
from thetahat.models.covariance.elliptic_envelope import EllipticEnvelope as EllipticEnvelope
from thetahat.models.covariance.empirical_covariance import EmpiricalCovariance as EmpiricalCovariance
from thetahat.models.covariance.empirical_covariance import empirical_covariance as empirical_covariance
from thetahat.models.covariance.ledoit_wolf import LedoitWolf as LedoitWolf
from thetahat.models.covariance.ledoit_wolf import ledoit_wolf as ledoit_wolf
from thetahat.models.covariance.min_cov_det import MinCovDet as MinCovDet
from thetahat.models.covariance.min_cov_det import fast_mcd as fast_mcd
from thetahat.models.covariance.oas import OAS as OAS
from thetahat.models.covariance.oas import oas as oas
from thetahat.models.covariance.shrunk_covariance import ShrunkCovariance as ShrunkCovariance
from thetahat.models.covariance.shrunk_covariance import shrunk_covariance as shrunk_covariance
from thetahat.models.decomposition.completion.matrix_completion import MatrixCompletion as MatrixCompletion
from thetahat.models.decomposition.cross.cca import CCA as CCA
from thetahat.models.decomposition.cross.pls_canonical import PLSCanonical as PLSCanonical
from thetahat.models.decomposition.cross.pls_classifier import PLSClassifier as PLSClassifier
from thetahat.models.decomposition.cross.pls_regression import PLSRegression as PLSRegression
from thetahat.models.decomposition.cross.pls_svd import PLSSVD as PLSSVD
from thetahat.models.decomposition.dictionary_learning import DictionaryLearning as DictionaryLearning
from thetahat.models.decomposition.factors.factor_analysis import FactorAnalysis as FactorAnalysis
from thetahat.models.decomposition.factors.fast_ica import FastICA as FastICA
from thetahat.models.decomposition.factors.latent_dirichlet_allocation import LatentDirichletAllocation as LatentDirichletAllocation
from thetahat.models.decomposition.factors.mini_batch_nmf import MiniBatchNMF as MiniBatchNMF
from thetahat.models.decomposition.factors.nmf import NMF as NMF
from thetahat.models.decomposition.mini_batch_dictionary_learning import MiniBatchDictionaryLearning as MiniBatchDictionaryLearning
from thetahat.models.decomposition.principal.incremental_pca import IncrementalPCA as IncrementalPCA
from thetahat.models.decomposition.principal.pca import PCA as PCA
from thetahat.models.decomposition.principal.probabilistic_pca import ProbabilisticPCA as ProbabilisticPCA
from thetahat.models.decomposition.principal.random_projection import GaussianRandomProjection as GaussianRandomProjection
from thetahat.models.decomposition.principal.random_projection import SparseRandomProjection as SparseRandomProjection
from thetahat.models.decomposition.principal.random_projection import johnson_lindenstrauss_min_dim as johnson_lindenstrauss_min_dim
from thetahat.models.decomposition.principal.truncated_svd import TruncatedSVD as TruncatedSVD
from thetahat.models.decomposition.sparse_coder import SparseCoder as SparseCoder
from thetahat.models.density.density_forest import DensityForest as DensityForest
from thetahat.models.density.density_tree import DensityTree as DensityTree
from thetahat.models.density.histogram.histogram import Histogram as Histogram
from thetahat.models.density.kernel_density.kernel_density import KernelDensity as KernelDensity
from thetahat.models.ensemble.adaboost.adaboost_classifier import AdaBoostClassifier as AdaBoostClassifier
from thetahat.models.ensemble.adaboost.adaboost_regressor import AdaBoostRegressor as AdaBoostRegressor
from thetahat.models.ensemble.averaging.bayesian_model_averaging import BayesianModelAveraging as BayesianModelAveraging
from thetahat.models.ensemble.averaging.bayesian_model_averaging_classifier import BayesianModelAveragingClassifier as BayesianModelAveragingClassifier
from thetahat.models.ensemble.bagging.bagging_classifier import BaggingClassifier as BaggingClassifier
from thetahat.models.ensemble.bagging.bagging_regressor import BaggingRegressor as BaggingRegressor
from thetahat.models.ensemble.combination.linear_combination import LinearCombination as LinearCombination
from thetahat.models.ensemble.combination.stacking_classifier import StackingClassifier as StackingClassifier
from thetahat.models.ensemble.combination.stacking_regressor import StackingRegressor as StackingRegressor
from thetahat.models.ensemble.combination.voting_classifier import VotingClassifier as VotingClassifier
from thetahat.models.ensemble.combination.voting_regressor import VotingRegressor as VotingRegressor
from thetahat.models.ensemble.forest.extra_trees import ExtraTreesClassifier as ExtraTreesClassifier
from thetahat.models.ensemble.forest.extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
from thetahat.models.ensemble.forest.random_forest import RandomForestClassifier as RandomForestClassifier
from thetahat.models.ensemble.forest.random_forest import RandomForestRegressor as RandomForestRegressor
from thetahat.models.ensemble.gradient_boosting.gradient_boosting_classifier import GradientBoostingClassifier as GradientBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.gradient_boosting_regressor import GradientBoostingRegressor as GradientBoostingRegressor
from thetahat.models.ensemble.gradient_boosting.hist_gradient_boosting_classifier import HistGradientBoostingClassifier as HistGradientBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.hist_gradient_boosting_regressor import HistGradientBoostingRegressor as HistGradientBoostingRegressor
from thetahat.models.ensemble.isolation.isolation_forest import IsolationForest as IsolationForest
from thetahat.models.gaussian_process.gaussian_process_classifier import GaussianProcessClassifier as GaussianProcessClassifier
from thetahat.models.gaussian_process.gaussian_process_regressor import GaussianProcessRegressor as GaussianProcessRegressor
from thetahat.models.generative.bayes_classifier import BayesClassifier as BayesClassifier
from thetahat.models.generative.linear_discriminant_analysis import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
from thetahat.models.generative.naive_bayes.bernoulli_nb import BernoulliNB as BernoulliNB
from thetahat.models.generative.naive_bayes.categorical_nb import CategoricalNB as CategoricalNB
from thetahat.models.generative.naive_bayes.complement_nb import ComplementNB as ComplementNB
from thetahat.models.generative.naive_bayes.gaussian_nb import GaussianNB as GaussianNB
from thetahat.models.generative.naive_bayes.multinomial_nb import MultinomialNB as MultinomialNB
from thetahat.models.generative.naive_bayes.naive_bayes import NaiveBayes as NaiveBayes
from thetahat.models.generative.nearest_centroid import NearestCentroid as NearestCentroid
from thetahat.models.generative.quadratic_discriminant_analysis import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
from thetahat.models.graphical.graphical_lasso import GraphicalLasso as GraphicalLasso
from thetahat.models.graphical.graphical_lasso import graphical_lasso as graphical_lasso
from thetahat.models.graphical.graphical_lasso_cv import GraphicalLassoCV as GraphicalLassoCV
from thetahat.models.graphical.markov_graph import MarkovGraph as MarkovGraph
from thetahat.models.kernel.kernel_discriminant_analysis import KernelDiscriminantAnalysis as KernelDiscriminantAnalysis
from thetahat.models.kernel.kernel_logistic_regression import KernelLogisticRegression as KernelLogisticRegression
from thetahat.models.kernel.kernel_model import KernelModel as KernelModel
from thetahat.models.kernel.kernel_pca import KernelPCA as KernelPCA
from thetahat.models.kernel.kernel_perceptron import KernelPerceptron as KernelPerceptron
from thetahat.models.kernel.kernel_ridge import KernelRidge as KernelRidge
from thetahat.models.kernel.kernel_ridge_cv import KernelRidgeCV as KernelRidgeCV
from thetahat.models.kernel.nystroem import Nystroem as Nystroem
from thetahat.models.kernel.polynomial_count_sketch import PolynomialCountSketch as PolynomialCountSketch
from thetahat.models.kernel.rbf_sampler import RBFSampler as RBFSampler
from thetahat.models.kernel.sparse_gram import sparse_gram as sparse_gram
from thetahat.models.kernel.support.nu_svc import NuSVC as NuSVC
from thetahat.models.kernel.support.nu_svr import NuSVR as NuSVR
from thetahat.models.kernel.support.one_class_svm import OneClassSVM as OneClassSVM
from thetahat.models.kernel.support.svc import SVC as SVC
from thetahat.models.kernel.support.svr import SVR as SVR
from thetahat.models.linear.bayesian.ard_regression import ARDRegression as ARDRegression
from thetahat.models.linear.bayesian.bayesian_linear_regression import BayesianLinearRegression as BayesianLinearRegression
from thetahat.models.linear.bayesian.bayesian_ridge import BayesianRidge as BayesianRidge
from thetahat.models.linear.generalized.gamma_regressor import GammaRegressor as GammaRegressor
from thetahat.models.linear.generalized.logistic_regression import LogisticRegression as LogisticRegression
from thetahat.models.linear.generalized.logistic_regression_cv import LogisticRegressionCV as LogisticRegressionCV
from thetahat.models.linear.generalized.poisson_regressor import PoissonRegressor as PoissonRegressor
from thetahat.models.linear.generalized.tweedie_regressor import TweedieRegressor as TweedieRegressor
from thetahat.models.linear.least_squares.generalized_least_squares import GeneralizedLeastSquares as GeneralizedLeastSquares
from thetahat.models.linear.least_squares.linear_regression import LinearRegression as LinearRegression
from thetahat.models.linear.least_squares.noise_reweighted import NoiseReweightedRegression as NoiseReweightedRegression
from thetahat.models.linear.least_squares.ridge import Ridge as Ridge
from thetahat.models.linear.least_squares.ridge_classifier import RidgeClassifier as RidgeClassifier
from thetahat.models.linear.least_squares.ridge_classifier_cv import RidgeClassifierCV as RidgeClassifierCV
from thetahat.models.linear.least_squares.ridge_cv import RidgeCV as RidgeCV
from thetahat.models.linear.least_squares.total_least_squares import TotalLeastSquares as TotalLeastSquares
from thetahat.models.linear.linear_model import LinearModel as LinearModel
from thetahat.models.linear.margin.best_halfspace import best_halfspace as best_halfspace
from thetahat.models.linear.margin.halfspace_lp import HalfspaceLP as HalfspaceLP
from thetahat.models.linear.margin.linear_svc import LinearSVC as LinearSVC
from thetahat.models.linear.margin.linear_svr import LinearSVR as LinearSVR
from thetahat.models.linear.robust.huber_regressor import HuberRegressor as HuberRegressor
from thetahat.models.linear.robust.quantile_regressor import QuantileRegressor as QuantileRegressor
from thetahat.models.linear.robust.ransac_regressor import RANSACRegressor as RANSACRegressor
from thetahat.models.linear.robust.robust_regressor import RobustRegressor as RobustRegressor
from thetahat.models.linear.robust.theil_sen_regressor import TheilSenRegressor as TheilSenRegressor
from thetahat.models.linear.sparse.best_subset import BestSubset as BestSubset
from thetahat.models.linear.sparse.elastic_net import ElasticNet as ElasticNet
from thetahat.models.linear.sparse.elastic_net_cv import ElasticNetCV as ElasticNetCV
from thetahat.models.linear.sparse.lars import Lars as Lars
from thetahat.models.linear.sparse.lars_cv import LarsCV as LarsCV
from thetahat.models.linear.sparse.lars_cv import LassoLarsCV as LassoLarsCV
from thetahat.models.linear.sparse.lars_path import lars_path as lars_path
from thetahat.models.linear.sparse.lars_path import lars_path_gram as lars_path_gram
from thetahat.models.linear.sparse.lasso import Lasso as Lasso
from thetahat.models.linear.sparse.lasso_cv import LassoCV as LassoCV
from thetahat.models.linear.sparse.lasso_lars import LassoLars as LassoLars
from thetahat.models.linear.sparse.lasso_lars_ic import LassoLarsIC as LassoLarsIC
from thetahat.models.linear.sparse.lasso_path import enet_path as enet_path
from thetahat.models.linear.sparse.lasso_path import lasso_path as lasso_path
from thetahat.models.linear.sparse.multi_task import MultiTaskElasticNet as MultiTaskElasticNet
from thetahat.models.linear.sparse.multi_task import MultiTaskLasso as MultiTaskLasso
from thetahat.models.linear.sparse.orthogonal_matching_pursuit import OrthogonalMatchingPursuit as OrthogonalMatchingPursuit
from thetahat.models.linear.sparse.orthogonal_matching_pursuit_cv import OrthogonalMatchingPursuitCV as OrthogonalMatchingPursuitCV
from thetahat.models.linear.sparse.orthogonal_mp import orthogonal_mp as orthogonal_mp
from thetahat.models.linear.sparse.orthogonal_mp import orthogonal_mp_gram as orthogonal_mp_gram
from thetahat.models.linear.stochastic.perceptron import Perceptron as Perceptron
from thetahat.models.linear.stochastic.sgd_classifier import SGDClassifier as SGDClassifier
from thetahat.models.linear.stochastic.sgd_one_class_svm import SGDOneClassSVM as SGDOneClassSVM
from thetahat.models.linear.stochastic.sgd_regressor import SGDRegressor as SGDRegressor
from thetahat.models.manifold.classical_mds import ClassicalMDS as ClassicalMDS
from thetahat.models.manifold.isomap import Isomap as Isomap
from thetahat.models.manifold.locally_linear_embedding import LocallyLinearEmbedding as LocallyLinearEmbedding
from thetahat.models.manifold.mds import MDS as MDS
from thetahat.models.manifold.spectral_embedding import SpectralEmbedding as SpectralEmbedding
from thetahat.models.manifold.trustworthiness import trustworthiness as trustworthiness
from thetahat.models.manifold.tsne import TSNE as TSNE
from thetahat.models.metric.neighborhood_components_analysis import NeighborhoodComponentsAnalysis as NeighborhoodComponentsAnalysis
from thetahat.models.metric.pairwise_metric_learner import PairwiseMetricLearner as PairwiseMetricLearner
from thetahat.models.mixture.bayesian_gaussian_mixture import BayesianGaussianMixture as BayesianGaussianMixture
from thetahat.models.mixture.gaussian_mixture import GaussianMixture as GaussianMixture
from thetahat.models.neighbors.graphs import KNeighborsTransformer as KNeighborsTransformer
from thetahat.models.neighbors.graphs import RadiusNeighborsTransformer as RadiusNeighborsTransformer
from thetahat.models.neighbors.graphs import kneighbors_graph as kneighbors_graph
from thetahat.models.neighbors.graphs import radius_neighbors_graph as radius_neighbors_graph
from thetahat.models.neighbors.k_neighbors_classifier import KNeighborsClassifier as KNeighborsClassifier
from thetahat.models.neighbors.k_neighbors_regressor import KNeighborsRegressor as KNeighborsRegressor
from thetahat.models.neighbors.local.locally_weighted_regression import LocallyWeightedRegression as LocallyWeightedRegression
from thetahat.models.neighbors.local.nadaraya_watson import NadarayaWatson as NadarayaWatson
from thetahat.models.neighbors.local.nadaraya_watson_classifier import NadarayaWatsonClassifier as NadarayaWatsonClassifier
from thetahat.models.neighbors.local_outlier_factor import LocalOutlierFactor as LocalOutlierFactor
from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors as NearestNeighbors
from thetahat.models.neighbors.radius_neighbors_classifier import RadiusNeighborsClassifier as RadiusNeighborsClassifier
from thetahat.models.neighbors.radius_neighbors_regressor import RadiusNeighborsRegressor as RadiusNeighborsRegressor
from thetahat.models.neighbors.reduction.condensed_nearest_neighbors import CondensedNearestNeighbors as CondensedNearestNeighbors
from thetahat.models.neighbors.reduction.prototype_classifier import PrototypeClassifier as PrototypeClassifier
from thetahat.models.neighbors.reduction.voronoi_editing import VoronoiEditing as VoronoiEditing
from thetahat.models.neighbors.search.graph import ApproximateSearch as ApproximateSearch
from thetahat.models.neighbors.search.kd_tree import BallTree as BallTree
from thetahat.models.neighbors.search.kd_tree import KDTree as KDTree
from thetahat.models import neural as neural
from thetahat.models.neural.autoencoder import Autoencoder as Autoencoder
from thetahat.models.neural.embedding_network import EmbeddingNetwork as EmbeddingNetwork
from thetahat.models.neural.mlp_classifier import MLPClassifier as MLPClassifier
from thetahat.models.neural.mlp_regressor import MLPRegressor as MLPRegressor
from thetahat.models.neural.stacked_autoencoder import StackedAutoencoder as StackedAutoencoder
from thetahat.models.nonlinear.basis import BasisRegression as BasisRegression
from thetahat.models.nonlinear.circle import CircleFit as CircleFit
from thetahat.models.nonlinear.regression import NonlinearRegression as NonlinearRegression
from thetahat.models.nonlinear.response import TransformedResponseRegressor as TransformedResponseRegressor
from thetahat.models.nonlinear.response_transform import ResponseTransform as ResponseTransform
from thetahat.models import online as online
from thetahat.models.online.polynomial_threshold import PolynomialThreshold as PolynomialThreshold
from thetahat.models.preprocessing.anscombe import AnscombeTransform as AnscombeTransform
from thetahat.models.preprocessing.bias_feature import BiasFeature as BiasFeature
from thetahat.models.preprocessing.boolean_complement import boolean_complement as boolean_complement
from thetahat.models.preprocessing.feature_map import FeatureMap as FeatureMap
from thetahat.models.preprocessing.monomials import MonomialExpansion as MonomialExpansion
from thetahat.models.preprocessing.similarity_features import SimilarityFeatures as SimilarityFeatures
from thetahat.models.preprocessing.standardizer import Standardizer as Standardizer
from thetahat.models.preprocessing.standardizer import unstandardize as unstandardize
from thetahat.models.preprocessing.table_vectorizer import TableVectorizer as TableVectorizer
from thetahat.models.preprocessing.whitening import Whitening as Whitening
from thetahat.models.rectangle.axis_parallel_rectangle import AxisParallelRectangle as AxisParallelRectangle
from thetahat.models.semi_supervised.laplacian_svm import LaplacianSVM as LaplacianSVM
from thetahat.models.semi_supervised.self_training_classifier import SelfTrainingClassifier as SelfTrainingClassifier
from thetahat.models.semi_supervised.transductive_svm import TransductiveSVM as TransductiveSVM
from thetahat.models.structured.structured_svm import StructuredSVM as StructuredSVM
from thetahat.models.tree.classification import DecisionTreeClassifier as DecisionTreeClassifier
from thetahat.models.tree.description import description_length as description_length
from thetahat.models.tree.display.plot import plot_tree as plot_tree
from thetahat.models.tree.display.regions import tree_regions as tree_regions
from thetahat.models.tree.display.text import export_text as export_text
from thetahat.models.tree.extra_tree import ExtraTreeClassifier as ExtraTreeClassifier
from thetahat.models.tree.extra_tree import ExtraTreeRegressor as ExtraTreeRegressor
from thetahat.models.tree.regression import DecisionTreeRegressor as DecisionTreeRegressor
from thetahat.persistence.description import describe_file as describe_file
from thetahat.persistence.model_file import load as load
from thetahat.persistence.model_file import save as save
from thetahat.persistence.onnx.to_onnx import to_onnx as to_onnx
from thetahat.persistence.to_device import to_device as to_device
from thetahat import results as results
from thetahat import theory as theory

__version__: str

__all__ = [
    "ARDRegression",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AgglomerativeClustering",
    "AnscombeTransform",
    "ApproximateSearch",
    "Autoencoder",
    "AxisParallelRectangle",
    "BaggingClassifier",
    "BaggingRegressor",
    "BallTree",
    "BasisRegression",
    "BayesClassifier",
    "BayesianGaussianMixture",
    "BayesianLinearRegression",
    "BayesianModelAveraging",
    "BayesianModelAveragingClassifier",
    "BayesianRidge",
    "BernoulliNB",
    "BestSubset",
    "BiasFeature",
    "BisectingKMeans",
    "CCA",
    "CategoricalNB",
    "CircleFit",
    "ClassicalMDS",
    "ComplementNB",
    "CondensedNearestNeighbors",
    "ConstantClassifier",
    "ConstantRegressor",
    "DBSCAN",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DensityForest",
    "DensityTree",
    "DictionaryLearning",
    "DivisiveClustering",
    "ElasticNet",
    "ElasticNetCV",
    "EllipticEnvelope",
    "EmbeddingNetwork",
    "EmpiricalCovariance",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "FactorAnalysis",
    "FastICA",
    "FeatureAgglomeration",
    "FeatureMap",
    "GammaRegressor",
    "GaussianMixture",
    "GaussianNB",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "GaussianRandomProjection",
    "GeneralizedLeastSquares",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "GraphicalLasso",
    "GraphicalLassoCV",
    "HDBSCAN",
    "HalfspaceLP",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "Histogram",
    "HoldOut",
    "HuberRegressor",
    "IncrementalPCA",
    "IsolationForest",
    "Isomap",
    "KDTree",
    "KMeans",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "KernelDensity",
    "KernelDiscriminantAnalysis",
    "KernelLogisticRegression",
    "KernelModel",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeCV",
    "LaplacianSVM",
    "Lars",
    "LarsCV",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LassoLarsCV",
    "LassoLarsIC",
    "LatentDirichletAllocation",
    "LedoitWolf",
    "LinearCombination",
    "LinearDiscriminantAnalysis",
    "LinearModel",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LocalOutlierFactor",
    "LocallyLinearEmbedding",
    "LocallyWeightedRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MDS",
    "MLPClassifier",
    "MLPRegressor",
    "MarkovGraph",
    "MatrixCompletion",
    "MinCovDet",
    "MiniBatchDictionaryLearning",
    "MiniBatchKMeans",
    "MiniBatchNMF",
    "MonomialExpansion",
    "MultiTaskElasticNet",
    "MultiTaskLasso",
    "MultinomialNB",
    "NMF",
    "NadarayaWatson",
    "NadarayaWatsonClassifier",
    "NaiveBayes",
    "NearestCentroid",
    "NearestNeighbors",
    "NeighborhoodComponentsAnalysis",
    "NoiseReweightedRegression",
    "NonlinearRegression",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OAS",
    "OneClassSVM",
    "OrthogonalMatchingPursuit",
    "OrthogonalMatchingPursuitCV",
    "PCA",
    "PLSCanonical",
    "PLSClassifier",
    "PLSRegression",
    "PLSSVD",
    "PairwiseMetricLearner",
    "Perceptron",
    "PoissonRegressor",
    "PolynomialCountSketch",
    "PolynomialThreshold",
    "ProbabilisticPCA",
    "PrototypeClassifier",
    "QuadraticDiscriminantAnalysis",
    "QuantileRegressor",
    "RANSACRegressor",
    "RBFSampler",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "RadiusNeighborsTransformer",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ResponseTransform",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "RobustRegressor",
    "SGDClassifier",
    "SGDOneClassSVM",
    "SGDRegressor",
    "SVC",
    "SVR",
    "SelfTrainingClassifier",
    "ShrunkCovariance",
    "SimilarityFeatures",
    "SoftKMeans",
    "SparseCoder",
    "SparseRandomProjection",
    "SpectralClustering",
    "SpectralEmbedding",
    "StackedAutoencoder",
    "StackingClassifier",
    "StackingRegressor",
    "Standardizer",
    "StructuredSVM",
    "TSNE",
    "TableVectorizer",
    "TheilSenRegressor",
    "TotalLeastSquares",
    "TransductiveSVM",
    "TransformedResponseRegressor",
    "TruncatedSVD",
    "TweedieRegressor",
    "VoronoiEditing",
    "VotingClassifier",
    "VotingRegressor",
    "Whitening",
    "activations",
    "autodiff",
    "best_halfspace",
    "best_threshold",
    "bias_variance",
    "binning",
    "boolean_complement",
    "bootstrap",
    "calibration_curve",
    "check",
    "compare",
    "config",
    "conformal",
    "confusion",
    "data",
    "datasets",
    "describe_file",
    "description_length",
    "distances",
    "distributions",
    "elbow",
    "empirical_covariance",
    "enet_path",
    "errors",
    "evaluate",
    "explain",
    "export_text",
    "fast_mcd",
    "from_dask",
    "functions",
    "graphical_lasso",
    "how_many_clusters",
    "importances",
    "johnson_lindenstrauss_min_dim",
    "kernels",
    "kneighbors_graph",
    "lars_path",
    "lars_path_gram",
    "lasso_path",
    "learning_curve",
    "ledoit_wolf",
    "linalg",
    "load",
    "loss",
    "losses",
    "lowrank",
    "minimise",
    "neural",
    "oas",
    "online",
    "optimizers",
    "orthogonal_mp",
    "orthogonal_mp_gram",
    "partial_dependence",
    "patch_sklearn",
    "penalties",
    "plot_tree",
    "precision_recall_curve",
    "predict_to_file",
    "prune",
    "radius_neighbors_graph",
    "regression_errors",
    "resampled_bias_variance",
    "resampling",
    "results",
    "resumable",
    "ridge_bias_variance",
    "roc_curve",
    "save",
    "scan",
    "search",
    "shrunk_covariance",
    "smoothing",
    "sparse_gram",
    "staged_curve",
    "statistics",
    "structures",
    "taxonomy",
    "theory",
    "to_device",
    "to_onnx",
    "tree_regions",
    "trustworthiness",
    "tune",
    "unpatch_sklearn",
    "unstandardize",
    "validation_curve",
]
