"""Runs the statements around a call again: those that made the values which a bad step worked on.

A frame of the user's program still holds the values of its names when a hook finds that something went wrong. The
statements before the frame's line that made a bad value, or one that gradients flow through, are run again in a copy of
those names; what is finite is taken as it is, so data are not read and random numbers not drawn a second time.
"""

from __future__ import annotations

import ast
import linecache
import sys
from typing import Any, NamedTuple

from ._tfdbg import is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

MOST_FRAMES = 8
_NEVER = {"backward", "step", "zero_grad", "next", "input", "open"}  # calls that change more than names


class Place(NamedTuple):
    """A line of the user's program and what its names held."""

    path: str
    line: int
    function: str
    first_line: int
    names: dict[str, Any]


def places(frame: FrameType | None) -> list[Place]:
    """The user's own frames from here outwards, innermost first."""
    found: list[Place] = []
    while frame is not None and len(found) < MOST_FRAMES:
        code = frame.f_code
        if is_own(code.co_filename):
            names = {**frame.f_globals, **frame.f_locals}
            found.append(Place(code.co_filename, frame.f_lineno, code.co_name, code.co_firstlineno, names))
        frame = frame.f_back
    return found


def current_places(depth: int = 1) -> list[Place]:
    """Of this thread; of another one that waits for it where this one has none (a device's backward pass)."""
    found = places(sys._getframe(depth))
    for frame in () if found else sys._current_frames().values():
        found = found or places(frame)
    return found


def _names(node: ast.AST, context: type) -> set[str]:
    """Names that a statement reads (ast.Load) or writes (ast.Store), attributes as `self.loss`."""
    found: set[str] = set()
    for part in ast.walk(node):
        kind = getattr(part, "ctx", None)
        if isinstance(part, ast.Name) and isinstance(kind, context):
            found.add(part.id)
        elif isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.value, ast.Name):
            if isinstance(part, ast.Attribute) and isinstance(kind, context):
                found.add(f"{part.value.id}.{part.attr}")
            if isinstance(kind, ast.Store):  # x[0] = ... changes x, and needs it
                found.add(part.value.id)
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            found.add(part.target.id)
    return found


def _is_harmless(node: ast.AST) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            name = getattr(part.func, "attr", getattr(part.func, "id", ""))
            if name in _NEVER:
                return False
        if isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Break, ast.Continue, ast.Import)):
            return False
    return True


def _value(names: dict[str, Any], name: str) -> Any:
    base, _, attribute = name.partition(".")
    value = names.get(base)
    return getattr(value, "__dict__", {}).get(attribute) if attribute else value


def _around(place: Place) -> tuple[ast.stmt, list[ast.stmt]] | None:
    """The statement of a place, and those before it in its block and the blocks around, in order."""
    try:
        tree: ast.AST = ast.parse("".join(linecache.getlines(place.path)))
    except SyntaxError:
        return None
    if place.function != "<module>":
        own = [
            node
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name == place.function
            and min([node.lineno, *(d.lineno for d in node.decorator_list)]) == place.first_line
        ]
        if len(own) != 1:
            return None
        tree = own[0]
    before: list[ast.stmt] = []
    target: ast.stmt | None = None
    while True:
        blocks = [getattr(tree, name, None) or [] for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(tree, "handlers", ())]
        for block in blocks:
            at = next((i for i, s in enumerate(block) if s.lineno <= place.line <= (s.end_lineno or s.lineno)), None)
            if at is not None:
                before += block[:at]
                target = tree = block[at]
                break
        else:
            break
        if isinstance(target, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
    return None if target is None else (target, before)


def sliced(place: Place, is_open: Callable[[Any], bool]) -> tuple[list[ast.stmt], bool] | None:
    """The statements that made what the place's statement works on, and whether all of it was found.

    is_open    says of a value that it has to be made again
    """
    found = _around(place)
    if found is None:
        return None
    target, before = found
    if isinstance(target, ast.Return) and target.value is not None:
        target = ast.copy_location(ast.Expr(target.value), target)
    if isinstance(target, (ast.For, ast.While, ast.If, ast.With, ast.Try)):
        return None  # the line is in its head
    wanted = {n for n in _names(target, ast.Load) if is_open(_value(place.names, n))}
    made: list[ast.stmt] = []
    for statement in reversed(before):
        writes = _names(statement, ast.Store)
        if not writes & wanted or not _is_harmless(statement):
            continue
        made.insert(0, statement)
        reads = {n for n in _names(statement, ast.Load) if is_open(_value(place.names, n))}
        wanted = (wanted - writes) | reads
    return [*made, target], not wanted


def _hands_in(place: Place, is_open: Callable[[Any], bool]) -> bool:
    found = _around(place)
    return found is not None and any(is_open(_value(place.names, n)) for n in _names(found[0], ast.Load))


def between_backward_and(place: Place) -> list[ast.stmt]:
    """What stands between the last backward() and the place's statement, in one block."""
    found = _around(place)
    if found is None:
        return []
    behind: list[ast.stmt] = []
    for statement in reversed(found[1]):
        calls = {getattr(c.func, "attr", "") for c in ast.walk(statement) if isinstance(c, ast.Call)}
        if "backward" in calls:
            return [s for s in behind if _is_harmless(s)]
        behind.insert(0, statement)
    return []


def chosen(candidates: list[Place], is_open: Callable[[Any], bool]) -> tuple[list[ast.stmt], Place] | None:
    """The statements of the innermost place that has all of them; of the innermost at all otherwise.

    A statement further out that hands none of these values in would run more than the step again: never.
    """
    partial: tuple[list[ast.stmt], Place] | None = None
    for place in candidates:
        if partial is not None and not _hands_in(place, is_open):
            break
        found = sliced(place, is_open)
        if found is None:
            break
        if found[1]:
            return found[0], place
        partial = partial or (found[0], place)
    return partial


def execute(statements: list[ast.stmt], place: Place) -> None:
    """Compiled for the user's own file and lines, so that what they call is found there."""
    code = compile(ast.Module(body=statements, type_ignores=[]), place.path, "exec")
    exec(code, dict(place.names))
