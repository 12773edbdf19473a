"""Recorded answers of TensorBoard 2.21 and how an answer is compared with one.

A golden file is gzip-compressed JSON lines: a header, then one case a line (request, the answer, and
which of TensorBoard's two loaders gave it). Rules: 2xx and 3xx statuses exactly, any 4xx for a 4xx, a
recorded 5xx (a fault of TensorBoard) accepts everything below 500; JSON by value; blob keys only have to be there, and
the blobs behind them are fetched with the candidate's own keys; series longer than TensorBoard's
samples may hold any real points but must end with the last one.
"""

import gzip
import hashlib
import http.client
import json
import re
import struct
import urllib.parse

VOLATILE = [
    (r"/data/environment$", {"version", "data_location", "window_title", "experiment_name", "experiment_description", "creation_time", "debug"}),
    (r"/data/logdir$", {"logdir"}),
    (r"/data/window_properties$", {"window_title"}),
    (r"/data/plugins_listing$", {"loading_mechanism"}),
]
OPAQUE = [(r"/data/plugin/(images/images|audio/audio)$", {"query"}), (r"/data/plugin/timeseries/timeSeries$", {"imageId"})]
FAILS_TOO = "where TensorBoard fails too"
SUPERSET = re.compile(r"/data/(plugins_listing|environment)$")
UNORDERED = [
    (r"/timeseries/tags$", r"/runTagInfo/[^/]*$"),
    (r"/hparams/experiment$", r"/(hparamInfos|metricInfos|domainDiscrete)$"),
    (r"/hparams/session_groups$", r"/(metricValues|sessions)$"),
    (r"/projector/runs$", r"^$"),
    (r"/text/tags$", r"^/.+$"),
    (r"/mesh/meshes$", r"^$"),
    (r"/profile/runs$", r"^$"),
]
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def load(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        f.readline()
        return [json.loads(line) for line in f]


def key(case):
    return json.dumps([case["method"], case["path"], case.get("query"), case.get("body"), case.get("req_headers"), case.get("follow")])


def label(case):
    text = case["method"] + " " + case["path"] + ("?" + case["query"] if case.get("query") else "")
    if case.get("follow"):
        text += " <- " + "/".join(map(str, case["follow"]["pointer"]))
    return text + (" body=" + case["body"] if case.get("body") else "")


def send(base, method, path, query=None, body=None, body_type=None, headers=None):
    url = urllib.parse.urlsplit(base)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    try:
        sent = {"Connection": "close", **({"Content-Type": body_type} if body_type else {}), **(headers or {})}
        connection.request(method, path + ("?" + query if query is not None else ""), body=None if body is None else body.encode(), headers=sent)
        answer = connection.getresponse()
        raw = answer.read()
        found = {k.lower(): v for k, v in answer.getheaders()}
        if found.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        return answer.status, found, raw
    finally:
        connection.close()


def at(value, pointer):
    for part in pointer:
        if isinstance(part, str) and part.startswith("@"):
            name, wanted = part[1:].split("=", 1)
            value = next(x for x in value if str(x.get(name)) == wanted)
        else:
            value = value[part]
    return value


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def same_number(a, b):
    if a == b or (isinstance(a, int) and isinstance(b, int)):
        return a == b
    try:
        single = struct.unpack("<f", struct.pack("<f", a))[0] == a
    except (OverflowError, struct.error):
        single = False
    tolerance = 1e-14 if 1e8 <= abs(a) < 1e13 else 1e-6 if single else 1e-12
    return abs(a - b) <= max(tolerance * abs(a), 1e-44)


class Comparison:
    def __init__(self, path):
        pick = lambda table: set().union(*[names for pattern, names in table if re.search(pattern, path)])
        self.volatile, self.opaque = pick(VOLATILE), pick(OPAQUE)
        self.superset = bool(SUPERSET.search(path))
        self.unordered = [pointer for pattern, pointer in UNORDERED if re.search(pattern, path)]

    def difference(self, want, got, where=""):
        if isinstance(want, dict) and isinstance(got, dict):
            for name in want:
                if name not in got:
                    return f"{where}/{name}: missing"
                if name in self.volatile or (name in self.opaque and isinstance(got[name], str) and got[name]):
                    continue
                if found := self.difference(want[name], got[name], f"{where}/{name}"):
                    return found
            extra = [] if self.superset else [name for name in got if name not in want]
            return f"{where}/{extra[0]}: unexpected" if extra else None
        if isinstance(want, list) and isinstance(got, list):
            if len(want) != len(got):
                return f"{where}: {len(got)} items, expected {len(want)}"
            if any(re.search(pointer, where) for pointer in self.unordered):
                order = lambda x: json.dumps(x, sort_keys=True)
                want, got = sorted(want, key=order), sorted(got, key=order)
            for i, (a, b) in enumerate(zip(want, got)):
                if found := self.difference(a, b, f"{where}/{i}"):
                    return found
            return None
        if is_number(want) and is_number(got):
            return None if same_number(want, got) else f"{where}: {got!r}, expected {want!r}"
        return None if type(want) is type(got) and want == got else f"{where}: {got!r:.100}, expected {want!r:.100}"

    def sampled(self, want, got, spec):
        for pointer, member, steps in spec:
            try:
                wanted = at(want, pointer)
            except (KeyError, IndexError, TypeError, StopIteration):
                continue
            if not wanted:
                continue
            try:
                found = at(got, pointer)
            except (KeyError, IndexError, TypeError, StopIteration):
                return f"{pointer}: series missing"
            real = {s for start, stride, n in steps for s in (range(start, start + stride * n, stride) if stride else [start])}
            known = {point[member]: point for point in wanted}
            if len(found) < len(wanted) or found[-1][member] != wanted[-1][member] or any(p[member] not in real for p in found):
                return f"{pointer}: {len(found)} points are no sample of the series"
            for point in found:
                if point[member] in known and (bad := self.difference(known[point[member]], point, str(pointer))):
                    return bad
            del wanted[:], found[:]
        return self.difference(want, got)


def same_text(want, got):
    want, got = want.replace("\r\n", "\n").rstrip(), got.replace("\r\n", "\n").rstrip()
    if want == got:
        return True
    return NUMBER.sub("#", want) == NUMBER.sub("#", got) and all(
        same_number(float(a), float(b)) for a, b in zip(NUMBER.findall(want), NUMBER.findall(got)))


def compare(case, status, headers, body):
    """None when the answer is right, else what is wrong."""
    if case["status"] >= 500:
        return None if status < 500 else f"status {status} {FAILS_TOO}"
    if case["status"] >= 400:
        return None if 400 <= status < 500 else f"status {status}, expected {case['status']}"
    if status != case["status"]:
        return f"status {status}, expected {case['status']}: {body[:120]!r}"
    if status >= 300:
        return None
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if case.get("content_type") and kind != case["content_type"]:
        return f"content type {kind!r}, expected {case['content_type']!r}"
    if case.get("nobody"):
        return None
    if "json" in case:
        got, rules = json.loads(body), Comparison(case["path"])
        return rules.sampled(case["json"], got, case["sampled"]) if case.get("sampled") else rules.difference(case["json"], got)
    if "text" in case:
        return None if same_text(case["text"], body.decode("utf-8", "replace")) else f"text differs: {body[:100]!r}"
    if "sha256" in case and "digest" not in case:
        return None if hashlib.sha256(body).hexdigest() == case["sha256"] else "bytes differ"
    return None


def ask(base, case, parents):
    """The candidate's answer; None when a blob key cannot be found in its own listing."""
    query, follow = case.get("query"), case.get("follow")
    if follow:
        parent = (follow["method"], follow["path"], follow.get("query"), follow.get("body"), follow.get("body_type"))
        if parent not in parents:
            parents[parent] = send(base, *parent)
        try:
            value = at(json.loads(parents[parent][2]), follow["pointer"])
        except (KeyError, IndexError, TypeError, StopIteration, ValueError):
            return None
        query = value if follow["as"] == "query" else urllib.parse.urlencode({follow["as"]: value})
    return send(base, case["method"], case["path"], query, case.get("body"), case.get("body_type"), case.get("req_headers"))


def replay(base, cases):
    """Yields (label, problem or None), one a request; agreeing with either loader is right."""
    groups = {}
    for case in cases:
        groups.setdefault(key(case), []).append(case)
    parents = {}
    for alternatives in groups.values():
        answer = ask(base, alternatives[0], parents)
        if answer is None:
            free = alternatives[0]["follow"].get("sampled") or alternatives[0]["status"] >= 400
            yield label(alternatives[0]), None if free else "the candidate's listing has no such key"
            continue
        sound = [c for c in alternatives if c["status"] < 500] or alternatives
        problems = [compare(c, *answer) for c in sound]
        yield label(alternatives[0]), None if None in problems else problems[0]
