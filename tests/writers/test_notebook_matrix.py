"""The page in the cell of a notebook, launcher by launcher, each in a real browser: docs/logging.md has the table."""

import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(os.environ.get("SONDE_BINARY") or ROOT / "build" / "release" / "sonde")
NODE, BROWSER = shutil.which("node"), os.environ.get("CHROMIUM") or shutil.which("chromium")
NGINX = os.environ.get("SONDE_NGINX") or shutil.which("nginx")
FOREIGN = "hub.example"

jupyterlab = pytest.importorskip("jupyterlab")
if not (NODE and BROWSER and PROGRAM.exists() and (ROOT / "web/node_modules/playwright-core").exists()):
    pytest.skip("needs node, chromium, the page's packages and a built sonde", allow_module_level=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, process=None, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process is None or process.poll() is None, "the server ended"
        time.sleep(0.1)
    raise AssertionError(f"nothing listens on port {port}")


class Stripping(http.server.BaseHTTPRequestHandler):
    """As code-server does: /proxy/PORT/rest of any host name goes to PORT as /rest, the name kept."""

    protocol_version = "HTTP/1.0"

    def do_GET(self):
        if not self.path.startswith("/proxy/"):  # the browser looks for /favicon.ico
            self.send_error(404)
            return
        _, _, port, rest = self.path.split("/", 3)
        length = int(self.headers.get("Content-Length") or 0)
        inner = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
        inner.request(self.command, "/" + rest, self.rfile.read(length), dict(self.headers))
        answer = inner.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.end_headers()
        try:
            while piece := answer.read1(65536):
                self.wfile.write(piece)
        except OSError:
            pass  # the browser left
        finally:
            inner.close()

    do_POST = do_GET

    def log_message(self, *_):
        pass


def certificate(folder):
    """Key and certificate of the foreign name, signed by itself."""
    subject = ["-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", f"/CN={FOREIGN}"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def code_server(tmp_path):
    certificate(tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stripping)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield {"VSCODE_PROXY_URI": f"https://{FOREIGN}:{server.server_port}/proxy/{{{{port}}}}/"}
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def nginx(tmp_path):
    """TLS, a name that is not this machine's, and a prefix that is taken away again."""
    if not NGINX:
        pytest.skip("needs nginx")
    port = free_port()
    certificate(tmp_path)
    places = "".join(f"{kind}_temp_path {tmp_path};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (tmp_path / "nginx.conf").write_text(
        f"""daemon off; master_process off; pid {tmp_path}/nginx.pid; error_log {tmp_path}/error.log;
events {{}}
http {{
  access_log off;
  {places}
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {tmp_path}/cert.pem;
    ssl_certificate_key {tmp_path}/key.pem;
    location ~ ^/tools/sonde/(\\d+)/(.*)$ {{
      proxy_pass http://127.0.0.1:$1/$2$is_args$args;
      proxy_set_header Host $host;
      proxy_buffering off;
    }}
  }}
}}
"""
    )
    process = subprocess.Popen([NGINX, "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)], stderr=subprocess.DEVNULL)
    wait_for(port, process)
    yield {"SONDE_PROXY_URL": f"https://{FOREIGN}:{port}/tools/sonde/%PORT%/"}
    process.terminate()
    process.wait()


def notebook_of(folder, source):
    book = {
        "cells": [{"cell_type": "code", "id": "c0", "metadata": {}, "outputs": [], "execution_count": None, "source": source}],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / "book.ipynb").write_text(json.dumps(book))


@pytest.fixture
def place(tmp_path):
    """A folder with a log directory and a notebook; the servers that the notebook started end with it."""
    import sonde

    with sonde.SummaryWriter(tmp_path / "logs") as w:
        for step in range(5):
            w.add_scalar("loss", 1 / (step + 1), step)
    notebook_of(tmp_path, cell_for(tmp_path))
    yield tmp_path
    stop_servers(tmp_path)


def cell_for(folder, *arguments):
    logs = " ".join([f"--logdir {folder / 'logs'} --port 0", *arguments])
    return f"%load_ext sonde\n%sonde {logs}\nfrom sonde import notebook; notebook.list()"


# The notebook is at another address than the proxy here; a real one is below the same name, or says so like this.
OTHER_SITE = "--frame_ancestors http://127.0.0.1:*"


def stop_servers(folder):
    for note in (folder / ".tensorboard-info").glob("pid-*.info"):
        os.kill(json.loads(note.read_text())["pid"], signal.SIGTERM)


def environment_of(folder, extra):
    hidden = ("SONDE_PROXY_URL", "TENSORBOARD_PROXY_URL", "VSCODE_PROXY_URI", "JUPYTERHUB_SERVICE_PREFIX")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | {"SONDE_BINARY": str(PROGRAM), "TMPDIR": str(folder), "JUPYTER_CONFIG_DIR": str(folder / "config"), "HOME": str(folder)} | extra


def shown_in(folder, module, path, extra, base="/", host="127.0.0.1"):
    port = free_port()
    command = [sys.executable, "-m", module, "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
               "--IdentityProvider.token=t", f"--ServerApp.root_dir={folder}", f"--ServerApp.base_url={base}", "--ServerApp.allow_remote_access=True"]  # fmt: skip
    with open(folder / "jupyter.log", "wb") as log:
        server = subprocess.Popen(command, env=environment_of(folder, extra), stdout=log, stderr=log)
        try:
            wait_for(port, server)
            url = f"http://{host}:{port}{base}{path}/book.ipynb?token=t"
            run = subprocess.run([NODE, str(Path(__file__).parent / "notebook.mjs"), url, BROWSER, FOREIGN], cwd=ROOT / "web", capture_output=True, text=True, timeout=400, check=False)
            assert run.returncode == 0, run.stdout + run.stderr
            return json.loads(run.stdout.splitlines()[-1])
        finally:
            server.terminate()
            server.wait()


def assert_shown(said):
    assert "Sonde" in said["title"] or "Sonde" in said["text"], said
    assert "loss" in said["text"], said
    assert not said["why"], said


def test_jupyterlab(place):
    assert_shown(shown_in(place, "jupyterlab", "lab/tree", {}))


def test_notebook_7(place):
    pytest.importorskip("notebook")
    assert_shown(shown_in(place, "notebook", "notebooks", {}))


def test_hub_with_jupyter_server_proxy(place):
    pytest.importorskip("jupyter_server_proxy")
    said = shown_in(place, "jupyterlab", "lab/tree", {"JUPYTERHUB_SERVICE_PREFIX": "/user/me/"}, "/user/me/", FOREIGN)
    assert_shown(said)
    assert said["address"].startswith(f"http://{FOREIGN}:") and "/user/me/proxy/" in said["address"]


def test_code_server(place, code_server):
    notebook_of(place, cell_for(place, OTHER_SITE))
    said = shown_in(place, "jupyterlab", "lab/tree", code_server)
    assert_shown(said)
    assert f"//{FOREIGN}:" in said["address"] and "/proxy/" in said["address"]


def test_nginx_with_prefix_and_tls(place, nginx):
    notebook_of(place, cell_for(place, OTHER_SITE))
    said = shown_in(place, "jupyterlab", "lab/tree", nginx)
    assert_shown(said)
    assert said["address"].startswith(f"https://{FOREIGN}:") and "/tools/sonde/" in said["address"]


def test_nbclient_and_a_server_that_is_gone(place):
    """Executed without a browser, opened as HTML after the server's end: the cell says so and shows the data by itself."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    nbconvert = pytest.importorskip("nbconvert")
    for name, value in environment_of(place, {}).items():
        os.environ[name] = value
    book = nbformat.read(place / "book.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    page, _ = nbconvert.HTMLExporter().from_notebook_node(book)
    (place / "book.html").write_text(page)
    stop_servers(place)
    run = subprocess.run([NODE, str(Path(__file__).parent / "notebook_static.mjs"), f"file://{place}/book.html", BROWSER], cwd=ROOT / "web", capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    said = json.loads(run.stdout.splitlines()[-1])
    assert "does not show here" in said["why"] and said["curves"] == 1, said


def test_the_certificate_is_needed(nginx):
    """The proxy of the test above speaks TLS and nothing else."""
    port = int(nginx["SONDE_PROXY_URL"].split(":")[2].split("/")[0])
    with pytest.raises(ssl.SSLCertVerificationError), socket.create_connection(("127.0.0.1", port)) as raw:
        ssl.create_default_context().wrap_socket(raw, server_hostname=FOREIGN)
