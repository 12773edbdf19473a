"""Real models through sonde.whatif: scikit-learn's data sets, a Keras and a PyTorch classifier, ONNX Runtime. Slow: ./test --all.

Needs the Python package (sonde), scikit-learn and pandas; Keras, PyTorch and onnxruntime where they are installed.
"""

import importlib.util
import json
import os
import sys
import tempfile
import time
import urllib.request

BINARY = os.path.join(os.path.dirname(__file__), "../../build/release/sonde")
os.environ.setdefault("SONDE_BINARY", os.path.abspath(BINARY))
counts = {"passed": 0, "failed": 0, "skipped": 0}


def ask(url, body=None):
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode(), headers={"Sonde-Request": "1"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read() or b"null")


def judged(session, model):
    base = session.url.split("/#")[0] + "/api/v1/whatif"
    at = f"{base}/{ask(base)['sets'][0]['id']}"
    ask(f"{at}/ask", {"model": model})
    for _ in range(600):
        status = next(m for m in ask(at)["models"] if m["name"] == model)
        if not status["asking"]:
            break
        time.sleep(0.1)
    assert "problem" not in status, status
    return at, ask(f"{at}/performance", {"model": model})


def case(needs, work):
    missing = [n for n in needs if importlib.util.find_spec(n) is None]
    if missing:
        counts["skipped"] += 1
        print(f"skipped: [1] {work.__name__} needs {', '.join(missing)}")
        return
    try:
        work()
        counts["passed"] += 1
    except Exception as problem:
        counts["failed"] += 1
        print(f"FAILED {work.__name__}: {type(problem).__name__}: {problem}")


def cancer():
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    frame = load_breast_cancer(as_frame=True).frame
    x = frame.drop(columns="target")
    frame[x.columns] = StandardScaler().fit_transform(x)
    return frame


def scikit_learn():
    import sonde
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

    frame = cancer()
    x, y = frame.drop(columns="target"), frame["target"]
    one, two = LogisticRegression(max_iter=1000).fit(x, y), RandomForestClassifier(20, random_state=0).fit(x[::2], y[::2])
    with sonde.whatif(frame, predict={"one": one, "two": two.predict_proba}, label="target") as session:
        for name, model in (("one", one), ("two", two)):
            at, got = judged(session, name)
            scores = model.predict_proba(x)[:, 1]
            assert abs(got["all"]["auc"][0] - roc_auc_score(y, scores)) < 1e-9
            assert abs(got["all"]["average_precision"] - average_precision_score(y, scores)) < 1e-9
            assert abs(got["all"]["brier"] - brier_score_loss(y, scores)) < 1e-9
        line = ask(f"{at}/dependence", {"model": "one", "features": ["mean radius"], "row": -1, "examples": 569})["features"][0]
        for value, mean in zip(line["values"], line["means"][0]):
            assert abs(mean - one.predict_proba(x.assign(**{"mean radius": value}))[:, 1].mean()) < 1e-9


def digits_and_regression():
    import numpy as np
    import sonde
    from sklearn.datasets import load_diabetes, load_digits
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.metrics import confusion_matrix, r2_score

    digits = load_digits()
    model = LogisticRegression(max_iter=300).fit(digits.data[:1000], digits.target[:1000])
    columns = {f"p{i:02}": digits.data[:, i] for i in range(64)} | {"digit": digits.target}
    with sonde.whatif(columns, predict={"m": lambda c: model.predict_proba(np.array([c[f"p{i:02}"] for i in range(64)]).T)}, label="digit") as session:
        _, got = judged(session, "m")
        assert np.array_equal(np.array(got["all"]["confusion"]).reshape(11, 10)[:10], confusion_matrix(digits.target, model.predict(digits.data)))
    sugar = load_diabetes(as_frame=True).frame
    linear = LinearRegression().fit(sugar.drop(columns="target"), sugar["target"])
    with sonde.whatif(sugar, predict=linear, label="target") as session:
        _, got = judged(session, "LinearRegression")
        assert abs(got["all"]["r2"] - r2_score(sugar["target"], linear.predict(sugar.drop(columns="target")))) < 1e-9


def pytorch():
    import sonde
    import torch

    frame = cancer()
    x = torch.tensor(frame.drop(columns="target").to_numpy(), dtype=torch.float32)
    y = torch.tensor(frame["target"].to_numpy())
    net = torch.nn.Sequential(torch.nn.Linear(30, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimiser = torch.optim.Adam(net.parameters(), 0.05)
    for _ in range(60):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimiser.step()
    with sonde.whatif(frame, predict={"net": net}, label="target") as session:
        _, got = judged(session, "net")
        assert got["all"]["auc"][0] > 0.97


def keras_model():
    import keras
    import sonde

    frame = cancer()
    net = keras.Sequential([keras.layers.Input((30,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1, "sigmoid")])
    net.compile("adam", "binary_crossentropy")
    net.fit(frame.drop(columns="target"), frame["target"], epochs=15, verbose=0)
    with sonde.whatif(frame, predict={"net": net}, label="target") as session:
        _, got = judged(session, "net")
        assert got["all"]["auc"][0] > 0.9


def onnx_runtime():
    import onnx
    import onnxruntime
    import sonde
    from onnx import TensorProto, helper
    from sklearn.linear_model import LogisticRegression

    frame = cancer()
    x, y = frame.drop(columns="target"), frame["target"]
    fitted = LogisticRegression(max_iter=1000).fit(x, y)
    weights = helper.make_tensor("w", TensorProto.FLOAT, [30, 1], fitted.coef_.T.flatten().tolist())
    bias = helper.make_tensor("b", TensorProto.FLOAT, [1], fitted.intercept_.tolist())
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Sigmoid", ["c"], ["p"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 30])],
                              [helper.make_tensor_value_info("p", TensorProto.FLOAT, [None, 1])], [weights, bias])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    with sonde.whatif(frame, predict={"m": session}, label="target") as page:
        _, got = judged(page, "m")
        assert got["all"]["auc"][0] > 0.99
    assert onnx is not None


def onnx_from_the_terminal():
    """`sonde whatif --model m.onnx --data test.csv`, a pipeline with texts and numbers."""
    import re
    import subprocess

    import numpy as np
    import pandas
    from skl2onnx import to_onnx
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    random = np.random.default_rng(1)
    frame = pandas.DataFrame({"age": random.integers(18, 80, 300), "city": random.choice(["north", "south"], 300)})
    y = ((frame["age"] > 45) ^ (random.random(300) < 0.2)).astype(int)
    model = make_pipeline(ColumnTransformer([("city", OneHotEncoder(), ["city"])], remainder="passthrough"), LogisticRegression(max_iter=1000)).fit(frame, y)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/m.onnx", "wb") as out:
            out.write(to_onnx(model, frame[:1], options={"zipmap": False}).SerializeToString())
        frame.assign(y=y).to_csv(f"{folder}/test.csv", index=False)
        arguments = [os.environ["SONDE_BINARY"], "whatif", "--model", f"{folder}/m.onnx", "--data", f"{folder}/test.csv", "--label", "y", "--port", "0"]
        process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env={**os.environ, "SONDE_PYTHON": sys.executable})
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r" at (http\S+)", line):
                break
        try:
            assert found, said

            class Page:
                url = found[1]

            _, got = judged(Page, "m")
            assert abs(got["all"]["auc"][0] - roc_auc_score(y, model.predict_proba(frame)[:, 1])) < 1e-6
        finally:
            process.terminate()
            process.wait(10)


def trees():
    import lightgbm
    import sonde
    import xgboost
    from sklearn.metrics import roc_auc_score

    frame = cancer()
    frame.columns = [c.replace(" ", "_") for c in frame.columns]
    x, y = frame.drop(columns="target"), frame["target"]
    light = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 1}, lightgbm.Dataset(x[::2], y[::2]), 20)
    models = {
        "xgb": xgboost.XGBClassifier(n_estimators=20).fit(x[::2], y[::2]),
        "booster": xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(x[::2], y[::2]), 20),
        "light": lightgbm.LGBMClassifier(n_estimators=20, verbose=-1).fit(x[::2], y[::2]),
        "light_booster": light,
    }
    wanted = {
        "xgb": models["xgb"].predict_proba(x)[:, 1], "booster": models["booster"].predict(xgboost.DMatrix(x)),
        "light": models["light"].predict_proba(x)[:, 1], "light_booster": light.predict(x),
    }
    with sonde.whatif(frame, predict=models, label="target") as session:
        for name, scores in wanted.items():
            _, got = judged(session, name)
            assert abs(got["all"]["auc"][0] - roc_auc_score(y, scores)) < 1e-6, name


def fairness_against_fairlearn():
    """Rates of each slice at 0.5 and the gaps of a single threshold."""
    import numpy as np
    import pandas
    import sonde
    from fairlearn.metrics import MetricFrame, demographic_parity_difference, equalized_odds_difference, false_positive_rate, selection_rate, true_positive_rate

    for seed in range(5):
        random = np.random.default_rng(seed)
        n = 400
        frame = pandas.DataFrame({"group": random.choice(list("abc"), n), "y": random.integers(0, 2, n)})
        scores = np.clip(0.3 * frame["y"] + random.random(n) * 0.7, 0, 1).round(3)
        with sonde.whatif(frame, predictions=scores.to_numpy(), label="y") as session:
            base = session.url.split("/#")[0] + "/api/v1/whatif"
            got = ask(f"{base}/{ask(base)['sets'][0]['id']}/performance", {"slices": ["group"]})
        single = next(s for s in got["strategies"] if s["name"] == "single_threshold")
        k = single["thresholds"][0]
        said = (~(k > scores.astype(np.float32).astype(float) * 100)).astype(int)
        rates = MetricFrame(metrics={"selection": selection_rate, "tpr": true_positive_rate, "fpr": false_positive_rate}, y_true=frame["y"], y_pred=said,
                            sensitive_features=frame["group"]).by_group
        for part in got["slices"]:
            tp, fp, tn, fn = (part["sweep"][c][k] for c in ("tp", "fp", "tn", "fn"))
            row = rates.loc[part["name"]]
            assert np.allclose([(tp + fp) / (tp + fp + tn + fn), tp / (tp + fn), fp / (fp + tn)], [row["selection"], row["tpr"], row["fpr"]])
        assert abs(single["gaps"]["positive_rate"] - demographic_parity_difference(frame["y"], said, sensitive_features=frame["group"])) < 1e-9
        odds = max(single["gaps"]["recall"], single["gaps"]["false_positive_rate"])
        assert abs(odds - equalized_odds_difference(frame["y"], said, sensitive_features=frame["group"])) < 1e-9


def logged_over_training():
    import sonde
    from sklearn.ensemble import RandomForestClassifier

    frame = cancer()
    x, y = frame.drop(columns="target"), frame["target"]
    with tempfile.TemporaryDirectory() as folder:
        for step in (1, 5, 20):
            sonde.whatif.log(folder + "/run", step, frame, RandomForestClassifier(step, random_state=0).fit(x, y).predict_proba(x)[:, 1], label="target")
        assert sorted(os.listdir(folder + "/run/whatif/evaluation")) == ["examples.npz", "predictions_1.npy", "predictions_20.npy", "predictions_5.npy", "whatif.json"]


for needs, work in (
    (["sonde", "sklearn", "pandas"], scikit_learn),
    (["sonde", "sklearn", "pandas"], digits_and_regression),
    (["sonde", "sklearn", "pandas", "torch"], pytorch),
    (["sonde", "sklearn", "pandas", "keras"], keras_model),
    (["sonde", "sklearn", "pandas", "onnx", "onnxruntime"], onnx_runtime),
    (["sonde", "sklearn", "pandas", "onnxruntime", "skl2onnx"], onnx_from_the_terminal),
    (["sonde", "sklearn", "pandas", "xgboost", "lightgbm"], trees),
    (["sonde", "pandas", "fairlearn"], fairness_against_fairlearn),
    (["sonde", "sklearn", "pandas"], logged_over_training),
):
    case(needs, work)
print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
sys.exit(1 if counts["failed"] else 0)
