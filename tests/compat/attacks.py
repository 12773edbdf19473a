#!/usr/bin/env python3
"""Hostile texts in a log must not run in a browser.

Writes attack strings as text summaries and as descriptions, lets Sonde render them, and puts every answer into a
page in headless Chromium where any script that runs is counted. Skipped, with a sentence, where
Chromium or playwright-core is missing.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

from frontend import CHROMIUM
from replay import HERE, ROOT, Server

sys.path.insert(0, str(ROOT / "tests/support"))
from event_files import field, record

HIT = "window.hit=(window.hit||0)+1"
ATTACKS = [
    f"<script>{HIT}</script>",
    f"<SCRIPT SRC=data:text/javascript,{HIT}></SCRIPT>",
    f"<img src=x onerror={HIT}>",
    f"<img src=x onerror=\"{HIT}\"//",
    f"<img \"\"\"><script>{HIT}</script>\">",
    f"<img/src=x/onerror={HIT}>",
    f"<img src='x'\nonerror\n=\n'{HIT}'>",
    f"<svg onload={HIT}>",
    f"<svg><script>{HIT}</script></svg>",
    f"<svg><animate onbegin={HIT} attributeName=x dur=1s>",
    f"<svg><style><img src=x onerror={HIT}></style></svg>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={HIT}>",
    f"<math><mi//xlink:href=\"data:x,<script>{HIT}</script>\">",
    f"<body onload={HIT}>",
    f"<iframe src=\"javascript:parent.{HIT}\"></iframe>",
    f"<iframe srcdoc=\"<script>parent.{HIT}</script>\"></iframe>",
    f"<object data=\"data:text/html,<script>parent.{HIT}</script>\"></object>",
    f"<embed src=\"javascript:{HIT}\">",
    f"<details open ontoggle={HIT}>",
    f"<video><source onerror={HIT}></video>",
    f"<audio src=x onerror={HIT}>",
    f"<input autofocus onfocus={HIT}>",
    f"<select autofocus onfocus={HIT}>",
    f"<marquee onstart={HIT}>",
    f"<style>@import 'javascript:{HIT}';</style>",
    f"<link rel=stylesheet href=javascript:{HIT}>",
    f"<meta http-equiv=refresh content=\"0;url=javascript:{HIT}\">",
    f"<base href=javascript:{HIT}//>",
    f"<form action=javascript:{HIT}><button>x</button></form>",
    f"<a href=javascript:{HIT}>click</a>",
    f"<a href=\" &#14; javascript:{HIT}\">click</a>",
    f"<a href=\"jav&#x0A;ascript:{HIT}\">click</a>",
    f"<a href=\"jav\tascript:{HIT}\">click</a>",
    f"<a href=\"&#106;&#97;vascript&colon;{HIT}\">click</a>",
    f"<a href=\"&#106avascript:{HIT}\">click</a>",
    f"<a href='JaVaScRiPt:{HIT}'>click</a>",
    f"<a href=\"java\x00script:{HIT}\">click</a>",
    f"<a href=\"vbscript:{HIT}\">click</a>",
    "<a href=\"data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==\">click</a>",
    f"<a title='\"><img src=x onerror={HIT}>' href=#>click</a>",
    f"<a href=\"x\" title=\"a&quot; onmouseover={HIT} b=&quot;\">hover</a>",
    f"[click](javascript:{HIT})",
    f"[click](JAVASCRIPT&#58;{HIT})",
    f"[click](<javascript:{HIT}>)",
    f"[click](\"onclick={HIT}//)",
    f"[a]: javascript:{HIT}\n\n[a]",
    f"![x](x\"onerror=\"{HIT})",
    f"![x\"onerror=\"{HIT}](x)",
    f"![x](javascript:{HIT})",
    f"<javascript:{HIT}>",
    f"<http://x/\"onmouseover={HIT}>",
    f"`<img src=x onerror={HIT}>`",
    f"```\n</code></pre><img src=x onerror={HIT}>\n```",
    f"    </code><script>{HIT}</script>",
    f"| a |\n|---|\n| <img src=x onerror={HIT}> |",
    f"<!-- --><script>{HIT}</script><!-- -->",
    f"<!--><script>{HIT}</script>-->",
    f"<!--[if gte IE 4]><script>{HIT}</script><![endif]-->",
    f"<![CDATA[<script>{HIT}</script>]]>",
    f"<?xml version=\"1.0\"?><script>{HIT}</script>",
    f"<<script>{HIT}//<</script>",
    f"<scr<script>ipt>{HIT}</scr</script>ipt>",
    f"\x3cscript\x3e{HIT}\x3c/script\x3e",
    f"&lt;script&gt;{HIT}&lt;/script&gt;",
    f"<noscript><p title=\"</noscript><img src=x onerror={HIT}>\">",
    f"<textarea><img title=\"</textarea><img src=x onerror={HIT}>\"></textarea>",
    f"<table><td background=javascript:{HIT}><tr><script>{HIT}</script>",
    f"<p style=\"background:url(javascript:{HIT})\">x</p>",
    f"<p/onclick={HIT}>x</p>",
    f"<em onmouseover={HIT}>x</em>",
    f"<template><script>{HIT}</script></template>",
    f"<xss id=x tabindex=1 onfocus={HIT}></xss>",
    f"<a xlink:href=javascript:{HIT}>x</a>",
    f"\x02" f"0\x03<script>{HIT}</script>\x02" f"1\x03",
    f"<div><p>**<img src=x onerror={HIT}>**</p></div>",
]


def write_log(folder):
    """Each attack as a text of its own step, and as the description of a scalar of its own tag."""
    with open(Path(folder) / "events.out.tfevents.1700000000.host", "wb") as f:
        for step, attack in enumerate(ATTACKS):
            text = field(8, b"\x08\x07" + field(8, attack.encode()))
            plugin = field(9, field(1, field(1, b"text")))
            f.write(record(step, field(1, b"attack") + text + plugin))
            table = field(8, b"\x08\x07" + field(2, field(2, b"\x08\x01") + field(2, b"\x08\x01")) + field(8, attack.encode()))
            f.write(record(step, field(1, b"table") + table + plugin))
            scalar = field(8, b"\x08\x01" + field(4, struct.pack("<f", 1)))
            described = field(9, field(1, field(1, b"scalars")) + field(3, attack.encode()))
            f.write(record(0, field(1, b"scalar%d" % step) + scalar + described))


def rendered(base):
    """Every piece of HTML that Sonde makes of the log."""
    def ask(path, **query):
        with urllib.request.urlopen(base + path + "?" + urllib.parse.urlencode(query), timeout=60) as answer:
            return json.load(answer)

    found = []
    for tag in ("attack", "table"):
        for markdown in ("true", "false"):
            points = ask("/data/plugin/text/text", run=".", tag=tag, markdown=markdown)
            assert len(points) == len(ATTACKS), (tag, len(points))
            found += [point["text"] for point in points]
    tags = ask("/data/plugin/scalars/tags")["."]
    assert len(tags) == len(ATTACKS), len(tags)
    found += [tag["description"] for tag in tags.values()]
    found += ask("/data/plugin/timeseries/tags")["scalars"]["tagDescriptions"].values()
    return found


def main():
    playwright = Path(os.environ.get("SONDE_PLAYWRIGHT", ROOT / "web/node_modules/playwright-core"))
    for thing, there in (("Chromium", Path(CHROMIUM).exists()), ("playwright-core", playwright.exists())):
        if not there:
            print(f"skipped: {thing} is not here\n0 passed, 0 failed, 1 skipped")
            return 0
    with tempfile.TemporaryDirectory(prefix="sonde_attack_") as folder:
        write_log(folder)
        with Server(folder) as base:
            pieces = rendered(base)
        path = Path(folder) / "pieces.json"
        path.write_text(json.dumps(pieces), encoding="utf-8")
        node = next((str(p) for p in ROOT.glob(".venv-node/bin/node")), "node")
        environment = os.environ | {"PLAYWRIGHT": str(playwright), "CHROMIUM": CHROMIUM}
        return subprocess.run([node, HERE / "attacks.mjs", path], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
