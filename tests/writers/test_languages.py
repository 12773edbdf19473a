"""The installed library from C by pkg-config, from Rust and from Go: each example is built outside the tree and what it logged is read."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import sonde

ROOT = Path(__file__).resolve().parent.parent.parent
C_PROGRAM = r"""
#include <sonde/sonde.h>
int main(int argc, char **argv) {
  sonde_writer *log = sonde_open(argv[argc - 1], NULL);
  const sonde_hparam values[] = {{"rate", SONDE_HPARAM_NUMBER, 0.5, NULL}, {"optimizer", SONDE_HPARAM_TEXT, 0, "adam"}, {"nesterov", SONDE_HPARAM_BOOL, 1, NULL}};
  const char *metrics[] = {"loss"};
  int taken = sonde_hparams_config(log, values, 3, metrics, 1) + sonde_hparams(log, values, 3, "first");
  taken += sonde_scalar(log, "loss", 4, 7, 0.25);
  const float labels[] = {0, 1, 1, 0}, predictions[] = {0.1f, 0.9f, 0.4f, 0.6f};
  const int64_t four[] = {4};
  const sonde_array of_labels = {labels, SONDE_FLOAT32, 1, four}, of_predictions = {predictions, SONDE_FLOAT32, 1, four};
  taken += sonde_pr_curve(log, "pr", 2, 7, &of_labels, &of_predictions, NULL, 5);
  const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const int32_t sides[] = {0, 1, 2};
  const int64_t three[] = {3, 3}, one[] = {1, 3};
  const sonde_array vertices = {corners, SONDE_FLOAT32, 2, three}, faces = {sides, SONDE_INT32, 2, one};
  taken += sonde_mesh(log, "triangle", 8, 7, &vertices, &faces, NULL, NULL);
  const char *header[] = {"word", "kind"}, *cells[] = {"oak", "tree", "elm", "tree", "cat", "animal"};
  taken += sonde_embedding(log, "words", 7, &vertices, header, cells, 2, NULL);
  taken += sonde_hparams_end(log, SONDE_SUCCESS) + sonde_flush(log, 0);
  const sonde_array wrong = {labels, SONDE_FLOAT32, 1, one};
  const int refused = sonde_mesh(log, "wrong", 5, 7, &wrong, NULL, NULL, NULL);
  sonde_close(log);
  return taken == 8 && refused == 0 ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Where the library was installed, and the environment that finds it there."""
    if not list((ROOT / "build" / "release").glob("libsonde.so*")):
        pytest.skip("build/release has no libsonde.so: cmake --build build/release")
    prefix = tmp_path_factory.mktemp("prefix")
    command = ["cmake", "--install", ROOT / "build/release", "--component", "library", "--prefix", prefix]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (library,) = prefix.rglob("libsonde.so")
    environment = os.environ | {
        "PKG_CONFIG_PATH": str(library.parent / "pkgconfig"),
        "LD_LIBRARY_PATH": str(library.parent),
        "SONDE_PREFIX": str(prefix),
    }
    return prefix, environment


def needs(program: str) -> str:
    found = shutil.which(program) or shutil.which(program, path=f"{Path.home()}/.cargo/bin:/usr/local/go/bin")
    if not found:
        pytest.skip(f"{program} is not installed")
    return found


def copied(name: str, tmp_path: Path) -> Path:
    """Away from the tree, so that nothing but the installed files can be found."""
    return Path(shutil.copytree(ROOT / "examples" / name, tmp_path / name, ignore=shutil.ignore_patterns("target")))


def fitted(logs: Path) -> None:
    log = sonde.load(logs)
    loss = log[".", "loss"]
    assert len(loss) == 200 and loss.values[0] > 2 and loss.values[-1] < 0.01
    assert log[".", "result"].texts()[0][0].startswith("y = **3.0") or log[".", "result"].texts()[0][0].startswith("y = **2.9")
    assert log[".", "errors"].steps.tolist() == [0, 50, 100, 150]
    assert "hparams" in {series.plugin for series in log.values()}


def test_c_by_pkg_config(installed, tmp_path):
    _, environment = installed
    (tmp_path / "all.c").write_text(C_PROGRAM)
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "sonde"], env=environment, check=True, capture_output=True, text=True
    ).stdout
    program = tmp_path / "all"
    subprocess.run(["cc", "-Wall", "-Werror", "-o", program, tmp_path / "all.c", *flags.split()], check=True)
    subprocess.run([program, tmp_path / "logs"], env=environment, check=True)
    log = sonde.load(tmp_path / "logs")
    assert {series.plugin for series in log.values()} >= {"scalars", "pr_curves", "mesh", "hparams"}
    assert log[".", "pr"].values[0].shape == (6, 5)
    assert log[".", "triangle_VERTEX"].values[0].reshape(-1).tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 0]
    (table,) = (tmp_path / "logs").rglob("metadata.tsv")
    assert table.read_text().splitlines() == ["word\tkind", "oak\ttree", "elm\ttree", "cat\tanimal"]
    assert (tmp_path / "logs/projector_config.pbtxt").exists()


def test_rust(installed, tmp_path):
    _, environment = installed
    command = [needs("cargo"), "run", "--quiet", "--offline", "--", tmp_path / "logs"]
    subprocess.run(command, cwd=copied("rust", tmp_path), env=environment, check=True)
    fitted(tmp_path / "logs")


def test_go(installed, tmp_path):
    _, environment = installed
    subprocess.run([needs("go"), "run", ".", tmp_path / "logs"], cwd=copied("go", tmp_path), env=environment, check=True)
    fitted(tmp_path / "logs")
