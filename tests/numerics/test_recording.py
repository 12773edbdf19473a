"""What sonde.debug writes for PyTorch."""

import pytest
from numerics_server import Server


def test_counts_of_tensors():
    import numpy as np
    import torch

    from sonde._tfdbg import stats_of
    from sonde._torch_stats import device_stats, tensor_stats

    generator = np.random.default_rng(0)
    for kind in ("float16", "float32", "float64"):
        for size in (1, 15, 4097, 70000):
            values = (generator.normal(size=size) * 10.0 ** generator.integers(-3, 3, size)).astype(kind)
            values[generator.random(size) < 0.1] = 0
            if size > 1:
                values[::7] = np.nan
                values[1::11] = -np.inf
            found = stats_of(values)
            finite = values[np.isfinite(values)].astype("float64")
            counts = (size, np.isneginf(values).sum(), np.isposinf(values).sum(), np.isnan(values).sum())
            assert found[:4] == tuple(map(float, counts))
            assert found[4:7] == ((finite < 0).sum(), (finite == 0).sum(), (finite > 0).sum())
            if finite.size:
                assert found[7] == pytest.approx(np.sqrt((finite**2).mean()), rel=1e-4)
                assert found[8:10] == pytest.approx((finite.min(), finite.max()), rel=1e-6)
            device = device_stats(torch.from_numpy(values))
            assert device[:7] == found[:7]
            if finite.size:
                assert device[7:11] == pytest.approx(found[7:11], rel=1e-4, abs=1e-4)
    assert tensor_stats(torch.ones(3, dtype=torch.bfloat16))[9] == 1
    assert stats_of(np.arange(3)) is None


def test_a_ring_keeps_the_last_steps(tmp_path):
    import torch

    import sonde.debug

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watch = sonde.debug.watch(model, optimizer, logdir=tmp_path, every=1, ring=3)
    for _ in range(10):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).mean().backward()
        optimizer.step()
    traces = next(tmp_path.glob("*.graph_execution_traces"))
    assert traces.stat().st_size == 0
    watch.close()
    with Server(tmp_path) as server:
        steps = [d["op_type"] for d in server.get("execution/digests")["execution_digests"]]
    assert steps == ["step 7", "step 8", "step 9"]


def test_the_program_goes_on_when_the_disk_is_full(tmp_path):
    import torch

    import sonde.debug

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.warns(RuntimeWarning, match="max_bytes"):
        watch = sonde.debug.watch(model, optimizer, logdir=tmp_path, every=1, max_bytes=2000)
        for _ in range(20):
            optimizer.zero_grad()
            model(torch.ones(4, 2)).mean().backward()
            optimizer.step()
        watch.close()
    assert sum(f.stat().st_size for f in tmp_path.iterdir()) <= 2000
    with pytest.raises(ValueError, match="every"):
        sonde.debug.watch(model, logdir=tmp_path, every=0)
