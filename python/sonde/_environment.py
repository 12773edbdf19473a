"""What a run was started with: command, git, packages, machine. Secrets are masked before anything is written."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MASK = "***"
MAX_DIFF_BYTES = 1 << 20
_GIT_TIMEOUT_S = 5
_SECRET_NAME = re.compile(
    r"(?:api|access|private|secret|auth|signing|encryption)[-_]?key(?![a-z])|token(?!s|iz|_?(?:len|count|limit|id))|secret"
    r"|passw(?:or)?d|passphrase|credential|cookie|bearer|^key$|_key$",
    re.IGNORECASE,
)
# Forms that are secrets under whatever name they travel.
_SECRET_VALUE = re.compile(
    r"\b(?:sk-[\w-]{16,}|hf_\w{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_SECRET_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_SECRET_ASSIGNMENT = re.compile(
    r"""(?ix)((?:[\w.-]*(?:api|access|private|secret|auth)[-_]?key|[\w.-]*(?:token|secret|passwd|password|credential))
    ["']?\s*[=:]\s*["']?)([^\s"',;&]{4,})"""
)
# Variables that explain how a run behaves; everything else of the environment stays out of the files.
_VARIABLES = re.compile(
    r"^(?:CUDA_|NCCL_|GLOO_|TORCH_|TORCHELASTIC_|PYTORCH_|TF_|XLA_|JAX_|OMP_|MKL_|KMP_|ROCR_|HIP_|HSA_|NVIDIA_|SLURM_|LSB_|PBS_"
    r"|OMPI_COMM_|KUBERNETES_SERVICE_HOST$|HF_HOME$|HF_HUB_OFFLINE$|TRANSFORMERS_|ACCELERATE_|DEEPSPEED_|SONDE_|RANK$|LOCAL_RANK$"
    r"|WORLD_SIZE$|MASTER_ADDR$|MASTER_PORT$|CONDA_DEFAULT_ENV$|VIRTUAL_ENV$|PYTHONHASHSEED$|LD_PRELOAD$|TOKENIZERS_PARALLELISM$)"
)


def is_secret_name(name: str) -> bool:
    return bool(_SECRET_NAME.search(name))


def masked_text(text: str) -> str:
    """Text with keys, tokens and passwords of known forms replaced."""
    text = _SECRET_BLOCK.sub(MASK, text)
    text = _SECRET_VALUE.sub(MASK, text)
    return _SECRET_ASSIGNMENT.sub(lambda found: found[1] + MASK, text)


def masked(value: Any, name: str = "", depth: int = 0) -> Any:
    """A copy of a configuration with secrets replaced, by the name of the entry or the form of its value."""
    if depth > 64:
        return "…"
    if isinstance(value, dict):
        return {str(k): masked(v, str(k), depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked(v, name, depth + 1) for v in value]
    if isinstance(value, str):
        return MASK if value and is_secret_name(name) else masked_text(value)
    return value


def masked_command(arguments: list[str]) -> list[str]:
    """A command line; `--api-key X` and `--api-key=X` lose X."""
    out: list[str] = []
    hide = False
    for argument in arguments:
        if hide and not argument.startswith("-"):
            out.append(MASK)
            hide = False
            continue
        name, equals, value = argument.partition("=")
        secret = argument.startswith("-") and is_secret_name(name.lstrip("-"))
        out.append(f"{name}={MASK}" if secret and equals else masked_text(argument))
        hide = secret and not value
    return out


def _git(folder: str, *arguments: str) -> str | None:
    try:
        run = subprocess.run(
            ["git", "-C", folder, *arguments],
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
            env=os.environ | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.decode(errors="replace") if run.returncode == 0 else None


def git_state(folder: str) -> tuple[dict[str, Any] | None, str]:
    """The commit of the working folder and its uncommitted changes; (None, "") outside a repository."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None, ""
    state: dict[str, Any] = {"commit": commit.strip()}
    if branch := _git(folder, "rev-parse", "--abbrev-ref", "HEAD"):
        state["branch"] = branch.strip()
    if remote := _git(folder, "config", "--get", "remote.origin.url"):
        state["remote"] = masked_text(remote.strip())
    diff = _git(folder, "diff", "HEAD", "--no-color", "--no-ext-diff") or ""
    state["dirty"] = bool(diff.strip())
    if len(diff) > MAX_DIFF_BYTES:
        diff = diff[:MAX_DIFF_BYTES] + f"\n# cut by Sonde after {MAX_DIFF_BYTES} characters\n"
        state["diff_cut"] = True
    return state, masked_text(diff)


def _packages() -> dict[str, str]:
    """Names and versions of what is installed, from the folder names: no file is read."""
    out: dict[str, str] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and "-" in name:
                package, _, version = name.rsplit(".", 1)[0].partition("-")
                out.setdefault(package.replace("_", "-").lower(), version)
    return dict(sorted(out.items()))


def _container() -> str | None:
    if os.path.exists("/.dockerenv"):
        return "docker"
    if os.path.exists("/run/.containerenv"):
        return "podman"
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    return "singularity" if os.environ.get("SINGULARITY_NAME") or os.environ.get("APPTAINER_NAME") else None


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def describe() -> dict[str, Any]:
    """Host, Python, packages and the variables that matter."""
    out: dict[str, Any] = {
        "host": socket.gethostname(),
        "user": os.environ.get("USER") or os.environ.get("LOGNAME") or "",
        "pid": os.getpid(),
        "os": platform.platform(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "cpus": os.cpu_count(),
        "memory_bytes": _memory_bytes(),
        "packages": _packages(),
        "variables": {
            name: MASK if is_secret_name(name) else masked_text(value)
            for name, value in sorted(os.environ.items())
            if _VARIABLES.match(name)
        },
    }
    if container := _container():
        out["container"] = container
    return out


def command() -> dict[str, Any]:
    arguments = list(getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv])
    return {"arguments": masked_command(arguments), "folder": os.getcwd(), "program": sys.argv[0] if sys.argv else ""}
