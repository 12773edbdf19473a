"""A stranger's way: the three exercises of docs/extending.md are applied to a copy of the tree, which is built, checked and run."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))
import exercises

ROOT = exercises.ROOT


def run(*command, cwd):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def copy_of_the_tree(folder):
    for name in run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines():
        if (ROOT / name).is_file() and not name.startswith(("tests/data/", "docs/images/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "web/node_modules").symlink_to(ROOT / "web/node_modules")


def build(folder):
    run("cmake", "--preset", "release", "-DSONDE_UNITY=OFF", cwd=folder)
    run("ninja", "-C", "build/release", "sonde", cwd=folder)
    return folder / "build/release/sonde"


def tool_prints_its_table(folder, sonde):
    trace = folder / "small.json"
    trace.write_text('{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":7000,"name":"step"},{"ph":"X","pid":1,"tid":1,"ts":10,"dur":5,"name":"op"}]}')
    printed = run(sonde, "profile", "--tool", "busiest_names", trace, cwd=folder)
    assert "step" in printed and "7" in printed, printed


def format_is_read(folder, sonde):
    stacks = folder / "stacks.folded"
    stacks.write_text("main;train;matmul 12\nmain;load 3\n")
    printed = run(sonde, "profile", "--tool", "busiest_names", stacks, cwd=folder)
    assert "matmul" in printed and "load" in printed, printed


def dashboard_is_checked(folder, _):
    run("npm", "run", "--silent", "check", cwd=folder / "web")
    assert "sizes" in (folder / "web/src/dashboards/registry.ts").read_text()


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "sonde"
        copy_of_the_tree(folder)
        for _, files in exercises.exercises():
            exercises.apply(folder, files)
        sonde = build(folder)
        run(sys.executable, "tools/check_layers.py", cwd=folder)
        for check in (tool_prints_its_table, format_is_read, dashboard_is_checked):
            try:
                check(folder, sonde)
                passed += 1
            except AssertionError as wrong:
                print(f"{check.__name__}: {wrong}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
