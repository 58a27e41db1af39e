"""Pickles and model files of a model with something inside changed."""

import io
import json
import pickle
import struct

import numpy as np

from tests.persistence import mutations
from thetahat.persistence import container

NUMBERS = (0, 1, -1, 2, 255, 2**31 - 1, -(2**31), 2**40, 2**63, 0.5, -1e-300, 1e308)
SPECIAL = (np.nan, np.inf, -np.inf)
OTHERS = (None, True, "", "text", b"", (), [], {}, object, [[]], np.float64(1.0), np.zeros(0))
DTYPES = ("<f4", ">f8", "<f8", ">i4", "<i4", "<i8", ">i8", "u1", "?", "<u4", "<U3", "O", "<c16")


def mutated_array(array, random):
    """An array of another type, byte order or shape, or with a number out of range."""
    kind = random.integers(8)
    if kind == 0 and array.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            return array.astype(DTYPES[random.integers(len(DTYPES))])
    if kind == 1:
        return array.astype(array.dtype.newbyteorder())
    if kind == 2:
        return array.ravel()[: random.integers(array.size + 1)]
    if kind == 3:
        return np.concatenate([array.ravel(), array.ravel()[:1]])
    if kind == 4:
        return array[..., None] if random.random() < 0.5 else np.stack([array, array])
    if kind == 5 and array.ndim:
        return array[::-1] if random.random() < 0.5 else np.asfortranarray(array)
    array = array.copy()
    if array.size == 0 or array.dtype.kind not in "biufV":
        return array
    place = random.integers(array.size)
    fields = [array[name] for name in array.dtype.names] if array.dtype.names else [array]
    field = fields[random.integers(len(fields))]
    pool = NUMBERS + (SPECIAL if field.dtype.kind == "f" else ())
    with np.errstate(all="ignore"):
        number = np.asarray(pool[random.integers(len(pool))])
        field.reshape(-1)[place : place + 1] = number.astype(field.dtype)
        if random.random() < 0.3:
            field[...] = field.reshape(-1)[place]
    return array


def mutated_value(value, random):
    """Another value in the place of a number, a text or a list."""
    if isinstance(value, np.ndarray):
        return mutated_array(value, random)
    draw = random.random()
    if isinstance(value, list | tuple) and value and draw < 0.6:
        items = list(value)
        place = random.integers(len(items))
        if draw < 0.2:
            del items[place]
        elif draw < 0.3:
            items.append(items[place])
        else:
            items[place] = mutated_value(items[place], random)
        return type(value)(items) if type(value) in (list, tuple) else items
    if isinstance(value, dict) and value and draw < 0.6:
        return mutated_state(value, random)
    if isinstance(value, int | float | np.number) and draw < 0.7:
        pool = NUMBERS + SPECIAL
        return pool[random.integers(len(pool))]
    pool = OTHERS + NUMBERS
    return pool[random.integers(len(pool))]


def mutated_state(state, random):
    """A dictionary with one entry changed or lost, or with the values of two entries exchanged."""
    state = dict(state)
    keys = list(state)
    key = keys[random.integers(len(keys))]
    kind = random.integers(8)
    if kind == 0:
        del state[key]
    elif kind == 1:
        other = keys[random.integers(len(keys))]
        state[key], state[other] = state[other], state[key]
    else:
        state[key] = mutated_value(state[key], random)
    return state


class MutatingPickler(pickle.Pickler):
    """Pickles a model with the state of some of its objects changed."""

    def __init__(self, file, random, chosen):
        super().__init__(file, protocol=5)
        self.random, self.chosen, self.count = random, chosen, 0

    def reducer_override(self, thing):
        kind = type(thing)
        if isinstance(thing, type) or kind.__module__.startswith("numpy.random"):
            return NotImplemented
        if not isinstance(thing, np.ndarray) and not hasattr(thing, "__dict__"):
            return NotImplemented
        if isinstance(thing, np.ufunc) or kind.__module__ in ("builtins", "functools"):
            return NotImplemented
        self.count += 1
        if self.count - 1 not in self.chosen:
            return NotImplemented
        if isinstance(thing, np.ndarray):
            return mutated_array(thing, self.random).__reduce_ex__(4)
        made = thing.__reduce_ex__(4)
        if isinstance(made, str):  # the name of a global object
            return made
        made = list(made)
        if len(made) > 2 and isinstance(made[2], dict) and made[2]:
            made[2] = mutated_state(made[2], self.random)
        return tuple(made)


def mutated_pickle(model, random):
    counter = MutatingPickler(io.BytesIO(), random, ())
    counter.dump(model)
    size = 1 if random.random() < 0.8 else 2
    file = io.BytesIO()
    MutatingPickler(file, random, set(random.integers(counter.count, size=size).tolist())).dump(
        model
    )
    return file.getvalue()


def mutated_header(raw, random):
    """A file whose header gives an array another shape, dtype or place; the digest matches."""
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    names = [name for name in header if name != "__metadata__"]
    if not names:
        return raw
    entry = header[names[random.integers(len(names))]]
    key = ("dtype", "shape", "data_offsets")[random.integers(3)]
    if key == "dtype":
        entry[key] = ("F64", "F32", "I64", "I32", "U8", "BOOL", "BF16", "F8_E4M3")[
            random.integers(8)
        ]
    else:
        sizes = (0, 1, -1, 2**31, 2**62, 2**63, 1.5, None, *entry[key])
        place = random.integers(len(entry[key]) + 1)
        entry[key][place:] = [sizes[random.integers(len(sizes))]]
    return _sealed(header, raw[8 + length :])


def _sealed(header, data):
    """The file with its digest computed again, where the arrays can be read at all."""
    from safetensors.numpy import load

    def frame():
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    try:
        arrays = load(frame())
        ordered = [arrays[str(place)] for place in range(len(arrays))]
        header["__metadata__"]["digest"] = container.digest(
            header["__metadata__"]["manifest"], ordered
        )
    except BaseException:  # the reader of safetensors may also panic
        pass
    return frame()


def mutated_file(path, random):
    """A damaged file, or one whose content was changed and sealed again."""
    kind = random.integers(10)
    raw = path.read_bytes()
    if kind == 0:
        return mutations.mutated_bytes(raw, random)
    if kind == 1:
        return mutated_header(raw, random)
    with container.read(path) as file:
        manifest = file.manifest
        arrays = [file.array(place) for place in range(file.n_arrays)]
    if kind < 4 and arrays:
        place = random.integers(len(arrays))
        arrays[place] = _storable(mutated_array(arrays[place], random))
    elif kind < 7:
        manifest = {**manifest, "model": mutated_leaf(manifest["model"], random)}
    else:
        rate = float(random.choice([0.1, 0.03, 0.01, 0.002]))
        plain = mutations.mutated_plain(manifest["model"], random, rate)
        manifest = {**manifest, "model": plain}
    return container.framed(json.loads(json.dumps(manifest)), arrays)


def _storable(array):
    return array if array.dtype.kind in "biuf" else np.zeros(array.shape)


JSON_VALUES = (None, True, -1, 0, 1, 2, 2**31, 2**63, 1e308, 0.5, "", "text", [], {}, [[]])


def mutated_leaf(plain, random):
    """The manifest with exactly one value somewhere inside changed, or one entry lost."""
    places = []

    def collect(holder):
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            places.append((holder, key))
            if isinstance(holder[key], dict | list):
                collect(holder[key])

    plain = json.loads(json.dumps(plain))
    collect(plain)
    holder, key = places[random.integers(len(places))]
    if random.random() < 0.15:
        del holder[key]
    elif random.random() < 0.2:
        other, at = places[random.integers(len(places))]
        holder[key] = json.loads(json.dumps(other[at]))
    else:
        holder[key] = JSON_VALUES[random.integers(len(JSON_VALUES))]
    return plain
