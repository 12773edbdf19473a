"""schemathesis (PyPI) makes requests out of docs/api/openapi.yaml and holds every answer against it: no 5xx but "busy",
no content type and no field that the contract does not name.

The package is installed into an environment of its own (.venv-schemathesis, or the one SONDE_VENV_SCHEMATHESIS names).
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEED = "20"
REQUESTS_A_OPERATION = "40"
# Endless, or they make the server talk to others, or (sidecar) they make every later answer differ.
LEFT_OUT = ("streamEvents", "startCapture", "requestSteps", "setAsk", "setModels", "setPredict", "setDependence", "setPair", "reload", "patchSidecar")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def tool():
    given = os.environ.get("SONDE_VENV_SCHEMATHESIS")
    folder = Path(given) if given else ROOT / ".venv-schemathesis"
    program = folder / "bin" / "schemathesis"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "schemathesis>=4.30,<5"], check=True)
    return str(program)


def main():
    program = tool()
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from server import SONDE, running

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([SONDE, "demo", folder], check=True, capture_output=True)
        with running(logdir=folder) as server:
            left_out = [word for name in LEFT_OUT for word in ("--exclude-operation-id", name)]
            run = subprocess.run([program, "run", str(ROOT / "docs/api/openapi.yaml"), "--url", f"http://127.0.0.1:{server.port}/api/v1", "--checks", CHECKS, "--seed", SEED,
                                  "--max-examples", REQUESTS_A_OPERATION, "--phases", "coverage,fuzzing", "--continue-on-failure", "--warnings", "off", "--no-color", *left_out],
                                 cwd=folder, capture_output=True, text=True, check=False)
    print(run.stdout)
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|errored|skipped)", run.stdout)}
    failed = counts.get("failed", 0) + counts.get("errored", 0)
    if run.returncode != 0 and failed == 0:
        print(run.stderr)
        failed = 1
    print(f"{counts.get('passed', 0)} passed, {failed} failed, {counts.get('skipped', 0)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
