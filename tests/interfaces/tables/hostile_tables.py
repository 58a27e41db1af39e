"""Random tables with every kind of fault.

Run as ``python -m tests.interfaces.tables.hostile_tables 500``.

Every command must end with an answer or with one line that says what is wrong. Prints the tables
for which one did not, and how often each command ended with which exit code.
"""

import argparse
import contextlib
import io
import re
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from thetahat.interfaces.command_line import main as thetahat

LENGTHS = (0, 1, 2, 3, 7, 30, 60, 120)
GAPS = ("", "NA", "null", "?", "-", "NaN", "#N/A", " ")
NAMES = (
    "a",
    "a",
    "",
    " b",
    "größe",
    "x" * 5_000,
    "y ",
    "1",
    "y2",
    "None",
    "a,b",
    'q"q',
    "\u202eabc",
)
ANSWERS = {0, 1, 2, 3}
"""Success, refused or a severe finding, wrong arguments, nothing learned."""


def _numbers(random, n):
    scale = 10.0 ** random.choice([0, 0, 0, 6, -9, 150, 300, -310])
    return [repr(float(each)) for each in random.standard_normal(n) * scale]


def _whole(random, n):
    low, high = [(0, 2), (0, 50), (-(10**6), 10**6), (2**62, 2**63 - 1)][random.integers(4)]
    return [str(each) for each in random.integers(low, high, n)]


def _written(random, n):
    """Numbers with units, currencies, percentages, commas, signs."""
    forms = (
        "${:.2f}",
        "{:.1f} m²",
        "{:.0f} %",
        "{:,.2f}",
        "+{:.3f}",
        "({:.1f})",
        "{:.2e}",
        "0x{:.0f}",
    )
    form = forms[random.integers(len(forms))]
    found = [form.format(each) for each in random.gamma(2.0, 500.0, n)]
    return (
        [each.replace(".", ";").replace(",", ".").replace(";", ",") for each in found]
        if (random.random() < 0.3)
        else found
    )


def _dates(random, n):
    forms = (
        "{0:04d}-{1:02d}-{2:02d}",
        "{2:02d}.{1:02d}.{0:04d}",
        "{1}/{2}/{0}",
        "{0}{1:02d}{2:02d}",
    )
    form = forms[random.integers(len(forms))]
    years, months, days = (random.integers(*ends, n) for ends in ((1, 9999), (1, 14), (0, 33)))
    return [form.format(*each) for each in zip(years, months, days, strict=True)]


def _words(random, n):
    words = (
        "yes",
        "no",
        "ja",
        "Ω",
        "💥",
        "true",
        "FALSE",
        "a b c",
        "x\ty",
        "\x07",
        "=1+1",
        "<b>",
        "{}",
    )
    some = words[: random.integers(1, len(words) + 1)]
    return [some[random.integers(len(some))] for _ in range(n)]


def _text(random, n):
    return [" ".join(random.choice(list("abcde"), random.integers(0, 40))) for _ in range(n)]


def _one_value(random, n):
    return [GAPS[random.integers(len(GAPS))] if random.random() < 0.4 else "same"] * n


def _unique(random, n):
    return [f"{random.integers(10**9):08x}-{i}" for i in range(n)]


def _special(random, n):
    words = ("inf", "-inf", "1e400", "nan", "1e-400", "-0.0", "1_000", "٣", "½", "00012", "1e5")
    return [words[random.integers(len(words))] for _ in range(n)]


KINDS = (_numbers, _whole, _written, _dates, _words, _text, _one_value, _unique, _special)
TARGETS = (_numbers, _whole, _written, _words, _special)


def _column(random, n):
    found = KINDS[random.integers(len(KINDS))](random, n)
    if random.random() < 0.2:  # two kinds in one column
        other = KINDS[random.integers(len(KINDS))](random, n)
        found = [b if random.random() < 0.3 else a for a, b in zip(found, other, strict=True)]
    share = random.choice([0.0, 0.0, 0.1, 0.9])
    return [GAPS[random.integers(len(GAPS))] if random.random() < share else each for each in found]


def table(random):
    """The bytes of one table; its target is y, if it has one. Half of them can be read."""
    readable = random.random() < 0.5
    n, d = (
        int(random.choice(LENGTHS[4:] if readable else LENGTHS)),
        int(random.integers(readable, 7)),
    )
    columns = [_column(random, n) for _ in range(d)]
    names = [f"c{j}" for j in range(d)]
    if readable:
        columns.append(TARGETS[random.integers(len(TARGETS))](random, n))
        names.append("y")
    elif random.random() < 0.95:
        columns.append(columns[0] if columns and random.random() < 0.1 else _column(random, n))
        names = [each if random.random() < 0.6 else str(random.choice(NAMES)) for each in names]
        names.append("y")
    order = random.permutation(len(columns))
    delimiter = str(random.choice([",", ",", ",", ";", "\t", "|"]))
    quoted = readable or random.random() < 0.8

    def line(fields):
        if quoted:
            fields = [
                '"' + each.replace('"', '""') + '"' if re.search(r'[,;\t|"\n]', each) else each
                for each in fields
            ]
        return delimiter.join(fields)

    lines = [line([columns[j][i] for j in order]) for i in range(n)]
    end = str(random.choice(["\n", "\n", "\r\n", "\r"]))
    if readable or random.random() < 0.95:
        lines.insert(0, line([names[j] for j in order]))
    if readable:
        return (end.join(lines) + end).encode()
    lines = [_damaged_line(random, each, delimiter) for each in lines]
    return _damaged_bytes(random, (end.join(lines) + end).encode())


def _damaged_line(random, line, delimiter):
    chance = random.random()
    if chance < 0.004:
        return line + delimiter + "more"
    if chance < 0.008:
        return line.partition(delimiter)[0]
    if chance < 0.010:
        return line + '"'
    return "" if chance < 0.013 else line


def _damaged_bytes(random, data):
    chance = random.random()
    if chance < 0.05:
        return b"\xef\xbb\xbf" + data
    if chance < 0.08:
        return data.decode().encode("utf-16")
    if chance < 0.16 and len(data):
        at = int(random.integers(len(data)))
        return data[:at] + bytes(random.integers(0, 256, 3, dtype=np.uint8)) + data[at:]
    if chance < 0.20:
        return data[: int(random.integers(len(data) + 1))]
    return data + data if chance < 0.22 else data


def commands(random, file, folder):
    """Commands to try on a file; those that need a model come after the one that writes it."""
    model = str(folder / "model.theta")
    quick = ["--target", "y", "--cv", "2"]
    models = str(random.choice(["ridge,tree", "logistic,knn", "gbm", "lda,ridge"]))
    extra = [
        [],
        [],
        ["--no-time"],
        ["--kind", "c0=categorical"],
        ["--group", "c0"],
        ["--time", "c0"],
    ]
    more = extra[random.integers(len(extra))]
    yield ["check", file, "--target", "y"]
    yield ["compare", file, *quick, "--models", models, "--time-limit", "0", *more]
    yield ["fit", file, "--target", "y", "--model", "tree", "--output", model]
    if Path(model).exists():
        yield ["predict", model, file, "--output", str(folder / "out.csv")]
        yield ["inspect", model]


def fault(arguments):
    """Run a command; return its exit code, and what is wrong with how it ended or None."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error", RuntimeWarning)
        try:
            code = thetahat(arguments)
        except SystemExit as end:
            code = end.code
    said = err.getvalue()
    refused = [each for each in said.splitlines() if each.startswith(f"thetahat {arguments[0]}:")]
    if code not in ANSWERS or "Traceback" in said or "unexpected error" in said:
        return code, said[-600:]
    if code == 1 and arguments[0] != "check" and len(refused) != 1:
        return code, f"not one line: {said[-600:]}"
    return code, None


def try_tables(seeds, folder):
    """(seed, command, exit code, what is wrong) for each command on the table of each seed."""
    for seed in seeds:
        random = np.random.default_rng(seed)
        file = folder / f"table-{seed}.csv"
        file.write_bytes(table(random))
        for arguments in commands(random, str(file), folder):
            yield seed, arguments, *fault(arguments)
        for left in folder.iterdir():
            left.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", type=int, nargs="?", default=500)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    codes, failed = Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        seeds = range(given.first, given.first + given.tables)
        for seed, arguments, code, wrong in try_tables(seeds, Path(folder)):
            codes[arguments[0], code] += 1
            if wrong:
                failed += 1
                print(f"table {seed}: {' '.join(arguments)}: {code}: {wrong}", flush=True)
    for (command, code), count in sorted(codes.items()):
        print(f"{command:8} exit {code}: {count}")
    print(f"{given.tables} tables, {failed} commands ended wrongly")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
