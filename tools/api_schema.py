#!/usr/bin/env python3
"""Makes docs/api.md and the page's types (web/src/data/api.ts) from docs/api/openapi.yaml, the contract of /api/v1.

    tools/api_schema.py            writes both
    tools/api_schema.py --check    says what is not as it would be written; tools/check asks
"""

import re
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "docs" / "api" / "openapi.yaml"
PAGE, TYPES = ROOT / "docs" / "api.md", ROOT / "web" / "src" / "data" / "api.ts"
Schema = dict[str, Any]
PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def name_of(reference: str) -> str:
    return reference.rsplit("/", 1)[-1]


def type_text(schema: Schema, readonly: str, indent: str = "") -> str:
    """A schema as a TypeScript type; `readonly` stands before arrays and members, or is empty."""
    if "$ref" in schema:
        return name_of(schema["$ref"])
    if "allOf" in schema:
        return " & ".join(type_text(one, readonly, indent) for one in schema["allOf"])
    if "anyOf" in schema:
        return " | ".join(type_text(one, readonly, indent) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"'{value}'" for value in schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(type_text({**schema, "type": one}, readonly, indent) if one != "null" else "null" for one in kind)
    if kind == "array":
        if "prefixItems" in schema:
            return f"{readonly}[{', '.join(type_text(one, readonly, indent) for one in schema['prefixItems'])}]"
        inner = type_text(schema["items"], readonly, indent) if schema.get("items") else "unknown"
        return f"{readonly}{inner}[]" if re.fullmatch(r"\w+|\{.*\}", inner, re.S) else f"{readonly}({inner})[]"
    if kind == "object":
        return object_text(schema, readonly, indent)
    return PLAIN.get(str(kind), "unknown")


def object_text(schema: Schema, readonly: str, indent: str) -> str:
    members = schema.get("properties", {})
    if not members:
        values = schema.get("additionalProperties")
        return f"{{{readonly}[key: string]: {type_text(values, readonly, indent) if values else 'unknown'}}}"
    required = set(schema.get("required", ()))
    deeper = indent + "  "
    lines = [f"{deeper}{readonly}{name}{'' if name in required else '?'}: {type_text(one, readonly, deeper)};" for name, one in members.items()]
    flat = "{" + "; ".join(line.strip().rstrip(";") for line in lines) + "}"
    return flat if "\n" not in flat and len(flat) + len(indent) < 100 else "\n".join(["{", *lines, indent + "}"])


def declaration(name: str, schema: Schema, readonly: str) -> str:
    head = "export " if readonly else ""
    text = type_text(schema, readonly)
    comment = f"/** {schema['description']} */\n" if readonly and "description" in schema else ""
    if schema.get("type") == "object" and "properties" in schema:
        return f"{comment}{head}interface {name} {object_text(schema, readonly, '')}"
    return f"{comment}{head}type {name} = {text};"


def types(api: Schema) -> str:
    head = "// Made from docs/api/openapi.yaml by tools/api_schema.py: edit that, not this.\n"
    return head + "".join(f"\n{declaration(name, schema, 'readonly ')}\n" for name, schema in api["components"]["schemas"].items())


def parameter_text(parameter: Schema, api: Schema) -> str:
    if "$ref" in parameter:
        parameter = api["components"]["parameters"][name_of(parameter["$ref"])]
    kind = type_text(parameter["schema"], "").replace("|", "or").replace("'", "`")
    where = {"header": "header, "}.get(parameter["in"], "")
    return f"`{parameter['name']}` ({where}{kind}{', required' if parameter.get('required') and parameter['in'] != 'path' else ''})"


def link(schema: Schema) -> str:
    if schema.get("type") == "array":
        return f"a list of {link(schema['items'])}"
    return f"[{name_of(schema['$ref'])}](#{name_of(schema['$ref']).lower()})" if "$ref" in schema else "JSON"


def content_text(content: Schema) -> str:
    texts = []
    for kind, one in content.items():
        schema = one.get("schema", {})
        if "x-head" in one:
            texts.append(f"[columns](#post-columns) with the head {link(one['x-head'])}")
        elif kind in ("*/*", "application/octet-stream"):
            texts.append("bytes")
        else:
            texts.append(link(schema) if kind.endswith("json") else f"`{kind}`")
    return " or ".join(texts)


def operation_text(method: str, path: str, operation: Schema, api: Schema) -> str:
    shown = re.sub(r"\{(\w+)\}", r"<\1>", path.lstrip("/"))
    parts = [f"### `{method.upper()} {shown}`", f"{operation['summary']}."]
    if text := operation.get("description"):
        parts.append(text.rstrip())
    facts = []
    if parameters := operation.get("parameters"):
        facts.append("Takes " + ", ".join(parameter_text(one, api) for one in parameters) + ".")
    if body := operation.get("requestBody"):
        facts.append(f"Body: {content_text(body['content'])}.")
    answers = {code: one for code, one in operation["responses"].items() if code != "default"}
    facts += [f"→ {'' if code == '200' else code + ' '}{content_text(one['content']) if 'content' in one else one['description']}" for code, one in answers.items()]
    return "\n\n".join([*parts, "  \n".join(facts)])


def page(api: Schema) -> str:
    parts = [f"# {api['info']['title']}, `/api/v1`", "<!-- Made from docs/api/openapi.yaml by tools/api_schema.py: edit that, not this. -->", api["info"]["description"].rstrip()]
    for tag in api["tags"]:
        parts.append(f"## {tag['name']}")
        if "description" in tag:
            parts.append(tag["description"].rstrip())
        for path, item in api["paths"].items():
            parts += [operation_text(method, path, one, api) for method, one in item.items() if tag["name"] in one["tags"]]
    parts.append("## Types\n\nWritten as TypeScript; a member with a question mark may be absent.")
    for name, schema in api["components"]["schemas"].items():
        note = f"{schema['description']}\n\n" if "description" in schema else ""
        parts.append(f"### {name}\n\n{note}```ts\n{declaration(name, schema, '')}\n```")
    return "\n\n".join(parts) + "\n"


def main() -> int:
    api = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    stale = 0
    for path, text in ((PAGE, page(api)), (TYPES, types(api))):
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(ROOT)}: not what docs/api/openapi.yaml makes; edit that and run tools/api_schema.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
