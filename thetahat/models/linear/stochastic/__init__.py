"""Linear models fitted row by row: stochastic gradient descent and the perceptron."""
