"""The diffs of docs/extending.md, applied to a tree."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def exercises():
    """(title, [(path, is_new, lines of the diff)]) of each."""
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    for title, block in re.findall(r"^## (.+?)\n.*?```diff\n(.*?)```", text, re.S | re.M):
        files = re.split(r"^--- ", block, flags=re.M)[1:]
        yield title, [(re.match(r".*\n\+\+\+ b/(\S+)\n", one)[1], one.startswith("/dev/null"), one.split("\n", 2)[2].splitlines()) for one in files]


def changed(lines, diff, path):
    """The file's lines after the diff: context and removed lines are looked for in order, new ones stand behind them."""
    at, out = 0, list(lines)
    for line in diff:
        mark, text = line[:1], line[1:]
        if mark == "+":
            out.insert(at, text)
            at += 1
            continue
        found = next((i for i in range(at, len(out)) if out[i] == text), None)
        assert found is not None, f"docs/extending.md: {path} has no line {text!r} (any more)"
        if mark == "-":
            del out[found]
            at = found
        else:
            at = found + 1
    return out


def apply(tree, files):
    for name, is_new, diff in files:
        path = Path(tree) / name
        if is_new:
            assert not path.exists(), f"docs/extending.md adds {name}, which is there already"
            assert all(line.startswith("+") for line in diff), f"docs/extending.md: {name} is new and has lines without +"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(line[1:] for line in diff) + "\n", encoding="utf-8")
        else:
            lines = changed(path.read_text(encoding="utf-8").splitlines(), diff, name)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
