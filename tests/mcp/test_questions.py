"""Twenty questions about the corpus with known answers, each solved in at most 5 calls and 8 kB.

They show that each answer can be reached within the limits, and that none of them changes unnoticed.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from client import ROOT, Client

MOST_CALLS, MOST_BYTES = 5, 8192


@pytest.fixture(scope="module")
def shared():
    one = Client(ROOT / "tests/data/corpus")
    yield one
    one.close()


@pytest.fixture
def client(shared):
    shared.calls = shared.bytes = 0
    yield shared
    assert shared.calls <= MOST_CALLS and shared.bytes <= MOST_BYTES, (shared.calls, shared.bytes)


def column(answer, name):
    at = answer["columns"].index(name)
    return [row[at] for row in answer["rows"]]


def one(client, tag, run, **more):
    return client.call("query_series", tag=tag, runs=[run], **more)["runs"][0]


def test_01_how_many_runs(client):
    assert client.call("overview", max_tokens=300)["runs"] == 195


def test_02_last_value_of_a_curve(client):
    assert one(client, "loss", "edge_10k/exactly_1000")["summary"]["last"] == 999


def test_03_which_step_has_the_lowest_loss(client):
    assert one(client, "loss", "edge_restart_session/v2_values")["summary"]["min_step"] == 3


def test_04_value_at_a_step(client):
    assert one(client, "loss", "edge_10k/exactly_1001", steps=[500, 500])["points"] == [[500, 500.0]]


def test_05_mean_of_a_curve(client):
    assert one(client, "loss", "edge_10k/exactly_1000", detail="summary")["summary"]["mean"] == 499.5


def test_06_which_run_has_the_most_points(client):
    answer = client.call("list_runs", sort="points", descending=True, limit=1)
    assert column(answer, "name") == ["edge_10k/long"] and column(answer, "points") == [10000]


def test_07_best_trial_of_a_grid(client):
    answer = client.call("list_runs", filter="^hparams_grid", metrics=["accuracy"], sort="accuracy", descending=True, limit=1)
    assert column(answer, "name") == ["hparams_grid/run-7"]


def test_08_its_hyperparameters(client):
    answer = client.call("list_runs", runs=["hparams_grid/run-7"], hparams=["num_units", "dropout", "optimizer"])
    assert answer["rows"][0][2:] == [32, 0.2, "sgd"]


def test_09_which_hyperparameter_matters_most(client):
    assert client.call("hparams", metric="accuracy", limit=1, max_tokens=1500)["importance_spearman"][0]["col"] == "hparam:num_units"


def test_10_where_a_curve_first_is_nan(client):
    assert one(client, "v", "edge_values/f32")["summary"]["first_not_finite_step"] == 2


def test_11_how_many_values_are_not_numbers(client):
    assert one(client, "v", "edge_values/f32")["summary"]["not_finite"] == 3


def test_12_how_many_points_a_restart_replaced(client):
    assert one(client, "loss", "edge_restart_session/v2_values")["superseded_by_restarts"] == 4


def test_13_which_files_are_damaged(client):
    answer = client.call("diagnosis", max_tokens=1900)
    assert answer["total"] == 18 and "payload_crc" in column(answer, "kind")


def test_14_which_tags_a_run_has(client):
    answer = client.call("list_tags", run="tf2_scalars/train")
    assert column(answer, "tag") == ["epoch_accuracy", "epoch_loss", "int_metric", "optimizer/learning_rate"]


def test_15_training_and_validation_side_by_side(client):
    answer = client.call("compare_runs", filter="^keras_fit/", metrics=["epoch_loss"], max_tokens=600)
    train, validation = column(answer, "metric:epoch_loss:last")
    assert train == pytest.approx(1.096094) and validation == pytest.approx(1.092034)


def test_16_learning_rate_of_a_trial(client):
    answer = client.call("list_runs", runs=["torch_hparams/trial_4"], hparams=["lr"], metrics=["hparam/accuracy"])
    assert answer["rows"][0][2:] == [40, 0.4]


def test_17_which_runs_have_images(client):
    answer = client.call("list_tags", filter="image", max_tokens=1500)
    assert "image" in column(answer, "kind")


def test_18_which_profiles_there_are(client):
    assert "v1_session/train/run_metadata" in column(client.call("profiles"), "session")


def test_19_how_long_a_step_takes(client):
    answer = client.call("profile_report", session="v1_session/train/run_metadata", max_tokens=1500)
    figure = next(f for f in answer["figures"] if f["id"] == "step_time_ms")
    assert figure["value"] == pytest.approx(0.234028)


def test_20_sql_over_the_trace(client):
    tables = client.call("trace_sql", session="v1_session/train/run_metadata", max_tokens=1200)
    assert "names_ms" in column(tables, "table") or tables["total"] > 3
    answer = client.call("trace_sql", session="v1_session/train/run_metadata", sql="select count(*) as n from slices", max_tokens=300)
    assert answer["rows"][0][0] > 0
