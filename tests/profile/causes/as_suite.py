#!/usr/bin/env python3
"""Lays our captures out as a suite of the form of ../shared/causes, so that its judge can score them.

  as_suite.py DIR MODULE NAME      the expectations NAME of MODULE, e.g. seventh_expected SEVENTH

Then: ../shared/causes/score_causes.py --program build/release/sonde --suite DIR
"""
import importlib
import json
import os
import statistics
import sys

from judge import DATA, capture_of


def entry(name, expected, clock):
    path = capture_of(name)
    made = {'id': name, 'path': str(path.resolve()), 'framework': expected['framework'], 'cause': name, 'program': name,
            'class': 'healthy' if expected.get('quiet') else expected['kind'],
            'period_ms': clock['period_ms'], 'clock': clock}
    if expected.get('quiet'):
        return {**made, 'quiet': True, 'may_say': [r'processor|CPU-SATURATED|oversubscri|other programs']}
    made.update(must_name=expected['names'], change=expected['change'], must_not=expected.get('must_not', []), amounts=[])
    if 'share' in expected:
        made.update(share=clock['share'], cause_ms=clock['cause_ms'], share_tolerance=expected['share'])
    if 'event' in expected:
        some = [c for c in clock['cause_steps_ms'] if c > 0.2 * max(clock['cause_steps_ms'])]
        made['amounts'].append({'unit': 'ms', 'value': statistics.mean(some), 'tolerance': expected['event']})
    if 'amount' in expected:
        unit, key, tolerance = expected['amount']
        made['amounts'].append({'unit': unit, 'value': clock[key], 'tolerance': tolerance})
    if not made['amounts']:
        del made['amounts']
    return made


def main():
    folder, module, name = sys.argv[1:]
    wanted = getattr(importlib.import_module(module), name)
    clocks = json.loads((DATA / 'clocks.json').read_text())
    missing = [n for n in wanted if capture_of(n) is None]
    if missing:
        print('not recorded:', ', '.join(missing), file=sys.stderr)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'causes.json'), 'w') as f:
        json.dump({'version': 1, 'captures': [entry(n, e, clocks[n]) for n, e in wanted.items() if n not in missing]}, f)


if __name__ == '__main__':
    main()
