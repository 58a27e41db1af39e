"""AdaBoost: weak learners on reweighted rows."""
