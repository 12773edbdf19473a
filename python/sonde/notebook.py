"""The page inside a notebook.

    %load_ext sonde
    %sonde --logdir logs

A running server with the same arguments in the same directory is reused. list(), display() and start() are what
tensorboard.notebook offers, and the servers of both are seen by both, because they leave the same notes in the
temporary directory.
"""

from __future__ import annotations

import base64
import datetime
import html
import itertools
import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._notebook_static import static_view
from ._program import program

_KEYS = {
    "version": str,
    "start_time": int,
    "pid": int,
    "port": int,
    "path_prefix": str,
    "logdir": str,
    "db": str,
    "cache_key": str,
}
_HIDDEN = ("PYTHONHOME", "PYTHONPATH", "PYTHONSAFEPATH", "PYTHONSTARTUP", "PYTHONUSERBASE")


@dataclass(frozen=True)
class Instance:
    """A running server, from the note it left."""

    version: str
    start_time: int
    pid: int
    port: int
    path_prefix: str
    logdir: str
    db: str
    cache_key: str

    @property
    def source(self) -> str:
        """What the server reads, in words."""
        return f"db {self.db}" if self.db else f"logdir {self.logdir}"

    @property
    def age(self) -> str:
        """How long it has been running."""
        return str(datetime.timedelta(seconds=max(0, int(time.time()) - self.start_time)))


def _notes_folder() -> str:
    return os.path.join(tempfile.gettempdir(), ".tensorboard-info")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def instances() -> Sequence[Instance]:
    """Every running server, by port. Notes of dead processes are skipped."""
    found = []
    folder = _notes_folder()
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                note = json.load(file)
            fields = {key: note[key] for key in _KEYS}
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if all(isinstance(fields[key], kind) for key, kind in _KEYS.items()) and _alive(fields["pid"]):
            found.append(Instance(**fields))
    return sorted(found, key=lambda one: (one.port, one.pid))


def cache_key(arguments: Sequence[str]) -> str:
    """Equal keys mean the same server would answer: same arguments, same working directory."""
    content = {"arguments": arguments, "configure_kwargs": {}, "working_directory": os.getcwd()}
    return base64.b64encode(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).decode("ascii")


def _find(key: str) -> Instance | None:
    return next((one for one in instances() if one.cache_key == key), None)


def list() -> None:
    """Print the running servers."""
    running = instances()
    if not running:
        print("No known Sonde instances running.")
        return
    print("Known Sonde instances:")
    for one in running:
        print(f"  - port {one.port}: {one.source} (started {one.age} ago; pid {one.pid})")


def start(args_string: str) -> None:
    """Show the page for these arguments, starting a server unless one with the same is running."""
    arguments = shlex.split(args_string, comments=True)
    say = _Status("Launching Sonde...")
    extra = _for_this_notebook(arguments)
    arguments = [*arguments, *extra]
    key = cache_key(arguments)
    running = _find(key)
    # A server with a token that another notebook started would show its login page here.
    if running is not None and (not extra or running.pid in _tokens):
        say(
            f"Reusing Sonde on port {running.port} (pid {running.pid}), started {running.age} ago. (Use '!kill {running.pid}' to kill it.)"
        )
        _show(running.port, None, running.path_prefix, _tokens.get(running.pid, ""))
        return
    outcome = _launch(arguments, key, has_token=bool(extra))
    if isinstance(outcome, Instance):
        say("")
        _show(outcome.port, None, outcome.path_prefix, _tokens.get(outcome.pid, ""))
    else:
        say(outcome)


# The sites that show notebooks of hosted services in frames, by a variable that tells the service.
_HOSTED = {
    "COLAB_RELEASE_TAG": ("https://colab.research.google.com", "https://*.googleusercontent.com"),
    "KAGGLE_KERNEL_RUN_TYPE": ("https://*.kaggle.com", "https://*.kaggle.net", "https://*.kaggleusercontent.com"),
    "SAGEMAKER_APP_TYPE": ("https://*.sagemaker.aws",),
    "SAGEMAKER_INTERNAL_IMAGE_URI": ("https://*.sagemaker.aws",),
    "CODESPACES": ("https://*.github.dev", "https://*.app.github.dev", "https://vscode.dev"),
    "VSCODE_PROXY_URI": ("https://vscode.dev", "https://*.vscode-cdn.net", "https://*.github.dev"),
}
_tokens: dict[int, str] = {}  # of the servers started here, by process


def _is_open(arguments: Sequence[str]) -> bool:
    """Whether the arguments make the server listen beyond this machine."""
    text = " ".join(arguments)
    hosts = [b for a, b in itertools.pairwise(arguments) if a == "--host"]
    hosts += [a.split("=", 1)[1] for a in arguments if a.startswith("--host=")]
    return "--bind_all" in text or any(h not in ("localhost", "127.0.0.1", "::1", "") for h in hosts)


def _for_this_notebook(arguments: Sequence[str]) -> Sequence[str]:
    """What a server started from here needs to be seen from here, as further arguments.

    Behind a proxy the page is asked for by the proxy's name and shown inside the service's frame. The server then
    answers to any name, but only to who has the token, which the cell passes by itself.
    """
    ancestors = sorted({site for name, sites in _HOSTED.items() if os.environ.get(name) for site in sites})
    is_proxied = bool(ancestors) or page_url(0) is not None
    given = " ".join(arguments)
    if "--auth" in given or not (is_proxied or _is_open(arguments)):
        return []
    extra = ["--auth=token"]
    if is_proxied and "--allow_host" not in given:
        extra.append("--allow_host=*")
    if "--frame_ancestors" not in given:
        extra += [f"--frame_ancestors={site}" for site in ancestors]
    return extra


def _launch(arguments: Sequence[str], key: str, timeout_s: float = 60, has_token: bool = False) -> Instance | str:
    """Starts a server and waits for its note; a text says why there is none."""
    try:
        binary = program()
    except FileNotFoundError:
        return textwrap.fill(
            "ERROR: Could not find `sonde`. Please ensure that your PATH contains an executable `sonde` program, or "
            "explicitly specify the path to it by setting the `SONDE_BINARY` environment variable.",
            70,
        )
    token = secrets.token_hex(16)
    variables = {"SONDE_TOKEN": token} if has_token else {}
    environment = {name: value for name, value in os.environ.items() if name not in _HIDDEN} | variables
    with tempfile.TemporaryFile(prefix=".sonde-stdout-") as out, tempfile.TemporaryFile(prefix=".sonde-stderr-") as err:
        try:
            process = subprocess.Popen(
                [binary, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                start_new_session=True,
            )
        except OSError as problem:
            return f"ERROR: Failed to start '{binary}': {problem.strerror}"
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            time.sleep(0.05)
            code = process.poll()
            if code is not None:
                return _failure(code, out, err)
            running = next((one for one in instances() if one.pid == process.pid and one.cache_key == key), None)
            if running is not None:
                if variables:
                    _tokens[running.pid] = token
                return running
        return f"ERROR: Timed out waiting for Sonde to start. It may still be running as pid {process.pid}."


def _failure(code: int, out: Any, err: Any) -> str:
    text = f"ERROR: Failed to launch Sonde (exited with {code})."
    for name, file in (("stderr", err), ("stdout", out)):
        file.seek(0)
        content = file.read().decode("utf-8", "replace").strip()
        if content:
            text += f"\nContents of {name}:\n{content}"
    return text


def display(port: int | None = None, height: int | None = None) -> None:
    """Show the page of a running server: the one at `port`, else the newest."""
    prefix = ""
    if port is None:
        newest = max(instances(), key=lambda one: one.start_time, default=None)
        if newest is None:
            raise ValueError("Can't display Sonde: no known instances running.")
        print(f"Selecting Sonde with {newest.source} (started {newest.age} ago; port {newest.port}, pid {newest.pid}).")
        port, prefix = newest.port, newest.path_prefix
    else:
        prefix = next((one.path_prefix for one in instances() if one.port == port), "")
    pid = next((one.pid for one in instances() if one.port == port), 0)
    _show(port, height, prefix, _tokens.get(pid, ""))


def _context() -> str:
    if "google.colab" in sys.modules or _importable("google.colab"):
        return "colab"
    try:
        from IPython import get_ipython  # type: ignore[import-not-found]
    except ImportError:
        return "terminal"
    shell = get_ipython()
    return "jupyter" if shell is not None and shell.has_trait("kernel") else "terminal"


def _importable(name: str) -> bool:
    import importlib.util

    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def page_url(port: int, path_prefix: str = "") -> str | None:
    """Where the browser finds the server when that is not simply another port of the notebook's host.

    In this order: $SONDE_PROXY_URL or $TENSORBOARD_PROXY_URL (`%PORT%` is replaced), $VSCODE_PROXY_URI (`{{port}}`
    is), jupyter-server-proxy when the notebook runs behind JupyterHub or a base URL.
    """
    prefix = "/" + path_prefix.strip("/") + "/" if path_prefix.strip("/") else "/"
    template = os.environ.get("SONDE_PROXY_URL") or os.environ.get("TENSORBOARD_PROXY_URL")
    if template:
        return template.replace("%PORT%", str(port)).rstrip("/") + prefix
    template = os.environ.get("VSCODE_PROXY_URI")
    if template:
        return template.replace("{{port}}", str(port)).rstrip("/") + prefix
    base = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    if base and _importable("jupyter_server_proxy"):
        return f"{base.rstrip('/')}/proxy/{port}{prefix}"
    return None


# In a plain Jupyter the page is at another port of the same host. VS Code shows notebooks from a page of its own
# whose location says nothing about the kernel's machine; it forwards ports of localhost by itself.
_FRAME = """
<iframe id="%(id)s" width="100%%" height="%(height)d" frameborder="0" title="Sonde"></iframe>
<p id="%(id)s-why" hidden></p>
<details id="%(id)s-static">%(static)s</details>
<script>
  (function() {
    const frame = document.getElementById(%(id_js)s);
    const given = %(url)s;
    const inside = /^https?:$/.test(window.location.protocol) && !/\\.vscode-(cdn|resource)/.test(window.location.host);
    let url;
    if (given) {
      url = new URL(given, inside ? window.location : undefined);
    } else {
      url = new URL(inside ? window.location.protocol + "//" + window.location.hostname : "http://localhost");
      url.port = %(port)d;
      url.pathname = %(path)s;
    }
    if (%(token)s) url.searchParams.set("token", %(token)s);
    // The page says a word when it is there. Silence: no way from this browser to the server, or no frames allowed.
    let silent = true;
    window.addEventListener("message", (event) => {
      if (event.source === frame.contentWindow && event.data === "sonde-shown") silent = false;
    });
    frame.src = url;
    setTimeout(() => {
      if (!silent) return;
      const why = document.getElementById(%(id_js)s + "-why");
      if (!why) return;
      const link = document.createElement("a");
      link.href = url;
      link.target = "_blank";
      link.textContent = "Open it in a tab";
      why.append("The page at " + url.origin + url.pathname + " does not show here: this browser does not reach the server, or the " +
        "site of this notebook does not let the page into a frame. ", link, ", or look at the static view below.");
      why.hidden = false;
      frame.height = 0;
      document.getElementById(%(id_js)s + "-static").open = true;
    }, %(patience_ms)d);
  })();
</script>
"""

_PATIENCE_MS = 15_000  # how long a frame may be silent before the static view opens

_COLAB = """
(async () => {
  const url = new URL(await google.colab.kernel.proxyPort(%(port)d, {'cache': true}));
  url.searchParams.set('tensorboardColab', 'true');
  if (%(token)s) url.searchParams.set('token', %(token)s);
  const frame = document.createElement('iframe');
  frame.src = url;
  frame.setAttribute('width', '100%%');
  frame.setAttribute('height', '%(height)d');
  frame.setAttribute('frameborder', 0);
  document.body.appendChild(frame);
})();
"""


def frame_html(port: int, height: int, path_prefix: str = "", token: str = "") -> str:
    """The HTML that puts the page into the output of a cell."""
    name = f"sonde-frame-{secrets.token_hex(8)}"
    prefix = "/" + path_prefix.strip("/") + "/" if path_prefix.strip("/") else "/"
    values = {
        "id": html.escape(name, quote=True),
        "id_js": json.dumps(name),
        "height": height,
        "port": port,
        "url": json.dumps(page_url(port, path_prefix)),
        "path": json.dumps(prefix),
        "token": json.dumps(token),
        "static": static_view(next((one.logdir for one in instances() if one.port == port), "")),
        "patience_ms": _PATIENCE_MS,
    }
    return _FRAME % values


def _show(port: int, height: int | None, path_prefix: str = "", token: str = "") -> None:
    height = 800 if height is None else int(height)
    where = _context()
    if where == "colab":
        import IPython.display

        IPython.display.display(IPython.display.Javascript(_COLAB % {"port": port, "height": height, "token": json.dumps(token)}))
    elif where == "jupyter":
        import IPython.display

        IPython.display.display(IPython.display.HTML(frame_html(port, height, path_prefix, token)))
    else:
        print(
            f"Please visit {page_url(port, path_prefix) or f'http://localhost:{port}' + ('/' + path_prefix.strip('/') if path_prefix.strip('/') else '')} in a web browser."
        )


class _Status:
    """One line above the page that changes while the server starts."""

    def __init__(self, text: str) -> None:
        self._handle = None
        if _context() != "terminal":
            from IPython.display import display

            self._handle = display(self._shown(text), display_id=True)
        else:
            print(text)

    @staticmethod
    def _shown(text: str) -> Any:
        from IPython.display import HTML

        return HTML(f"<pre>{html.escape(text)}</pre>" if text else "")

    def __call__(self, text: str) -> None:
        if self._handle is not None:
            self._handle.update(self._shown(text))
        elif text:
            print(text)


def register(ipython: Any, tensorboard_alias: bool | None = None) -> None:
    """The %sonde magic; with $SONDE_TENSORBOARD_MAGIC=1 or tensorboard_alias also as %tensorboard."""
    ipython.register_magic_function(start, magic_kind="line", magic_name="sonde")
    if tensorboard_alias is None:
        tensorboard_alias = os.environ.get("SONDE_TENSORBOARD_MAGIC", "") not in ("", "0")
    if tensorboard_alias:
        ipython.register_magic_function(start, magic_kind="line", magic_name="tensorboard")


def load_ipython_extension(ipython: Any) -> None:
    """%load_ext sonde.notebook: %sonde and the %tensorboard alias."""
    register(ipython, tensorboard_alias=True)
