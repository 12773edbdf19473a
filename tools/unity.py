#!/usr/bin/env python3
"""Writes source files that compile several of ours as one: unity.py FOLDER ROOM... (rooms of src/)

A first build is mostly the same headers read again and again; files that are compiled together read them once. Each file
made includes what its sources include, then the sources. A name that a source keeps to itself (in an unnamed
namespace, static, a constant or a type of a source file) must not meet the same word of another one: it gets a number
by a macro around that source. Where that cannot be done, because the name is a member's too or a header that
the source reads declares it as well, it must not be a name, a call or a type of the other source: then the two are compiled
apart. So nobody has to choose names with other files in mind.
Sources that define a macro or have flags of their own are left alone; `using namespace` must be the same in all of a group.

Prints "ROOM<tab>MADE FILE<tab>SOURCE" for each source that was joined. Called by CMake when SONDE_UNITY is on. A file made is
written only when it changed, and the order of the sources decides, so an edit moves few of them.
"""

import functools
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 4000  # of one group: keeps every core busy to the end, and a compiler under 1 GB

SKIPPED = re.compile(  # comments and texts
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])\'(?:[^\'\\\n]|\\.)+\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
CONDITIONAL = re.compile(r"^[ \t]*#\s*if.*?^[ \t]*#\s*endif", re.M | re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"][^>"]+[>"])', re.M)
MACRO = re.compile(r"^\s*#\s*define\b", re.M)
OPENED = re.compile(r"\busing\s+namespace\s+(?![\w:]+_literals\b)([\w:]+)")  # suffixes of numbers are in nobody's way
ALONE = re.compile(r"(_avx2|/fmt_library|/main|/base/regex)\.cc$")  # flags of their own; RE2, whose archive no shared object can hold
WORD = re.compile(r"(?<![\w.])(?<!->)(?<!std::)[A-Za-z_]\w*")  # members and names of std cannot be meant
REACHED = re.compile(r"(?:\.|->|::)\s*([A-Za-z_]\w*)")
CALLED = re.compile(r"(?<![\w.:])(?<!->)([A-Za-z_]\w*)\s*(?:<[^<>;(){}]*>\s*)?[({]")  # without a scope: what is found depends on what was declared before
TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+([A-Za-z_]\w*)")
UNSCOPED = re.compile(r"\benum\b(?!\s+(?:class|struct)\b)[^()]*$")
EXTERN = re.compile(r"\bextern\s+(?!\"\")([^;{}()]*);")  # what the linker knows though it is const
ALIAS = re.compile(r"\b(?:using|namespace)\s+([A-Za-z_]\w*)\s*=")
NAME_BEFORE = re.compile(r"(?:^|[^\w:])([A-Za-z_]\w*)\s*(?:\[[^]]*\]\s*)*$")


def plain(text: str) -> str:
    """The text without comments, strings and preprocessor lines."""
    return DIRECTIVE.sub("", SKIPPED.sub(lambda found: " " if found[0].startswith("/") else '""', text))


def declared(head: str, unnamed: bool, is_definition: bool) -> set[str]:
    """The names that a declaration, read up to its brace or semicolon, keeps to its source file."""
    head = re.sub(r"\[\[.*?\]\]", " ", head)
    while (shorter := re.sub(r"<[^<>;{}]*>", " ", head)) != head:
        head = shorter  # without template arguments
    if re.search(r"\busing\s+namespace\b|\bstatic_assert\b", head):
        return set()
    if found := ALIAS.search(head):
        return {found[1]}
    if re.search(r"\benum\s*(?::[^(]*)?$", head):
        return set()  # only its words have names
    if re.search(TYPE.pattern + r"\s*::", head) and "(" not in head:
        return set()  # struct Outer::Inner {: a header has it
    kind = TYPE.search(head)
    if kind and "(" not in head and "=" not in head:
        return {kind[1]} if unnamed or is_definition else set()
    before = re.split(r"[(=]", head, maxsplit=1)[0]
    is_variable = "(" not in head or "=" in head.split("(", 1)[0]
    if not unnamed and not re.search(r"\b(?:static|constexpr|inline)\b" + (r"|\b(?:const|constinit)\b" if is_variable else ""), before):
        return set()  # the linker knows it: no other file can have it
    found = NAME_BEFORE.search(before)
    return {found[1]} if found else set()


def own_names(text: str) -> set[str]:
    """The names that a source file keeps to itself."""
    names: set[str] = set()
    scopes: list[str] = []  # "unnamed" and "named" namespaces, "list" of an enum's words, "other" for every other brace
    head, parentheses = "", 0
    for piece in re.split(r"([{}();])", plain(text)):
        at_namespace = not scopes or scopes[-1] in ("unnamed", "named")
        if piece == "{" and (parentheses or not at_namespace):
            scopes.append("other")
        elif piece == "{":
            found = re.search(r'\b(?:namespace\s*([\w:]*)|extern\s*"")\s*$', head)
            if found:
                scopes.append("named" if found[1] or found[0].startswith("extern") else "unnamed")
            else:
                names |= declared(head, "unnamed" in scopes, is_definition=True)
                scopes.append("list" if UNSCOPED.search(head) else "other")
            head = ""
        elif piece == "}":
            if scopes:
                scopes.pop()
        elif not at_namespace and not parentheses:
            names |= set(WORD.findall(piece)) if scopes[-1] == "list" else set()
        elif piece == ";" and not parentheses:
            names |= declared(head, "unnamed" in scopes, is_definition=False)
            head = ""
        elif at_namespace or piece in "()":
            parentheses += {"(": 1, ")": -1}.get(piece, 0)
            head += piece if at_namespace else ""
    for found in EXTERN.findall(plain(text)):
        names -= {part.split()[-1].lstrip("*&") for part in found.split(",") if part.split()}
    return names - {"return", "const", "constexpr", "override", "noexcept", "default", "delete", "operator"}


@functools.cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@functools.cache
def words_of(path: Path) -> frozenset[str]:
    return frozenset(WORD.findall(plain(text_of(path))))


@functools.cache
def names_of_header(path: Path) -> frozenset[str]:
    """What a header declares outside of types."""
    return frozenset(own_names("namespace {" + plain(text_of(path)) + "}"))


def header_named(name: str) -> Path | None:
    return next((p for p in (ROOT / "src" / name[1:-1], ROOT / "include" / name[1:-1]) if p.is_file()), None) if name[0] == '"' else None


def headers_of(path: Path) -> set[Path]:
    """Our own headers a file reads, through other headers too."""
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        for name in INCLUDE.findall(text_of(waiting.pop())):
            header = header_named(name)
            if header and header not in seen:
                seen.add(header)
                waiting.append(header)
    return seen


class Source:
    """One file and what decides whether it can be joined with others."""

    def __init__(self, path: Path) -> None:
        text = text_of(path)
        self.path = path
        self.lines = text.count("\n")
        self.own = own_names(text)
        headers = headers_of(path)
        self.words = words_of(path).union(*(words_of(h) for h in headers))
        known = frozenset().union(*(names_of_header(h) for h in headers))
        self.fixed = self.own & known.union(REACHED.findall(plain(text)))  # cannot be numbered
        # Where a name of another source would be taken for one that is meant here. Members, parameters and variables of a function
        # hide it.
        self.meant = self.own | known | set(CALLED.findall(plain(text)))
        self.opened = frozenset(OPENED.findall(plain(text)))
        self.includes = dict.fromkeys(INCLUDE.findall(CONDITIONAL.sub("", text)))

    def agrees_with(self, other: "Source") -> bool:
        return self.opened == other.opened and self.fixed.isdisjoint(other.meant) and other.fixed.isdisjoint(self.meant)


def groups(files: list[Path]) -> list[list[Source]]:
    """Sources of one room in groups that may be compiled as one."""
    made: list[list[Source]] = []
    for source in (Source(p) for p in files if not MACRO.search(text_of(p)) and not ALONE.search(str(p))):
        fitting = (g for g in made if sum(s.lines for s in g) + source.lines <= MOST_LINES and all(source.agrees_with(s) for s in g))
        group = next(fitting, None)
        if group is None:
            made.append(group := [])
        group.append(source)
    return [group for group in made if len(group) > 1]


def joined(group: list[Source]) -> str:
    lines = ["// Made by tools/unity.py: several sources compiled as one."]
    includes = dict.fromkeys(name for source in group for name in source.includes)
    lines += [f"#include {name}" for name in sorted(includes, key=lambda n: n[0] == '"')]
    for number, source in enumerate(group, 1):
        others = frozenset().union(*(s.words for s in group if s is not source))
        clashes = sorted(source.own & others - source.fixed)
        lines += [f"#define {name} {name}_{number}" for name in clashes]
        lines += [f'#include "{source.path.relative_to(ROOT / "src")}"']
        lines += [f"#undef {name}" for name in clashes]
    return "\n".join(lines) + "\n"


def sources(room: str) -> list[Path]:
    return sorted(p for p in (ROOT / "src" / room).rglob("*.cc") if not p.name.endswith("_test.cc"))


def main(folder: Path, rooms: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    kept = set()
    for room in rooms:
        for number, group in enumerate(groups(sources(room))):
            made = folder / f"{room.replace('/', '_')}_{number}.cc"
            kept.add(made)
            text = joined(group)
            if not made.exists() or made.read_text() != text:
                made.write_text(text)
            for source in group:
                print(f"{room}\t{made}\t{source.path}")
    for stale in set(folder.glob("*.cc")) - kept:
        stale.unlink()
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
