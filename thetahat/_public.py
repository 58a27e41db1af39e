"""Every public name and the module that defines it: the table behind ``th.<name>``.

Estimators and the functions of everyday use are names of ``th`` itself. Everything else stands in a
namespace by its kind: ``th.results`` has what functions return, ``th.errors`` what they raise,
``th.losses`` the losses, and so on.
"""

NAMESPACES = {
    "autodiff": "thetahat.mathematics.autodiff",
    "data": "thetahat.data",
    "datasets": "thetahat.data.datasets",
    "errors": "thetahat.foundation.errors",
    "linalg": "thetahat.mathematics.linalg",
    "losses": "thetahat.mathematics.losses",
    "online": "thetahat.models.online",
    "optimizers": "thetahat.mathematics.optimizers",
    "penalties": "thetahat.mathematics.penalties",
    "resampling": "thetahat.data.resampling",
    "results": "thetahat.results",
    "statistics": "thetahat.evaluation.statistics",
    "theory": "thetahat.theory",
}
"""Modules that are public as a whole: th.losses.Huber, th.penalties.L2, ..."""

_BY_MODULE = {
    "thetahat.data.on_disk.scan": ("scan",),
    "thetahat.evaluation.bias_variance": ("bias_variance", "ridge_bias_variance"),
    "thetahat.evaluation.bootstrap": ("bootstrap",),
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
    "thetahat.evaluation.prune": ("prune",),
    "thetahat.evaluation.regression_errors": ("regression_errors",),
    "thetahat.evaluation.resampled_bias_variance": ("resampled_bias_variance",),
    "thetahat.evaluation.search": ("search",),
    "thetahat.foundation.config": ("config",),
    "thetahat.mathematics.losses.custom": ("loss",),
    "thetahat.mathematics.optimizers.loop": ("minimise",),
    "thetahat.models.baseline.constant_classifier": ("ConstantClassifier",),
    "thetahat.models.baseline.constant_regressor": ("ConstantRegressor",),
    "thetahat.models.decomposition.dictionary_learning": ("DictionaryLearning",),
    "thetahat.models.density.density_forest": ("DensityForest",),
    "thetahat.models.density.density_tree": ("DensityTree",),
    "thetahat.models.ensemble.adaboost_classifier": ("AdaBoostClassifier",),
    "thetahat.models.ensemble.adaboost_regressor": ("AdaBoostRegressor",),
    "thetahat.models.ensemble.bagging_classifier": ("BaggingClassifier",),
    "thetahat.models.ensemble.bagging_regressor": ("BaggingRegressor",),
    "thetahat.models.ensemble.bayesian_model_averaging": ("BayesianModelAveraging",),
    "thetahat.models.ensemble.bayesian_model_averaging_classifier": (
        "BayesianModelAveragingClassifier",
    ),
    "thetahat.models.ensemble.extra_trees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "thetahat.models.ensemble.gradient_boosting": (
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
    ),
    "thetahat.models.ensemble.hist_gradient_boosting": (
        "HistGradientBoostingClassifier",
        "HistGradientBoostingRegressor",
    ),
    "thetahat.models.ensemble.linear_combination": ("LinearCombination",),
    "thetahat.models.ensemble.random_forest": ("RandomForestClassifier", "RandomForestRegressor"),
    "thetahat.models.ensemble.stacking_classifier": ("StackingClassifier",),
    "thetahat.models.ensemble.stacking_regressor": ("StackingRegressor",),
    "thetahat.models.ensemble.voting_classifier": ("VotingClassifier",),
    "thetahat.models.ensemble.voting_regressor": ("VotingRegressor",),
    "thetahat.models.linear.bayesian": ("BayesianLinearRegression",),
    "thetahat.models.linear.bayesian_ridge": ("BayesianRidge",),
    "thetahat.models.linear.best_halfspace": ("best_halfspace",),
    "thetahat.models.linear.best_subset": ("BestSubset",),
    "thetahat.models.linear.elastic_net": ("ElasticNet",),
    "thetahat.models.linear.elastic_net_cv": ("ElasticNetCV",),
    "thetahat.models.linear.generalized": ("GeneralizedLeastSquares",),
    "thetahat.models.linear.halfspace_lp": ("HalfspaceLP",),
    "thetahat.models.linear.huber": ("HuberRegressor",),
    "thetahat.models.linear.lasso": ("Lasso",),
    "thetahat.models.linear.lasso_cv": ("LassoCV",),
    "thetahat.models.linear.lasso_path": ("enet_path", "lasso_path"),
    "thetahat.models.linear.least_squares": ("LinearRegression",),
    "thetahat.models.linear.linear_model": ("LinearModel",),
    "thetahat.models.linear.linear_svc": ("LinearSVC",),
    "thetahat.models.linear.linear_svr": ("LinearSVR",),
    "thetahat.models.linear.logistic": ("LogisticRegression",),
    "thetahat.models.linear.logistic_cv": ("LogisticRegressionCV",),
    "thetahat.models.linear.multi_task": ("MultiTaskElasticNet", "MultiTaskLasso"),
    "thetahat.models.linear.orthogonal_matching_pursuit": ("OrthogonalMatchingPursuit",),
    "thetahat.models.linear.orthogonal_matching_pursuit_cv": ("OrthogonalMatchingPursuitCV",),
    "thetahat.models.linear.orthogonal_mp": ("orthogonal_mp", "orthogonal_mp_gram"),
    "thetahat.models.linear.perceptron": ("Perceptron",),
    "thetahat.models.linear.poisson": ("PoissonRegressor",),
    "thetahat.models.linear.quantile": ("QuantileRegressor",),
    "thetahat.models.linear.ridge": ("Ridge",),
    "thetahat.models.linear.ridge_classifier": ("RidgeClassifier",),
    "thetahat.models.linear.ridge_classifier_cv": ("RidgeClassifierCV",),
    "thetahat.models.linear.ridge_cv": ("RidgeCV",),
    "thetahat.models.linear.robust": ("RobustRegressor",),
    "thetahat.models.linear.sgd_classifier": ("SGDClassifier",),
    "thetahat.models.linear.sgd_regressor": ("SGDRegressor",),
    "thetahat.models.linear.total": ("TotalLeastSquares",),
    "thetahat.models.linear.unknown_noise": ("NoiseReweightedRegression",),
    "thetahat.models.nonlinear.basis": ("BasisRegression",),
    "thetahat.models.nonlinear.circle": ("CircleFit",),
    "thetahat.models.nonlinear.regression": ("NonlinearRegression",),
    "thetahat.models.nonlinear.response": ("ResponseTransform", "TransformedResponseRegressor"),
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
    "thetahat.models.semi_supervised.self_training_classifier": ("SelfTrainingClassifier",),
    "thetahat.models.tree.classification": ("DecisionTreeClassifier", "ExtraTreeClassifier"),
    "thetahat.models.tree.description": ("description_length",),
    "thetahat.models.tree.plot": ("plot_tree",),
    "thetahat.models.tree.regions": ("tree_regions",),
    "thetahat.models.tree.regression": ("DecisionTreeRegressor", "ExtraTreeRegressor"),
    "thetahat.models.tree.text": ("export_text",),
    "thetahat.persistence.description": ("describe_file",),
    "thetahat.persistence.model_file": ("load", "save"),
}

_RESULTS_BY_MODULE = {
    "thetahat.evaluation.bias_variance": ("BiasVariance",),
    "thetahat.evaluation.bootstrap_result": ("BootstrapResult",),
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
    "thetahat.evaluation.pruning": ("Pruning",),
    "thetahat.evaluation.regression_errors": ("RegressionErrors",),
    "thetahat.evaluation.resampled_bias_variance": ("ResampledBiasVariance",),
    "thetahat.evaluation.search": ("Search",),
    "thetahat.mathematics.optimizers.solution": ("Outcome", "Solution"),
    "thetahat.models.linear.best_halfspace": ("Halfspace",),
    "thetahat.models.linear.inference": ("LinearSummary",),
    "thetahat.models.linear.likelihood_summary": ("LikelihoodRatio", "LikelihoodSummary"),
    "thetahat.models.linear.posterior": ("PosteriorSummary",),
    "thetahat.models.nonlinear.certainty": ("NonlinearSummary",),
    "thetahat.models.tree.description": ("DescriptionLength",),
    "thetahat.models.tree.regions": ("Region", "TreeRegions"),
    "thetahat.persistence.description": ("FileDescription",),
}


def _by_name(by_module: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {name: module for module, names in by_module.items() for name in names}


NAMES = NAMESPACES | _by_name(_BY_MODULE)
"""The names of ``th`` itself."""

RESULTS = _by_name(_RESULTS_BY_MODULE)
"""The names of ``th.results``."""


def place_in_a_namespace(name: str) -> str:
    """Where a name is found that is not one of ``th`` itself; nothing where it is nowhere."""
    from importlib import import_module

    if not name.startswith("_"):
        for namespace, module in NAMESPACES.items():
            if name in import_module(module).__all__:
                return f"; it is th.{namespace}.{name}"
    return ""
