"""sonde.whatif(...) with small models that were really fitted: logistic regression, a softmax over images, least squares."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
import sonde


def ask(url, body=None):
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode(), headers={"Sonde-Request": "1"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")


def at_set(session):
    base = session.url.split("/#")[0] + "/api/v1/whatif"
    return f"{base}/{ask(base)['sets'][0]['id']}"


def asked(session, model):
    at = at_set(session)
    ask(f"{at}/ask", {"model": model})
    deadline = time.monotonic() + 60
    while (status := next(m for m in ask(at)["models"] if m["name"] == model))["asking"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert "problem" not in status, status
    return at


class Logistic:
    """Fitted by gradient descent; the methods of scikit-learn's classifiers."""

    classes_ = np.array([0, 1])

    def __init__(self, x, y, steps=300, rate=0.3):
        self.mean, self.scale = x.mean(0), x.std(0) + 1e-9
        z = np.c_[(x - self.mean) / self.scale, np.ones(len(x))]
        self.w = np.zeros(z.shape[1])
        for _ in range(steps):
            self.w -= rate * z.T @ (1 / (1 + np.exp(-z @ self.w)) - y) / len(y)

    def predict_proba(self, examples):
        x = np.array(examples, dtype=float)
        p = 1 / (1 + np.exp(-np.c_[(x - self.mean) / self.scale, np.ones(len(x))] @ self.w))
        return np.c_[1 - p, p]


def auc(y, score):
    wins = (score[y == 1][:, None] > score[y == 0][None, :]) + 0.5 * (score[y == 1][:, None] == score[y == 0][None, :])
    return wins.mean()


@pytest.fixture(scope="module")
def loans():
    random = np.random.default_rng(4)
    x = random.normal(0, 1, (400, 3))
    y = (random.random(400) < 1 / (1 + np.exp(-(2 * x[:, 0] - x[:, 1])))).astype(int)
    return x, y


def test_two_models_side_by_side_and_the_figures_they_deserve(loans):
    x, y = loans
    models = {"whole": Logistic(x, y), "blind": Logistic(x[:, 1:] @ np.zeros((2, 3)) + x * [0, 1, 1], y)}
    columns = {"income": x[:, 0], "debt": x[:, 1], "noise": x[:, 2], "repaid": y}
    as_matrix = lambda model: lambda c: model.predict_proba(np.array([c["income"], c["debt"], c["noise"]]).T)
    with sonde.whatif(columns, predict={name: as_matrix(m) for name, m in models.items()}, label="repaid") as session:
        areas = {}
        for name, model in models.items():
            at = asked(session, name)
            areas[name] = ask(f"{at}/performance", {"model": name})["all"]["auc"][0]
            assert areas[name] == pytest.approx(auc(y, model.predict_proba(x)[:, 1]))
        assert areas["whole"] > areas["blind"]
        line = ask(f"{at}/dependence", {"model": "whole", "features": ["income"], "row": -1, "examples": 400})["features"][0]
        for value, mean in zip(line["values"], line["means"][0]):
            assert mean == pytest.approx(models["whole"].predict_proba(np.c_[np.full(400, value), x[:, 1:]])[:, 1].mean())


def test_a_generated_counterfactual_is_what_the_model_says(loans):
    x, y = loans
    model = Logistic(x, y)
    with sonde.whatif(np.c_[x, y], predict={"m": model}, label="repaid", features=["income", "debt", "noise", "repaid"]) as session:
        at = at_set(session)
        scores = model.predict_proba(x)[:, 1]
        row = int(np.argmin(np.abs(scores - 0.3)))
        made = ask(f"{at}/counterfactual", {"model": "m", "edits": [{"row": row}]})
        assert made["found"] and made["from"][0] == pytest.approx(scores[row])
        changed = x[row].copy()
        for one in made["changes"]:
            changed[["income", "debt", "noise"].index(one["feature"])] = one["to"]
        assert made["to"][0] == pytest.approx(model.predict_proba([changed])[0, 1]) and made["to"][0] >= 0.5
        assert made["distance"] == pytest.approx(np.sum(np.abs(changed - x[row]) / x.std(0)))
        only = ask(f"{at}/counterfactual", {"model": "m", "edits": [{"row": row}], "features": ["noise"]})
        assert all(one["feature"] == "noise" for one in only["changes"]) and not only["found"]


def test_images_reach_the_page_as_images_and_the_model_as_pixels():
    random = np.random.default_rng(0)
    kinds = random.integers(0, 3, 90)
    pixels = random.integers(0, 60, (90, 8, 8)).astype(np.uint8)
    for i, kind in enumerate(kinds):
        pixels[i, :, 2 * kind : 2 * kind + 2] += 150
    centres = np.array([pixels[kinds == k].reshape(-1, 64).mean(0) for k in range(3)])

    def nearest_centre(columns):
        flat = np.array([np.asarray(p, dtype=float).reshape(64) for p in columns["image"]])
        far = ((flat[:, None] - centres[None]) ** 2).sum(2) / 1e4
        score = np.exp(-far)
        return score / score.sum(1, keepdims=True)

    with sonde.whatif({"image": pixels, "kind": kinds}, predict={"centres": nearest_centre}, label="kind", labels=["0", "1", "2"]) as session:
        at = asked(session, "centres")
        assert [c["kind"] for c in ask(at)["columns"]] == ["image", "numeric"]
        assert ask(f"{at}/performance", {"model": "centres"})["all"]["accuracy"][0] == 1
        with urllib.request.urlopen(f"{at}/image?column=image&i=7") as answer:
            assert answer.read()[:8] == b"\x89PNG\r\n\x1a\n"
        with urllib.request.urlopen(f"{at}/sprite?column=image&" + "&".join(f"i={i}" for i in range(5))) as answer:
            png = answer.read()
        assert answer.headers["Content-Type"] == "image/png" and int.from_bytes(png[16:20], "big") == 96


def test_regression_and_attributions():
    random = np.random.default_rng(2)
    x = random.normal(0, 2, (120, 2))
    y = 3 * x[:, 0] - x[:, 1] + random.normal(0, 0.1, 120)
    w, *_ = np.linalg.lstsq(x, y, rcond=None)
    rows = [{"a": a, "b": b, "y": t} for (a, b), t in zip(x.tolist(), y.tolist())]

    def predict(given):
        z = np.array([[r["a"], r["b"]] for r in given])
        return {"predictions": z @ w, "attributions": [{"a": float(v[0] * w[0]), "b": float(v[1] * w[1])} for v in z]}

    with sonde.whatif(rows, predict=predict, label="y", task="regression") as session:
        at = asked(session, "predict")
        figures = ask(f"{at}/performance", {})["all"]
        assert figures["mean_squared"] == pytest.approx(np.mean((x @ w - y) ** 2))
        told = ask(f"{at}/predict", {"edits": [{"row": 0, "values": {"a": 10}}]})["rows"][0]
        assert told["attributions"]["a"] == pytest.approx(10 * w[0])


def test_attributions_as_explainers_give_them(loans):
    """A matrix beside predictions, and one for every question beside a model."""
    x, y = loans
    model = Logistic(x, y)
    why = (x - model.mean) / model.scale * model.w[:-1]
    columns = {"income": x[:, 0], "debt": x[:, 1], "noise": x[:, 2], "repaid": y}
    with sonde.whatif(columns, predictions=model.predict_proba(x)[:, 1], attributions=why, label="repaid") as session:
        at = at_set(session)
        means = {one["feature"]: one["all"] for one in ask(f"{at}/performance", {})["attributions"]}
        assert list(means.values()) == pytest.approx(why.mean(0).tolist()) and list(means) == ["income", "debt", "noise"]
    explain = lambda given: (given - model.mean) / model.scale * model.w[:-1]
    with sonde.whatif(x, predict=model, attributions=explain) as session:
        at = asked(session, "Logistic")
        assert ask(f"{at}/rows?i=7")["rows"][0]["attributions"]["Logistic"] == pytest.approx(dict(zip(("x0", "x1", "x2"), why[7])))
    with pytest.raises(ValueError, match="belong to predictions="):
        sonde.whatif(x, predict=model, attributions=why)
    with pytest.raises(ValueError, match="399 attributions for 400"):
        sonde.whatif(x, predictions=y, attributions=why[1:])


def test_the_models_outlive_the_page(loans):
    x, y = loans
    with sonde.whatif({"a": x[:, 0], "y": y}, predict={"m": lambda c: [min(1, max(0, v / 4 + 0.5)) for v in c["a"]]}, label="y") as session:
        first = session.url
        session._program.kill()
        session._program.wait(10)
        session.restart()
        assert session.url == first
        at = asked(session, "m")
        assert ask(f"{at}/predict", {"model": "m", "edits": [{"row": 0, "values": {"a": 1}}]})["rows"][0]["scores"] == [0.75]


def test_a_killed_process_takes_the_page_with_it():
    code = "import sonde, time; s = sonde.whatif({'a': [1, 2], 'y': [0, 1]}, predict={'m': lambda c: [0.5 for _ in c['a']]}, label='y'); print(s._program.pid, flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    page = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    deadline = time.monotonic() + 20
    while os.path.exists(f"/proc/{page}") and open(f"/proc/{page}/stat").read().split(") ")[1][0] != "Z":
        assert time.monotonic() < deadline, "the page is still served"
        time.sleep(0.05)


def test_what_a_model_raises_is_told(loans):
    x, y = loans

    def broken(_):
        raise RuntimeError("no such column")

    with sonde.whatif({"a": x[:, 0], "y": y}, predict={"m": broken}, label="y") as session:
        with pytest.raises(urllib.error.HTTPError) as problem:
            ask(f"{at_set(session)}/predict", {"model": "m", "edits": [{"row": 0}]})
        assert "RuntimeError: no such column" in problem.value.read().decode()


def test_a_distance_of_ones_own(loans):
    x, y = loans
    columns = {"a": x[:, 0], "b": x[:, 1], "y": y}

    def by_a_alone(one, everyone):
        return np.abs(np.array(everyone["a"]) - one["a"][0])

    with sonde.whatif(columns, predictions=(x[:, 0] > 0).astype(float) * 0.8 + 0.1, label="y", distance=by_a_alone) as session:
        at = at_set(session)
        assert ask(at)["custom_distance"]
        found = ask(f"{at}/nearest", {"row": 5, "metric": "custom", "k": 3})
        apart = np.abs(x[:, 0] - x[5, 0])
        apart[5] = np.inf
        assert [one["row"] for one in found["nearest"]] == np.argsort(apart, kind="stable")[:3].tolist()
        other = np.where((x[:, 0] > 0) != (x[5, 0] > 0), apart, np.inf)
        assert found["counterfactual"]["row"] == int(np.argmin(other))
