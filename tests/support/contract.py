"""The contract of /api/v1 (docs/api/openapi.yaml) as checks: which operation a request is, whether an answer fits it,
and the answers recorded in tests/api."""

import copy
import json
import re
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parents[2]
API = yaml.safe_load((ROOT / "docs/api/openapi.yaml").read_text(encoding="utf-8"))
COLUMNS = "application/vnd.sonde.columns"
PLACES = [(path, re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))) for path in sorted(API["paths"], key=lambda path: ("{" in path, -len(path)))]


def _strict(schema, extended):
    """The schema with fields it does not name forbidden, so that nothing is answered that is not written down."""
    if isinstance(schema, list):
        return [_strict(one, extended) for one in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: value if key == "allOf" else _strict(value, extended) for key, value in schema.items()}
    if "allOf" in out or ("properties" in out and out.get("type") == "object" and "additionalProperties" not in out):
        out["unevaluatedProperties"] = False
    return out


def _components():
    schemas = API["components"]["schemas"]
    extended = set(re.findall(r"allOf.*?/schemas/(\w+)", json.dumps(schemas)))  # these are parts of others
    return {name: copy.deepcopy(one) if name in extended else _strict(one, extended) for name, one in schemas.items()}


SCHEMAS = _components()


def operation(method, path):
    """(the path in the contract, the operation); None when the contract has no such request."""
    for name, pattern in PLACES:
        if pattern.fullmatch(path) and method.lower() in API["paths"][name]:
            return name, API["paths"][name][method.lower()]
    return None


def response(one, status):
    answers = one["responses"]
    found = answers.get(str(status)) or answers["default"]
    return API["components"]["responses"][found["$ref"].rsplit("/", 1)[-1]] if "$ref" in found else found


def problems(method, path, status, kind, value):
    """What an answer has that the contract does not allow; `value` is parsed JSON, the head of columns, or None."""
    found = operation(method, path)
    if found is None:
        return [] if status in (404, 405) else [f"{method} {path} is not in docs/api/openapi.yaml"]
    if status >= 400:
        content = response(found[1], 400)["content"]
    elif str(status) not in found[1]["responses"]:
        return [f"{method} {found[0]} does not say that it answers {status}"]
    else:
        content = response(found[1], status).get("content", {})
    kind = kind.split(";")[0]
    if status == 204:
        return []
    if kind not in content and "*/*" not in content:
        return [f"{method} {found[0]} answers {kind}, the contract says {', '.join(content)}"]
    schema = content.get(kind, {}).get("x-head" if kind == COLUMNS else "schema")
    if value is None or not schema:
        return []
    validator = jsonschema.Draft202012Validator({**_strict(schema, ()), "components": {"schemas": SCHEMAS}})
    return [f"{method} {found[0]} {status}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in validator.iter_errors(value)]


def value_of(kind, body):
    """The JSON of an answer, the head of columns, None for anything else."""
    if kind.startswith("application/json") and body:
        return json.loads(body)
    if kind.startswith(COLUMNS):
        return json.loads(body[8 : 8 + int.from_bytes(body[4:8], "little")])
    return None


def recorded():
    """(file, method, path, status, kind, parsed JSON, the head of columns, or None) of every answer in tests/api."""
    for file in sorted((ROOT / "tests/api").glob("*.test")):
        text = file.read_text(encoding="utf-8").replace("\n ", "")  # a line that begins with a space goes on
        for block in re.split(r"\n(?=(?:get|post|put|patch|delete) /api/v1/)", text)[1:]:
            head, _, answer = block.partition("\n----\n")
            method, target = head.split("\n")[0].split(" ", 1)
            status, kind = head.split("\n")[-1].split(" ")[:2]
            body = answer.split("\n\n")[0].strip()
            value = None
            if kind in ("application/json", COLUMNS) and body:
                try:
                    value = json.loads(re.sub(r"(?<=[:,\[])<\w+>", "1", (body.split("\n")[0] if kind == COLUMNS else body).replace("<ref>", '"x"')))
                except ValueError:
                    continue  # JSON lines
            yield file.name, method.upper(), target.split("?")[0].removeprefix("/api/v1"), int(status), kind, value
