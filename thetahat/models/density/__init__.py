"""Density estimation with trees and forests."""
