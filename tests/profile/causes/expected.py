"""What a right first finding contains, a program at a time. The numbers come from each program's own clock (clocks.json).

names    one of these has to be in the finding's own words
change   one of these in its advice
share    tolerance of the share of the period; amount: (unit, value, tolerance) that may be said instead
missed   a miss that is known, and why: told, but no failure; when it becomes right, the entry has to go
quiet    a healthy program: nothing heavier than a note fires
"""

LATER = [r'less often', r'background', r'every', r'out of the', r'thread', r'move']
AHEAD = [r'ahead', r'background', r'prefetch', r'workers', r'while the step']
PYTHON = [r'\bPython\b', r'no (recorded )?(work|operator)', r'callback']

EXPECTED = {
    'tf_retrace': dict(framework='tensorflow', names=[r'compil', r'trac(e|es|ing)\b'], change=[r'signature', r'tensors instead'], share=0.3),
    'tf_py_function': dict(framework='tensorflow', names=[r'callback|PyFunc|Python function'], change=[r'TensorFlow ops', r'outside'], share=0.15),
    'tf_generator': dict(framework='tensorflow', names=[r'Generator', r'generator'], change=[r'prefetch|interleave|num_parallel_calls'], share=0.15),
    'tf_report_after': dict(framework='tensorflow', names=PYTHON, change=[r'python_tracer_level', *LATER], share=0.15),
    'tf_checkpoint_every_third': dict(framework='tensorflow', names=[r'checkpoint|SaveV2'], change=[r'less often|background'], share=0.2, event=0.4),
    'tf_eager_tape': dict(framework='tensorflow', names=[r'eager', r'one at a time'], change=[r'tf\.function'], share=0.15),
    'tf_silent_python': dict(framework='tensorflow', names=PYTHON, change=[r'python_tracer_level', *LATER], share=0.15),
    'tf_healthy_images': dict(framework='tensorflow', quiet=True),
    'tf_healthy_compiled': dict(framework='tensorflow', quiet=True),
    'jax_io_callback': dict(framework='jax', names=[r'callback'], change=[r'jax\.numpy|outside'], share=0.15),
    'jax_static_argument': dict(framework='jax', names=[r'compil'], change=[r'static'], share=0.3),
    'jax_silent_python': dict(framework='jax', names=PYTHON, change=[r'python_tracer_level', *LATER], share=0.15),
    'jax_save_traced': dict(framework='jax', names=[r'save'], change=LATER, share=0.15),
    'jax_gradient_unjitted': dict(framework='jax', names=[r'one at a time', r'not compiled'], change=[r'jax\.jit'], share=0.25),
    'jax_reader_unmarked': dict(framework='jax', names=[r'read_rows'], change=AHEAD, share=0.15),
    'jax_healthy_scan': dict(framework='jax', quiet=True),
    'jax_healthy_traced': dict(framework='jax', quiet=True),
    'keras_tf_run_eagerly': dict(framework='keras-tensorflow', names=[r'eager', r'one at a time'], change=[r'run_eagerly', r'tf\.function'], share=0.3),
    'keras_tf_dataset': dict(framework='keras-tensorflow', names=[r'input', r'Generator', r'Python'], change=AHEAD, share=0.2),
    'keras_jax_callback': dict(framework='keras-jax', names=PYTHON, change=[r'python_tracer_level', *LATER], share=0.15),
    'keras_jax_healthy': dict(framework='keras-jax', quiet=True),
    'keras_torch_loader': dict(framework='keras-torch', names=[r'Python', r'DataLoader', r'batch'], change=[r'with_stack', *AHEAD], share=0.2),
    'torch_slow_worker': dict(framework='pytorch', names=[r'DataLoader'], change=[r'num_workers'], share=0.15),
    'torch_norms_read': dict(framework='pytorch', names=[r'aten::item|single elements'], change=[r'tolist|sum\(\)|once'], share=0.25),
    'torch_augment_traced': dict(framework='pytorch', names=[r'augment'], change=AHEAD, share=0.15),
    'torch_save_every_third': dict(framework='pytorch', names=[r'save|checkpoint'], change=[r'less often|background'], share=0.2, event=0.4),
    'torch_losses_kept': dict(framework='pytorch', names=[r'grow'], change=[r'detach|item\(\)'], amount=('MB', 'kept_mb_a_step', 0.5)),
    'torch_recurrent_cells': dict(framework='pytorch', names=[r'small operations'], change=[r'torch\.compile'], share=0.4),
    'torch_silent_python': dict(framework='pytorch', names=PYTHON, change=[r'with_stack', *LATER], share=0.15),
    'torch_healthy_images': dict(framework='pytorch', quiet=True),
    'torch_healthy_traced': dict(framework='pytorch', quiet=True),
    'ddp_rank0_reads': dict(framework='pytorch', names=[r'\brank 0\b'], change=[r'rank 0', r'equal'], share=0.2, must_not=[r'16 bits|bucket']),
    'ddp_rank1_computes': dict(framework='pytorch', names=[r'\brank 1\b'], change=[r'rank 1', r'equal'], share=0.25, must_not=[r'16 bits|bucket']),
    'ddp_large_gradients': dict(framework='pytorch', names=[r'communication'], change=[r'16 bits|bucket|no_sync']),
    'ddp_healthy': dict(framework='pytorch', quiet=True),
}
