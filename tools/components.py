#!/usr/bin/env python3
"""The libraries inside the program and the page (components.json), their licence texts and the bill of materials.

    components.py collect            writes LICENSES/ again from the packages of this machine (Debian 12) and web/node_modules
    components.py sbom VERSION       prints the bill of materials as CycloneDX 1.5 JSON
    components.py check [BUILD]      compares components.json with the archives BUILD/build.ninja links, with the headers
                                     src/ includes and with what the page imports and holds; prints what is missing or too much
    components.py outdated           lists every library with the version that is built in and the one the distribution has now; the exit
                                     code is 1 when one is behind: what Debian mends arrives that way
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMPONENTS = json.loads((ROOT / "tools" / "components.json").read_text())
LICENSES = ROOT / "LICENSES"
# Texts that Debian's copyright files refer to by name.
COMMON = {"Apache-2.0": "Apache-2.0", "MPL-2.0": "MPL-2.0", "GPL-3.0": "GPL-3"}
SYSTEM = {"dl", "m", "pthread", "rt", "c"}  # of the machine, not carried
OWN_HEADERS = re.compile(r"^(?:doctest|rapidcheck)")  # tests only


def package_of(component: dict[str, Any]) -> tuple[str, str] | None:
    """The Debian package on this machine and its version."""
    for name in component.get("packages", []):
        run = subprocess.run(["dpkg-query", "-W", "-f=${Version}", name], capture_output=True, text=True)
        if run.returncode == 0 and run.stdout:
            return name, run.stdout
    return None


def npm_version(name: str) -> str:
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    return lock["packages"][f"node_modules/{name}"]["version"]


def must_match(pattern: str, text: str, flags: int = 0) -> re.Match[str]:
    if found := re.search(pattern, text, flags):
        return found
    sys.exit(f"components: nothing matches {pattern}")


def boost_text(text: str) -> str:
    """Boost's list of two megabytes of copyright lines, reduced to the licence they all are under."""
    licence = must_match(r"\n(License: BSL-1\.0\n(?: .*\n)+)", text)[1]
    return "Boost C++ libraries, copyright of their authors as named in each header.\n\n" + str(licence)


def collect() -> None:
    LICENSES.mkdir(exist_ok=True)
    for component in COMPONENTS:
        if "npm" in component:
            folder = ROOT / "web/node_modules" / component["npm"]
            text = next(p for p in folder.iterdir() if p.name.lower().startswith("license")).read_text()
        else:
            package = package_of(component)
            if package is None:
                sys.exit(f"components: no package of {component['name']} is installed")
            name = package[0]
            text = Path(f"/usr/share/doc/{name}/copyright").read_text(errors="replace")
        if component["name"] == "boost":
            text = boost_text(text)
        (LICENSES / f"{component['name']}.txt").write_text(text.rstrip() + "\n")
    for name, file in COMMON.items():
        (LICENSES / f"{name}.txt").write_text(Path(f"/usr/share/common-licenses/{file}").read_text().rstrip() + "\n")


def sbom(version: str) -> dict[str, Any]:
    parts = []
    for component in COMPONENTS:
        if "npm" in component:
            number = npm_version(component["npm"])
            purl = f"pkg:npm/{component['npm']}@{number}"
        else:
            package = package_of(component)
            number = package[1] if package else "unknown"
            purl = f"pkg:deb/debian/{package[0]}@{number}" if package else f"pkg:generic/{component['name']}"
        simple = " " not in component["licence"]
        licence = {"license": {"id": component["licence"]}} if simple else {"expression": component["licence"]}
        parts.append({"type": "library", "bom-ref": purl, "name": component["name"], "version": number, "purl": purl,
                      "description": component["does"], "licenses": [licence], "properties": [{"name": "sonde:part", "value": component["part"]}]})
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "bom-ref": "sonde", "name": "sonde", "version": version,
                                       "licenses": [{"license": {"id": "Apache-2.0"}}]}},
            "components": parts, "dependencies": [{"ref": "sonde", "dependsOn": [p["purl"] for p in parts]}]}


def linked(build: Path) -> set[str]:
    """Names of the archives in the program's link line."""
    text = (build / "build.ninja").read_text()
    rule = must_match(r"^build sonde: .*?(?=^build )", text, re.M | re.S)[0]
    line = must_match(r"LINK_LIBRARIES = (.*)", rule)[1]
    return {re.sub(r"^lib|\.a$|\.so$", "", Path(word).name) for word in line.split() if word.startswith("/")} - SYSTEM


def check(build: Path) -> list[str]:
    problems = []
    known = {a for c in COMPONENTS for a in c.get("archives", [])}
    problems += [f"the program links {a}, which components.json does not name" for a in sorted(linked(build) - known)]
    problems += [f"components.json names the archive {a}, which the program does not link"
                 for a in sorted(known - linked(build) - {"stdc++", "gcc", "gcc_eh"})]
    sources = [p.read_text(errors="replace") for p in (ROOT / "src").rglob("*.[hc]*")]
    includes = {m for text in sources for m in re.findall(r"^#include <([\w.+-]+/)", text, re.M)} - {"sys/", "arpa/", "netinet/", "linux/", "doctest/", "rapidcheck/"}
    headers = {h for c in COMPONENTS for h in c.get("headers", [])}
    carried = headers | {f"{c['name']}/" for c in COMPONENTS} | {"re2/"}
    problems += [f"src/ includes <{i}...>, which components.json does not name" for i in sorted(includes - carried)]
    problems += [f"components.json names the headers {h}, which src/ does not include" for h in sorted(headers - includes)]
    pages = [p.read_text() for p in (ROOT / "web/src").rglob("*") if p.suffix in {".ts", ".svelte"} and not p.name.endswith(".test.ts")]
    imports = {m.split("/")[0] for text in pages for m in re.findall(r"""from ['"]([a-z@][^'"]*)['"]""", text)}
    problems += [f"the page imports {i}, which components.json does not name" for i in sorted(imports - {c["npm"] for c in COMPONENTS if "npm" in c})]
    listed = build / "web" / "dist.packages.json"  # what Vite found in the finished page
    inside = set(json.loads(listed.read_text())) if listed.exists() else set()
    problems += [f"the page holds code of {i}, which components.json does not name" for i in sorted(inside - {c["npm"] for c in COMPONENTS if "npm" in c})]
    problems += [f"LICENSES/{c['name']}.txt is missing" for c in COMPONENTS if not (LICENSES / f"{c['name']}.txt").exists()]
    return problems


def candidate(package: str) -> str:
    """The version that the package lists of this machine offer, "" when they do not know it."""
    run = subprocess.run(["apt-cache", "policy", package], capture_output=True, text=True)
    found = re.search(r"^ *Candidate: (?!\(none\))(\S+)", run.stdout, re.M)
    return found[1] if found else ""


def outdated() -> int:
    behind = 0
    for component in COMPONENTS:
        if "npm" in component:
            print(f"{component['name']:<16} {npm_version(component['npm']):<26} (npm audit)")
            continue
        package = package_of(component)
        if package is None:
            print(f"{component['name']:<16} not installed here: nothing to compare")
            continue
        offered = candidate(package[0])
        is_behind = bool(offered) and subprocess.run(["dpkg", "--compare-versions", package[1], "lt", offered]).returncode == 0
        behind += is_behind
        print(f"{component['name']:<16} {package[1]:<26} " + (f"{package[0]} {offered} is out: install it and build again" if is_behind else "newest" if offered else "no package list knows it"))
    return behind


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["collect"]:
        collect()
    elif arguments[:1] == ["sbom"] and len(arguments) == 2:
        print(json.dumps(sbom(arguments[1]), indent=1))
    elif arguments[:1] == ["outdated"]:
        return 1 if outdated() else 0
    elif arguments[:1] == ["check"]:
        problems = check(Path(arguments[1]) if len(arguments) > 1 else ROOT / "build" / "release")
        print("\n".join(problems))
        return 1 if problems else 0
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
