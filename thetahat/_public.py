"""Every public name and the module that defines it: the table behind ``th.<name>``."""

NAMESPACES = {
    "autodiff": "thetahat.mathematics.autodiff",
    "datasets": "thetahat.data.datasets",
    "linalg": "thetahat.mathematics.linalg",
    "losses": "thetahat.mathematics.losses",
    "optimizers": "thetahat.mathematics.optimizers",
    "penalties": "thetahat.mathematics.penalties",
    "resampling": "thetahat.data.resampling",
}
"""Modules that are public as a whole: th.losses.Huber, th.penalties.L2, ..."""

_BY_MODULE = {
    "thetahat.foundation.config": ("config",),
    "thetahat.data.labels": ("LabelEncoding",),
    "thetahat.data.on_disk.scan": ("scan",),
    "thetahat.data.schema": ("Kind",),
    "thetahat.data.tables": ("infer_schema",),
    "thetahat.foundation.errors": (
        "CapabilityError",
        "DataError",
        "IllConditionedWarning",
        "MemoryBudgetError",
        "MissingExtraError",
        "ParameterError",
        "ThetahatError",
    ),
    "thetahat.models.linear.least_squares": ("LinearRegression",),
    "thetahat.models.linear.ridge": ("Ridge",),
    "thetahat.models.linear.linear_model": ("LinearModel",),
    "thetahat.models.linear.ridge_cv": ("RidgeCV",),
    "thetahat.models.linear.generalized": ("GeneralizedLeastSquares",),
    "thetahat.models.linear.unknown_noise": ("NoiseReweightedRegression",),
    "thetahat.models.linear.total": ("TotalLeastSquares",),
    "thetahat.models.preprocessing.anscombe": ("AnscombeTransform",),
    "thetahat.models.preprocessing.bias_feature": ("BiasFeature",),
    "thetahat.models.preprocessing.boolean_complement": ("boolean_complement",),
    "thetahat.models.preprocessing.feature_map": ("FeatureMap",),
    "thetahat.models.preprocessing.monomials": ("MonomialExpansion",),
    "thetahat.models.preprocessing.similarity_features": ("SimilarityFeatures",),
    "thetahat.models.preprocessing.standardizer": ("Standardizer", "unstandardize"),
    "thetahat.models.preprocessing.whitening": ("Whitening",),
    "thetahat.models.decomposition.dictionary_learning": ("DictionaryLearning",),
    "thetahat.evaluation.bias_variance": (
        "BiasVariance",
        "bias_variance",
        "ridge_bias_variance",
    ),
    "thetahat.evaluation.bootstrap": ("bootstrap",),
    "thetahat.evaluation.bootstrap_result": ("BootstrapResult",),
    "thetahat.models.linear.best_subset": ("BestSubset",),
    "thetahat.models.linear.inference": ("LinearSummary",),
    "thetahat.models.linear.orthogonal_matching_pursuit": ("OrthogonalMatchingPursuit",),
    "thetahat.models.linear.orthogonal_matching_pursuit_cv": ("OrthogonalMatchingPursuitCV",),
    "thetahat.models.linear.orthogonal_mp": ("orthogonal_mp", "orthogonal_mp_gram"),
    "thetahat.mathematics.losses.custom": ("loss",),
    "thetahat.mathematics.optimizers.loop": ("minimise",),
    "thetahat.mathematics.optimizers.solution": ("Outcome", "Solution"),
}

NAMES = NAMESPACES | {name: module for module, names in _BY_MODULE.items() for name in names}
