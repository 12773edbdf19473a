"""The data of a log directory as HTML that needs no server, for a cell whose frame cannot be shown."""

from __future__ import annotations

import datetime
import html
import math
import os
from typing import Any

_CHARTS, _RUNS, _POINTS = 12, 10, 200
_MOST_BYTES, _MOST_ENTRIES = 64 << 20, 5000  # of the log directory; more would make the cell wait
_COLOURS = ("#3366cc", "#d1495b", "#2a9d5c", "#b07d00", "#7b5cc4", "#008c95", "#b5487f", "#5f6f1f", "#8a5a44", "#4b525e")


def static_view(logdir: str) -> str:
    """A folded element with the first curves and the last values, or why there is none."""
    why = _reason_against(logdir)
    body = ""
    if not why:
        try:
            body = _view(logdir)
        except Exception as problem:  # a view beside the real one must not end the cell
            why = f"The data could not be read: {problem}"
    now = datetime.datetime.now().strftime("%H:%M")
    return f"<summary>Static view of the data, as of {now}</summary>" + (body or f"<p>{html.escape(why)}</p>")


def _reason_against(logdir: str) -> str:
    if not os.path.isdir(logdir):
        return f"{logdir or 'The source'} is not one folder of this machine, so only the page can show it."
    size = entries = 0
    for folder, _, names in os.walk(logdir):
        for name in names:
            entries += 1
            if "tfevents" in name:
                size += os.path.getsize(os.path.join(folder, name))
            if entries > _MOST_ENTRIES or size > _MOST_BYTES:
                return f"The log directory has more than {_MOST_ENTRIES} files or {_MOST_BYTES >> 20} MB of event files; only the page can show it."
    return ""


def _view(logdir: str) -> str:
    from .reader import load

    log = load(logdir)
    by_tag: dict[str, list[Any]] = {}
    for series in log.values():
        if series.is_scalar and len(series):
            by_tag.setdefault(series.tag, []).append(series)
    if not by_tag:
        return "<p>The log directory has no curves yet.</p>"
    runs = [run for run in log.runs if any(s.run == run for group in by_tag.values() for s in group)]
    shown = runs[:_RUNS]
    colours = dict(zip(shown, _COLOURS, strict=False))
    parts = [_legend(colours, len(runs))]
    for tag in list(by_tag)[:_CHARTS]:
        parts.append(_chart(tag, [s for s in by_tag[tag] if s.run in colours], colours))
    if len(by_tag) > _CHARTS:
        parts.append(f"<p>The first {_CHARTS} of {len(by_tag)} curves.</p>")
    return "".join(parts)


def _legend(colours: dict[str, str], total: int) -> str:
    names = "".join(
        f'<span style="margin-right:1em"><span style="color:{colour}">&#9632;</span> {html.escape(run)}</span>'
        for run, colour in colours.items()
    )
    more = f" The first {len(colours)} of {total} runs." if total > len(colours) else ""
    return f"<p>{names}{more}</p>"


def _chart(tag: str, group: list[Any], colours: dict[str, str]) -> str:
    width, height = 320, 150
    curves = []
    for series in group:
        stride = max(1, math.ceil(len(series) / _POINTS))
        steps, values = [int(s) for s in series.steps[::stride]], [float(v) for v in series.values[::stride]]
        if (len(series) - 1) % stride:  # the newest point always
            steps.append(int(series.steps[-1]))
            values.append(float(series.values[-1]))
        points = [(s, v) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
        curves.append((series.run, points, values[-1]))
    everything = [point for _, points, _ in curves for point in points]
    if not everything:
        return ""
    (x0, x1), (y0, y1) = ((min(axis), max(axis)) for axis in zip(*everything, strict=True))

    def place(point: tuple[int, float]) -> str:
        x = (point[0] - x0) / (x1 - x0 or 1) * (width - 20) + 10
        y = height - 10 - (point[1] - y0) / (y1 - y0 or 1) * (height - 20)
        return f"{x:.1f},{y:.1f}"

    drawn = ""
    for run, points, last in curves:
        title = f"<title>{html.escape(run)}: {last:.6g} at the end</title>"
        look = f'fill="none" stroke="{colours[run]}" stroke-width="1.5"'
        if len(points) == 1:
            x, y = place(points[0]).split(",")
            drawn += f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colours[run]}">{title}</circle>'
        elif points:
            drawn += f'<polyline points="{" ".join(map(place, points))}" {look}>{title}</polyline>'
    name = html.escape(tag)
    return (
        f'<figure style="display:inline-block;margin:4px 12px 8px 0"><figcaption>{name}</figcaption>'
        f'<svg width="{width}" height="{height}" role="img" aria-label="{name}" style="border:1px solid #8884">{drawn}</svg>'
        f"<div><small>step {x0} to {x1}, value {y0:.4g} to {y1:.4g}</small></div></figure>"
    )
