"""What a right first finding says about the programs of the sixth batch; the words are those of fourth_expected.py."""

from fourth_expected import AHEAD, EAGER, GRADIENTS, PYTHON, PYTHON_CHANGE, RANKS, SELDOM

TF_PARALLEL = [r'num_parallel_calls|in parallel|cache\(\)']

SIXTH = {
    'torch6_norms_in_numpy': dict(framework='pytorch', kind='python', names=[r'collect_norms|sort'], change=[*SELDOM, r'move\b'], share=0.12),
    'torch6_slow_sampler': dict(framework='pytorch', kind='input', names=[r'DataLoader'], change=[r'num_workers'], share=0.12),
    'torch6_gradient_hook': dict(framework='pytorch', kind='python', names=[r'watch_gradient'], change=[*SELDOM, r'move\b'], share=0.12),
    'torch6_tests_every_fourth': dict(framework='pytorch', kind='periodic', names=[r'every 4|3 of 12'], change=[*SELDOM, r'apart|fewer'], share=0.15, event=0.3),
    'torch6_logging': dict(large=True, framework='pytorch', kind='python', names=[r'\btell\b|logging'], change=[*SELDOM, r'move\b'], share=0.12),
    'torch6_quota_region': dict(framework='pytorch', kind='python', names=[r'wait_for_quota'], change=PYTHON_CHANGE, share=0.12),
    'torch6_one_by_one': dict(large=True, framework='pytorch', kind='python', names=[r'\b(tiny|small|short)\b', r'\d+ (operators|ops|operations|calls)'], change=[r'torch\.compile|fus|larger'], share=0.4),
    'torch6_history_kept': dict(framework='pytorch', kind='memory', names=[r'grow', r'held|kept'], change=[r'detach|item\(\)|\bdel\b'], amount=('MB', 'kept_mb_a_step', 0.5)),
    'torch6_healthy_block': dict(framework='pytorch', quiet=True),
    'tf6_generator_of_batches': dict(framework='tensorflow', kind='input', names=[r'generator'], change=[*TF_PARALLEL, r'prefetch|interleave|TensorFlow op'], share=0.12),
    'tf6_second_map': dict(framework='tensorflow', kind='input', names=[r'\bmap'], change=TF_PARALLEL, share=0.12),
    'tf6_costly_filter': dict(framework='tensorflow', kind='input', names=[r'filter'], change=[*TF_PARALLEL, r'filter|before'], share=0.12),
    'tf6_layers_eager': dict(framework='tensorflow', kind='python', names=EAGER, change=[r'tf\.function'], share=0.15),
    'tf6_export_region': dict(framework='tensorflow', kind='python', names=[r'export_metrics'], change=PYTHON_CHANGE, share=0.12),
    'tf6_mask_retraces': dict(framework='tensorflow', kind='compile', names=[r'trac(e|es|ed|ing)\b', r'compil'], change=[r'shape|signature|tensor|reduce_retracing'], share=0.3),
    'tf6_healthy_parallel': dict(large=True, framework='tensorflow', quiet=True),
    'jax6_measures_eager': dict(framework='jax', kind='python', names=[*EAGER, r'\bjit\b'], change=[r'jax\.jit'], share=0.2),
    'jax6_sorts_rows': dict(framework='jax', kind='python', names=PYTHON, change=[*PYTHON_CHANGE, *AHEAD], share=0.12),
    'jax6_tree_grows': dict(framework='jax', kind='compile', names=[r'compil'], change=[r'shape|structure|static_arg'], share=0.3),
    'jax6_full_evaluation': dict(framework='jax', kind='periodic', names=[r'full_evaluation', r'every 5|2 of 10'], change=[*SELDOM, r'apart|fewer'], share=0.15, event=0.3),
    'jax6_fetches_config': dict(framework='jax', kind='python', names=[r'reread_settings'], change=[*SELDOM, *AHEAD, r'move\b'], share=0.12),
    'jax6_healthy_donated': dict(framework='jax', quiet=True),
    'keras6_tf_dashboard': dict(framework='keras-tensorflow', kind='python', names=[*PYTHON, r'callback'], change=[*PYTHON_CHANGE, r'callback'], share=0.12),
    'keras6_tf_steps': dict(framework='keras-tensorflow', kind='input', names=[r'input', r'generator', r'Python', r'batch'], change=AHEAD, share=0.15),
    'keras6_jax_dashboard': dict(framework='keras-jax', kind='python', names=[*PYTHON, r'callback'], change=[*PYTHON_CHANGE, r'callback'], share=0.12),
    'keras6_torch_dashboard_traced': dict(large=True, framework='keras-torch', kind='python', names=[r'push_metrics'], change=[*SELDOM, r'move\b'], share=0.12),
    'keras6_torch_dashboard': dict(framework='keras-torch', kind='python', names=[*PYTHON, r'callback'], change=[*PYTHON_CHANGE, r'callback'], share=0.12),
    'ddp6_rank1_tokenises': dict(framework='pytorch', kind='ranks', names=[r'\brank ?1\b'], change=RANKS, share=0.2, must_not=GRADIENTS),
    'ddp6_rank0_measures': dict(framework='pytorch', kind='ranks', names=[r'\brank ?0\b'], change=RANKS, share=0.2, must_not=GRADIENTS),
}
