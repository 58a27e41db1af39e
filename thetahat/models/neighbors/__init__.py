"""Nearest neighbours: searches, classifiers and regressors that look at similar training rows."""
