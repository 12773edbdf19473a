"""What a right first finding says about the programs of the seventh batch; the words are those of ../shared/causes/make/expected.py."""

from fourth_expected import AHEAD, EAGER, FIRST, GRADIENTS, LEAVE_OUT, PYTHON, PYTHON_CHANGE, RANKS, SELDOM

TF_PARALLEL = [r'num_parallel_calls', r'in parallel', r'cache\(\)']
COMPILES = [r'compil', r'trac(e|es|ed|ing)\b.*(again|each|every)', r'traced']
SHAPES = [r'shape', r'\bpad', r'bucket', r'static_arg', r'persistent|compilation_cache', r'signature|reduce_retracing']
GROWS = [r'\bgrow(s|n|th|ing)?\b', r'\bleak', r'(is|are|stays?|kept|held|still) (kept|held|alive|referenced)', r'(never|not) (freed|released)', r'accumulat']
RELEASE = [r'detach', r'\.item\(\)', r'no_grad|inference_mode', r'float\(', r'\bdel\b']
SMALL = [r'\b(tiny|small|short|little)\b', r'many (operators|ops|calls|operations)', r'\d+ (operators|ops|operations|calls)']
FUSE = [r'torch\.compile', r'\bfus(e|ed|ing|ion)\b', r'vectori[sz]', r'larger (batch|tensor)']
MOVE = [*SELDOM, r'move\b']


def made(framework, kind, names, change, share=0.12, **more):
    return dict(framework=framework, kind=kind, names=names, change=change, share=share, **more)


def quiet(framework, **more):
    return dict(framework=framework, quiet=True, **more)


SEVENTH = {
    'torch7_collate_lists': made('pytorch', 'input', [r'DataLoader', r'num_workers'], [r'num_workers'], missed='by its clock 16% of a step; the optimizer takes more'),
    'torch7_workers_wait': made('pytorch', 'input', [r'DataLoader', r'worker'], [r'num_workers|workers']),
    'torch7_tokenizes_inline': made('pytorch', 'input', [r'DataLoader', r'tokenize'], [r'num_workers']),
    'torch7_tolist_sums': made('pytorch', 'python', PYTHON, PYTHON_CHANGE),
    'torch7_asks_masks': made('pytorch', 'python', [r'\bitem\b', r'is_nonzero', r'_local_scalar_dense', r'scalars?\b', r'single elements?|element by element'],
                              [r'tolist', r'\.sum\(|\.mean\(', r'\bonce\b(?! with)', r'(on|as|in) (the |a )?tensors?', r'fewer|less often', r'vectori[sz]'], missed='by its clock 10% of a step; the optimizer takes more'),
    'torch7_thin_blocks': made('pytorch', 'python', SMALL, FUSE, 0.4),
    'torch7_total_kept': dict(framework='pytorch', kind='memory', names=GROWS, change=RELEASE, amount=('MB', 'kept_mb_a_step', 0.5)),
    'torch7_logs_gradients': made('pytorch', 'python', [r'log_gradients'], MOVE),
    'torch7_uploads': made('pytorch', 'python', PYTHON, PYTHON_CHANGE),
    'torch7_saves_every_third': made('pytorch', 'periodic', [r'every (3|third|3rd)', r'3 of (the )?9', r'periodic'], [*SELDOM, r'apart|separately|fewer'], event=0.35),
    'torch7_validates_every_fifth': made('pytorch', 'periodic', [r'validation_pass', r'every (5|fifth)', r'2 of (the )?10'], [*SELDOM, r'apart|separately|fewer'], event=0.35),
    'torch7_collects_garbage': made('pytorch', 'python', PYTHON, PYTHON_CHANGE),
    'torch7_compresses': made('pytorch', 'python', [r'write_predictions|gzip'], MOVE),
    'torch7_prints': made('pytorch', 'python', [r'\bshow\b|print|_tensor_str'], MOVE, 0.15),
    'torch7_crops': made('pytorch', 'python', [r'random_crops', *SMALL], [*AHEAD, *FUSE, *SELDOM], 0.2),
    'torch7_writes_json': made('pytorch', 'python', PYTHON, PYTHON_CHANGE),
    'torch7_recompiles': made('pytorch', 'compile', [r'compil', r'dynamo'], [*SHAPES, r'dynamic'], 0.3),
    'torch7_first_opens': made('pytorch', 'python', FIRST, LEAVE_OUT, 0.15, event=0.25),
    'torch7_counts_slowly': made('pytorch', 'python', PYTHON, PYTHON_CHANGE),
    'torch7_healthy_worker': quiet('pytorch', missed='a busy machine: the worker comes 9 ms late in each step'),
    'torch7_healthy_gru': quiet('pytorch'),
    'torch7_healthy_stack': quiet('pytorch'),
    'torch7_healthy_inference': quiet('pytorch'),
    'tf7_text_gzip': made('tensorflow', 'input', [r'\bmap', r'ParallelMap', r'TextLine', r'gzip'], [*TF_PARALLEL, r'interleave']),
    'tf7_augments': made('tensorflow', 'input', [r'\bmap', r'ParallelMap', r'[Rr]esize|augment'], TF_PARALLEL),
    'tf7_not_ahead': made('tensorflow', 'input', [r'\bmap', r'ParallelMap', r'prefetch', r'MapAndBatch'], [*TF_PARALLEL, r'prefetch']),
    'tf7_not_cached': made('tensorflow', 'input', [r'\bmap', r'ParallelMap', r'decod|png'], TF_PARALLEL),
    'tf7_shuffle_each_epoch': made('tensorflow', 'input', [r'shuffle', r'every (4|fourth)', r'3 of 12', r'\bfill'],
                                   [r'shuffle', r'buffer', r'repeat', r'prefetch', *TF_PARALLEL], event=0.35),
    'tf7_function_anew': made('tensorflow', 'compile', COMPILES, [*SHAPES, r'once', r'outside'], 0.3),
    'tf7_smooths_eagerly': made('tensorflow', 'python', EAGER, [r'tf\.function', r'one function'], 0.15),
    'tf7_reads_elements': made('tensorflow', 'python', [*EAGER, r'StridedSlice', r'numpy\(\)'], [r'tf\.function', r'\bonce\b', r'tolist|whole|vectori'], 0.15),
    'tf7_evaluates_every_third': made('tensorflow', 'periodic', [r'every (3|third)', r'4 of (the )?12', r'score'], [*SELDOM, r'apart|separately|fewer'], event=0.35),
    'tf7_writes_every_fourth': made('tensorflow', 'periodic', [r'every (4|fourth)', r'3 of (the )?12', r'SaveV2|checkpoint|\bsav'], [*SELDOM, r'apart|fewer'], event=0.35),
    'tf7_prints': made('tensorflow', 'python', [r'StringFormat|PrintV2|\bprint'], [r'less often|outside|print|remove|belongs', *SELDOM], 0.2),
    'tf7_queries_before': made('tensorflow', 'python', PYTHON, [*PYTHON_CHANGE, *AHEAD]),
    'tf7_python_map_parallel': made('tensorflow', 'input', [r'numpy_function|py_function|PyFunc', r'Python function', r'\bmap', r'ParallelMap'],
                                    [r'vectori[sz]', r'(without|not|no longer|out of) Python', r'TensorFlow (op|function)', r'interleave', *TF_PARALLEL]),
    'tf7_healthy_ahead': quiet('tensorflow'),
    'tf7_healthy_keras_layers': quiet('tensorflow'),
    'jax7_reads_untraced': made('jax', 'python', PYTHON, [*PYTHON_CHANGE, *AHEAD]),
    'jax7_another_type': made('jax', 'compile', COMPILES, [*SHAPES, r'\btypes?\b'], 0.3),
    'jax7_static_rate': made('jax', 'compile', COMPILES, SHAPES, 0.3),
    'jax7_debug_prints': made('jax', 'callback', [r'callback', r'calls? back', r'debug'], [r'jnp', r'out of the|outside', r'less often', r'without|remove|background'], 0.2),
    'jax7_io_lookup': made('jax', 'callback', [r'callback', r'calls? back'], [r'jnp', r'out of the|outside', r'less often', r'without|remove|background']),
    'jax7_floats': made('jax', 'python', [*EAGER, r'\bjit\b', r'\d+ (calls|programs)'], [r'jax\.jit', r'\bonce\b', r'device_get'], 0.2),
    'jax7_evaluates_every_third': made('jax', 'periodic', [r'evaluate', r'every (3|third)', r'3 of (the )?9'], [*SELDOM, r'apart|fewer'], event=0.35),
    'jax7_saves_every_fifth': made('jax', 'periodic', [r'every (5|fifth)', r'2 of (the )?10'], [*SELDOM, r'apart|fewer'], event=0.35, missed='a busy machine: a step beside it was held up for longer'),
    'jax7_reports_traced': made('jax', 'python', [r'report_progress'], MOVE),
    'jax7_augments_traced': made('jax', 'python', [r'augment_rows'], [*AHEAD, *MOVE]),
    'jax7_small_programs': made('jax', 'python', [*EAGER, r'\bjit\b', r'\d+ (calls|programs)'], [r'jax\.jit', r'one (compiled )?(function|program)', r'scan'], 0.3),
    'jax7_gradient_eager': made('jax', 'python', [*EAGER, r'\bjit\b'], [r'jax\.jit', r'one (compiled )?function'], 0.15),
    'jax7_healthy_thread': quiet('jax'),
    'jax7_healthy_reads_loss': quiet('jax'),
    'jax7_healthy_attention': quiet('jax'),
    'keras7_tf_callback_computes': made('keras-tensorflow', 'python', [*PYTHON, r'\bcallbacks?\b'], [*PYTHON_CHANGE, r'callback']),
    'keras7_tf_saves_weights': made('keras-tensorflow', 'output', [*PYTHON, r'\bcallbacks?\b', r'\bsav', r'checkpoint', *EAGER], [*PYTHON_CHANGE, r'callback'], 0.15),
    'keras7_tf_pydataset': made('keras-tensorflow', 'input', [*PYTHON, r'\binput\b', r'(next|new|a) batch', r'generator|PyDataset'], [*AHEAD, r'python_tracer', r'out of the loop', *TF_PARALLEL]),
    'keras7_tf_serial_map': made('keras-tensorflow', 'input', [r'\bmap', r'ParallelMap'], TF_PARALLEL, 0.15, missed='a busy machine: one of eight steps took six times as long'),
    'keras7_tf_run_eagerly': made('keras-tensorflow', 'python', EAGER, [r'tf\.function', r'run_eagerly'], 0.15),
    'keras7_tf_predicts_every_fourth': made('keras-tensorflow', 'periodic', [r'every (4|fourth)', r'2 of (the )?8', r'predict'], [*SELDOM, r'apart|fewer'], 0.15, event=0.35),
    'keras7_tf_healthy': quiet('keras-tensorflow'),
    'keras7_jax_callback': made('keras-jax', 'python', [*PYTHON, r'\bcallbacks?\b'], [*PYTHON_CHANGE, r'callback']),
    'keras7_jax_callback_traced': made('keras-jax', 'python', [r'refresh_dashboard'], MOVE),
    'keras7_jax_saves_every_fourth': made('keras-jax', 'periodic', [r'every (4|fourth)', r'2 of (the )?8'], [*SELDOM, r'apart|fewer'], 0.15, event=0.35),
    'keras7_jax_lengths': made('keras-jax', 'compile', COMPILES, SHAPES, 0.3),
    'keras7_jax_healthy': quiet('keras-jax'),
    'keras7_torch_callback_traced': made('keras-torch', 'python', [r'refresh_dashboard'], MOVE),
    'keras7_torch_pydataset': made('keras-torch', 'input', [*PYTHON, r'\binput\b', r'(next|new|a) batch', r'loader|PyDataset'], [*AHEAD, *PYTHON_CHANGE], 0.15),
    'keras7_torch_healthy': quiet('keras-torch'),
    'ddp7_rank2_loads': made('pytorch', 'ranks', [r'\brank ?2\b'], RANKS, 0.2, must_not=GRADIENTS),
    'ddp7_rank0_saves': made('pytorch', 'ranks', [r'\brank ?0\b'], RANKS, 0.2, must_not=GRADIENTS),
    'ddp7_rank0_more': made('pytorch', 'ranks', [r'\brank ?0\b'], RANKS, 0.2, must_not=GRADIENTS),
    'ddp7_rank1_every_third': made('pytorch', 'ranks', [r'\brank ?1\b'], RANKS, 0.2, event=0.3, must_not=GRADIENTS),
    'ddp7_many_metrics': made('pytorch', 'ranks', [r'communicat|collective|all_?reduce|exchang'], [r'bucket|fewer|larger|one (call|buffer)|together|once|overlap'], 0.3),
    'ddp7_large_gradients': made('pytorch', 'ranks', [r'communicat|collective|all_?reduce|exchang'], [r'bucket|16 bits|no_sync|overlap'], 0.3, missed='a busy machine: one rank is held up in half of the steps'),
    'ddp7_even': quiet('pytorch', missed='a busy machine: by their clocks the ranks are 18% apart'),
}

# Captures that the tree has no room for.
for name in (
    'torch7_collate_lists', 'torch7_workers_wait', 'torch7_tokenizes_inline', 'torch7_asks_masks', 'torch7_thin_blocks',
    'torch7_total_kept', 'torch7_logs_gradients', 'torch7_saves_every_third', 'torch7_validates_every_fifth', 'torch7_compresses',
    'torch7_prints', 'torch7_crops', 'torch7_healthy_gru', 'torch7_healthy_stack', 'tf7_text_gzip', 'tf7_augments', 'tf7_not_ahead',
    'tf7_reads_elements', 'tf7_evaluates_every_third', 'tf7_writes_every_fourth', 'tf7_queries_before', 'tf7_healthy_ahead',
    'jax7_another_type', 'jax7_static_rate', 'jax7_floats', 'jax7_small_programs', 'jax7_gradient_eager', 'keras7_tf_serial_map',
    'keras7_tf_run_eagerly', 'keras7_tf_healthy', 'keras7_jax_callback', 'keras7_jax_callback_traced', 'keras7_jax_saves_every_fourth',
    'keras7_jax_lengths', 'keras7_jax_healthy', 'keras7_torch_callback_traced', 'keras7_torch_pydataset', 'keras7_torch_healthy',
    'ddp7_rank2_loads', 'ddp7_rank0_saves', 'ddp7_rank1_every_third',
):
    SEVENTH[name]['large'] = True
