"""Broken and hostile model files, loaded by the thousand; run as a script by test_hostile_files.

Prints one line per kind of outcome. Ends with an error if a load raised anything but the library's
own refusal, asked for much memory, or did what reading data never does: ran a program, compiled
code, wrote a file, opened a connection, imported a module of somebody else's.
"""

import json
import resource
import struct
import sys
from collections import Counter
from pathlib import Path

import numpy as np

import thetahat as th
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.persistence import container

NEVER = (
    "compile",
    "exec",
    "os.system",
    "subprocess.Popen",
    "socket.connect",
    "os.remove",
    "os.rename",
    "shutil.rmtree",
    "ctypes.dlopen",
    "pickle.find_class",
)
MEMORY = 512 * 2**20
"""How much more than at the start a load may have in its hands."""

TAGS = (
    "array",
    "text",
    "scalar",
    "sparse",
    "object",
    "enum",
    "function",
    "tuple",
    "set",
    "dict",
    "slice",
    "dtype",
    "float",
    "bytes",
    "random_state",
    "__reduce__",
    "decode",
)
NAMES = (
    "os:system",
    "builtins:eval",
    "subprocess:Popen",
    "save",
    "thetahat.persistence.model_file:save",
    "thetahat.interfaces.command_line:main",
    "sklearn.pipeline:Pipeline",
    "numpy:load",
    "numpy:save",
    "pickle:loads",
    "Ridge",
    "thetahat.models.linear.ridge:Ridge",
    "../../etc:passwd",
    "Tree",
    "thetahat.models.tree.structure:Tree",
    "thetahat.data.in_memory:InMemory",
)
VALUES = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**30,
    1e308,
    "",
    "x" * 1000,
    "__class__",
    "../../x",
    [],
    {},
    [[]],
    {"array": 0},
    {"array": 10**9},
    {"dtype": ["O", True]},
)


def mutated_bytes(raw, random):
    """A file cut short, with flipped bits, with a piece moved, or with another header length."""
    data = bytearray(raw)
    kind = random.integers(5)
    if kind == 0:
        return bytes(data[: random.integers(len(data))])
    if kind == 1:
        for _ in range(random.integers(1, 9)):
            data[random.integers(len(data))] ^= 1 << int(random.integers(8))
    elif kind == 2:
        a, b = sorted(random.integers(len(data), size=2))
        data[a:b] = data[a:b][::-1]
    elif kind == 3:
        sizes = (0, 1, 8, 2**20, 2**32, 2**63 - 1, 2**64 - 1, random.integers(len(data)))
        data[:8] = struct.pack("<Q", int(sizes[random.integers(len(sizes))]))
    else:
        at = random.integers(len(data))
        data[at:at] = random.bytes(random.integers(1, 64))
    return bytes(data)


def mutated_plain(plain, random, rate):
    """The manifest with some values replaced, tags exchanged, entries lost or doubled."""
    if random.random() < rate:
        kind = random.integers(4)
        if kind == 0:
            return VALUES[random.integers(len(VALUES))]
        if kind == 1:
            return {TAGS[random.integers(len(TAGS))]: VALUES[random.integers(len(VALUES))]}
        if kind == 2:
            name = NAMES[random.integers(len(NAMES))]
            return {"object": name, "fields": {}} if random.random() < 0.5 else {"function": name}
    if isinstance(plain, list):
        kept = [each for each in plain if random.random() > rate / 2]
        return [mutated_plain(each, random, rate) for each in kept]
    if isinstance(plain, dict):
        out = {}
        for key, each in plain.items():
            if random.random() < rate / 2:
                key = TAGS[random.integers(len(TAGS))]
            out[key] = mutated_plain(each, random, rate)
        return out
    if isinstance(plain, str) and ":" in plain and random.random() < 5 * rate:
        return NAMES[random.integers(len(NAMES))]
    return plain


def mutated_arrays(arrays, random):
    """Arrays of other shapes and types, with numbers out of range."""
    out = []
    for array in arrays:
        if random.random() < 0.3:
            kind = random.integers(4)
            if kind == 0:
                array = array.ravel()[: random.integers(array.size + 1)]
            elif kind == 1:
                array = array.astype(["f4", "f8", "i4", "i8", "u1", "?"][random.integers(6)])
            elif kind == 2 and array.size:
                array = array.copy()
                extremes = np.array([0, 1, -1, 2**31 - 1, 255])
                array.flat[random.integers(array.size)] = extremes[random.integers(5)].astype(
                    array.dtype
                )
            else:
                array = np.stack([array, array])
        out.append(array)
    return out


def forged(path, target, random):
    """A file whose frame and digest are right, and whose content is not."""
    with container.read(path) as file:
        manifest = file.manifest
        arrays = [file.array(place) for place in range(file.n_arrays)]
    if random.random() < 0.7:
        rate = float(random.choice([0.3, 0.05, 0.01, 0.002]))
        plain = mutated_plain(manifest["model"], random, rate)
        manifest = {**manifest, "model": json.loads(json.dumps(plain))}
    else:
        arrays = mutated_arrays(arrays, random)
    target.write_bytes(container.framed(manifest, arrays))


def watch(inside):
    def hook(event, arguments):
        if not inside[0]:
            return
        foreign = event == "import" and arguments[0].split(".")[0] not in (
            "thetahat",
            "sklearn",
            "scipy",
            "numpy",
            "array_api_compat",
            "safetensors",
            "joblib",
            "threadpoolctl",
            "_native",
            *sys.stdlib_module_names,
        )
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & 3
        if foreign or writes or event in NEVER:
            # Compiling is what importing a module of the library for the first time does.
            if event in ("compile", "exec") and inside[1]:
                return
            print(f"FORBIDDEN {event} {arguments!r}"[:300])
            inside[2] += 1

    sys.addaudithook(hook)


def main(folder, seed, count):
    random = np.random.default_rng(seed)
    originals = sorted(Path(folder).glob("*.theta"))
    rows = {path: np.load(path.with_suffix(".npy"), allow_pickle=False) for path in originals}
    for path in originals:
        th.load(path).predict(rows[path])
    scipy_linalg()
    with one_blas_thread():  # looks for the BLAS libraries, which are loaded, once in a process
        pass
    target = Path(folder) / f"mutant-{seed}.mutant"
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    inside = [False, True, 0]
    watch(inside)
    outcomes = Counter()
    for number in range(count):
        path = originals[number % len(originals)]
        if number % 2:
            target.write_bytes(mutated_bytes(path.read_bytes(), random))
        else:
            forged(path, target, random)
        inside[0] = True
        try:
            model = th.load(target)
        except th.errors.ThetahatError as refusal:
            inside[0] = False
            outcomes[type(refusal).__name__] += 1
            continue
        inside[0] = False
        try:
            model.predict(rows[path])
            outcomes["predicts"] += 1
        except Exception:
            outcomes["refuses to predict"] += 1
    target.unlink()
    print(json.dumps(outcomes))
    sys.exit(1 if inside[2] else 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
