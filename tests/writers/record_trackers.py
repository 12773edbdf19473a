"""Records tests/data/trackers with the real programs: python record_trackers.py NAME FOLDER.

Written with wandb 0.31.0, MLflow 3.17.2, Trackio 0.43.0 and Optuna 5.0.0; databases are kept gzipped.
"""

import os
import sys


def wandb(folder):
    import wandb

    settings = wandb.Settings(
        silent=True, x_disable_stats=True, x_disable_meta=True, console="off", disable_git=True, disable_code=True, host="host"
    )
    config = {"lr": 0.01, "model": {"depth": 3, "name": "net"}}
    run = wandb.init(project="small", name="first", dir=folder, mode="offline", config=config, settings=settings)
    for i in range(20):
        run.log({"loss": 1 / (i + 1), "nested": {"acc": i / 20}, "text": f"step {i}"})
    run.log({"h": wandb.Histogram([1, 2, 3]), "nan": float("nan")}, step=25)
    run.finish()


def mlflow_database(folder):
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.set_experiment("small")
    for k in range(2):
        with mlflow.start_run(run_name=f"trial-{k}"):
            mlflow.log_params({"lr": 0.1 * (k + 1), "layers": k + 2, "opt": "adam"})
            for i in range(10):
                mlflow.log_metrics({"loss": 1 / (i + 1 + k), "val/acc": i / 10}, step=i)
            mlflow.log_metric("bad", float("nan"), step=0)


def mlflow_files(folder):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    import mlflow

    mlflow.set_tracking_uri(f"file:{folder}/mlruns")
    mlflow.set_experiment("small")
    with mlflow.start_run(run_name="files"):
        mlflow.log_params({"lr": 0.1, "opt": "adam"})
        for i in range(10):
            mlflow.log_metrics({"loss": 1 / (i + 1), "val/acc": i / 10}, step=i)


def trackio(folder):
    os.environ["TRACKIO_DIR"] = folder
    import trackio

    trackio.init(project="small", name="first", config={"lr": 0.01})
    for i in range(10):
        trackio.log({"loss": 1 / (i + 1), "val/acc": i / 10})
    trackio.finish()


def optuna(folder):
    import optuna

    sampler = optuna.samplers.RandomSampler(seed=1)
    study = optuna.create_study(storage=f"sqlite:///{folder}/optuna.db", study_name="small", sampler=sampler)

    def objective(trial):
        x = trial.suggest_float("x", -1, 1)
        trial.suggest_categorical("opt", ["adam", "sgd"])
        n = trial.suggest_int("n", 1, 5)
        for i in range(3):
            trial.report(x * x + i, i)
        return x * x + n

    study.optimize(objective, n_trials=6)


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    globals()[sys.argv[1]](os.path.abspath(sys.argv[2]))
