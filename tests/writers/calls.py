"""The calls behind the same-files comparison: made once with the original libraries (record.py), every time with Sonde.

Everything is seeded and comes from NumPy. `wrap` turns an array into what the original insists on (a torch tensor).
"""

import contextlib

import numpy as np


def random(seed=7):
    return np.random.RandomState(seed)


def torch_writer(make, folder, wrap):
    """Every method of torch.utils.tensorboard.SummaryWriter."""
    rng = random()
    with make(folder, filename_suffix=".tail") as w:
        for step in range(3):
            w.add_scalar("loss/train", 1 / (step + 1), step)
            w.add_scalar("as text", "2.5", str(step))
            w.add_scalar("array", np.array([[step]]), step + 0.7)
            w.add_scalar("tensor value", wrap(np.float32(step)), step)
            w.add_scalar("timed", step, step, walltime=1700000000.5 + step)
            w.add_scalar("new_style", step * 0.1, step, new_style=True)
            w.add_scalar("double", step * 0.1, step, new_style=True, double_precision=True)
            w.add_scalar("double alone", step * 0.1, step, double_precision=True)
            w.add_scalars("curves/a", {"sin": np.sin(step), "deep/cos": np.cos(step)}, step)
            w.add_tensor("tensor/f4", wrap(np.arange(6, dtype=np.float32).reshape(2, 3) * step), step)
            w.add_tensor("tensor/i8", wrap(np.arange(-3, 3, dtype=np.int64) * step), step)
            w.add_tensor("tensor/u1", wrap(np.arange(3, dtype=np.uint8)), step)
            w.add_tensor("tensor/b1", wrap(np.array([True, False])), step)
            w.add_histogram("h/tensorflow", rng.randn(200).astype(np.float32), step)
            w.add_histogram("h/auto", rng.randn(200), step, bins="auto")
            w.add_histogram("h/edges", rng.randn(200), step, bins=[-2, -1, 0, 1, 2])
            w.add_histogram("h/max_bins", rng.randn(200), step, max_bins=40)
            w.add_histogram("h/integers", rng.randint(-5, 5, 100), step)
            w.add_histogram_raw("h/raw", 0.0, 4.0, 10, 20.0, 50.0, [1, 2, 3, 4], [1, 2, 3, 4], step)
            w.add_image("img/chw", rng.rand(3, 5, 6), step)
            w.add_image("img/hwc", rng.randint(0, 255, (5, 6, 3)).astype(np.uint8), step, dataformats="HWC")
            w.add_image("img/hw", rng.rand(5, 6), step, dataformats="HW")
            w.add_image("img/rgba", rng.rand(4, 5, 6), step)
            w.add_image("img/grey", rng.rand(1, 5, 6), step)
            w.add_image("img/int32", rng.randint(0, 2, (3, 4, 4)), step)
            w.add_images("imgs", rng.rand(11, 3, 4, 5), step)
            w.add_images("imgs/nhwc", rng.rand(3, 4, 5, 1).astype(np.float32), step, dataformats="NHWC")
            w.add_audio("audio", np.sin(np.arange(300) / 10), step, sample_rate=8000)
            w.add_text("text", f"| a | b |\n|---|---|\n| {step} | <script>x</script> |", step)
            w.add_pr_curve("pr", rng.randint(0, 2, 100), rng.rand(100), step, num_thresholds=9)
            w.add_pr_curve("pr/weighted", rng.randint(0, 2, 100), rng.rand(100), step, weights=rng.rand(100))
            w.add_mesh(
                "mesh",
                wrap(rng.rand(1, 5, 3)),
                colors=wrap(rng.randint(0, 255, (1, 5, 3))),
                faces=wrap(np.array([[[0, 1, 2], [2, 3, 4]]])),
                config_dict={"b": 1, "a": {"cls": "x"}},
                global_step=step,
            )
        w.add_mesh("cloud", wrap(rng.rand(1, 4, 3)))
        rows = [[10, 8], [5, 2], [5, 7], [1, 3], [0.6, 0.8], [0.9, 0.7]]
        w.add_pr_curve_raw("pr_raw", *[np.array(r, dtype=float) for r in rows], num_thresholds=2)
        w.add_custom_scalars(
            {"Taiwan": {"twse": ["Multiline", ["loss/.*", "new_style"]]}, "USA": {"dow": ["Margin", ["a", "b", "c"]]}}
        )
        w.add_custom_scalars_multilinechart(["loss/train", "double"])
        w.add_custom_scalars_marginchart(["loss/train", "double", "new_style"], category="c", title="t")
        w.add_hparams(
            {"lr": 0.1, "bs": 32, "opt": "sgd", "flag": True, "nothing": None},
            {"hparam/acc": 0.7, "hparam/loss": 0.3},
            hparam_domain_discrete={"opt": ["sgd", "adam"], "bs": [16, 32]},
            run_name="trial",
            global_step=4,
        )
        w.add_embedding(
            rng.rand(6, 3).astype(np.float32),
            metadata=list("abcdef"),
            label_img=wrap(rng.rand(6, 3, 4, 4).astype(np.float32)),
            global_step=1,
            tag="e/m",
        )
        w.add_embedding(
            rng.rand(4, 2),
            metadata=[["a", 1], ["b", 2], ["c", 3], ["d", 4]],
            metadata_header=["letter", "number"],
            global_step=2,
        )
        w.add_scalar("no step", 3)


def torch_boxes(make, folder, wrap):
    """Frames around things; their labels are drawn by Pillow, whose letters change between its versions."""
    rng = random()
    with make(folder) as w:
        boxes = np.array([[2, 3, 20, 15], [10, 8, 30, 28]])
        w.add_image_with_boxes("chw", rng.rand(3, 32, 40), wrap(boxes), 1)
        w.add_image_with_boxes("hwc", (rng.rand(32, 40, 3) * 255).astype(np.uint8), boxes, 2, dataformats="HWC")
        # One label for two boxes: dropped without a word.
        w.add_image_with_boxes("dropped", rng.rand(3, 32, 40), boxes, 3, labels=["one"])


def torch_drawn(make, folder, wrap):
    """Pictures that Pillow and Matplotlib draw: equal only where both sides use the same versions."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    rng = random()

    def plot():
        figure = plt.figure(figsize=(3, 2))
        figure.gca().plot([1, 3, 2])
        return figure

    with make(folder) as w:
        boxes = np.array([[2, 3, 60, 45], [10, 8, 80, 58]])
        w.add_image_with_boxes("labels", rng.rand(3, 64, 90), boxes, 1, labels=["cat", "dog"])
        w.add_image_with_boxes("rescale", rng.rand(3, 64, 90), boxes, 1, rescale=0.5, labels=["cat", ""])
        w.add_figure("figure", plot(), 2)
        kept = plot()
        w.add_figure("figures", [kept, plot(), plot()], 3, close=False)
        assert plt.fignum_exists(kept.number)
        plt.close("all")


def torch_purge(make, folder, wrap):
    with make(folder, purge_step=6) as w:
        w.add_scalar("a", 1.5, 7)


def tensorboardx_writer(make, folder, wrap):
    """tensorboardX.SummaryWriter where it differs from torch's."""
    rng = random()
    with make(folder) as w:
        for step in range(2):
            w.add_scalar("/a b(c)\xe9:0", step + 0.5, step)
            w.add_scalar("named", step, step, display_name="Named", summary_description="*why*")
            w.add_scalars("group/x", {"one": step, "two": -step}, step)
            w.add_histogram("h", rng.randn(100), step)
            w.add_histogram_raw("raw", 0.0, 4.0, 10, 20.0, 50.0, [1, 2, 3, 4], [1, 2, 3, 4], step)
            w.add_image("image", rng.rand(3, 5, 6), step)
            w.add_images("list", [rng.rand(3, 5, 6), rng.rand(3, 5, 6)], step, dataformats="CHW")
            w.add_text("text", f"step {step}", step)
            w.add_audio("audio", np.sin(np.arange(100) / 10), step, sample_rate=8000)
            w.add_pr_curve("pr", rng.randint(0, 2, 100), rng.rand(100), step, num_thresholds=5)
        w.add_hparams({"lr": 0.1, "flag": True, "opt": "sgd"}, {"acc": 0.7}, name="hp", global_step=3)
        w.add_custom_scalars_multilinechart(["a", "b"])


def tensorboardx_takes_more(make, folder, wrap):
    """What tensorboardX accepts and torch does not, and what it writes in another way."""
    rng = random()
    with make(folder) as w:
        w.add_scalar("list", [1.5], 1)
        w.add_scalar(None, 2.0, 1)
        w.add_scalars("group/x y", {"a b": 1, "c/d": [2.0]}, 3)
        w.add_histogram("h/list", [1, 2, 3.0], 1)
        w.add_histogram("h/auto", [1, 2, 3.0], 1, bins="auto")
        w.add_histogram("h/edges", values=[1, 2, 3.0], global_step=1, bins=[0, 2, 4])
        w.add_pr_curve("pr", [0, 1, 1], [0.1, 0.7, 0.6], 1, num_thresholds=5)
        w.add_image("i/list", [[0.0, 1.0], [0.25, 0.5]], 1, dataformats="HW")
        w.add_image("i/beyond", rng.rand(3, 4, 5) * 4, 1)
        w.add_image("i/int64", rng.randint(0, 255, (3, 4, 5)), 1)
        w.add_image("i/half", rng.rand(3, 4, 5).astype(np.float16), 1)
        w.add_images("i/many", rng.rand(3, 3, 4, 5) * 2, 1)
        w.add_image_with_boxes("i/boxes", rng.rand(3, 20, 20), [[2, 3, 9, 12]], 1)
        w.add_text("tag as (given)", "text", 1)
        w.add_mesh("m/x", rng.rand(1, 4, 3), faces=np.array([[[0, 1, 2]]]), global_step=2)
        w.add_mesh("m/config", rng.rand(1, 4, 3), rng.randint(0, 255, (1, 4, 3)), config_dict={"b": [1], "a": None})
        w.add_hparams({"f": random, "l": [1, 2], "n": None, "i": 3}, {"m": 1.0}, name="hp")


def tf_summary(module, folder, wrap):
    """tf.summary and everything that writes through it."""
    rng = random()
    writer = module.create_file_writer(folder)
    with writer.as_default(step=3):
        module.scalar("s", 3)
        module.scalar("described", 1.5, step=9, description="d *e*")
        module.scalar("bool", True)
        module.scalar("negative", -0.1, step=-2)
        module.scalar("", 1)
        for name, data in {
            "f4": rng.randn(50).astype(np.float32),
            "f8": rng.randn(50),
            "ints": rng.randint(0, 9, 50),
            "constant": np.full(7, 2.5),
            "empty": np.zeros(0),
            "matrix": rng.rand(4, 5),
        }.items():
            module.histogram(f"h/{name}", data)
        module.histogram("h/ten", rng.randn(99), buckets=10, description="ten")
        module.histogram("h/none", rng.randn(99), buckets=0)
        module.image("i/float", np.array([-0.5, 0.5, 2.0, 0.2]).reshape(1, 2, 2, 1).astype(np.float32))
        module.image("i/uint8", rng.randint(0, 255, (5, 4, 6, 3)).astype(np.uint8), max_outputs=2)
        module.image("i/rgba", rng.rand(1, 4, 6, 4).astype(np.float32), description="four channels")
        module.image("i/uint16", rng.randint(0, 65535, (1, 4, 4, 1)).astype(np.uint16))
        module.image("i/none", rng.rand(1, 4, 6, 3).astype(np.float32), max_outputs=0)
        module.audio("a", np.array([0.5, 1.5, -2.0, 0.1]).reshape(1, 4, 1).astype(np.float32), 8000)
        module.audio("a/stereo", rng.rand(2, 5, 2).astype(np.float32), 44100, max_outputs=1, description="two ears")
        module.text("t", "hello")
        module.text("t/list", ["a", "b"], description="two")
        module.text("t/grid", [["a", "b"], ["c", "d"]])
        with module.record_if(False):
            module.scalar("never", 1)
        with module.record_if(lambda: True):
            module.scalar("always", 1)
        module.write("raw", np.arange(4, dtype=np.int32).reshape(2, 2))
    with contextlib.suppress(Exception):
        writer.close()


def hparams(hp, module, folder, wrap):
    domain = [
        hp.HParam("units", hp.Discrete([32, 16])),
        hp.HParam("dropout", hp.RealInterval(0.1, 0.2), display_name="drop", description="why"),
        hp.HParam("n", hp.IntInterval(1, 5)),
        hp.HParam("opt", hp.Discrete(["sgd", "adam"])),
        hp.HParam("flag", hp.Discrete([True, False])),
        hp.HParam("free"),
    ]
    metrics = [
        hp.Metric("accuracy", display_name="Accuracy"),
        hp.Metric("epoch_loss", group="validation", dataset_type=hp.Metric.VALIDATION, description="d"),
    ]
    with module.create_file_writer(folder).as_default():
        hp.hparams_config(hparams=domain, metrics=metrics, time_created_secs=1700000000.25)
    with module.create_file_writer(folder + "/run-0").as_default():
        hp.hparams(
            {domain[0]: 16, domain[1]: 0.15, "n": np.int64(3), "opt": "sgd", "flag": True}, start_time_secs=1700000001.5
        )
        module.scalar("accuracy", 0.75, step=1)
    with module.create_file_writer(folder + "/run-1").as_default():
        hp.hparams({"lr": 0.1, "n": 3, "b": True, hp.HParam("o"): "a"}, trial_id="trial", start_time_secs=1700000002.5)


def projector(module, folder, wrap):
    config = module.ProjectorConfig()
    words = config.embeddings.add()
    words.tensor_name = 'words "quoted"'
    words.metadata_path = "labels.tsv"
    words.tensor_path = "vectors.tsv"
    words.bookmarks_path = "bookmarks.json"
    images = config.embeddings.add()
    images.tensor_name = "images/.ATTRIBUTES/VARIABLE_VALUE"
    images.sprite.image_path = "sprite.png"
    images.sprite.single_image_dim.extend([8, 12])
    images.tensor_shape.extend([200, 8])
    config.model_checkpoint_path = "ckpt-1"
    module.visualize_embeddings(folder, config)


def keras_fit(callback, folder, **options):
    """The same training with either callback; the weights come out equal because everything is seeded."""
    import keras

    keras.utils.set_random_seed(3)
    rng = random()
    model = keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(8, name="d1", activation="relu"),
            keras.layers.Dense(2, name="d2"),
        ],
        name="sequential",
    )
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    x = rng.rand(60, 4).astype(np.float32)
    model.fit(
        x,
        x[:, :2],
        epochs=3,
        batch_size=10,
        validation_split=1 / 6,
        verbose=0,
        shuffle=False,
        callbacks=[callback(folder, **options)],
    )


KERAS = {
    "keras_histograms": {"histogram_freq": 2, "write_images": True},
    "keras_batch": {"update_freq": "batch", "write_steps_per_second": True},
    "keras_two": {"update_freq": 2, "write_graph": False},
}
