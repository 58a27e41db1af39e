# make demo, make test: each sets up everything it needs, then runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(wildcard native/*.cpp native/*.hpp)

.PHONY: demo test test-all lint types docs bench format clean

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py

test: lint types
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-all: lint types
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror native/*.cpp native/*.hpp

types: $(VENV)/installed
	$(BIN)/mypy

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i native/*.cpp native/*.hpp

bench: $(VENV)/installed
	$(BIN)/python -m benchmarks linear

docs: $(VENV)/installed
	$(BIN)/pip install --quiet ".[docs]" --no-build-isolation
	$(BIN)/python -m sphinx -W --keep-going docs docs/_build/html

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The build tools first, so that the extension builds in this environment and rebuilds quickly.
$(VENV)/installed: $(VENV)/bin/python $(NATIVE)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.4" "ninja>=1.11" "cmake>=3.26"
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build docs/_build
