"""What a right first finding says about the programs of the third batch; the words are those of second_expected.py."""

from second_expected import AHEAD, EAGER, LATER, PYTHON

THIRD = {
    'torch3_inference_post': dict(framework='pytorch', kind='python', names=PYTHON, change=[r'with_stack', *LATER], share=0.15),
    'torch3_words_to_rows': dict(large=True, framework='pytorch', kind='python', names=[r'\brows\b|words'], change=[*LATER, *AHEAD], share=0.15),
    'torch3_prints_weights': dict(framework='pytorch', kind='python', names=[r'show_weights|_tensor_str|__repr__', r'small operations'], change=[*LATER, r'torch\.compile'], share=0.2),
    'torch3_region_every_fourth': dict(framework='pytorch', kind='periodic', names=[r'held_out_score', r'every 4|3 of 12'], change=[r'less often|apart'], share=0.15, event=0.3),
    'torch3_scalar_norms': dict(framework='pytorch', kind='python', names=[r'item|single elements|small operations'], change=[r'once|torch\.compile|tolist|stack|foreach'], share=0.25),
    'torch3_outputs_kept': dict(framework='pytorch', kind='memory', names=[r'grow'], change=[r'detach|item\(\)'], amount=('MB', 'kept_mb_a_step', 1.1)),
    'torch3_healthy_accumulates': dict(missed='a busy machine: a fifth of each step is gaps', framework='pytorch', quiet=True),
    'jax3_annotated_fetch': dict(framework='jax', kind='input', names=[r'fetch_shard'], change=AHEAD, share=0.15),
    'jax3_many_transfers': dict(framework='jax', kind='python', names=[r'transfer', r'cop(y|ies)', r'small', r'one (at a time|by one)', r'device_?put'], change=[r'once|one array|stack|jax\.jit|fewer'], share=0.25),
    'jax3_grows_tree': dict(large=True, framework='jax', kind='compile', names=[r'compil'], change=[r'shape|structure|static'], share=0.3),
    'jax3_board_traced': dict(framework='jax', kind='python', names=[r'redraw'], change=LATER, share=0.15),
    'jax3_unjitted_unmarked': dict(framework='jax', kind='python', names=EAGER, change=[r'jax\.jit'], share=0.25),
    'jax3_healthy_loop': dict(framework='jax', quiet=True),
    'tf3_region_statistics': dict(framework='tensorflow', kind='python', names=[r'collect_statistics'], change=[r'python_tracer_level', *LATER], share=0.15),
    'tf3_csv_lines': dict(framework='tensorflow', kind='input', names=[r'\bmap|split|string'], change=[r'num_parallel_calls|vectori'], share=0.2),
    'tf3_eager_unmarked': dict(framework='tensorflow', kind='python', names=EAGER, change=[r'tf\.function'], share=0.25),
    'tf3_healthy_images': dict(framework='tensorflow', quiet=True),
    'keras3_tf_waits': dict(framework='keras-tensorflow', kind='python', names=PYTHON, change=[r'python_tracer_level', *LATER], share=0.15),
    'keras3_jax_every_fourth': dict(framework='keras-jax', kind='periodic', names=[r'every 4|2 of [89]|Python'], change=[r'less often|apart'], share=0.2, event=0.3),
    'keras3_torch_dataloader': dict(framework='keras-torch', kind='input', names=[r'DataLoader'], change=[r'num_workers'], share=0.15),
    'ddp3_rank0_scores': dict(framework='pytorch', kind='ranks', names=[r'\brank 0\b'], change=[r'rank 0', r'equal'], share=0.25, must_not=[r'16 bits|bucket']),
    'ddp3_rank2_augments': dict(framework='pytorch', kind='ranks', names=[r'\brank 2\b'], change=[r'rank 2', r'equal'], share=0.2, must_not=[r'16 bits|bucket']),
}
