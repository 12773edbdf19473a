"""An embedding for the projector with labels and thumbnails, through SummaryWriter.add_embedding."""

import sys

import numpy as np

import sonde


def main(folder: str) -> None:
    rng = np.random.default_rng(3)
    kinds = {
        "stripes": np.indices((12, 12)).sum(0) // 3 % 2,
        "frame": np.pad(np.zeros((8, 8)), 2, constant_values=1),
        "corner": np.tri(12),
    }
    names = [name for name in kinds for _ in range(60)]
    images = np.stack([np.clip(kinds[name] * 0.8 + rng.normal(0, 0.15, (12, 12)), 0, 1) for name in names])
    flat = images.reshape(len(names), -1) - images.mean(0).ravel()
    vectors = flat @ np.linalg.svd(flat, full_matrices=False)[2][:8].T
    with sonde.SummaryWriter(folder) as writer:
        writer.add_embedding(
            vectors,
            metadata=[[name, str(i)] for i, name in enumerate(names)],
            metadata_header=["shape", "number"],
            label_img=images[:, None].repeat(3, axis=1),
            tag="shapes",
        )
        writer.add_images("some of them", images[::20, None])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/projector_digits")
