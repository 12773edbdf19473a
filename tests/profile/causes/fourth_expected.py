"""What a right first finding says about the programs of the fourth batch; the words are those of ../shared/causes/make/expected.py."""

PYTHON = [r'\bPython\b', r'no (recorded )?(work|operator|operation|call|op)\b', r'interpreter',
          r'(between|outside) (of )?(the |two |its )?(recorded |annotated |framework )?(steps|calls|operators|operations|batches)']
SELDOM = [r'less often', r'every (n|k|few|\d+)', r'asynchron', r'background', r'(another|own|separate) (thread|process)', r'out of the (training )?(loop|step)']
PYTHON_CHANGE = [r'python_tracer', r'with_stack', r'move\b', *SELDOM]
AHEAD = [r'ahead', r'prefetch', r'background', r'(another|own|separate) (thread|process)', r'workers?\b', r'while the step', r'overlap', r'in parallel']
EAGER = [r'\beager', r'op(eration)?s? by op', r'one (by one|at a time)', r'(single|separate|individual|small) (op|kernel|program|call)', r'not compiled', r'un-?jitted', r'\bdispatch']
FIRST = [r'first (step|batch)']
LEAVE_OUT = [r'leave .*first', r'first step out', r'warm', r'later']
RANKS = [r'that (rank|host|worker)', r'rank ?\d', r'equal']
GRADIENTS = [r'16 bits|bf16|fp16|compress', r'bucket']

FOURTH = {
    'torch4_collate': dict(framework='pytorch', kind='input', names=[r'DataLoader', r'collate|pad_documents'], change=[r'num_workers'], share=0.12),
    'torch4_collate_one_worker': dict(framework='pytorch', kind='input', names=[r'DataLoader', r'worker'], change=[r'num_workers|more workers'], share=0.12),
    'torch4_pixels_traced': dict(framework='pytorch', kind='input', names=[r'DataLoader', r'read_pixels'], change=[r'num_workers'], share=0.12),
    'torch4_csv_rows': dict(framework='pytorch', kind='python', names=[r'write_predictions'], change=[*SELDOM, r'move\b'], share=0.12),
    'torch4_two_models': dict(large=True, framework='pytorch', kind='python', names=[r'draw_latents'], change=[*SELDOM, *AHEAD, r'move\b', r'torch\.'], share=0.12),
    'torch4_cells_by_hand': dict(large=True, framework='pytorch', kind='python', names=[r'\b(tiny|small|short)\b', r'\d+ (operators|ops|operations|calls)'], change=[r'torch\.compile|fus|vectori'], share=0.4),
    'torch4_clips_each': dict(framework='pytorch', kind='python', names=[r'\bitem\b', r'_local_scalar_dense', r'single elements?', r'small operations'], change=[r'tolist|once|tensors?|torch\.compile|foreach'], share=0.3),
    'torch4_histograms_traced': dict(framework='pytorch', kind='python', names=[r'add_histogram|histogram|SummaryWriter|tensorboard'], change=SELDOM, share=0.15),
    'torch4_saves_every_fifth': dict(framework='pytorch', kind='periodic', names=[r'every 5|2 of 10|each fifth'], change=[*SELDOM, r'apart'], share=0.15, event=0.3),
    'torch4_first_step_loads': dict(framework='pytorch', kind='python', names=FIRST, change=LEAVE_OUT, share=0.15, event=0.25),
    'torch4_adam_by_parameter': dict(large=True, framework='pytorch', kind='python', names=[r'optimi[sz]er|Adam', r'small operations'], change=[r'foreach|fused|torch\.compile'], share=0.25),
    'torch4_json_between': dict(framework='pytorch', kind='python', names=PYTHON, change=PYTHON_CHANGE, share=0.12),
    'torch4_numpy_targets': dict(framework='pytorch', kind='python', names=[r'smooth_targets|sort'], change=[*SELDOM, *AHEAD, r'move\b'], share=0.12),
    'torch4_activations_kept': dict(framework='pytorch', kind='memory', names=[r'grow', r'held|kept'], change=[r'detach|item\(\)|\bdel\b'], amount=('MB', 'kept_mb_a_step', 0.5)),
    'torch4_groups_scheduled': dict(framework='pytorch', kind='python', names=[r'scheduler|lr_lambda|get_lr|LambdaLR|lambda'], change=[*SELDOM, r'move\b'], share=0.15),
    'torch4_copies_model': dict(framework='pytorch', kind='python', names=[r'aten::(clone|copy_|_to_copy|empty)', r'cop(y|ies)', r'deepcopy'], change=[*SELDOM, r'once', r'in place'], share=0.2),
    'torch4_healthy_convolution': dict(framework='pytorch', quiet=True),
    'torch4_healthy_recurrent': dict(framework='pytorch', quiet=True),
    'tf4_generator': dict(framework='tensorflow', kind='input', names=[r'generator'], change=[r'num_parallel_calls|in parallel|interleave|TensorFlow op|without Python|vectori'], share=0.12),
    'tf4_records': dict(framework='tensorflow', kind='input', names=[r'\bmap', r'Parse'], change=[r'num_parallel_calls|in parallel|cache\(\)'], share=0.12),
    'tf4_padded': dict(framework='tensorflow', kind='input', names=[r'\bmap', r'split|padded'], change=[r'num_parallel_calls|in parallel|cache\(\)'], share=0.12),
    'tf4_python_rows': dict(framework='tensorflow', kind='input', names=[r'py_function|PyFunc', r'Python function', r'\bmap'], change=[r'num_parallel_calls|in parallel|cache\(\)|vectori|TensorFlow op|without Python'], share=0.12),
    'tf4_heavy_map': dict(framework='tensorflow', kind='input', names=[r'\bmap', r'ParallelMap', r'\bQr\b'], change=[r'num_parallel_calls|cache\(\)|AUTOTUNE|cheaper'], share=0.12),
    'tf4_rate_retraces': dict(framework='tensorflow', kind='compile', names=[r'trac(e|es|ed|ing)\b', r'compil'], change=[r'tensor|input_signature|reduce_retracing|shape'], share=0.3),
    'tf4_writes_images': dict(framework='tensorflow', kind='python', names=[*PYTHON, *EAGER, r'summar|WriteImageSummary|writ'], change=[*PYTHON_CHANGE, r'tf\.function'], share=0.2),
    'tf4_posts_traced': dict(framework='tensorflow', kind='python', names=[r'post_metrics', *PYTHON], change=PYTHON_CHANGE, share=0.12),
    'tf4_tests_every_fifth': dict(framework='tensorflow', kind='periodic', names=[r'every 5|2 of 10|test_rows'], change=[*SELDOM, r'apart'], share=0.15, event=0.3),
    'tf4_cells_eager': dict(large=True, framework='tensorflow', kind='python', names=EAGER, change=[r'tf\.function'], share=0.2),
    'tf4_first_traces': dict(framework='tensorflow', kind='compile', names=[*FIRST, r'trac(ed|ing)|compil'], change=[*LEAVE_OUT], share=0.2, event=0.25),
    'tf4_healthy_convolution': dict(framework='tensorflow', quiet=True),
    'tf4_healthy_two_models': dict(framework='tensorflow', quiet=True),
    'jax4_converts_rows': dict(framework='jax', kind='python', names=PYTHON, change=[*PYTHON_CHANGE, *AHEAD], share=0.12),
    'jax4_jit_in_loop': dict(framework='jax', kind='compile', names=[r'compil'], change=[r'once|outside|same function|new function|shape|static_arg|compilation_cache'], share=0.3),
    'jax4_static_depth': dict(framework='jax', kind='compile', names=[r'compil'], change=[r'shape|static_arg|persistent|compilation_cache'], share=0.3),
    'jax4_tokens_traced': dict(large=True, framework='jax', kind='python', names=[r'tokenise_lines'], change=[*SELDOM, *AHEAD], share=0.12),
    'jax4_io_log': dict(framework='jax', kind='callback', names=[r'callback'], change=[r'jnp|out of the|outside|less often|background'], share=0.15),
    'jax4_scores_every_third': dict(framework='jax', kind='periodic', names=[r'every 3|3 of 9', r'score'], change=[*SELDOM, r'apart'], share=0.15, event=0.3),
    'jax4_adam_by_hand': dict(framework='jax', kind='python', names=[*EAGER, r'\bjit\b'], change=[r'jax\.jit'], share=0.2),
    'jax4_row_by_row': dict(framework='jax', kind='python', names=[*EAGER, r'\d+ (calls|programs)', r'weight_of'], change=[r'jax\.jit|vmap|scan|fewer|once'], share=0.25),
    'jax4_first_compiles': dict(framework='jax', kind='compile', names=[*FIRST, r'compil'], change=[*LEAVE_OUT, r'compilation_cache'], share=0.2, event=0.25),
    'jax4_archives_traced': dict(framework='jax', kind='python', names=[r'savez|checkpoint|sav'], change=SELDOM, share=0.15),
    'jax4_waits_between': dict(framework='jax', kind='python', names=PYTHON, change=PYTHON_CHANGE, share=0.12),
    'jax4_healthy_scan': dict(large=True, framework='jax', quiet=True),
    'jax4_healthy_convolution': dict(large=True, framework='jax', quiet=True),
    'keras4_tf_generator': dict(framework='keras-tensorflow', kind='input', names=[r'input', r'generator', r'Python', r'batch'], change=AHEAD, share=0.15),
    'keras4_tf_lengths': dict(framework='keras-tensorflow', kind='compile', names=[r'trac(e|es|ed|ing)\b', r'compil'], change=[r'shape|signature|pad|reduce_retracing'], share=0.3),
    'keras4_tf_healthy_images': dict(framework='keras-tensorflow', quiet=True),
    'keras4_jax_journal': dict(framework='keras-jax', kind='python', names=[*PYTHON, r'callback'], change=[*PYTHON_CHANGE, r'callback'], share=0.12),
    'keras4_jax_dataset': dict(framework='keras-jax', kind='input', names=[r'input', r'__getitem__|PyDataset', r'batch'], change=AHEAD, share=0.15),
    'keras4_jax_healthy_images': dict(framework='keras-jax', quiet=True),
    'keras4_torch_journal_traced': dict(large=True, framework='keras-torch', kind='python', names=[r'note_down'], change=[*SELDOM, r'move\b'], share=0.12),
    'keras4_torch_dataset': dict(framework='keras-torch', kind='input', names=[*PYTHON, r'input', r'DataLoader'], change=[*AHEAD, *PYTHON_CHANGE], share=0.15),
    'keras4_torch_healthy_images': dict(framework='keras-torch', quiet=True),
    'ddp4_rank2_counts': dict(framework='pytorch', kind='ranks', names=[r'\brank ?2\b'], change=RANKS, share=0.2, must_not=GRADIENTS),
    'ddp4_rank0_loader': dict(framework='pytorch', kind='ranks', names=[r'\brank ?0\b'], change=RANKS, share=0.2, must_not=GRADIENTS),
    'ddp4_rank1_sometimes': dict(framework='pytorch', kind='ranks', names=[r'\brank ?1\b'], change=RANKS, share=0.2, event=0.25, must_not=GRADIENTS),
    'ddp4_small_buckets': dict(large=True, framework='pytorch', kind='ranks', names=[r'communicat|collective|all_?reduce|exchang|gradients'], change=[r'bucket|fewer|larger|overlap'], share=1.0),
    'ddp4_rank0_saves': dict(large=True, framework='pytorch', kind='ranks', names=[r'\brank ?0\b'], change=RANKS, share=0.2, must_not=GRADIENTS),
    'ddp4_even': dict(framework='pytorch', quiet=True),
}
