"""PyTorch programs of several processes of the sixth batch: sixth_ddp.py [NAME ...]"""
from fifth_ddp import run
from recording import Programs

program = Programs()

if __name__ == '__main__':
    @program()
    def ddp6_rank1_tokenises(folder):
        """Three ranks; Python computes on rank 1; with_stack."""
        return run(folder, 3, 'tokenises')

    @program()
    def ddp6_rank0_measures(folder):
        """Four ranks; rank 0 waits between forward and backward."""
        return run(folder, 4, 'measures')

    program.main()
