#!/usr/bin/env python3
"""Scores the first finding of `sonde profile` on captures whose cause is known, and says which are wrong and why.

  judge.py [NAME ...]     our own captures (tests/data/profile/causes) and, where it is there, ../shared/causes

The last line is "N passed, M failed". SONDE_BINARY is the program (default build/release/sonde).
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from eighth_expected import EIGHTH
from expected import EXPECTED
from fifth_expected import FIFTH
from fourth_expected import FOURTH
from second_expected import SECOND
from seventh_expected import SEVENTH
from sixth_expected import SIXTH
from third_expected import THIRD

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / 'tests' / 'data' / 'profile' / 'causes'
SHARED = ROOT.parent / 'shared' / 'causes'
SONDE = os.environ.get('SONDE_BINARY', str(ROOT / 'build' / 'release' / 'sonde'))

# Words of an advice that a program of that framework cannot follow.
FOREIGN = {
    'tensorflow': r'\btorch\.|\bjax\.|num_workers',
    'jax': r'model\.compile|steps_per_execution|tf\.function|\btorch\.|num_workers',
    'pytorch': r'model\.compile|steps_per_execution|\btf\.|\bjax\.|python_tracer_level',
    'keras-tensorflow': r'\btorch\.|\bjax\.|num_workers',
    'keras-jax': r'tf\.function|\btorch\.|num_workers',
    'keras-torch': r'\btf\.|\bjax\.|python_tracer_level',
}
GPU = r'pin_memory|pinned memory|\.cuda\(|nccl|Tensor Core|CUDA graph|device_ids'
UNITS = {'us': 1e-3, 'ms': 1.0, 's': 1e3}


def capture_of(name):
    for path in (DATA / name, DATA / f'{name}.xplane.pb.gz', DATA / f'{name}.pt.trace.json.gz'):
        if path.exists():
            return path
    return None


def report_of(path):
    run = subprocess.run([SONDE, 'profile', str(path), '--json'], capture_output=True, text=True, timeout=120)
    if run.returncode:
        raise RuntimeError(run.stderr.strip())
    return json.loads(run.stdout)


def said(text):
    """Shares and times in ms that the text states; what a step would take without the cause is none."""
    text = re.sub(r'Without it[^.]*(\.\d[^.]*)*\.', '', text)
    shares = [float(m[1]) / 100 for m in re.finditer(r'(\d+(?:\.\d+)?)%', text)]
    times = [float(m[1]) * UNITS[m[2]] for m in re.finditer(r'(\d+(?:\.\d+)?)(?: of \d+(?:\.\d+)?)? (us|ms|s)\b', text)]
    return shares, times


def sentences(node, under=False):
    """What a report says beside its findings: statements, conclusions, next steps."""
    if isinstance(node, str):
        return [node] if under and ' ' in node else []
    if isinstance(node, list):
        return [s for x in node for s in sentences(x, under)]
    if isinstance(node, dict):
        return [s for k, x in node.items() if k not in ('findings', 'rows', 'columns')
                for s in sentences(x, under or bool(re.search('statement|conclusion|next_?step|verdict', k)))]
    return []


def contradicts(expected, report):
    kind = expected.get('kind', 'healthy' if expected.get('quiet') else None)
    for s in sentences(report):
        bound, denied = re.search(r'input[- ]bound', s, re.I), re.search(r'\bnot input[- ]bound|no input bottleneck', s, re.I)
        if kind == 'input' and denied:
            return s
        hedged = kind == 'python' and re.search(r'\b(may|might|could) be input', s)
        if kind and kind != 'input' and bound and not denied and not hedged:
            return s
        if expected['framework'].endswith('torch') and re.search(r'\btf\.', s):
            return s
    return ''


def wrong_with(name, expected, clock, report):
    """What is wrong with the report, in words; nothing when it is right."""
    found = report['findings']
    against = contradicts(expected, report)
    if against:
        return f'contradicts: {against}'
    if expected.get('quiet'):
        loud = [f for f in found if f['severity'] != 'info']
        return f'a healthy program: [{loud[0]["id"]}] {loud[0]["text"]}' if loud else ''
    if not found:
        return 'silent'
    first = found[0]
    text, advice = first['text'], first.get('action', '') + '\n' + first.get('change', {}).get('diff', '')
    if not any(re.search(p, text, re.I) for p in expected['names']):
        return f'not named: [{first["id"]}] {text}'
    for pattern in expected.get('must_not', []):
        if re.search(pattern, text + advice, re.I):
            return f'says /{pattern}/: {text}'
    if not any(re.search(p, advice, re.I) for p in expected['change']):
        return f'no change that helps: {advice}'
    foreign = re.search(FOREIGN[expected['framework']], advice) or re.search(GPU, advice)
    if foreign:
        return f'cannot be followed here: {foreign[0]}'
    shares, times = said(text)
    if 'share' in expected:
        right = any(abs(s - clock['share']) <= expected['share'] for s in shares)
        right |= any(abs(t - clock['cause_ms']) <= 0.25 * clock['cause_ms'] for t in times)
        if 'event' in expected:
            some = [c for c in clock['cause_steps_ms'] if c > 0.2 * max(clock['cause_steps_ms'])]
            mean = sum(some) / len(some)
            right |= any(abs(t - mean) <= expected['event'] * mean for t in times)
        if not right:
            return f'number: {clock["share"]:.0%} or {clock["cause_ms"]:.4g} ms is true: {text}'
    if 'amount' in expected:
        unit, key, tolerance = expected['amount']
        values = [float(m[1]) for m in re.finditer(rf'(\d+(?:\.\d+)?) {unit}\b', text)]
        if not any(abs(v - clock[key]) <= tolerance * clock[key] for v in values):
            return f'number: {clock[key]} {unit} is true: {text}'
    return ''


def main():
    wanted = sys.argv[1:]
    clocks = json.loads((DATA / 'clocks.json').read_text())
    passed = failed = known = skipped = 0
    for name, expected in {**EXPECTED, **SECOND, **THIRD, **FOURTH, **FIFTH, **SIXTH, **SEVENTH, **EIGHTH}.items():
        if wanted and name not in wanted:
            continue
        path = capture_of(name)
        if path is None and expected.get('large'):
            skipped += 1
            print(f'skipped: {name}: its capture is too large for the tree: record it with its generator')
            continue
        try:
            wrong = 'no capture: record it with its generator' if path is None else wrong_with(name, expected, clocks[name], report_of(path))
        except (RuntimeError, ValueError, KeyError, subprocess.TimeoutExpired) as e:
            wrong = f'no report: {e}'
        missed = expected.get('missed')
        if wrong and missed:
            known += 1
            print(f'known miss: {name}: {missed}: {wrong}')
            continue
        if missed:
            wrong = 'is right now: take `missed` out of its expectation'
        passed += not wrong
        failed += bool(wrong)
        if wrong:
            print(f'{name}: {wrong}')
    if not wanted:
        scorer = SHARED / 'score_causes.py'
        if scorer.exists():
            run = subprocess.run([sys.executable, str(scorer), '--program', SONDE, '--json'], capture_output=True, text=True)
            verdict = json.loads(run.stdout)
            passed += verdict['right']
            failed += verdict['of'] - verdict['right']
            for row in verdict['captures']:
                if not row['right']:
                    print(f'shared {row["id"]}: {"; ".join(row["why"])}: {row["finding"]}')
        else:
            print('../shared/causes is not there: those captures are skipped')
    if known:
        print(f'{known} known misses, not counted')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
