"""PyTorch programs of two to four processes of the eighth batch: eighth_ddp.py [NAME ...]"""
import time

import torch
import torch.distributed as dist

from recording import Programs, busy
import seventh_ddp

program = Programs()


def rows_of(kind, rank):
    return {'even': 1000, 'four': 900 if rank == 3 else 100}.get(kind, 128)


def extra(kind, rank, k, net, folder):
    if kind == 'computes' and rank == 0:
        busy(70)
    if kind == 'barrier':
        if rank == 1:
            time.sleep(0.06)
        dist.barrier()
    if kind == 'evaluates' and rank == 0 and k % 4 == 1:
        with torch.no_grad():
            for _ in range(6):
                net.module(torch.rand(1200, 448)).mean()


seventh_ddp.rows_of, seventh_ddp.extra = rows_of, extra     # before the processes begin: each imports this file anew

if __name__ == '__main__':
    @program()
    def ddp8_rank0_computes(folder):
        """Three ranks; Python computes on rank 0."""
        return seventh_ddp.run(folder, 3, 'computes')

    @program()
    def ddp8_rank3_more(folder):
        """Four ranks; rank 3 has nine times the rows."""
        return seventh_ddp.run(folder, 4, 'four', 5)

    @program()
    def ddp8_barrier(folder):
        """Two ranks; rank 1 comes late to a barrier in each step."""
        clock = seventh_ddp.run(folder, 2, 'barrier')
        clock.caused = [60.0] * len(clock.steps)
        return clock

    @program()
    def ddp8_rank0_evaluates(folder):
        """Two ranks; rank 0 evaluates in every fourth step."""
        return seventh_ddp.run(folder, 2, 'evaluates', 8)

    @program(tries=4)
    def ddp8_even_three(folder):
        """Three ranks with equal batches."""
        return seventh_ddp.run(folder, 3, 'even', 5)

    program.main()
