"""Mathematics in plain characters, as docstrings hold it, made into typeset formulas."""
