"""Trees, and combinations of trees and of other models: one file per family."""
