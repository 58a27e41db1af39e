"""A graph of ONNX operations that is built node by node."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array

OPSET, ML_OPSET, IR_VERSION = 17, 5, 10
"""Versions of the operations: the oldest with trees in double precision (onnxruntime 1.20)."""
ML = "ai.onnx.ml"


class Graph:
    """Nodes and constants of a graph with one input X of shape (rows, n_features)."""

    def __init__(self, n_features: int, dtype: Any) -> None:
        self.onnx = optional_import("onnx", extra="onnx", purpose="th.to_onnx")
        self.dtype = np.dtype(dtype)
        self.n_features = n_features
        self.rows = "X"
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any) -> str:
        """The name of a constant; numbers get the precision of the graph, others stay."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(self.dtype)
        name = f"c{len(self._constants)}"
        if array.dtype.kind in "US":
            array = array.astype(object)
        self._constants.append(self.onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, operation: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Append an operation with one output, and return the name of the output."""
        name = f"{operation.lower()}{len(self._nodes)}"
        self._nodes.append(
            self.onnx.helper.make_node(operation, inputs, [name], domain=domain, **attributes)
        )
        return name

    def add_second(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """Append an operation with two outputs, and return the name of the second one."""
        name = f"{operation.lower()}{len(self._nodes)}"
        outputs = [f"{name}_first", name]
        self._nodes.append(self.onnx.helper.make_node(operation, inputs, outputs, **attributes))
        return name

    def affine(self, x: str, weights: Any, offsets: Any) -> str:
        """x·W + b."""
        return self.add(
            "Add", self.add("MatMul", x, self.constant(weights)), self.constant(offsets)
        )

    def columns(self, x: str, first: int, last: int) -> str:
        """The columns from `first` up to `last`."""
        places = (self.constant(np.array([at])) for at in (first, last, 1))
        return self.add("Slice", x, *places)

    def concatenate_columns(self, *parts: str) -> str:
        """The columns of several matrices as one matrix."""
        return self.add("Concat", *parts, axis=1)

    def flat(self, x: str) -> str:
        """A matrix with one column as a vector."""
        return self.add("Squeeze", x, self.constant(np.array([1])))

    def finished(self, outputs: dict[str, tuple[str, Any, int | None]]) -> Any:
        """The model with these outputs: name → (tensor, dtype, columns or None for a vector)."""
        helper = self.onnx.helper
        results = []
        for name, (tensor, dtype, width) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [tensor], [name]))
            shape = ["rows"] if width is None else ["rows", width]
            results.append(helper.make_tensor_value_info(name, self._kind(dtype), shape))
        given = helper.make_tensor_value_info(
            "X", self._kind(self.dtype), ["rows", self.n_features]
        )
        graph = helper.make_graph(self._nodes, "thetahat", [given], results, self._constants)
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION)
        model.producer_name = "thetahat"
        self.onnx.checker.check_model(model)
        return model

    def _kind(self, dtype: Any) -> int:
        if np.dtype(dtype).kind in "USO":
            return int(self.onnx.TensorProto.STRING)
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def tensor(self, name: str, values: Array) -> Any:
        """An attribute of numbers in the precision of the graph."""
        return self.onnx.numpy_helper.from_array(values.astype(self.dtype), name)
