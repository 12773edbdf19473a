"""Which suites a change can touch, for `./test --changed`: fewer than all, never fewer than the change deserves."""

import subprocess
from pathlib import Path

ENGINE = ["src/base/", "src/codec/", "src/io/"]
# suite -> beginnings of paths; a suite that is not listed runs whenever src/ changes.
TOUCHES = {
    "check": [""],
    "unit": ["src/", "include/", "tests/support/", "tests/api/", "tests/data/", "cmake/", "CMakeLists.txt"],
    "setup": ["tools/", "run", "test", "tests/setup/"],
    "engine": [*ENGINE, "src/log/", "src/cli/", "tests/engine/", "tests/data/corpus/"],
    "http": ["src/http/", "src/api/", "src/cli/", "src/base/", "tests/http/", "tests/api/", "docs/api/"],
    "writers": ["src/log/write/", "src/image/", "python/", "include/", "tests/writers/", "examples/", "pyproject.toml"],
    "compat": [*ENGINE, "src/log/", "src/api/", "src/text/", "src/graph/", "src/embed/", "tests/compat/", "tests/data/corpus/"],
    "compat-data-server": [*ENGINE, "src/log/", "src/api/", "src/http/grpc", "src/cli/data_server", "tests/compat/"],
    "scale": [*ENGINE, "src/log/", "src/table/", "src/cli/", "src/capture/sql/", "tests/scale/"],
    "compat-attacks": ["src/text/", "tests/compat/attacks"],
    "profile-story": ["src/capture/", "src/cli/", "tests/profile/", "tests/data/profile/"],
    "profile-numbers": ["src/capture/", "tests/profile/", "tests/data/profile/"],
    "whatif": [*ENGINE, "src/whatif/", "src/embed/files/", "src/api/", "src/cli/", "python/sonde/whatif.py", "tests/whatif/"],
    "page-types": ["web/"],
    "page-unit": ["web/"],
    "page-browser": ["web/src/", "web/index.html", "tests/browser/"],
}
# Folders of the page whose browser suite has another name; the rest are named alike.
BROWSER = {"time_series": ["series", "curves"], "profile": ["profile", "trace"], "pr_curves": ["curves"], "images": ["media"], "audio": ["media"],
           "mesh": ["media"], "text": ["media"], "files": ["details"]}


def changed_files(root: Path, base: str) -> list[str]:
    """What differs from the point where this branch left `base`, committed or not, new files included."""
    def git(*arguments: str) -> list[str]:
        return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")

    start = git("merge-base", base, "HEAD")[0]
    return sorted({f for f in git("diff", "--name-only", start) + git("ls-files", "--others", "--exclude-standard") if f})


def commands(name: str, command: list[str], files: list[str], root: Path) -> list[list[str]]:
    """The command of a suite if the files can touch it, else nothing; of the browser suite only the files concerned."""
    mine = [f for f in files if any(f.startswith(p) for p in TOUCHES.get(name, ["src/"]))]
    if not mine:
        return []
    if name != "page-browser":
        return [command]
    suites = sorted(p.name.removesuffix(".browser.mjs") for p in (root / "tests/browser").glob("*.browser.mjs"))
    wanted = {"first"}  # every page opens
    for file in mine:
        parts = file.split("/")
        if file.endswith(".browser.mjs"):
            wanted.add(parts[-1].removesuffix(".browser.mjs"))
        elif parts[:3] == ["web", "src", "dashboards"] and len(parts) > 4:
            wanted.update(BROWSER.get(parts[3], [parts[3]]))
    return [[*command, f"{suite}.browser"] for suite in suites if suite in wanted]
