"""Every public name and the module that defines it: the table behind ``th.<name>``.

Estimators and the functions of everyday use are names of ``th`` itself. Everything else stands in a
namespace by its kind: ``th.results`` has what functions return, ``th.errors`` what they raise,
``th.losses`` the losses, and so on.
"""

NAMESPACES = {
    "autodiff": "thetahat.mathematics.autodiff",
    "data": "thetahat.data",
    "datasets": "thetahat.data.datasets",
    "distances": "thetahat.mathematics.distances",
    "errors": "thetahat.errors",
    "kernels": "thetahat.mathematics.kernels",
    "linalg": "thetahat.mathematics.linalg",
    "losses": "thetahat.mathematics.losses",
    "online": "thetahat.models.online",
    "optimizers": "thetahat.mathematics.optimizers",
    "penalties": "thetahat.mathematics.penalties",
    "resampling": "thetahat.data.resampling",
    "results": "thetahat.results",
    "smoothing": "thetahat.mathematics.smoothing",
    "statistics": "thetahat.evaluation.statistics",
    "structures": "thetahat.mathematics.structures",
    "theory": "thetahat.theory",
}
"""Modules that are public as a whole: th.losses.Huber, th.penalties.L2, ..."""

_BY_MODULE = {
    "thetahat.data.on_disk.scan": ("scan",),
    "thetahat.evaluation.resampling.bias_variance": ("bias_variance", "ridge_bias_variance"),
    "thetahat.evaluation.resampling.bootstrap": ("bootstrap",),
    "thetahat.evaluation.compare": ("compare",),
    "thetahat.evaluation.confusion": ("confusion",),
    "thetahat.evaluation.curves.bend": ("elbow",),
    "thetahat.evaluation.curves.calibration": ("calibration_curve",),
    "thetahat.evaluation.curves.growth": ("learning_curve", "validation_curve"),
    "thetahat.evaluation.curves.precision_recall": ("precision_recall_curve",),
    "thetahat.evaluation.curves.roc": ("roc_curve",),
    "thetahat.evaluation.curves.stages": ("staged_curve",),
    "thetahat.evaluation.curves.threshold": ("best_threshold",),
    "thetahat.evaluation.dependence": ("partial_dependence",),
    "thetahat.evaluation.evaluate": ("evaluate",),
    "thetahat.evaluation.holdout": ("HoldOut",),
    "thetahat.evaluation.importance": ("importances",),
    "thetahat.evaluation.tree_pruning.prune": ("prune",),
    "thetahat.evaluation.regression_errors": ("regression_errors",),
    "thetahat.evaluation.resampling.resampled_bias_variance": ("resampled_bias_variance",),
    "thetahat.evaluation.search": ("search",),
    "thetahat.foundation.config": ("config",),
    "thetahat.mathematics.losses.custom": ("loss",),
    "thetahat.mathematics.optimizers.loop": ("minimise",),
    "thetahat.models.baseline.constant_classifier": ("ConstantClassifier",),
    "thetahat.models.baseline.constant_regressor": ("ConstantRegressor",),
    "thetahat.models.decomposition.dictionary_learning": ("DictionaryLearning",),
    "thetahat.models.density.density_forest": ("DensityForest",),
    "thetahat.models.density.density_tree": ("DensityTree",),
    "thetahat.models.ensemble.adaboost.adaboost_classifier": ("AdaBoostClassifier",),
    "thetahat.models.ensemble.adaboost.adaboost_regressor": ("AdaBoostRegressor",),
    "thetahat.models.ensemble.bagging.bagging_classifier": ("BaggingClassifier",),
    "thetahat.models.ensemble.bagging.bagging_regressor": ("BaggingRegressor",),
    "thetahat.models.ensemble.averaging.bayesian_model_averaging": ("BayesianModelAveraging",),
    "thetahat.models.ensemble.averaging.bayesian_model_averaging_classifier": (
        "BayesianModelAveragingClassifier",
    ),
    "thetahat.models.ensemble.forest.extra_trees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "thetahat.models.ensemble.gradient_boosting.gradient_boosting_classifier": (
        "GradientBoostingClassifier",
    ),
    "thetahat.models.ensemble.gradient_boosting.gradient_boosting_regressor": (
        "GradientBoostingRegressor",
    ),
    "thetahat.models.ensemble.gradient_boosting.hist_gradient_boosting_classifier": (
        "HistGradientBoostingClassifier",
    ),
    "thetahat.models.ensemble.gradient_boosting.hist_gradient_boosting_regressor": (
        "HistGradientBoostingRegressor",
    ),
    "thetahat.models.ensemble.combination.linear_combination": ("LinearCombination",),
    "thetahat.models.ensemble.forest.random_forest": (
        "RandomForestClassifier",
        "RandomForestRegressor",
    ),
    "thetahat.models.ensemble.combination.stacking_classifier": ("StackingClassifier",),
    "thetahat.models.ensemble.combination.stacking_regressor": ("StackingRegressor",),
    "thetahat.models.ensemble.combination.voting_classifier": ("VotingClassifier",),
    "thetahat.models.ensemble.combination.voting_regressor": ("VotingRegressor",),
    "thetahat.models.gaussian_process.gaussian_process_regressor": ("GaussianProcessRegressor",),
    "thetahat.models.generative.linear_discriminant_analysis": ("LinearDiscriminantAnalysis",),
    "thetahat.models.generative.nearest_centroid": ("NearestCentroid",),
    "thetahat.models.generative.quadratic_discriminant_analysis": (
        "QuadraticDiscriminantAnalysis",
    ),
    "thetahat.models.kernel.kernel_discriminant_analysis": ("KernelDiscriminantAnalysis",),
    "thetahat.models.kernel.kernel_logistic_regression": ("KernelLogisticRegression",),
    "thetahat.models.kernel.kernel_model": ("KernelModel",),
    "thetahat.models.kernel.kernel_pca": ("KernelPCA",),
    "thetahat.models.kernel.kernel_perceptron": ("KernelPerceptron",),
    "thetahat.models.kernel.kernel_ridge": ("KernelRidge",),
    "thetahat.models.kernel.kernel_ridge_cv": ("KernelRidgeCV",),
    "thetahat.models.kernel.nystroem": ("Nystroem",),
    "thetahat.models.kernel.rbf_sampler": ("RBFSampler",),
    "thetahat.models.kernel.sparse_gram": ("sparse_gram",),
    "thetahat.models.kernel.support.nu_svc": ("NuSVC",),
    "thetahat.models.kernel.support.nu_svr": ("NuSVR",),
    "thetahat.models.kernel.support.one_class_svm": ("OneClassSVM",),
    "thetahat.models.kernel.support.svc": ("SVC",),
    "thetahat.models.kernel.support.svr": ("SVR",),
    "thetahat.models.linear.bayesian.bayesian_linear_regression": ("BayesianLinearRegression",),
    "thetahat.models.linear.bayesian.bayesian_ridge": ("BayesianRidge",),
    "thetahat.models.linear.margin.best_halfspace": ("best_halfspace",),
    "thetahat.models.linear.sparse.best_subset": ("BestSubset",),
    "thetahat.models.linear.sparse.elastic_net": ("ElasticNet",),
    "thetahat.models.linear.sparse.elastic_net_cv": ("ElasticNetCV",),
    "thetahat.models.linear.least_squares.generalized_least_squares": ("GeneralizedLeastSquares",),
    "thetahat.models.linear.margin.halfspace_lp": ("HalfspaceLP",),
    "thetahat.models.linear.robust.huber_regressor": ("HuberRegressor",),
    "thetahat.models.linear.sparse.lasso": ("Lasso",),
    "thetahat.models.linear.sparse.lasso_cv": ("LassoCV",),
    "thetahat.models.linear.sparse.lasso_path": ("enet_path", "lasso_path"),
    "thetahat.models.linear.least_squares.linear_regression": ("LinearRegression",),
    "thetahat.models.linear.linear_model": ("LinearModel",),
    "thetahat.models.linear.margin.linear_svc": ("LinearSVC",),
    "thetahat.models.linear.margin.linear_svr": ("LinearSVR",),
    "thetahat.models.linear.generalized.logistic_regression": ("LogisticRegression",),
    "thetahat.models.linear.generalized.logistic_regression_cv": ("LogisticRegressionCV",),
    "thetahat.models.linear.sparse.multi_task": ("MultiTaskElasticNet", "MultiTaskLasso"),
    "thetahat.models.linear.sparse.orthogonal_matching_pursuit": ("OrthogonalMatchingPursuit",),
    "thetahat.models.linear.sparse.orthogonal_matching_pursuit_cv": (
        "OrthogonalMatchingPursuitCV",
    ),
    "thetahat.models.linear.sparse.orthogonal_mp": ("orthogonal_mp", "orthogonal_mp_gram"),
    "thetahat.models.linear.stochastic.perceptron": ("Perceptron",),
    "thetahat.models.linear.generalized.poisson_regressor": ("PoissonRegressor",),
    "thetahat.models.linear.robust.quantile_regressor": ("QuantileRegressor",),
    "thetahat.models.linear.least_squares.ridge": ("Ridge",),
    "thetahat.models.linear.least_squares.ridge_classifier": ("RidgeClassifier",),
    "thetahat.models.linear.least_squares.ridge_classifier_cv": ("RidgeClassifierCV",),
    "thetahat.models.linear.least_squares.ridge_cv": ("RidgeCV",),
    "thetahat.models.linear.robust.robust_regressor": ("RobustRegressor",),
    "thetahat.models.linear.stochastic.sgd_classifier": ("SGDClassifier",),
    "thetahat.models.linear.stochastic.sgd_regressor": ("SGDRegressor",),
    "thetahat.models.linear.least_squares.total_least_squares": ("TotalLeastSquares",),
    "thetahat.models.linear.least_squares.noise_reweighted": ("NoiseReweightedRegression",),
    "thetahat.models.metric.neighborhood_components_analysis": ("NeighborhoodComponentsAnalysis",),
    "thetahat.models.metric.pairwise_metric_learner": ("PairwiseMetricLearner",),
    "thetahat.models.neighbors.graphs": (
        "KNeighborsTransformer",
        "RadiusNeighborsTransformer",
        "kneighbors_graph",
        "radius_neighbors_graph",
    ),
    "thetahat.models.neighbors.k_neighbors_classifier": ("KNeighborsClassifier",),
    "thetahat.models.neighbors.k_neighbors_regressor": ("KNeighborsRegressor",),
    "thetahat.models.neighbors.local.locally_weighted_regression": ("LocallyWeightedRegression",),
    "thetahat.models.neighbors.local.nadaraya_watson": ("NadarayaWatson",),
    "thetahat.models.neighbors.local.nadaraya_watson_classifier": ("NadarayaWatsonClassifier",),
    "thetahat.models.neighbors.nearest_neighbors": ("NearestNeighbors",),
    "thetahat.models.neighbors.radius_neighbors_classifier": ("RadiusNeighborsClassifier",),
    "thetahat.models.neighbors.radius_neighbors_regressor": ("RadiusNeighborsRegressor",),
    "thetahat.models.neighbors.reduction.condensed_nearest_neighbors": (
        "CondensedNearestNeighbors",
    ),
    "thetahat.models.neighbors.reduction.prototype_classifier": ("PrototypeClassifier",),
    "thetahat.models.neighbors.reduction.voronoi_editing": ("VoronoiEditing",),
    "thetahat.models.neighbors.search.graph": ("ApproximateSearch",),
    "thetahat.models.neighbors.search.kd_tree": ("BallTree", "KDTree"),
    "thetahat.models.nonlinear.basis": ("BasisRegression",),
    "thetahat.models.nonlinear.circle": ("CircleFit",),
    "thetahat.models.nonlinear.regression": ("NonlinearRegression",),
    "thetahat.models.nonlinear.response": ("TransformedResponseRegressor",),
    "thetahat.models.nonlinear.response_transform": ("ResponseTransform",),
    "thetahat.models.online.polynomial_threshold": ("PolynomialThreshold",),
    "thetahat.models.preprocessing.anscombe": ("AnscombeTransform",),
    "thetahat.models.preprocessing.bias_feature": ("BiasFeature",),
    "thetahat.models.preprocessing.boolean_complement": ("boolean_complement",),
    "thetahat.models.preprocessing.feature_map": ("FeatureMap",),
    "thetahat.models.preprocessing.monomials": ("MonomialExpansion",),
    "thetahat.models.preprocessing.similarity_features": ("SimilarityFeatures",),
    "thetahat.models.preprocessing.standardizer": ("Standardizer", "unstandardize"),
    "thetahat.models.preprocessing.table_vectorizer": ("TableVectorizer",),
    "thetahat.models.preprocessing.whitening": ("Whitening",),
    "thetahat.models.rectangle.axis_parallel_rectangle": ("AxisParallelRectangle",),
    "thetahat.models.semi_supervised.laplacian_svm": ("LaplacianSVM",),
    "thetahat.models.semi_supervised.self_training_classifier": ("SelfTrainingClassifier",),
    "thetahat.models.semi_supervised.transductive_svm": ("TransductiveSVM",),
    "thetahat.models.structured.structured_svm": ("StructuredSVM",),
    "thetahat.models.tree.classification": ("DecisionTreeClassifier",),
    "thetahat.models.tree.description": ("description_length",),
    "thetahat.models.tree.display.plot": ("plot_tree",),
    "thetahat.models.tree.display.regions": ("tree_regions",),
    "thetahat.models.tree.extra_tree": ("ExtraTreeClassifier", "ExtraTreeRegressor"),
    "thetahat.models.tree.regression": ("DecisionTreeRegressor",),
    "thetahat.models.tree.display.text": ("export_text",),
    "thetahat.persistence.description": ("describe_file",),
    "thetahat.persistence.model_file": ("load", "save"),
}

_RESULTS_BY_MODULE = {
    "thetahat.evaluation.resampling.bias_variance": ("BiasVariance",),
    "thetahat.evaluation.resampling.bootstrap_result": ("BootstrapResult",),
    "thetahat.evaluation.compare": ("Comparison",),
    "thetahat.evaluation.confusion": ("Confusion",),
    "thetahat.evaluation.curves.bend": ("Elbow",),
    "thetahat.evaluation.curves.calibration": ("CalibrationCurve",),
    "thetahat.evaluation.curves.growth": ("ScoreCurve",),
    "thetahat.evaluation.curves.precision_recall": ("PrecisionRecallCurve",),
    "thetahat.evaluation.curves.roc": ("RocCurve",),
    "thetahat.evaluation.curves.stages": ("StagedCurve",),
    "thetahat.evaluation.curves.threshold": ("Threshold",),
    "thetahat.evaluation.dependence": ("PartialDependence",),
    "thetahat.evaluation.evaluate": ("Evaluation",),
    "thetahat.evaluation.importance": ("Importances",),
    "thetahat.evaluation.pairs": ("Pair",),
    "thetahat.evaluation.tree_pruning.pruning": ("Pruning",),
    "thetahat.evaluation.regression_errors": ("RegressionErrors",),
    "thetahat.evaluation.resampling.resampled_bias_variance": ("ResampledBiasVariance",),
    "thetahat.evaluation.search": ("Search",),
    "thetahat.mathematics.kernels.mercer": ("MercerCheck",),
    "thetahat.mathematics.optimizers.solution": ("Outcome", "Solution"),
    "thetahat.models.linear.margin.best_halfspace": ("Halfspace",),
    "thetahat.models.linear.inference.least_squares_evidence": ("LinearSummary",),
    "thetahat.models.linear.inference.likelihood_summary": ("LikelihoodRatio", "LikelihoodSummary"),
    "thetahat.models.linear.bayesian.posterior": ("PosteriorSummary",),
    "thetahat.models.nonlinear.certainty": ("NonlinearSummary",),
    "thetahat.models.tree.description": ("DescriptionLength",),
    "thetahat.models.tree.display.regions": ("Region", "TreeRegions"),
    "thetahat.persistence.description": ("FileDescription",),
}


def _by_name(by_module: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {name: module for module, names in by_module.items() for name in names}


NAMES = NAMESPACES | _by_name(_BY_MODULE)
"""The names of ``th`` itself."""

RESULTS = _by_name(_RESULTS_BY_MODULE)
"""The names of ``th.results``."""


def place_in_a_namespace(name: str) -> str:
    """Where a name is found that is not one of ``th`` itself; nothing where it is nowhere.

    Only namespaces that load nothing else are searched: Python also asks for names that are
    modules, and ``from thetahat import registry`` must stay light.
    """
    from importlib import import_module

    for namespace in ("data", "errors", "results"):
        if name in import_module(NAMESPACES[namespace]).__all__:
            return f"; it is th.{namespace}.{name}"
    return ""
