"""Files of examples as other programs write them, and what is refused."""

import gzip
import json

import numpy as np
import pytest
from served import Served

parquet = pytest.importorskip("pyarrow.parquet")
import pyarrow


def described(tmp_path, name, **more):
    (tmp_path / "whatif.json").write_text(json.dumps({"data": name, **more}))
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        at = f"whatif/{server.only_set()}"
        status, answer = server.ask(at)
        if status != 200:
            return status, answer["error"]["text"], None
        count = min(answer["rows"], 1000)
        rows = server.ask(f"{at}/rows?" + "&".join(f"i={i}" for i in range(count)))[1]["rows"]
        return status, answer, [r["values"] for r in rows]


def people(n=500, seed=1):
    random = np.random.default_rng(seed)
    return pyarrow.table({
        "age": pyarrow.array(random.integers(18, 90, n), mask=random.random(n) < 0.1),
        "income": random.normal(50, 9, n).astype(np.float32),
        "score": random.random(n),
        "city": pyarrow.array(random.choice(["Köln", "Paris", "Rome"], n), mask=random.random(n) < 0.2),
        "note": [f"person {i}" for i in range(n)],
        "is_new": random.random(n) < 0.5,
        "small": pyarrow.array(random.integers(0, 200, n).astype(np.uint8)),
    })


@pytest.mark.parametrize("options", [
    {}, {"compression": "zstd"}, {"compression": "none"}, {"use_dictionary": False}, {"data_page_version": "2.0"}, {"row_group_size": 37},
    {"compression": "zstd", "data_page_version": "2.0", "use_dictionary": False, "data_page_size": 300},
], ids=str)
def test_parquet_as_pyarrow_writes_it(tmp_path, options):
    table = people()
    parquet.write_table(table, tmp_path / "p.parquet", **options)
    status, answer, rows = described(tmp_path, "p.parquet")
    assert status == 200, answer
    assert [c["name"] for c in answer["columns"]] == table.column_names
    assert [c["kind"] for c in answer["columns"]] == ["numeric", "numeric", "numeric", "categorical", "categorical", "numeric", "numeric"]
    for got, want in zip(rows, table.to_pylist(), strict=True):
        for value, (name, wanted) in zip(got, want.items(), strict=True):
            if isinstance(wanted, float):
                assert np.float32(value) == np.float32(wanted), name
            else:
                assert value == (int(wanted) if isinstance(wanted, bool) else wanted), name


def test_parquet_samples_limits_and_nested_columns(tmp_path):
    table = people(900).append_column("pair", pyarrow.array([{"a": 1}] * 900)).append_column("tags", pyarrow.array([["x"]] * 900))
    parquet.write_table(table, tmp_path / "p.parquet", row_group_size=100)
    _, answer, _ = described(tmp_path, "p.parquet", max_examples=250)
    assert answer["rows"] == 250 and "only the first 250" in answer["note"] and "pair, tags" in answer["note"]
    _, answer, _ = described(tmp_path, "p.parquet", sampling_odds=0.5)
    assert 350 < answer["rows"] < 550


def test_parquet_damaged(tmp_path):
    """Cut anywhere or with wrong bytes: a sentence or a table, and the server lives."""
    parquet.write_table(people(200), tmp_path / "good.parquet")
    good = (tmp_path / "good.parquet").read_bytes()
    random = np.random.default_rng(3)
    logs = tmp_path / "logs"
    for i in range(60):
        bad = bytearray(good[: random.integers(8, len(good))] if i % 3 == 0 else good)
        for at in random.integers(4, len(bad), 4):
            bad[at] = random.integers(256)
        (logs / str(i)).mkdir(parents=True)
        (logs / str(i) / "bad.parquet").write_bytes(bytes(bad))
        (logs / str(i) / "whatif.json").write_text(json.dumps({"data": "bad.parquet"}))
    with Served("--logdir", str(logs), state=tmp_path / "s") as server:
        answers = [server.ask(f"whatif/{one['id']}") for one in server.ask("whatif")[1]["sets"]]
    assert len(answers) == 60
    assert all(status == 200 or answer["error"]["text"] for status, answer in answers)
    assert sum(status >= 400 for status, _ in answers) >= 20


def test_gzip_globs_and_empty_shards(tmp_path):
    (tmp_path / "part-1.csv.gz").write_bytes(gzip.compress(b"x,y\n1,a\n2,b\n"))
    (tmp_path / "part-2.csv.gz").write_bytes(gzip.compress(b"x,y\n"))
    (tmp_path / "part-10.csv.gz").write_bytes(gzip.compress(b"x,y\n3,c\n"))
    _, answer, rows = described(tmp_path, "part-*.csv.gz")
    assert answer["rows"] == 3 and rows == [[1, "a"], [2, "b"], [3, "c"]]


@pytest.mark.parametrize("name,content", [("h.csv", b"a,b\n"), ("h.json", b"[]"), ("h.csv", b"a,b")])
def test_a_header_alone_is_no_set_of_examples(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    status, text, _ = described(tmp_path, name)
    assert status == 400 and text, text
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        import urllib.error
        import urllib.request

        request = urllib.request.Request(f"{server.url}/api/v1/whatif?name={name}", data=content, headers={"Sonde-Request": "1"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)
        assert refused.value.code == 400


def test_a_file_dropped_on_the_page(tmp_path):
    (tmp_path / "logs").mkdir()
    with Served("--logdir", str(tmp_path / "logs"), state=tmp_path / "s") as server:
        import urllib.request

        parquet.write_table(people(50), tmp_path / "p.parquet")
        for content, rows in ((b"a,b\n1,2\n3,4\n", 2), ((tmp_path / "p.parquet").read_bytes(), 50)):
            request = urllib.request.Request(f"{server.url}/api/v1/whatif?name=mine", data=content, headers={"Sonde-Request": "1"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                made = json.load(answer)["id"]
            assert server.ask(f"whatif/{made}")[1]["rows"] == rows
