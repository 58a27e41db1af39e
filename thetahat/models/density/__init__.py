"""Models of p(x) made of cells: density trees and forests of them."""
