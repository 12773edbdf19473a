"""Word vectors in TSV files, named by a config of their own."""

import os
import sys

import numpy as np

from sonde import projector

WORDS = "cat dog horse cow mouse one two three four five red green blue black white run walk jump swim fly".split()


def main(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(4)
    topics = rng.normal(size=(4, 16)) * 2
    vectors = np.stack([topics[i // 5] + rng.normal(size=16) for i in range(len(WORDS))])
    np.savetxt(os.path.join(folder, "vectors.tsv"), vectors, delimiter="\t", fmt="%.6f")
    with open(os.path.join(folder, "labels.tsv"), "w") as file:
        file.write("word\tlength\n" + "".join(f"{word}\t{len(word)}\n" for word in WORDS))
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add()
    embedding.tensor_name = "words"
    embedding.tensor_path = "vectors.tsv"
    embedding.metadata_path = "labels.tsv"
    projector.visualize_embeddings(folder, config)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/projector_words")
