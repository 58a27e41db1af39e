"""Write one page per public name, and the index of methods from the registry.

The pages follow from ``thetahat.__all__`` and ``thetahat/methods.toml``; they are not edited, and
git ignores them. A page is rewritten only when it has changed, so that Sphinx builds only what it
must.
"""

from __future__ import annotations

import inspect
from itertools import groupby
from pathlib import Path

from docs import pictures
from docs.mathematics import escaping
from docs.public_face import NAMESPACES_CHAPTER, Group, PublicName, groups, public_names
from docs.support import support_page
from thetahat import registry
from thetahat.catalog import DESCRIBES, GROWS, taxonomy

__all__ = ["methods", "public_names", "write_all"]


def write_all(folder: Path) -> None:
    """Write ``api/`` and ``methods/`` below the folder of the documentation."""
    names = list(public_names())
    pages = {f"api/{name.qualified}.rst": name_page(name) for name in names}
    pages |= {f"api/{group.page}.rst": group_page(group) for group in groups(names)}
    pages["api/index.rst"] = api_index(groups(names))
    pages["methods/index.rst"] = method_index({name.qualified for name in names})
    pages["methods/devices.rst"] = device_page(names)
    pages["methods/where_rows_are.rst"] = support_page(names, title, table)
    for directory in ("api", "methods"):
        (folder / directory).mkdir(exist_ok=True)
        for stale in (folder / directory).glob("*.rst"):
            if f"{directory}/{stale.name}" not in pages:
                stale.unlink()
    for path, text in pages.items():
        target = folder / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def name_page(name: PublicName) -> str:
    """The page of one name: its docstring, its own methods, the examples that use it."""
    full = f"thetahat.{name.qualified}"
    lines = [*title(name.qualified, "="), ""]
    if inspect.isclass(name.value):
        lines += [f".. autoclass:: {full}", "   :no-members:", ""]
        lines += shown_in(name)
        own, inherited = methods(name.value)
        if own:
            lines += [*title("Methods", "-"), ""]
            for method in own:
                directive = (
                    "autoattribute"
                    if isinstance(inspect.getattr_static(name.value, method), property)
                    else "automethod"
                )
                lines += [f".. {directive}:: {full}.{method}", ""]
        if inherited:
            quoted = ", ".join(f"``{method}``" for method in inherited)
            lines += [f"Inherited from scikit-learn: {quoted}.", ""]
    elif callable(name.value):
        lines += [f".. autofunction:: {full}", "", *shown_in(name)]
    else:
        lines += [f".. autodata:: {full}", ""]
    return "\n".join(lines) + "\n"


def shown_in(name: PublicName) -> list[str]:
    """The picture of the example with the fewest other names, and links to all that use it."""
    examples = pictures.showing(name.qualified)
    if not examples:
        return []
    first, *others = examples
    lines = [*title("In a picture", "-"), "", f".. figure:: {first.picture}"]
    lines += [f"   :alt: {escaped(first.title)}", "   :width: 85%", ""]
    lines += [f"   From the example :doc:`{escaped(first.title)} <{first.page}>`.", ""]
    if others:
        links = ", ".join(f":doc:`{escaped(e.title)} <{e.page}>`" for e in others)
        lines += [f"Also in {links}.", ""]
    return lines


def methods(cls: type) -> tuple[list[str], list[str]]:
    """Public methods and properties: those of thetahat, and those inherited from scikit-learn."""
    own, inherited = [], []
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        is_method = inspect.isfunction(member) or isinstance(
            member, property | classmethod | staticmethod
        )
        if name.startswith("_") or not is_method:
            continue
        owner = next(base for base in cls.__mro__ if name in vars(base))
        if owner.__module__.startswith("thetahat") and inspect.getdoc(getattr(cls, name)):
            own.append(name)
        elif owner.__module__.startswith("sklearn"):
            inherited.append(name)
    return own, inherited


def api_index(groups: list[Group]) -> str:
    """All public names: every model and function, and the namespaces."""
    lines = [*title("All public names", "="), ""]
    lines += [
        "Everything is reached through ``import thetahat as th``. Models and the functions of",
        "everyday use are names of ``th`` itself; everything else is in a namespace by its kind.",
        "",
    ]
    for chapter, members in groupby(groups, lambda group: group.chapter):
        lines += [*title(chapter, "-"), ""]
        if chapter == NAMESPACES_CHAPTER:
            rows = [
                (f":doc:`{group.heading} <{group.page}>`", escaped(group.about))
                for group in members
            ]
            lines += table(("namespace", "what it holds"), rows, widths=(25, 75))
            continue
        for group in members:
            lines += [*title(group.heading, "~"), "", escaped(group.about), "", *names_table(group)]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {group.page}" for group in groups)]
    return "\n".join(lines) + "\n"


def group_page(group: Group) -> str:
    """The names of a group, each with its first sentence."""
    lines = [*title(group.heading, "="), "", escaped(group.about), "", *names_table(group)]
    lines += [".. toctree::", "   :hidden:", ""]
    lines += [f"   {name.qualified.split('.')[-1]} <{name.qualified}>" for name in group.names]
    return "\n".join(lines) + "\n"


def names_table(group: Group) -> list[str]:
    rows = [
        (f":doc:`th.{name.qualified} <{name.qualified}>`", escaped(name.summary))
        for name in group.names
    ]
    return table(("name", "what it is"), rows, widths=(35, 65))


def method_index(documented: set[str]) -> str:
    """The registry as a page: what serves each method, and what proves it."""
    rows = registry.rows()
    served = len(registry.served())
    lines = [
        *title("Method index", "="),
        "",
        f"The aim is to serve {len(rows)} methods; today thetahat serves **{served}** of them.",
        "A method is served when public names provide all of it and tests prove it. The command",
        "``thetahat methods`` prints the same list in a terminal.",
        "",
    ]
    for letter, area in registry.areas().items():
        members = [row for row in rows if row.area == letter]
        done = sum(row.state is registry.State.SERVED for row in members)
        lines += [*title(f"{letter}. {area}", "-"), "", f"{done} of {len(members)} served.", ""]
        lines += table(
            ("", "row", "method", "served by", "proved by"),
            [
                (
                    row.state.value,
                    f"``{row.id}``",
                    escaped(row.title),
                    served_by(row, documented),
                    escaped("; ".join(proposition(test) for test in row.tests)),
                )
                for row in members
            ],
            widths=(4, 17, 25, 20, 34),
        )
    return "\n".join([*lines, *kinds_of_models()]) + "\n"


DEVICES = """
An estimator of this table takes torch tensors where they are, on a CUDA device or on the CPU. The
fitted arrays and the predictions are tensors on the same device, and labels that are text are NumPy
arrays. The rows stay on the device, but for a sample of them where a start is computed.

.. code-block:: python

   X = torch.randn(10_000_000, 100, device="cuda")
   y = (X[:, 0] > 0).long()
   model = th.LogisticRegression().fit(X, y)
   model.predict_proba(X[:5])          # a tensor on the GPU
   there = th.to_device(model, "cpu")  # NumPy arrays; all methods work, and it can be saved

A method that is not in the table needs NumPy arrays, and its error says so: nothing is copied
silently. Move the model with :doc:`th.to_device </api/to_device>`, or pass ``X.cpu().numpy()``.

**Accuracy.** float64 tensors give the results of NumPy arrays up to rounding (tests allow 1e-8).
float32 tensors stay float32; predictions agree with those of float64 rows to 1e-3 of the largest
one, and usually to 1e-5. Gradients of logistic regression, products of principal components and the
refinement of kernel ridge regression are in float64. Sums of k-means on CUDA are added in an order
that changes from run to run, so that their last digits may differ. Among neighbours whose distances
differ by rounding only, any may be returned.

**Limits.** Logistic regression has an L2 penalty and Newton's method; kernel ridge regression one
positive alpha; principal components the exact solvers; mixtures expectation-maximisation without
known labels; neighbours the Euclidean distance by brute force. k-means++ draws among 65,536 random
rows, and mixtures start from so many; with fewer rows the starts are those of NumPy arrays.

**Memory.** Kernel ridge regression needs one matrix of n² numbers, which is checked first. All
others work in blocks that take at most a quarter of the free memory. ``th.config(memory=...)`` sets
a limit.
""".strip().split("\n")


def device_page(names: list[PublicName]) -> str:
    """The estimators that take tensors, and their methods that do."""
    rows = []
    for name in names:
        cls = name.value
        if not inspect.isclass(cls):
            continue
        found = sorted(getattr(cls, "_device_methods", ()))
        if not found and getattr(cls, "_accepts_devices", False):
            kept = ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function")
            found = [each for each in (*kept, "transform") if hasattr(cls, each)]
        if found:
            methods_there = ", ".join(f"``{each}``" for each in found)
            moves = "yes" if getattr(cls, "_device_arrays", ()) else "no"
            rows.append((f":doc:`{name.qualified} </api/{name.qualified}>`", methods_there, moves))
    lines = [*title("Devices", "="), "", *DEVICES, "", *title("Support", "-"), ""]
    lines += table(("estimator", "methods on devices", "moved by to_device"), rows, (25, 55, 20))
    return "\n".join(lines) + "\n"


def kinds_of_models() -> list[str]:
    """The models by what they describe, and by whether their number of parameters is fixed."""
    found = taxonomy()
    about = [
        "A generative model describes how the rows arise, and can draw new ones; a discriminative",
        "model describes y given x only. A parametric model has a number of parameters that is",
        "fixed before the rows are seen. Models that combine others are listed by their default",
        "members. :doc:`th.taxonomy </api/taxonomy>` returns this table.",
        "",
    ]
    rows = [
        (grows, *(", ".join(_linked(found.names(each, grows))) or "—" for each in DESCRIBES))
        for grows in GROWS
    ]
    return [
        *title("Kinds of models", "-"),
        "",
        *about,
        *table(("", *DESCRIBES), rows, (14, 26, 60)),
    ]


def _linked(names: list[str]) -> list[str]:
    return [f":doc:`{name} </api/{name}>`" for name in names]


def proposition(test: str) -> str:
    """The name of a test as a sentence."""
    return test.rpartition("::")[2].removeprefix("test_").replace("_", " ")


def served_by(row: registry.Row, documented: set[str]) -> str:
    links = []
    for name in row.names:
        # "Ridge.path" is documented on the page of "Ridge".
        page = next((name[:cut] for cut in cuts(name) if name[:cut] in documented), None)
        links.append(f":doc:`{name} </api/{page}>`" if page else f"``{name}``")
    if row.partial:
        links.append(f"(missing: {escaped(row.partial)})")
    return ", ".join(links)


def cuts(name: str) -> list[int]:
    """Lengths of ``name`` and of what stands before each of its dots, longest first."""
    return [len(name), *(i for i in range(len(name) - 1, 0, -1) if name[i] == ".")]


def title(text: str, rule: str) -> list[str]:
    return [text, rule * len(text)]


def escaped(text: str) -> str:
    return escaping.escape_text(text)


def table(
    header: tuple[str, ...], rows: list[tuple[str, ...]], widths: tuple[int, ...]
) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1", "   :width: 100%"]
    lines += [f"   :widths: {' '.join(str(width) for width in widths)}", ""]
    for row in (header, *rows):
        for place, cell in enumerate(row):
            lines.append(f"   {'* -' if place == 0 else '  -'} {cell}".rstrip())
    return [*lines, ""]
