"""Real models through sonde.whatif: scikit-learn's data sets, a Keras and a PyTorch classifier, ONNX Runtime. Slow: ./test --all.

Needs the Python package (sonde), scikit-learn and pandas; Keras, PyTorch and onnxruntime where they are installed.
run_models.py builds the package and starts this. Each case is a process of its own: frameworks do not share one well.
"""

import http.server
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

BINARY = os.path.join(os.path.dirname(__file__), "../../build/release/sonde")
os.environ.setdefault("SONDE_BINARY", os.path.abspath(BINARY))
EXAMPLES = os.path.join(os.path.dirname(__file__), "../../examples/python")
counts = {"passed": 0, "failed": 0, "skipped": 0}


def ask(url, body=None):
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode(), headers={"Sonde-Request": "1"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read() or b"null")


def served(*arguments):
    """The address of a program that was started, and how to end it."""
    process = subprocess.Popen([os.environ["SONDE_BINARY"], *arguments, "--port", "0"], stderr=subprocess.PIPE, text=True, env={**os.environ, "SONDE_PYTHON": sys.executable})
    said = ""
    for line in process.stderr:
        said += line
        if found := re.search(r" at (http\S+)", line):
            break
    assert found, said
    threading.Thread(target=process.stderr.read, daemon=True).start()

    def stop():
        process.terminate()
        process.wait(20)

    return found[1], stop


def judged(session, model):
    base = getattr(session, "url", session).split("/#")[0].rstrip("/") + "/api/v1/whatif"
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
    begin = time.monotonic()
    done = subprocess.run([sys.executable, __file__, work.__name__], capture_output=True, text=True, check=False)
    counts["failed" if done.returncode else "passed"] += 1
    print(f"{'FAILED' if done.returncode else 'ok'} {work.__name__} in {time.monotonic() - begin:.0f} s", flush=True)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-4000:])


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


def wine():
    """Three classes, the object as it is: its labels are the model's own."""
    import numpy as np
    import sonde
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score, top_k_accuracy_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    bunch = load_wine(as_frame=True)
    frame = bunch.frame.assign(target=[str(bunch.target_names[t]) for t in bunch.frame["target"]])
    x, y = frame.drop(columns="target"), frame["target"]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(x[::3], y[::3])
    with sonde.whatif(frame, predict=model, label="target") as session:
        at, got = judged(session, "Pipeline")
        said = model.predict(x)
        assert got["label_names"] == list(model.classes_)
        assert abs(got["all"]["accuracy"][0] - np.mean(said == y)) < 1e-9
        assert abs(got["all"]["macro_f1"] - f1_score(y, said, average="macro")) < 1e-9
        assert abs(got["all"]["top"][1] - top_k_accuracy_score(y, model.predict_proba(x), k=2)) < 1e-9
        near = ask(f"{at}/nearest", {"model": "Pipeline", "row": 0})["counterfactual"]["row"]
        assert said[near] != said[0]


def digits_as_images():
    import numpy as np
    import sonde
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import confusion_matrix

    digits = load_digits()
    model = LogisticRegression(max_iter=300).fit(digits.data[:1000], digits.target[:1000])
    pixels = (digits.images * 15).astype(np.uint8)

    def predict(columns):
        return model.predict_proba(np.array([np.asarray(p, dtype=float).reshape(64) / 15 for p in columns["image"]]))

    with sonde.whatif({"image": pixels, "digit": digits.target}, predict={"m": predict}, label="digit", labels=[str(i) for i in range(10)]) as session:
        at, got = judged(session, "m")
        assert np.array_equal(np.array(got["all"]["confusion"]).reshape(11, 10)[:10], confusion_matrix(digits.target, model.predict(digits.data)))
        assert next(c for c in ask(at)["columns"] if c["name"] == "image")["kind"] == "image"


def behind_rest():
    """TensorFlow Serving's and KServe's protocols, spoken by a stand-in with scikit-learn behind it."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    frame = cancer().round(4)
    x, y = frame.drop(columns="target"), frame["target"]
    model = LogisticRegression(max_iter=1000).fit(x.to_numpy()[::2], y[::2])
    largest = []

    class StandIn(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/v2/models/cancer/infer":
                given = body["inputs"][0]
                assert given["datatype"] == "FP32"
                rows = np.array(given["data"]).reshape(given["shape"])
                told = model.predict_proba(rows)
                answer = {"model_name": "cancer", "outputs": [
                    {"name": "label", "datatype": "INT64", "shape": [len(rows)], "data": told.argmax(1).tolist()},
                    {"name": "probabilities", "datatype": "FP64", "shape": list(told.shape), "data": told.ravel().tolist()}]}
            elif self.path.endswith(":predict"):
                rows = np.array([[one[name] for name in x.columns] for one in body["instances"]])
                answer = {"predictions": model.predict_proba(rows).tolist()}
            else:
                rows = np.array([[one[name] for name in x.columns] for one in body["examples"]])
                answer = {"results": [[["0", float(a)], ["1", float(b)]] for a, b in model.predict_proba(rows)]}
            largest.append(len(rows))
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(f"{folder}/test.csv", index=False)
        for path, protocol in (("/v1/models/cancer:predict", "tfserving"), ("/v1/models/cancer:classify", "tfserving"), ("/v2/models/cancer/infer", "kserve")):
            url, stop = served("whatif", "--data", f"{folder}/test.csv", "--label", "target", "--endpoint", origin + path, "--protocol", protocol)
            try:
                _, got = judged(url, "live")
                assert abs(got["all"]["auc"][0] - roc_auc_score(y, model.predict_proba(x.to_numpy())[:, 1])) < 1e-9, path
            finally:
                stop()
    assert max(largest) > 64  # batches grow while the model is quick
    server.shutdown()


def arrow_files():
    """Parquet and Arrow by path, through pandas."""
    import pandas
    import sonde

    frame = pandas.DataFrame({"a": [1.5, 2.5, 3.5], "city": ["x", "y", "x"], "y": [0, 1, 1]})
    with tempfile.TemporaryDirectory() as folder:
        frame.to_feather(f"{folder}/d.arrow")
        frame.to_parquet(f"{folder}/d.parquet")
        for name in ("d.arrow", "d.parquet"):
            with sonde.whatif(f"{folder}/{name}", predict={"m": lambda f: (f["a"] / 4).to_numpy()}, label="y") as session:
                at, got = judged(session, "m")
                assert got["all"]["auc"][0] == 1 and [c["name"] for c in ask(at)["columns"]] == ["a", "city", "y"], name


def regression():
    import sonde
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import r2_score

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
        url, stop = served("whatif", "--model", f"{folder}/m.onnx", "--data", f"{folder}/test.csv", "--label", "y")
        try:
            _, got = judged(url, "m")
            assert abs(got["all"]["auc"][0] - roc_auc_score(y, model.predict_proba(frame)[:, 1])) < 1e-6
        finally:
            stop()
        lacks = subprocess.run([os.environ["SONDE_BINARY"], "whatif", "--model", f"{folder}/m.onnx", "--data", f"{folder}/test.csv"], capture_output=True, text=True,
                               check=False, env={**os.environ, "SONDE_PYTHON": "/bin/false"})
        assert lacks.returncode != 0 and "pip install onnxruntime" in lacks.stderr


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
        rates = MetricFrame(metrics={"selection": selection_rate, "tpr": true_positive_rate, "false_rate": false_positive_rate}, y_true=frame["y"], y_pred=said,
                            sensitive_features=frame["group"]).by_group
        for part in got["slices"]:
            tp, fp, tn, fn = (part["sweep"][c][k] for c in ("tp", "fp", "tn", "fn"))
            row = rates.loc[part["name"]]
            assert np.allclose([(tp + fp) / (tp + fp + tn + fn), tp / (tp + fn), fp / (fp + tn)], [row["selection"], row["tpr"], row["false_rate"]])
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


def example_script():
    """examples/python/whatif_wine.py as a person starts and ends it."""
    import signal

    # Ctrl C is deaf in what a shell starts in the background; a person's terminal has it.
    script = os.path.join(EXAMPLES, "whatif_wine.py")
    process = subprocess.Popen([sys.executable, "-u", script], stdout=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    url = re.search(r" at (http\S+)", process.stdout.readline())[1]
    try:
        for name in ("linear", "forest"):
            _, got = judged(url, name)
            assert got["all"]["accuracy"][0] > 0.9, (name, got["all"]["accuracy"])
    finally:
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()
    try:
        ask(url.split("/#")[0] + "/api/v1/whatif")
        raise AssertionError("the page is still served")
    except urllib.error.URLError:
        pass


def example_notebook():
    """The cells of examples/python/whatif.ipynb, one after the other."""
    with open(os.path.join(EXAMPLES, "whatif.ipynb"), encoding="utf-8") as file:
        cells = ["".join(cell["source"]) for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    space = {}
    for cell in cells[:-1]:
        exec(cell, space)
    page = space["page"]
    assert page.url in page._repr_html_()
    _, got = judged(page, "Pipeline")
    assert got["all"]["auc"][0] > 0.98
    exec(cells[-1], space)


CASES = (
    (["sonde", "sklearn", "pandas"], scikit_learn),
    (["sonde", "sklearn", "pandas"], wine),
    (["sonde", "sklearn", "pandas"], digits_as_images),
    (["sonde", "sklearn", "pandas"], regression),
    (["sonde", "sklearn", "pandas"], behind_rest),
    (["sonde", "sklearn", "pandas", "pyarrow"], arrow_files),
    (["sonde", "sklearn", "pandas", "torch"], pytorch),
    (["sonde", "sklearn", "pandas", "keras"], keras_model),
    (["sonde", "sklearn", "pandas", "onnx", "onnxruntime"], onnx_runtime),
    (["sonde", "sklearn", "pandas", "onnxruntime", "skl2onnx"], onnx_from_the_terminal),
    (["sonde", "sklearn", "pandas", "xgboost", "lightgbm"], trees),
    (["sonde", "pandas", "fairlearn"], fairness_against_fairlearn),
    (["sonde", "sklearn", "pandas"], logged_over_training),
    (["sonde", "sklearn", "pandas"], example_script),
    (["sonde", "sklearn", "pandas"], example_notebook),
)
if len(sys.argv) > 1:
    next(work for _, work in CASES if work.__name__ == sys.argv[1])()
    sys.exit(0)
for needs, work in CASES:
    case(needs, work)
print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
sys.exit(1 if counts["failed"] else 0)
