"""Answers that are sent again: the same bytes as long as the log is the same, new ones as soon as it grows or changes."""

import json
import subprocess
import urllib.parse

import pytest
from server import SONDE, running, until


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    logs = tmp_path_factory.mktemp("demo")
    subprocess.run([SONDE, "demo", str(logs)], check=True, capture_output=True)
    return logs


def event_files(folder):
    return sorted(path for path in folder.rglob("*tfevents*") if path.is_file())


def sent_again(server):
    lines = server.ask("/metrics").text.splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("sonde_http_kept_answers_total ")))


def first_series(server, plugin):
    """(run, tag) of a plug-in's first series, when there is one."""
    for run, tags in json.loads(server.ask(f"/data/plugin/{plugin}/tags").body).items():
        for tag in tags:
            return run, tag
    return None


def address(plugin, route, run, tag, more=""):
    return f"/data/plugin/{plugin}/{route}?run={urllib.parse.quote(run, '')}&tag={urllib.parse.quote(tag, '')}{more}"


def loaded(server):
    return "sonde_loading 0" in server.ask("/metrics").text


@pytest.mark.parametrize(("plugin", "route"), [("scalars", "scalars"), ("histograms", "histograms"), ("distributions", "distributions")])
def test_an_answer_is_sent_again_until_its_series_grows(demo, tmp_path, plugin, route):
    with running(logdir=demo) as whole:
        until(lambda: loaded(whole))
        run, tag = first_series(whole, plugin)
        target = address(plugin, route, run, tag)
        complete = whole.ask(target).body
    source = event_files(demo / run)[0]
    there = tmp_path / "logs" / run / source.name
    there.parent.mkdir(parents=True)
    bytes_of = source.read_bytes()
    there.write_bytes(bytes_of[:len(bytes_of) * 2 // 3])  # ends somewhere inside a record
    with running(logdir=tmp_path / "logs") as server:
        until(lambda: loaded(server) and server.ask(target).status == 200)
        first = server.ask(target)
        before = sent_again(server)
        again = server.ask(target)
        assert sent_again(server) == before + 1
        assert (again.body, again.headers["etag"]) == (first.body, first.headers["etag"])
        assert server.ask(target, headers={"If-None-Match": first.headers["etag"]}).status == 304
        head = server.ask(target, "HEAD")
        assert head.headers["content-length"] == str(len(first.body)) and head.headers["etag"] == first.headers["etag"]
        assert server.ask(target + "&format=csv").body != first.body or plugin != "scalars"
        assert len(first.body) < len(complete)

        there.write_bytes(bytes_of)
        until(lambda: server.ask(target).body == complete)
        grown = server.ask(target, headers={"If-None-Match": first.headers["etag"]})
        assert (grown.status, grown.body) == (200, complete)
        assert grown.headers["etag"] != first.headers["etag"]


def test_a_picture_is_sent_again_whole_and_in_parts_until_its_file_goes(demo, tmp_path):
    with running(logdir=demo) as server:
        until(lambda: loaded(server))
        run, tag = first_series(server, "images")
    source = event_files(demo / run)[0]
    there = tmp_path / "logs" / run / source.name
    there.parent.mkdir(parents=True)
    there.write_bytes(source.read_bytes())
    with running(logdir=tmp_path / "logs") as server:
        until(lambda: loaded(server) and server.ask(address("images", "images", run, tag)).status == 200)
        listing = json.loads(server.ask(address("images", "images", run, tag)).body)
        target = "/data/plugin/images/individualImage?" + listing[0]["query"]
        first = server.ask(target)
        before = sent_again(server)
        again = server.ask(target)
        assert sent_again(server) == before + 1
        assert (again.status, again.body, again.headers) == (200, first.body, {**first.headers, "date": again.headers["date"]})
        part = server.ask(target, headers={"Range": "bytes=10-29"})
        assert (part.status, part.body) == (206, first.body[10:30])
        assert part.headers["content-range"] == f"bytes 10-29/{len(first.body)}"
        assert server.ask(target, headers={"Range": f"bytes={len(first.body)}-"}).status == 416
        assert server.ask(target, "HEAD").headers["content-length"] == str(len(first.body))
        assert server.ask(target, headers={"If-None-Match": first.headers["etag"]}).status == 304
        assert server.ask(target, "POST").body == first.body  # made anew

        there.unlink()
        until(lambda: server.ask(target).status == 404)
        there.write_bytes(source.read_bytes())
        until(lambda: server.ask(target).body == first.body)
