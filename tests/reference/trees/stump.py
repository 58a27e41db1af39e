"""A weighted decision stump in plain NumPy: the oracle, and a learner that is no tree of ours."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class PlainStump(ClassifierMixin, BaseEstimator):
    """The split x ≤ t of least weighted Gini impurity, tried one by one."""

    def fit(self, X, y, sample_weight=None):
        X = np.asarray(X, dtype=float)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        hot = np.eye(len(self.classes_))[codes] * weight[:, None]
        best = -np.inf
        self.feature_, self.threshold_ = 0, np.inf
        for feature in range(X.shape[1]):
            values = np.unique(X[:, feature])
            for threshold in (values[1:] + values[:-1]) / 2:
                left = hot[X[:, feature] <= threshold].sum(axis=0)
                right = hot.sum(axis=0) - left
                if left.sum() > 0 and right.sum() > 0:
                    gain = (left**2).sum() / left.sum() + (right**2).sum() / right.sum()
                    if gain > best * (1 + 1e-12):
                        best, self.feature_, self.threshold_ = gain, feature, threshold
        sides = X[:, self.feature_] <= self.threshold_
        self.sides_ = np.stack([_share(hot[~sides]), _share(hot[sides])])
        return self

    def predict_proba(self, X):
        sides = np.asarray(X, dtype=float)[:, self.feature_] <= self.threshold_
        return self.sides_[sides.astype(int)]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _share(hot):
    total = hot.sum(axis=0)
    return total / total.sum() if total.sum() > 0 else np.full(len(total), 1 / len(total))
