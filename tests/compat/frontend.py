#!/usr/bin/env python3
"""TensorBoard's own web page over Sonde's answers, driven in headless Chromium.

The page's files come from an installed `tensorboard` package ($SONDE_TENSORBOARD, or .venv-test); nothing of
it is kept here. A small proxy serves them and hands every other request to Sonde. Skipped, with a
sentence, where the package, Chromium or playwright-core is missing.
"""

import http.client
import http.server
import mimetypes
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from pathlib import Path

from replay import HERE, ROOT, Server

LOGS = ["tf2_scalars", "tf2_images", "tf2_histograms", "tf2_text", "trace_graph", "hparams_experiment_raw", "projector_words"]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


def package():
    """The folder of the tensorboard package, or None."""
    if named := os.environ.get("SONDE_TENSORBOARD"):
        return Path(named)
    for found in ROOT.glob(".venv-test/lib/python*/site-packages/tensorboard/webfiles.zip"):
        return found.parent
    return None


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files = None  # ZipFile
    projector = None  # folder of the projector's page
    target = None  # (host, port)

    def log_message(self, *_):
        pass

    def reply(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding", "content-length", "server", "date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        name = path.lstrip("/") or "index.html"
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if name in self.files.namelist():
            data = self.files.read(name)
            if name == "index.html":
                data = b'<!doctype html><meta name="tb-relative-root" content="./">' + data
            return self.reply(200, [("Content-Type", kind)], data)
        asset = self.projector / name.rsplit("/", 1)[-1]
        if path.startswith("/data/plugin/projector/") and asset.is_file():
            return self.reply(200, [("Content-Type", kind)], asset.read_bytes())
        connection = http.client.HTTPConnection(*self.target, timeout=60)
        headers = {k: v for k, v in self.headers.items() if k.lower() in ("content-type", "accept", "range")}
        connection.request(self.command, self.path, body=body or None, headers=headers)
        answer = connection.getresponse()
        self.reply(answer.status, answer.getheaders(), answer.read())
        connection.close()

    do_GET = do_POST = do_HEAD = handle_any


def drive(url, playwright):
    environment = os.environ | {"PLAYWRIGHT": str(playwright), "CHROMIUM": CHROMIUM}
    node = next((str(p) for p in ROOT.glob(".venv-node/bin/node")), "node")
    return subprocess.run([node, HERE / "frontend.mjs", url], env=environment).returncode


def main():
    tensorboard = package()
    playwright = Path(os.environ.get("SONDE_PLAYWRIGHT", ROOT / "web/node_modules/playwright-core"))
    for thing, there in (("the tensorboard package", tensorboard and (tensorboard / "webfiles.zip").exists()),
                         ("Chromium", Path(CHROMIUM).exists()), ("playwright-core", playwright.exists())):
        if not there:
            print(f"skipped: {thing} is not here\n0 passed, 0 failed, 1 skipped")
            return 0
    with tempfile.TemporaryDirectory(prefix="sonde_front_") as scratch:
        for name in LOGS:
            with tarfile.open(HERE / "data" / (name + ".tar.gz")) as archive:
                archive.extractall(scratch)
        with Server(scratch) as base:
            Proxy.files = zipfile.ZipFile(tensorboard / "webfiles.zip")
            Proxy.projector = tensorboard / "plugins/projector/tf_projector_plugin"
            Proxy.target = ("127.0.0.1", int(base.rsplit(":", 1)[1]))
            proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            try:
                return drive(f"http://127.0.0.1:{proxy.server_port}", playwright)
            finally:
                proxy.shutdown()


if __name__ == "__main__":
    sys.exit(main())
