"""What a right first finding says about the programs of the eighth batch."""

from seventh_expected import (AHEAD, COMPILES, EAGER, FUSE, GRADIENTS, GROWS, MOVE, PYTHON, PYTHON_CHANGE, RANKS, RELEASE, SELDOM, SHAPES, SMALL,
                              TF_PARALLEL, made, quiet)

APART = [*SELDOM, r'apart|separately|fewer']
NO_PYTHON = [r'vectori[sz]', r'(without|not|no longer|out of) Python', r'TensorFlow (op|function)', r'interleave', *TF_PARALLEL]
CALLED_BACK = [r'callback', r'calls? back', r'Python function', r'PyFunc|numpy_function']

EIGHTH = {
    'torch8_iterator_anew': made('pytorch', 'input', [r'DataLoader', r'worker'], [r'num_workers|persistent|workers|once'], 0.15, missed='that workers start is no event of the DataLoader'),
    'torch8_loader_traced': made('pytorch', 'input', [r'DataLoader', r'slow_sample'], [r'num_workers']),
    'torch8_iterable': made('pytorch', 'input', [r'DataLoader'], [r'num_workers']),
    'torch8_sample_by_sample': made('pytorch', 'python', SMALL, FUSE, 0.4),
    'torch8_saves_every_fourth': made('pytorch', 'periodic', [r'every (4|fourth)', r'2 of (the )?8', r'keep_best|\bsav'], APART, event=0.35),
    'torch8_alerts_every_third': made('pytorch', 'periodic', [r'every (3|third)', r'3 of (the )?9'], APART, event=0.35),
    'torch8_every_second': made('pytorch', 'periodic', [r'every (2|second|other)', r'4 of (the )?8', r'test_pass'], APART, event=0.35),
    'torch8_gradients_kept': dict(framework='pytorch', kind='memory', names=GROWS, change=RELEASE, amount=('MB', 'kept_mb_a_step', 0.5)),
    'torch8_plots_between': made('pytorch', 'python', [r'draw_histogram'], MOVE),
    'torch8_norm_by_hand': made('pytorch', 'python', SMALL, FUSE, 0.4),
    'torch8_waits_in_forward': made('pytorch', 'python', [r'Lookup|forward'], MOVE),
    'torch8_healthy_memory': quiet('pytorch'),
    'torch8_healthy_embedding': quiet('pytorch'),
    'torch8_healthy_accumulates': quiet('pytorch'),
    'tf8_py_function_tuned': made('tensorflow', 'input', [r'py_function|PyFunc', r'Python function', r'\bmap', r'ParallelMap'], NO_PYTHON),
    'tf8_generator_sleeps': made('tensorflow', 'input', [r'[Gg]enerator'], [*NO_PYTHON, r'prefetch']),
    'tf8_records_interleaved': made('tensorflow', 'input', [r'\bmap', r'[Ii]nterleave', r'\bSort\b|TopK'], TF_PARALLEL),
    'tf8_small_elements': made('tensorflow', 'input', [r'\bmap', r'\b[Bb]atch'], [*TF_PARALLEL, r'vectori[sz]|batch']),
    'tf8_keras_eager': made('tensorflow', 'python', EAGER, [r'tf\.function', r'run_eagerly'], 0.15),
    'tf8_lengths': made('tensorflow', 'compile', COMPILES, SHAPES, 0.3),
    'tf8_scalars_each_step': made('tensorflow', 'python', [*EAGER, *PYTHON, r'summar'], [*PYTHON_CHANGE, r'tf\.function'], 0.2),
    'tf8_collects': made('tensorflow', 'python', PYTHON, PYTHON_CHANGE),
    'tf8_every_second': made('tensorflow', 'periodic', [r'every (2|second|other)', r'5 of (the )?10'], APART, event=0.35),
    'tf8_healthy_default': quiet('tensorflow'),
    'tf8_healthy_convolution': quiet('tensorflow'),
    'jax8_callback_in_scan': made('jax', 'callback', CALLED_BACK, [r'jnp', r'out of the|outside', r'less often', r'without|remove|background']),
    'jax8_percentiles': made('jax', 'python', PYTHON, PYTHON_CHANGE),
    'jax8_grows_every_fourth': made('jax', 'compile', COMPILES, [*SHAPES, *APART], 0.3, event=0.35),
    'jax8_disabled_jit': made('jax', 'python', [*EAGER, r'\bjit\b'], [r'jit', r'one (compiled )?function'], 0.15),
    'jax8_generator_traced': made('jax', 'input', [r'stream_examples'], [*AHEAD, *MOVE]),
    'jax8_metrics_file_traced': made('jax', 'python', [r'append_metrics'], MOVE),
    'jax8_every_second': made('jax', 'periodic', [r'every (2|second|other)', r'5 of (the )?10'], APART, event=0.35),
    'jax8_masks_eager': made('jax', 'python', [*EAGER, r'\bjit\b'], [r'jit', r'one (compiled )?function'], 0.2, missed='by its clock 1.7 of 12 ms; other programs held up more'),
    'jax8_healthy_scan': quiet('jax'),
    'jax8_healthy_batches': quiet('jax'),
    'keras8_tf_generator': made('keras-tensorflow', 'input', [*PYTHON, r'\binput\b', r'(next|new|a) batch', r'generator|PyDataset'], [*AHEAD, *NO_PYTHON], 0.15, missed='the generator keeps up in all but two of eight steps'),
    'keras8_tf_python_metric': made('keras-tensorflow', 'callback', CALLED_BACK, [r'out of the|outside', r'less often', r'without|remove|background', r'TensorFlow', r'tf\.'], 0.15),
    'keras8_tf_plots_every_third': made('keras-tensorflow', 'periodic', [r'every (3|third)', r'[23] of (the )?8'], APART, 0.15, event=0.35),
    'keras8_tf_healthy_images': quiet('keras-tensorflow'),
    'keras8_jax_generator': made('keras-jax', 'input', [*PYTHON, r'\binput\b', r'(next|new|a) batch', r'loader|PyDataset'], [*AHEAD, r'python_tracer', r'out of the loop'], 0.15, missed='a thread makes batches in bursts: every second step waits'),
    'keras8_jax_generator_traced': made('keras-jax', 'input', [r'slow_generator|__getitem__'], [*AHEAD, *MOVE], 0.15, missed='a thread makes the batches: the wait is short, what it computes was counted'),
    'keras8_jax_predicts_every_fourth': made('keras-jax', 'periodic', [r'every (4|fourth)', r'2 of (the )?8', r'predict'], APART, 0.15, event=0.35, missed='the calls of predict() are taken for steps, there are more of them'),
    'keras8_jax_healthy_traced': quiet('keras-jax'),
    'keras8_torch_callback': made('keras-torch', 'python', [*PYTHON, r'\bcallbacks?\b'], [*PYTHON_CHANGE, r'callback'], 0.15),
    'keras8_torch_generator_traced': made('keras-torch', 'input', [r'slow_generator|__getitem__|DataLoader'], [*AHEAD, *MOVE], 0.15),
    'keras8_torch_healthy_traced': quiet('keras-torch'),
    'ddp8_rank0_computes': made('pytorch', 'ranks', [r'\brank ?0\b'], RANKS, 0.2, must_not=GRADIENTS),
    'ddp8_rank3_more': made('pytorch', 'ranks', [r'\brank ?3\b'], RANKS, 0.2, must_not=GRADIENTS),
    'ddp8_barrier': made('pytorch', 'ranks', [r'\brank ?1\b'], RANKS, 0.2, must_not=GRADIENTS),
    'ddp8_rank0_evaluates': made('pytorch', 'ranks', [r'\brank ?0\b'], RANKS, 0.2, event=0.3, must_not=GRADIENTS),
    'ddp8_even_three': quiet('pytorch'),
}

# Captures that the tree has no room for.
for name in (
    'torch8_loader_traced', 'torch8_sample_by_sample', 'torch8_saves_every_fourth', 'torch8_alerts_every_third', 'torch8_every_second',
    'torch8_gradients_kept', 'torch8_plots_between', 'torch8_norm_by_hand', 'torch8_waits_in_forward', 'torch8_healthy_memory',
    'torch8_healthy_embedding', 'torch8_healthy_accumulates', 'tf8_records_interleaved', 'tf8_small_elements', 'tf8_keras_eager',
    'tf8_scalars_each_step', 'tf8_healthy_default', 'jax8_callback_in_scan', 'jax8_generator_traced', 'jax8_masks_eager',
    'jax8_healthy_scan', 'jax8_healthy_batches', 'keras8_tf_healthy_images', 'keras8_jax_generator_traced',
    'keras8_jax_predicts_every_fourth', 'keras8_jax_healthy_traced', 'keras8_torch_callback', 'keras8_torch_generator_traced',
    'keras8_torch_healthy_traced', 'ddp8_rank3_more', 'ddp8_even_three',
):
    EIGHTH[name]['large'] = True
