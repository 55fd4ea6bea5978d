"""The packed model as a graph for onnxruntime, which computes the same numbers as numpy, to the last bit.

The file holds the steps alone: weights stay where they are, in `matrices.npy` and `numbers.npy` beside it. A
product of whole numbers of thirteen bits with weights of eight is two products of eight bits with eight
(128 · high + low), so that integer instructions do the work; both parts stay so small that no
instruction of any processor overflows on the way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from lamina_encoder import quick, reading
from onnx import TensorProto, helper

_OPSET = 17
_IR = 8
_HALF = 128.0  #: what a step of the high part is worth
_ZERO = 64  #: both parts lie around this, as bytes without a sign


class _Graph:
    """Nodes in the order in which they are computed, and where their weights lie."""

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        self._header, self._largest = header, iter(header["largest"])
        self._at = dict.fromkeys((reading.MATRICES, reading.NUMBERS), 0)
        self._starts = {name: _start(folder / name) for name in self._at}
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._known: dict[tuple[str, float], str] = {}
        self._count = 0

    def model(self) -> onnx.ModelProto:
        header = self._header
        width, wide = int(header["width"]), int(header["wide"])
        self._skip(int(header["pieces"]) + int(header["longest"]) * width)
        count, length = self._sizes("first")
        flat = self.do("Reshape", "first", self.whole([-1, width]))
        state = self._norm(flat, width)
        parts = [self._layer_weights(width, wide) for _ in range(int(header["layers"]))]
        self._skip(width * int(header["dimension"]))
        self.shares = self.double(self._numbers(int(header["shares"])))
        self.bend = self._numbers(2 * reading.BEND_REACH * reading.BEND_STEPS + 1)
        halfway = state
        for number, (mix, out, out_norm, up, down, down_norm) in enumerate(parts):
            mixed = self._attended(self._product(state, mix), count, length)
            state = self._even(self.do("Add", self._product(mixed, out), state), out_norm)
            bent = self._bent(self._product(state, up))
            state = self._even(self.do("Add", self._product(bent, down), state), down_norm)
            halfway = state if number == len(parts) // 2 else halfway
        shape = self.do("Concat", count, length, self.whole([width]), axis=0)
        self.do("Reshape", halfway, shape, name="halfway")
        self.do("Reshape", state, shape, name="states")
        given = helper.make_tensor_value_info("first", TensorProto.FLOAT, ["count", "length", width])
        told = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["count", "length", width])
            for name in ("halfway", "states")
        ]
        graph = helper.make_graph(self._nodes, "reading", [given], told, self._weights)
        imports = [helper.make_opsetid("", _OPSET)]
        return helper.make_model(graph, opset_imports=imports, ir_version=_IR, producer_name="lamina")

    # What a node is made of.

    def do(self, kind: str, *given: str, name: str = "", **how: Any) -> str:
        self._count += 1
        out = name or f"v{self._count}"
        self._nodes.append(helper.make_node(kind, list(given), [out], **how))
        return out

    def real(self, value: float, kind: int = TensorProto.FLOAT) -> str:
        return self._constant(f"f{kind}", value, lambda name: helper.make_tensor(name, kind, [], [value]))

    def wide(self, value: float) -> str:
        return self.real(value, TensorProto.DOUBLE)

    def whole(self, values: Sequence[int]) -> str:
        name = "w" + "_".join(str(value).replace("-", "m") for value in values)
        if all(one.name != name for one in self._weights):
            self._weights.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], list(values)))
        return name

    def double(self, one: str) -> str:
        return self.do("Cast", one, to=TensorProto.DOUBLE)

    def single(self, one: str) -> str:
        return self.do("Cast", one, to=TensorProto.FLOAT)

    def _constant(self, kind: str, value: float, make: Any) -> str:
        if (kind, value) not in self._known:
            self._known[kind, value] = name = f"c{len(self._known)}"
            self._weights.append(make(name))
        return self._known[kind, value]

    # Weights, in the order of the files.

    def _skip(self, count: int) -> None:
        self._at[reading.NUMBERS] += count

    def _outside(self, file: str, kind: int, size: int, shape: Sequence[int]) -> str:
        count, name = math.prod(shape), f"{file.split('.')[0]}{self._at[file]}"
        tensor = onnx.TensorProto(name=name, data_type=kind, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        places = {"location": file, "offset": self._starts[file] + size * self._at[file]}
        for key, value in (places | {"length": size * count}).items():
            tensor.external_data.add(key=key, value=str(value))
        self._at[file] += count
        self._weights.append(tensor)
        return name

    def _numbers(self, *shape: int) -> str:
        return self._outside(reading.NUMBERS, TensorProto.FLOAT, 4, shape)

    def _layer_weights(self, width: int, wide: int) -> tuple[Any, ...]:
        return (
            self._product_weights(width, 3 * width),
            self._product_weights(width, width),
            (self._numbers(width), self._numbers(width)),
            self._product_weights(width, wide),
            self._product_weights(wide, width),
            (self._numbers(width), self._numbers(width)),
        )

    def _product_weights(self, inner: int, outer: int) -> tuple[str, str, str, float]:
        matrix = self._outside(reading.MATRICES, TensorProto.INT8, 1, (inner, outer))
        return matrix, self._numbers(outer), self._numbers(outer), float(next(self._largest))

    # The steps, each as `lamina_encoder.reading` has it.

    def _sizes(self, given: str) -> tuple[str, str]:
        shape = self.do("Shape", given)
        return (
            self.do("Slice", shape, self.whole([0]), self.whole([1])),
            self.do("Slice", shape, self.whole([1]), self.whole([2])),
        )

    def _product(self, state: str, weights: tuple[str, str, str, float]) -> str:
        matrix, worth, bias, largest = weights
        top = self.do("ReduceMax", self.do("Abs", state), axes=[-1], keepdims=1)
        top = self.do("Max", top, self.real(1e-12))
        steps = self.do("Round", self.do("Mul", state, self.do("Div", self.real(largest), top)))
        high = self.do("Round", self.do("Mul", steps, self.real(1 / _HALF)))
        low = self.do("Sub", steps, self.do("Mul", high, self.real(_HALF)))
        both = self.do("Add", self.do("Concat", high, low, axis=0), self.real(_ZERO))
        bytes_ = self.do("Cast", both, to=TensorProto.UINT8)
        zero = self._constant(
            "u", _ZERO, lambda name: helper.make_tensor(name, TensorProto.UINT8, [], [_ZERO])
        )
        sums = self.single(self.do("MatMulInteger", bytes_, matrix, zero))
        first, second = f"h{self._count}", f"l{self._count}"
        self._nodes.append(helper.make_node("Split", [sums], [first, second], axis=0))
        sums = self.do("Add", self.do("Mul", first, self.real(_HALF)), second)
        scale = self.do("Mul", self.do("Div", top, self.real(largest)), worth)
        return self.do("Add", self.do("Mul", sums, scale), bias)

    def _norm(self, state: str, width: int) -> str:
        return self._even(state, (self._numbers(width), self._numbers(width)))

    def _even(self, state: str, weights: tuple[str, str]) -> str:
        count = self.wide(float(self._header["width"]))
        whole = self._rounded(state, reading._NORM, reading._NORM_LARGEST)
        mean = self.do("Div", self._sum(whole), count)
        square = self.do("Div", self._sum(self.do("Mul", whole, whole)), count)
        spread = self.do("Sub", square, self.do("Mul", mean, mean))
        root = self.do("Sqrt", self.do("Max", spread, self.wide(1.0)))
        even = self.do("Div", self.do("Sub", whole, mean), root)
        scaled = self.do("Mul", even, self.double(weights[0]))
        return self.single(self.do("Add", scaled, self.double(weights[1])))

    def _sum(self, one: str) -> str:
        return self.do("ReduceSum", one, self.whole([-1]), keepdims=1)

    def _rounded(self, one: str, steps: float, largest: float) -> str:
        whole = self.do("Round", self.do("Mul", self.double(one), self.wide(steps)))
        return self.do("Clip", whole, self.wide(-largest), self.wide(largest))

    def _attended(self, mix: str, count: str, length: str) -> str:
        width, heads = int(self._header["width"]), int(self._header["heads"])
        shape = self.do("Concat", count, length, self.whole([3, heads, width // heads]), axis=0)
        parts = self.do("Transpose", self.do("Reshape", mix, shape), perm=[2, 0, 3, 1, 4])
        query, key, value = (
            self._rounded(self.do("Gather", parts, self._index(at), axis=0), steps, largest)
            for at, steps, largest in (
                (0, reading._HEAD, reading._HEAD_LARGEST),
                (1, reading._HEAD, reading._HEAD_LARGEST),
                (2, reading._VALUE, reading._VALUE_LARGEST),
            )
        )
        likeness = self.do("MatMul", query, self.do("Transpose", key, perm=[0, 1, 3, 2]))
        step = reading.SHARE_STEPS / (reading._HEAD * reading._HEAD * np.sqrt(float(width // heads)))
        top = self.do("ReduceMax", likeness, axes=[-1], keepdims=1)
        below = self.do("Mul", self.do("Sub", top, likeness), self.wide(float(step)))
        place = self.do("Min", self.do("Round", below), self.wide(float(self._header["shares"] - 1)))
        share = self.do("Gather", self.shares, self.do("Cast", place, to=TensorProto.INT64))
        whole = self.do("Mul", self._sum(share), self.wide(reading._VALUE))
        mixed = self.do("Div", self.do("MatMul", share, value), whole)
        back = self.single(self.do("Transpose", mixed, perm=[0, 2, 1, 3]))
        return self.do("Reshape", back, self.whole([-1, width]))

    def _index(self, at: int) -> str:
        return self._constant("i", at, lambda name: helper.make_tensor(name, TensorProto.INT64, [], [at]))

    def _bent(self, state: str) -> str:
        reach = float(reading.BEND_REACH)
        inside = self.do("Clip", state, self.real(-reach), self.real(reach))
        moved = self.do("Mul", self.do("Add", inside, self.real(reach)), self.real(float(reading.BEND_STEPS)))
        place = self.do("Cast", self.do("Round", moved), to=TensorProto.INT32)
        beyond = self.do("Max", self.do("Sub", state, self.real(reach)), self.real(0.0))
        return self.do("Add", self.do("Gather", self.bend, place), beyond)


def _start(path: Path) -> int:
    """Where the numbers of a file begin."""
    numbers: np.memmap = np.load(path, mmap_mode="r")
    return int(numbers.offset)


def write(folder: Path, header: dict[str, Any]) -> None:
    """The graph beside the weights that a folder holds."""
    model = _Graph(folder, header).model()
    (folder / quick.GRAPH).write_bytes(model.SerializeToString(deterministic=True))
