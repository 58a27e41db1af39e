# make demo, make test: each sets up everything it needs, then runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find native -name "*.?pp")
NATIVE := CMakeLists.txt pyproject.toml $(SOURCES)

# Python compiles what it imports once, and not in each of the processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

# Each worker starts with one half of the tests, so that tests of one file share what they have fitted,
# and takes from the other's half when its own is done.
WORKERS := -n 2 --dist worksteal

.PHONY: demo test test-all test-devices lint types docs bench format clean

demo: $(VENV)/installed
	mkdir -p demo-output
	$(BIN)/thetahat compare thetahat/data/datasets/abalone.csv --target Class_number_of_rings \
	    --report demo-output/report.html

test: lint
	$(BIN)/python -m pytest $(WORKERS) -m "not slow and not processes"

test-all: lint types
	$(BIN)/python -m pytest $(WORKERS)

# The tests that skip without torch. It comes last, because torch is large and changes nothing else.
test-devices: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-compile "torch==2.13.0"
	$(BIN)/python -m pytest -n 2 tests/estimator/devices tests/mathematics/autodiff/test_namespaces.py \
	    tests/models/neural/test_mlp_devices.py tests/models/neural/test_torch_exchange.py

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)

types: $(VENV)/installed
	$(BIN)/mypy

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(SOURCES)

# A dataset package of celer's comes as source alone, and is built by setuptools.
bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-compile setuptools wheel
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[bench]"
	$(BIN)/python -m benchmarks

docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[docs]"
	$(BIN)/python -m sphinx -W --keep-going docs docs/_build/html

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The build tools first, so that the extension builds in this environment and rebuilds quickly. It
# compiles while the dependencies are fetched. Most of their modules are never imported, so none is
# compiled to bytecode before it is.
$(VENV)/installed: $(VENV)/bin/python $(NATIVE)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile "scikit-build-core>=0.11" "nanobind>=2.4" "ninja>=1.11" "cmake>=3.26"
	$(BIN)/python -m pip install --quiet --no-compile --no-build-isolation --only-deps ".[dev]" & \
	    $(BIN)/python -m pip install --quiet --no-compile --no-build-isolation --no-deps --editable . && wait $$!
	touch $@

clean:
	rm -rf $(VENV) build docs/_build

# A second build of the extension with sanitizers, and the kernel tests under it. Without `site` the
# editable install is not seen; the leaks at exit are the interpreter's own.
.PHONY: sanitize
sanitize: $(VENV)/installed
	THETAHAT_SANITIZE=1 $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps \
	    --target build/sanitized --upgrade . -Cbuild-dir=build/sanitize-objects
	rm -rf build/sanitized/tests && cp -r tests build/sanitized/tests
	cd build/sanitized && \
	    PYTHONPATH="$$PWD:$$(../../$(BIN)/python -c 'import site; print(site.getsitepackages()[0])')" \
	    LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	    ASAN_OPTIONS=detect_leaks=0 ../../$(BIN)/python -S -m pytest -c /dev/null -q -p no:cacheprovider \
	    --rootdir=. --import-mode=importlib tests/native
