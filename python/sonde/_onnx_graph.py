"""An ONNX model as GraphDef: its inputs and outputs as variables, a node an operator named by its first output."""

from __future__ import annotations

from typing import Any

from ._wire import Message, shape


def graph_def(path: Any) -> bytes:
    import onnx  # type: ignore[import-not-found]

    model = onnx.load(path).graph
    message = Message()
    for value in [*model.input, *model.output]:
        kind = value.type.tensor_type
        node = Message().text(1, value.name).text(2, "Variable")
        node.bytes(5, Message().text(1, "dtype").bytes(2, Message().varint(6, kind.elem_type)))
        sizes = shape(d.dim_value for d in kind.shape.dim)
        node.bytes(5, Message().text(1, "shape").bytes(2, Message().bytes(7, sizes)))
        message.bytes(1, node)
    for operator in model.node:
        node = Message().text(1, operator.output[0]).text(2, operator.op_type)
        for one in operator.input:
            node.bytes(3, one.encode())
        attributes = ", ".join(" = ".join(str(f[1]) for f in a.ListFields()) for a in operator.attribute)
        node.bytes(5, Message().text(1, "parameters").bytes(2, Message().bytes(2, attributes.encode())))
        message.bytes(1, node)
    return bytes(message.bytes(4, Message().varint(1, 22)))
