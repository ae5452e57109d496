"""What an operation costs: multiply-adds by a table of operators, and bytes by the sizes of tensors.

Only products count, as in most tables of models: convolutions, matrix products, attention, recurrent cells.
Everything else moves or maps elements and counts 0. What is not known is None, never a guess: an operator
that no table here has, or one whose sizes the file leaves open. docs/Viewing.md has the table for readers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Tensor:
    """What is known of a value. A size that is not known is None, and so is the shape without a rank."""

    element: str  # f32, bf16, i64, ui8, i1, …
    shape: tuple[int | None, ...] | None

    @cached_property
    def elements(self) -> int | None:
        if self.shape is None:
            return None
        known = [size for size in self.shape if size is not None]
        return math.prod(known) if len(known) == len(self.shape) else None

    @cached_property
    def bytes(self) -> int | None:
        """As ONNX stores it: whole bytes for an element, two of 4 bits in one."""
        bits, elements = element_bits(self.element), self.elements
        return None if bits is None or elements is None else -(-elements * bits // 8)

    def __str__(self) -> str:
        return self.text

    @cached_property
    def text(self) -> str:
        if self.shape is None:
            return f"{self.element}[…]"
        return f"{self.element}[{','.join('?' if d is None else str(d) for d in self.shape)}]"


def element_bits(element: str) -> int | None:
    """f32: 32; bf16: 16; f8E4M3FN: 8; i1 (a bool): 8; complex<f32>: 64."""
    if element.startswith("complex<"):
        inner = element_bits(element[8:-1])
        return None if inner is None else 2 * inner
    digits = ""
    for letter in element.lstrip("abcdefghijklmnopqrstuvwxyz"):
        if not letter.isdigit():
            break
        digits += letter
    if not digits:
        return None
    return 8 if element in ("i1", "ui1", "si1") else int(digits)


@dataclass(frozen=True)
class Operation:
    """An operator with what is known of its operands; a missing operand is None."""

    op_type: str
    domain: str
    inputs: Sequence[Tensor | None]
    outputs: Sequence[Tensor | None]
    attributes: Mapping[str, Any]

    def sizes(self, index: int) -> tuple[int | None, ...]:
        """Of an input: unknown where it is missing or its rank is not known."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        if tensor is None or tensor.shape is None:
            raise _Unknown
        return tensor.shape

    def size(self, index: int, axis: int) -> int:
        sizes = self.sizes(index)
        if not -len(sizes) <= axis < len(sizes):
            raise _Unknown
        return _known(sizes[axis])

    def made(self) -> int:
        """Elements of the first output."""
        first = self.outputs[0] if self.outputs else None
        return _known(first.elements if first else None)

    def number(self, name: str, default: int | None = None) -> int:
        value = self.attributes.get(name, default)
        if not isinstance(value, int):
            raise _Unknown
        return value


class _Unknown(Exception):
    pass


def _known(value: int | None) -> int:
    if value is None:
        raise _Unknown
    return value


def multiply_adds(op: Operation) -> int | None:
    """How many multiply-adds an operation does; None where that is not known."""
    if not has_products(op.op_type, op.domain):
        return no_products(op.op_type, op.domain)
    try:
        return _PRODUCTS[op.op_type](op)
    except (_Unknown, ZeroDivisionError):
        return None


def has_products(op_type: str, domain: str) -> bool:
    """Whether the table has a rule for an operator."""
    return op_type in _PRODUCTS and domain in _KNOWN_DOMAINS


def is_product(op_type: str) -> bool:
    """Whether an operator of this name multiplies and adds, also in a domain of an engine's own."""
    return op_type in _PRODUCTS


def no_products(op_type: str, domain: str) -> int | None:
    """Of an operator without a rule: 0 where it is known to multiply nothing, else None."""
    free = domain in _KNOWN_DOMAINS and op_type in _WITHOUT_PRODUCTS
    return 0 if free or domain in ("", "ai.onnx", "ai.onnx.ml") else None


# --- rules: each says how often an element of the output is added to, times the elements -------------------


def _matmul(op: Operation) -> int:
    """MatMul and its fused and quantized forms: every element of the result sums over the last axis of A."""
    transposed = op.attributes.get("transA", 0)
    return op.made() * op.size(0, -2 if transposed and len(op.sizes(0)) > 1 else -1)


def _gemm(op: Operation) -> int:
    return op.made() * op.size(0, 0 if op.attributes.get("transA", 0) else 1)


def _packed(op: Operation) -> int:
    """Weights in blocks of a few bits: the attribute K is the axis that is summed over."""
    return op.made() * op.number("K")


def _conv(op: Operation, weight: int = 1) -> int:
    """Every element of the result sums over a window of the weight: (out, in / group, kernel…)."""
    sizes = [_known(size) for size in op.sizes(weight)]
    return op.made() * math.prod(sizes[1:])


def _qlinear_conv(op: Operation) -> int:
    return _conv(op, weight=3)


def _conv_transpose(op: Operation) -> int:
    """Every element of the input is spread by a window of the weight: (in, out / group, kernel…)."""
    sizes = [_known(size) for size in op.sizes(1)]
    given = math.prod(_known(size) for size in op.sizes(0))
    return given * math.prod(sizes[1:])


def _recurrent(gates: int) -> Callable[[Operation], int]:
    """Steps × batch × directions × gates × hidden × (input + hidden)."""

    def rule(op: Operation) -> int:
        steps, batch = op.size(0, 0), op.size(0, 1)
        directions, rows, width = (op.size(1, axis) for axis in range(3))
        return steps * batch * directions * rows * (width + rows // gates)

    return rule


def _einsum(op: Operation) -> int:
    """The product of the sizes of all letters, once for every operand after the first."""
    equation = op.attributes.get("equation")
    if not isinstance(equation, str) or "." in equation:
        raise _Unknown
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    letters: dict[str, int] = {}
    for index, term in enumerate(terms):
        if len(term) != len(op.sizes(index)):
            raise _Unknown
        letters |= {letter: op.size(index, axis) for axis, letter in enumerate(term)}
    return (len(terms) - 1) * math.prod(letters.values())


def _scores(batch: int, length: int, keys: int, width: int, value_width: int) -> int:
    """Queries with keys, then the weights with values; `width` is that of all heads together."""
    return batch * length * keys * (width + value_width)


def _attention(op: Operation) -> int:
    """ONNX's own: (batch, heads, length, size), or (batch, length, heads * size) with the numbers of heads."""
    query, key, value = op.sizes(0), op.sizes(1), op.sizes(2)
    if len(op.inputs) > 4 and op.inputs[4] is not None:  # what came before, beside the new keys
        past = op.size(4, 2)
    else:
        past = 0
    if len(query) == 4:
        heads, keys = op.size(0, 1), op.size(1, 2) + past
        return _scores(
            op.size(0, 0), op.size(0, 2), keys, heads * op.size(0, 3), heads * op.size(2, 3)
        )
    if len(query) != 3 or len(key) != 3 or len(value) != 3:
        raise _Unknown
    heads, groups = op.number("q_num_heads"), op.number("kv_num_heads")
    return _scores(
        op.size(0, 0),
        op.size(0, 1),
        op.size(1, 1) + past,
        op.size(0, 2),
        op.size(2, 2) * heads // groups,
    )


def _multi_head_attention(op: Operation) -> int:
    """com.microsoft: query (batch, length, width), key and value (batch, keys, width), or by heads."""
    query = op.sizes(0)
    if len(query) != 3 or len(op.inputs) < 3 or op.inputs[1] is None or op.inputs[2] is None:
        raise _Unknown  # packed keys, whose widths the file does not say
    by_heads = len(op.sizes(1)) == 4
    if by_heads:
        keys, value_width = op.size(1, 2), op.size(2, 1) * op.size(2, 3)
    else:
        keys, value_width = op.size(1, 1), op.size(2, 2)
    if len(op.inputs) > 6 and op.inputs[6] is not None:
        keys += op.size(6, 2)
    return _scores(op.size(0, 0), op.size(0, 1), keys, op.size(0, 2), value_width)


def _packed_attention(op: Operation) -> int:
    """com.microsoft Attention: one projection to queries, keys and values, then the scores."""
    if len(op.inputs) > 4 and op.inputs[4] is not None:
        raise _Unknown  # a cache: how much of it is filled is not a size
    batch, length, width = (op.size(0, axis) for axis in range(3))
    columns = op.size(1, 1)
    parts = op.attributes.get("qkv_hidden_sizes") or [columns // 3] * 3
    return batch * length * width * columns + _scores(batch, length, length, parts[0], parts[2])


def _group_query_attention(op: Operation) -> int:
    """com.microsoft: the keys that are there after the step are those of `present_key`."""
    present = op.outputs[1] if len(op.outputs) > 1 else None
    if present is None or present.shape is None or len(present.shape) != 4:
        raise _Unknown
    heads, size = op.number("num_heads"), _known(present.shape[3])
    keys = _known(present.shape[2])
    return _scores(op.size(0, 0), op.size(0, 1), keys, heads * size, heads * size)


_KNOWN_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "com.ms.internal.nhwc")

#: Operators that multiply and add.
_PRODUCTS: dict[str, Callable[[Operation], int]] = {
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "MatMulIntegerToFloat": _matmul,
    "DynamicQuantizeMatMul": _matmul,
    "FusedMatMul": _matmul,
    "FusedMatMulActivation": _matmul,
    "TransposeMatMul": _matmul,
    "QLinearMatMul": _matmul,
    "Gemm": _gemm,
    "FusedGemm": _gemm,
    "GemmFastGelu": _matmul,
    "QGemm": _gemm,
    "MatMulNBits": _packed,
    "MatMulBnb4": _packed,
    "Conv": _conv,
    "ConvInteger": _conv,
    "FusedConv": _conv,
    "NhwcFusedConv": _conv,
    "QLinearConv": _qlinear_conv,
    "ConvTranspose": _conv_transpose,
    "RNN": _recurrent(1),
    "GRU": _recurrent(3),
    "LSTM": _recurrent(4),
    "Einsum": _einsum,
    "MultiHeadAttention": _multi_head_attention,
    "GroupQueryAttention": _group_query_attention,
    "QAttention": _packed_attention,
}


def _any_attention(op: Operation) -> int:
    return _attention(op) if op.domain in ("", "ai.onnx") else _packed_attention(op)


_PRODUCTS["Attention"] = _any_attention

#: Operators of ONNX Runtime that map, normalize, move or quantize elements.
_WITHOUT_PRODUCTS = frozenset(
    """
    BiasAdd BiasGelu BiasSoftmax BiasSplitGelu FastGelu Gelu QuickGelu EmbedLayerNormalization LayerNormalization
    SkipLayerNormalization SkipSimplifiedLayerNormalization SimplifiedLayerNormalization GroupNorm SkipGroupNorm
    RotaryEmbedding GatherBlockQuantized GatherND QuantizeLinear DequantizeLinear DynamicQuantizeLinear
    QLinearAdd QLinearMul QLinearSigmoid QLinearSoftmax QLinearLeakyRelu QLinearAveragePool QLinearGlobalAveragePool
    QLinearConcat QLinearWhere QLinearReduceMean QEmbedLayerNormalization ReorderInput ReorderOutput NhwcMaxPool MaxPool
    AveragePool GlobalAveragePool Trilu Pad Unique ExpandDims RemovePadding RestorePadding
    MulInteger ReduceSumInteger Range CropAndResize Upsample
    """.split()
)
