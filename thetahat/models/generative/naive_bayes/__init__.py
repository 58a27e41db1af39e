"""Naive Bayes: the columns are independent given the class, p(x | c) = Π_j p_j(x_j | c)."""
