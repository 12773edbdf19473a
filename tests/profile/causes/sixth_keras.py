"""Keras programs of the sixth batch: KERAS_BACKEND=tensorflow|jax|torch sixth_keras.py [NAME ...]"""
import time

from fourth_keras import BACKEND, Capture, Steps, regression, rows
import keras

from recording import Clock, Programs

program = Programs()


class Dashboard(keras.callbacks.Callback):
    def __init__(self, clock, ms):
        super().__init__()
        self.clock, self.ms = clock, ms

    def push_metrics(self, logs):
        with self.clock.cause():
            time.sleep(self.ms / 1e3)

    def on_train_batch_end(self, batch, logs=None):
        self.push_metrics(logs)


if BACKEND == 'tensorflow':
    @program(tries=3)
    def keras6_tf_dashboard(folder):
        """A callback that waits."""
        clock = Clock()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock), Dashboard(clock, 9)])
        return clock

    @program(tries=3)
    def keras6_tf_steps(folder):
        """A slow PyDataset."""
        clock = Clock()
        regression().fit(Steps(clock, 14), verbose=0, callbacks=[Capture(folder, clock)])
        return clock

if BACKEND == 'jax':
    @program(tries=3)
    def keras6_jax_dashboard(folder):
        """A callback that waits; no tracer."""
        clock = Clock()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock), Dashboard(clock, 9)])
        return clock

if BACKEND == 'torch':
    import torch
    torch.set_num_threads(1)

    @program(tries=3)
    def keras6_torch_dashboard_traced(folder):
        """A callback that waits; with_stack."""
        clock = Clock()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock, 5, 9, tracer=1), Dashboard(clock, 20)])
        return clock

    @program(tries=3)
    def keras6_torch_dashboard(folder):
        """A callback that waits; no stacks."""
        clock = Clock()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock), Dashboard(clock, 20)])
        return clock

if __name__ == '__main__':
    program.main()
