"""A torch module as GraphDef: traced, named by module scope, the way torch.utils.tensorboard names it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ._wire import Message, shape


@dataclass
class _Node:
    name: str  # of the value; becomes scope/name
    op: str
    inputs: list[str] = field(default_factory=list)
    attributes: str = ""
    size: Any = None
    scope: str = ""


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Dropout and the like are drawn as they are in evaluation."""
    training = getattr(model, "training", None)
    if training is not None:
        model.train(False)
    try:
        yield
    finally:
        if training is not None:
            model.train(training)


def _size(value: Any) -> Any:
    return value.type().sizes() if value.isCompleteTensor() else None


def _attributes(node: Any) -> str:
    found = {name: getattr(node, node.kindOf(name))(name) for name in node.attributeNames()}
    return str(found).replace("'", " ")


def _modules(trace: Any) -> tuple[str, dict[str, str]]:
    """The name of the whole model, and `__module.a.b` -> `Class[b]`."""

    def name_of(module: Any) -> str:
        return str(getattr(module, "_name", None) or getattr(module, "original_name", "Module"))

    names = {
        path: f"{name_of(module)}[{path.split('.')[-1]}]" for path, module in trace.named_modules(prefix="__module")
    }
    return name_of(trace), names


def _operations(graph: Any) -> Iterator[_Node]:
    """One node a value that an operation makes. Access to submodules is no operation: the scope says it."""
    scopes: dict[str, str] = {}
    for node in graph.nodes():
        scope = node.scopeName()
        if node.kind() == "prim::GetAttr":
            parent, attribute = node.input().node(), node.s("name")
            if parent.kind() == "prim::GetAttr":
                above = scopes[parent.output().debugName()]
                scope = f"{above}/{above.split('/')[-1]}.{attribute}"
            else:
                scope = f"__module.{attribute}"
            scopes[node.output().debugName()] = scope
            if node.output().type().kind() == "ClassType":
                continue
        inputs = [value.debugName() for value in node.inputs()]
        for output in node.outputs():
            yield _Node(output.debugName(), node.kind(), inputs, _attributes(node), _size(output), scope)


def _nodes(graph: Any, trace: Any) -> list[_Node]:
    base, modules = _modules(trace)
    ends = []
    names: dict[str, str] = {}  # of a value in the trace -> of its node in the drawing
    operations = list(_operations(graph))
    for node in operations:
        parts = [modules.get(part, part.split(".")[-1]) for part in node.scope.split("/")]
        node.scope = "/".join([base, *parts]) if any(parts) else base
        for value in node.inputs:
            names[value] = f"{node.scope}/{value}"
    for node in operations:
        names[node.name] = f"{node.scope}/{node.name}"
    for value in graph.inputs():
        if len(value.uses()) > 0 and value.type().kind() != "ClassType":
            names[value.debugName()] = f"input/{value.debugName()}"
            ends.append(_Node(names[value.debugName()], "IO Node", size=_io_size(value)))
    for i, value in enumerate(graph.outputs(), 1):
        ends.append(_Node(f"output/output.{i}", "IO Node", [value.debugName()], size=_io_size(value)))
    for node in operations:
        node.name = names[node.name]
    for node in ends + operations:
        node.inputs = [names[value] for value in node.inputs]
    return ends + operations


def _io_size(value: Any) -> Any:
    try:
        return value.type().sizes()
    except RuntimeError:
        return [1]


def _encoded(node: _Node) -> Message:
    out = Message().text(1, node.name).text(2, node.op)
    for one in node.inputs:
        out.bytes(3, one.encode())
    out.bytes(5, Message().text(1, "attr").bytes(2, Message().bytes(2, node.attributes.encode())))
    if node.size is not None:
        shapes = Message().bytes(1, Message().bytes(7, shape(node.size)))
        out.bytes(5, Message().text(1, "_output_shapes").bytes(2, shapes))
    return out


def _traced(model: Any, args: Any, verbose: bool, strict: bool) -> list[_Node]:
    import torch

    trace = torch.jit.trace(model, args, strict=strict)
    traced = trace.graph
    torch._C._jit_pass_inline(traced)
    if verbose:
        print(traced)
    return _nodes(traced, trace)


def _exported(model: Any, args: Any) -> list[_Node]:
    """torch.export: for models that a trace cannot follow."""
    import torch

    inputs = args if isinstance(args, tuple) else (args,)
    nodes = []
    for node in torch.export.export(model, inputs).graph.nodes:
        stack = node.meta.get("nn_module_stack") or {}
        path = next(reversed(stack.values()), ("", ""))[0] if stack else ""
        value = node.meta.get("val")
        nodes.append(
            _Node(
                node.name,
                "IO Node" if node.op in ("placeholder", "output") else str(node.target),
                [one.name for one in node.all_input_nodes],
                size=list(value.shape) if hasattr(value, "shape") and all(isinstance(d, int) for d in value.shape) else None,
                scope="/".join([type(model).__name__, *filter(None, path.split("."))]),
            )
        )
    full = {node.name: f"{node.scope}/{node.name}" for node in nodes}
    for node in nodes:
        node.name, node.inputs = full[node.name], [full[one] for one in node.inputs]
    return nodes


def _module_tree(model: Any) -> list[_Node]:
    """The modules alone, without data flow: what is known of any model."""
    base = type(model).__name__
    nodes = []
    for path, module in model.named_modules():
        if path and not any(True for _ in module.children()):
            count = sum(p.numel() for p in module.parameters())
            nodes.append(_Node(f"{base}/{path.replace('.', '/')}", type(module).__name__, attributes=f"parameters: {count}"))
    return nodes


def graph(
    model: Any, args: Any, verbose: bool = False, use_strict_trace: bool = True
) -> tuple[tuple[bytes, bytes] | None, str]:
    """GraphDef and RunMetadata (one CPU device) of a model, and a note when it is not the traced one.

    Never raises: a model that cannot be traced is exported, or drawn as the tree of its modules.
    """
    first = ""
    ways: list[Callable[[], Any]] = [lambda: _traced(model, args, verbose, use_strict_trace), lambda: _exported(model, args), lambda: _module_tree(model)]
    names = ["traced", "exported graph", "module tree"]
    with _evaluating(model):
        for way, name in zip(ways, names, strict=True):
            try:
                nodes = way()
            except Exception as problem:
                first = first or f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem) else ''}"
                continue
            if not nodes:
                continue
            message = Message()
            for node in nodes:
                message.bytes(1, _encoded(node))
            message.bytes(4, Message().varint(1, 22))
            device = Message().bytes(1, Message().bytes(1, Message().text(1, "/device:CPU:0")))
            note = f"add_graph could not trace the model ({first}); its {name} is logged instead" if first else ""
            return (bytes(message), bytes(device)), note
    return None, f"add_graph: no graph could be made of the model ({first})"
