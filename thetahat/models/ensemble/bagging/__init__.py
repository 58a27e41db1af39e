"""Bagging: one learner on many bootstrap samples."""
