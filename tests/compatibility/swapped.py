"""A pytest plugin that puts the library's classes and functions into a test module of scikit-learn.

While the module is imported, `sklearn.tree.DecisionTreeClassifier` and every other public class of
the same name here is replaced in its public package; afterwards the packages are as before, so that
scikit-learn's own code keeps its own classes. Modules that the test module holds (`from sklearn
import tree`) become copies with the library's classes.

Each outcome is appended to the file of `--outcomes` as it is known, so that the test that ends the
process can be named.
"""

import contextlib
import faulthandler
import importlib
import inspect
import json
import os
import types
import zlib
from unittest import mock

import pytest
from sklearn.utils import all_estimators

from thetahat import _public
from thetahat.migration.shared import named

PACKAGES = (
    "covariance",
    "cluster",
    "cross_decomposition",
    "decomposition",
    "discriminant_analysis",
    "ensemble",
    "gaussian_process",
    "kernel_approximation",
    "kernel_ridge",
    "linear_model",
    "manifold",
    "mixture",
    "naive_bayes",
    "neighbors",
    "neural_network",
    "random_projection",
    "semi_supervised",
    "svm",
    "tree",
)
FUNCTIONS = {"graphical_lasso", "lars_path", "lars_path_gram", *_public.FUNCTIONS}
"""Functions that are replaced, too."""


def shared_classes():
    """Per public package of scikit-learn, the classes here that replace those of the same name."""
    shared = {}
    for name in PACKAGES:
        package = importlib.import_module(f"sklearn.{name}")
        shared[package] = {
            each: named(each)
            for each in getattr(package, "__all__", dir(package))
            if (each in _public.NAMES and inspect.isclass(getattr(package, each)))
            or each in FUNCTIONS
        }
    return shared


@contextlib.contextmanager
def swapped_packages(shared):
    with contextlib.ExitStack() as stack:
        for package, classes in shared.items():
            stack.enter_context(mock.patch.multiple(package, **classes))
        yield


def swap_globals(module, shared):
    """Replace what the module imported from elsewhere than the public packages."""
    ours = {
        getattr(package, name): each
        for package, classes in shared.items()
        for name, each in classes.items()
    }
    for name, value in list(vars(module).items()):
        if isinstance(value, types.ModuleType) and value in shared:
            copy = types.ModuleType(value.__name__)
            vars(copy).update(vars(value) | shared[value])
            setattr(module, name, copy)
        elif isinstance(value, type | types.FunctionType) and value in ours:
            setattr(module, name, ours[value])


class Swap:
    def __init__(self, config):
        self.path = config.getoption("outcomes")
        self.every = config.getoption("every")
        self.limit = config.getoption("limit")
        all_estimators()  # imports the whole of scikit-learn while its packages are its own
        self.shared = shared_classes()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        if isinstance(collector, pytest.Module):
            with swapped_packages(self.shared):
                module = collector.obj
            swap_globals(module, self.shared)
        return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        chosen = [each for each in items if zlib.crc32(each.nodeid.encode()) % self.every == 0]
        config.hook.pytest_deselected(items=[each for each in items if each not in chosen])
        items[:] = chosen

    def pytest_runtest_logstart(self, nodeid):
        self.write(nodeid, "running")
        faulthandler.dump_traceback_later(self.limit, exit=True)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            message = report.longrepr.reprcrash.message if report.failed else ""
            self.write(report.nodeid, report.outcome, message, report.duration)

    def pytest_runtest_logfinish(self):
        faulthandler.cancel_dump_traceback_later()

    def write(self, test, outcome, message="", seconds=0.0):
        line = json.dumps(dict(test=test, outcome=outcome, message=message, seconds=seconds))
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line + os.linesep)


def pytest_addoption(parser):
    parser.addoption("--outcomes", help="file that receives one line of JSON per outcome")
    parser.addoption("--every", type=int, default=1, help="run about one test in this many")
    parser.addoption("--limit", type=float, default=120, help="most seconds of one test")


def pytest_configure(config):
    config.pluginmanager.register(Swap(config), "swap")
