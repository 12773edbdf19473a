"""Databases for the tests: Debian's ClickHouse server, alone or as nodes of a cluster, and the newest engine behind HTTP."""

import http.server
import json
import signal
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request

CONFIG = """<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><user_files_path>{folder}/files/</user_files_path>
  <mark_cache_size>5368709</mark_cache_size>
  {cluster}
  <users_config>{folder}/users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
</yandex>"""
USERS = """<yandex><profiles><default/></profiles><quotas><default/></quotas>
  <users><default><password>word</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
</yandex>"""


def cluster(ports):
    """The nodes of a cluster named "team", a shard each."""
    replica = "<shard><replica><host>127.0.0.1</host><port>{}</port><user>default</user><password>word</password></replica></shard>"
    return "<remote_servers><team>" + "".join(replica.format(port) for port in ports) + "</team></remote_servers>" if ports else ""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Debian:
    """The server of Debian 12."""

    def __init__(self, folder, tcp=None, nodes=()):
        self.port, self.folder = free_port(), folder
        (folder / "config.xml").write_text(CONFIG.format(http=self.port, tcp=tcp or free_port(), folder=folder, cluster=cluster(nodes)))
        (folder / "users.xml").write_text(USERS)
        for name in ("data", "tmp", "files"):
            (folder / name).mkdir()
        self.start()

    def start(self):
        folder = self.folder
        self.log = open(folder / "log", "a")
        self.process = subprocess.Popen(["clickhouse-server", "--config-file", folder / "config.xml"], cwd=folder, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 60
        while True:
            assert self.process.poll() is None, (folder / "log").read_text()[-2000:]
            try:
                self.ask("SELECT 1")
                return
            except OSError:
                assert time.monotonic() < deadline, "ClickHouse did not start"
                time.sleep(0.2)

    def ask(self, sql):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/", sql.encode(), {"X-ClickHouse-User": "default", "X-ClickHouse-Key": "word"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return [line.split("\t") for line in answer.read().decode().splitlines()]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


class Newest:
    """The newest engine, which runs in this process, behind as much HTTP as a push needs."""

    def __init__(self, folder):
        from chdb.session import Session

        self.session, self.folder, self.lock = Session(str(folder / "chdb")), folder, threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("query", [""])[0]
                try:
                    status, answer = 200, outer.run(query, body)
                except Exception as error:  # what the engine says goes to the client
                    status, answer = 500, str(error).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def run(self, query, body):
        with self.lock:
            if not query:
                return self.session.query(body.decode(), "TabSeparated").bytes()
            table = query.removeprefix("INSERT INTO ").split()[0]
            path = self.folder / "rows.bin"
            path.write_bytes(body)
            columns = self.session.query(f"SELECT groupArray(name || ' ' || type) FROM system.columns WHERE database || '.' || table = '{table}'", "JSONCompact")
            types = ", ".join(json.loads(columns.bytes())["data"][0][0])
            self.session.query(f"INSERT INTO {table} SELECT * FROM file('{path}', 'RowBinary', '{types}')")
            return b""

    def ask(self, sql):
        with self.lock:
            return [line.split("\t") for line in self.session.query(sql, "TabSeparated").bytes().decode().splitlines()]

    def stop(self):
        self.server.shutdown()
        self.session.close()
