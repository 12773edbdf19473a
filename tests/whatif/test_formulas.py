"""The figures of What-If against their formulas, written out again with numpy, on random data."""

import numpy as np
import pytest
from served import Served
import itertools


def table(path, columns):
    names = list(columns)
    rows = zip(*columns.values())
    path.write_text(",".join(names) + "\n" + "".join(",".join("" if v is None else str(v) for v in row) + "\n" for row in rows))


@pytest.fixture(scope="module", params=[1, 2, 3])
def binary(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whatif")
    random = np.random.default_rng(request.param)
    n = 700
    group = random.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    age = random.normal(40, 12, n).round(2)
    height = np.where(random.random(n) < 0.1, np.nan, random.normal(170, 9, n).round(1))
    label = (random.random(n) < np.where(group == "a", 0.6, 0.3)).astype(int)
    score = np.clip(label * 0.3 + random.random(n) * 0.7, 0, 1).round(random.integers(1, 4))
    columns = {"group": group, "age": age, "height": [None if np.isnan(h) else h for h in height], "label": label, "score": score}
    table(folder / "data.csv", columns)
    with Served("whatif", "--data", str(folder / "data.csv"), "--label", "label", "--predictions", "score", state=folder / "state") as server:
        yield server, {**columns, "height": height}


def counts(label, score, k):
    positive = np.array([not (k > s * 100) for s in score])
    return (int((positive & (label == 1)).sum()), int((positive & (label == 0)).sum()), int((~positive & (label == 0)).sum()), int((~positive & (label == 1)).sum()))


def auc(label, score):
    positive, negative = score[label == 1], score[label == 0]
    wins = (positive[:, None] > negative[None, :]) + 0.5 * (positive[:, None] == negative[None, :])
    m, n = wins.shape
    variance = wins.mean(1).var(ddof=1) / m + wins.mean(0).var(ddof=1) / n
    return wins.mean(), 1.959963984540054 * np.sqrt(variance)


def average_precision(label, score):
    total, recall = 0.0, 0.0
    for t in sorted(set(score), reverse=True):
        chosen = score >= t
        now = label[chosen].sum() / label.sum()
        total += (now - recall) * label[chosen].mean()
        recall = now
    return total


def original_area(points):
    """Over points in the order of falling thresholds, with the minimum of two heights as the base."""
    return sum((b[0] - a[0]) * min(a[1], b[1]) + (b[0] - a[0]) * (b[1] - a[1]) / 2 for a, b in itertools.pairwise(points))


def test_thresholds_of_every_slice(binary):
    server, data = binary
    answer = server.post("performance", {"slices": ["group"]})
    for one in answer["slices"]:
        chosen = data["group"] == one["name"]
        for k in range(101):
            want = counts(data["label"][chosen], data["score"][chosen], k)
            assert tuple(one["sweep"][c][k] for c in ("tp", "fp", "tn", "fn")) == want, (one["name"], k)


def test_exact_areas_and_their_intervals(binary):
    server, data = binary
    answer = server.post("performance", {"slices": ["group"]})
    for one, chosen in [(answer["all"], np.ones(700, bool)), *((s, data["group"] == s["name"]) for s in answer["slices"])]:
        want, half = auc(data["label"][chosen], data["score"][chosen])
        assert one["auc"][0] == pytest.approx(want)
        assert one["auc"][1] == pytest.approx(max(0, want - half))
        assert one["average_precision"] == pytest.approx(average_precision(data["label"][chosen], data["score"][chosen]))
        assert one["brier"] == pytest.approx(np.mean((data["score"][chosen] - data["label"][chosen]) ** 2))


def test_compatible_areas(binary):
    server, data = binary
    rates = []
    for k in range(100, -1, -1):
        tp, fp, tn, fn = counts(data["label"], data["score"], k)
        rates.append((fp / (fp + tn) if fp + tn else 0, tp / (tp + fn) if tp + fn else 0, tp / (tp + fp) if tp + fp else 0))
    answer = server.post("performance", {})["all"]["compatible"]
    assert answer["roc"] == pytest.approx(original_area([(f, t) for f, t, _ in rates]))
    assert answer["pr"] == pytest.approx(original_area([(t, p) for _, t, p in rates]))


def test_calibration(binary):
    server, data = binary
    bins = np.minimum((data["score"] * 10).astype(int), 9)
    answer = server.post("performance", {})["all"]
    wanted = [b for b in range(10) if (bins == b).any()]
    assert [b["count"] for b in answer["calibration"]] == [int((bins == b).sum()) for b in wanted]
    for got, b in zip(answer["calibration"], wanted):
        assert got["rate"][0] == pytest.approx(data["label"][bins == b].mean())
        assert got["score"] == pytest.approx(data["score"][bins == b].mean())
        assert got["rate"][1] <= got["rate"][0] <= got["rate"][2]


@pytest.mark.parametrize("ratio", [0.5, 1, 3])
def test_strategies_of_the_original(binary, ratio):
    """The search that starts from the first slice, written again as plain loops."""
    server, data = binary
    names = list(dict.fromkeys(data["group"]))
    sweeps = [[counts(data["label"][data["group"] == g], data["score"][data["group"] == g], k) for k in range(101)] for g in names]
    cost = lambda c: c[1] * ratio + c[3]
    measures = {
        "demographic_parity": lambda c: (c[0] + c[1]) / sum(c),
        "equal_opportunity": lambda c: c[0] / (c[0] + c[3]),
        "equal_accuracy": lambda c: (c[0] + c[2]) / sum(c),
    }
    last_min = lambda values: max(i for i, v in enumerate(values) if v == min(values))
    want = {
        "single_threshold": [last_min([sum(cost(s[k]) for s in sweeps) for k in range(101)])] * len(names),
        "group_thresholds": [last_min([cost(c) for c in s]) for s in sweeps],
    }
    for name, measure in measures.items():
        best = None
        for k in range(101):
            target = measure(sweeps[0][k])
            picks = [k] + [last_min([abs(measure(c) - target) for c in s]) for s in sweeps[1:]]
            total = sum(cost(s[p]) for s, p in zip(sweeps, picks))
            if best is None or total <= best[0]:
                best = (total, picks)
        want[name] = best[1]
    answer = server.post("performance", {"slices": ["group"], "cost_ratio": ratio, "search": "first_slice"})
    assert [s["name"] for s in answer["slices"]] == names
    got = {s["name"]: s["thresholds"] for s in answer["strategies"]}
    for name, thresholds in want.items():
        assert got[name] == thresholds, name


def test_equalised_odds_leaves_no_larger_gap_than_one_threshold(binary):
    server, _ = binary
    strategies = {s["name"]: s for s in server.post("performance", {"slices": ["group"]})["strategies"]}
    gap = lambda s: max(s["gaps"]["recall"], s["gaps"]["false_positive_rate"])
    assert strategies["equalised_odds"]["gap"] == pytest.approx(gap(strategies["equalised_odds"]))
    assert gap(strategies["equalised_odds"]) <= max(gap(strategies["single_threshold"]), 0.35)


@pytest.mark.parametrize("metric", ["l1", "l2"])
def test_distances(binary, metric):
    server, data = binary
    row = 5
    parts = []
    for name in ("age", "height"):
        values = np.array(data[name], float)
        d = np.abs(values - values[row]) / np.nanstd(values)
        parts.append(np.where(np.isnan(d), 1, d))
    shares = np.array([np.mean(data["group"] == g) for g in set(data["group"])])
    parts.append(np.where(data["group"] == data["group"][row], 0, (shares**2).sum()))
    want = sum(parts) if metric == "l1" else np.sqrt(sum(p**2 for p in parts))
    answer = server.post("nearest", {"row": row, "metric": metric, "k": 20})
    order = [i for i in np.argsort(want, kind="stable") if i != row][:20]
    assert [n["distance"] for n in answer["nearest"]] == pytest.approx([want[i] for i in order])
    other = next(i for i in np.argsort(want, kind="stable") if (data["score"][i] >= 0.5) != (data["score"][row] >= 0.5))
    assert answer["counterfactual"]["distance"] == pytest.approx(want[other])


def test_statistics(binary):
    server, data = binary
    status, answer = server.ask(f"whatif/{server.only_set()}/features")
    assert status == 200
    got = {f["name"]: f for f in answer["features"]}
    for name in ("age", "height"):
        values = np.array(data[name], float)
        kept = values[~np.isnan(values)]
        assert got[name]["missing"] == np.isnan(values).sum()
        for key, want in (("mean", kept.mean()), ("deviation", kept.std()), ("median", np.median(kept)), ("low", kept.min()), ("high", kept.max())):
            assert got[name][key] == pytest.approx(want), (name, key)
        assert got[name]["quantiles"] == pytest.approx(np.quantile(kept, np.linspace(0, 1, 11)))
        assert got[name]["histogram"] == np.histogram(kept, 10)[0].tolist()
    assert got["group"]["unique"] == 3


def test_multiclass_and_regression(tmp_path):
    random = np.random.default_rng(7)
    n = 400
    truth = random.integers(0, 3, n)
    scores = random.dirichlet([1, 1, 1], n).round(4)
    value = random.normal(5, 2, n).round(4)
    guess = (value + random.normal(0, 1, n)).round(4)
    table(tmp_path / "d.csv", {"t": [f"k{i}" for i in truth], "p_k0": scores[:, 0], "p_k1": scores[:, 1], "p_k2": scores[:, 2], "value": value, "guess": guess, "x": value.round(0)})
    columns = [a for c in ("p_k0", "p_k1", "p_k2") for a in ("--predictions", c)]
    with Served("whatif", "--data", str(tmp_path / "d.csv"), "--label", "t", *columns, state=tmp_path / "s") as server:
        one = server.post("performance", {})["all"]
        said = scores.argmax(1)
        assert one["accuracy"][0] == pytest.approx((said == truth).mean())
        assert one["confusion"][:9] == [int(((truth == a) & (said == b)).sum()) for a in range(3) for b in range(3)]
        for i, rest in enumerate(one["one_vs_rest"]):
            is_it = (truth == i).astype(int)
            area, half = auc(is_it, scores[:, i])
            assert rest["name"] == f"k{i}" and rest["auc"] == pytest.approx([area, area - half, area + half])
            assert rest["average_precision"] == pytest.approx(average_precision(is_it, scores[:, i]))
            assert rest["sweep"]["tp"] == [int((is_it[scores[:, i] * 100 > k]).sum()) for k in range(101)]
        assert one["top"][1] == pytest.approx(np.mean([t in np.argsort(-s)[:2] for t, s in zip(truth, scores)]))
    with Served("whatif", "--data", str(tmp_path / "d.csv"), "--label", "value", "--predictions", "guess", state=tmp_path / "s2") as server:
        one = server.post("performance", {})["all"]
        error = guess - value
        assert one["mean_error"] == pytest.approx(error.mean())
        assert one["mean_absolute"][0] == pytest.approx(np.abs(error).mean())
        assert one["mean_squared"] == pytest.approx((error**2).mean())
        assert one["median_absolute"] == pytest.approx(np.median(np.abs(error)))
        assert one["r2"] == pytest.approx(1 - (error**2).sum() / ((value - value.mean()) ** 2).sum())


def test_the_worst_slice_is_the_one_that_was_failed_on_purpose(tmp_path):
    random = np.random.default_rng(3)
    n = 3000
    city = random.choice(["north", "south", "east", "west"], n)
    plan = random.choice(["basic", "gold", "family"], n)
    label = random.integers(0, 2, n)
    fails = (city == "south") & (plan == "family")
    right = random.random(n) < np.where(fails, 0.2, 0.93)
    score = np.where(right, label, 1 - label) * 0.6 + 0.2
    table(tmp_path / "d.csv", {"city": city, "plan": plan, "noise": random.normal(0, 1, n).round(3), "label": label, "score": score})
    with Served("whatif", "--data", str(tmp_path / "d.csv"), "--label", "label", "--predictions", "score", state=tmp_path / "s") as server:
        worst = server.post("worst", {"depth": 2})["slices"][0]
        assert sorted(worst["conditions"]) == [["city", "south"], ["plan", "family"]]
        assert worst["support"] == int(fails.sum())
        assert worst["loss"][0] == pytest.approx(1 - right[fails].mean())
