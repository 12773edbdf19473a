"""Embeddings for the projector, mirroring tensorboard.plugins.projector.

config = projector.ProjectorConfig()
embedding = config.embeddings.add()
embedding.tensor_name, embedding.metadata_path = "words", "labels.tsv"
projector.visualize_embeddings("logs/run", config)
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

from . import _sonde
from ._arrays import make_np, native


@dataclass
class SpriteMetadata:
    image_path: str = ""
    single_image_dim: list[int] = field(default_factory=list)


@dataclass
class EmbeddingInfo:
    tensor_name: str = ""
    metadata_path: str = ""
    bookmarks_path: str = ""
    tensor_shape: list[int] = field(default_factory=list)
    sprite: SpriteMetadata = field(default_factory=SpriteMetadata)
    tensor_path: str = ""


class _Embeddings(list):  # type: ignore[type-arg]
    def add(self, **fields: Any) -> EmbeddingInfo:
        self.append(EmbeddingInfo(**fields))
        return self[-1]


@dataclass
class ProjectorConfig:
    model_checkpoint_path: str = ""
    embeddings: Any = field(default_factory=_Embeddings)
    model_checkpoint_dir: str = ""

    def __post_init__(self) -> None:
        self.embeddings = _Embeddings(self.embeddings)


def _quoted(text: str) -> str:
    out = "".join(f"\\{ord(c):03o}" if c < " " else "\\" + c if c in '"\\' else c for c in text)
    return f'"{out}"'


def config_text(config: ProjectorConfig) -> str:
    """The text form of the message, as protobuf prints it."""
    lines = []
    if config.model_checkpoint_path:
        lines.append(f"model_checkpoint_path: {_quoted(config.model_checkpoint_path)}")
    for info in config.embeddings:
        lines.append("embeddings {")
        for name in ("tensor_name", "metadata_path", "bookmarks_path"):
            if getattr(info, name):
                lines.append(f"  {name}: {_quoted(getattr(info, name))}")
        lines += [f"  tensor_shape: {size}" for size in info.tensor_shape]
        if info.sprite.image_path or info.sprite.single_image_dim:
            lines.append("  sprite {")
            if info.sprite.image_path:
                lines.append(f"    image_path: {_quoted(info.sprite.image_path)}")
            lines += [f"    single_image_dim: {size}" for size in info.sprite.single_image_dim]
            lines.append("  }")
        if info.tensor_path:
            lines.append(f"  tensor_path: {_quoted(info.tensor_path)}")
        lines.append("}")
    if config.model_checkpoint_dir:
        lines.append(f"model_checkpoint_dir: {_quoted(config.model_checkpoint_dir)}")
    return "".join(line + "\n" for line in lines)


def visualize_embeddings(logdir: Any, config: Any) -> None:
    """Writes `projector_config.pbtxt` for the projector into logdir (a path, or a writer that has one)."""
    folder = logdir.get_logdir() if hasattr(logdir, "get_logdir") else logdir
    if folder is None:
        raise ValueError("Expected logdir to be a path, but got None")
    folder = os.fspath(folder)
    os.makedirs(folder, exist_ok=True)
    if isinstance(config, ProjectorConfig):
        text = config_text(config)
    else:  # the protobuf class of the tensorboard package
        from google.protobuf import text_format

        text = text_format.MessageToString(config)
    path = os.path.join(folder, "projector_config.pbtxt")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def write_embedding(
    logdir: str, subdir: str, mat: Any, metadata: Any, label_img: Any, metadata_header: Any
) -> EmbeddingInfo:
    """tensors.tsv, metadata.tsv and sprite.png of one embedding, below logdir; paths in the result are relative."""
    folder = os.path.join(logdir, subdir)
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise NotADirectoryError(f"Path: `{folder}` exists, but is a file. Cannot proceed.")
    if os.path.isdir(folder):
        print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
    os.makedirs(folder, exist_ok=True)
    info = EmbeddingInfo()
    if metadata is not None:
        if mat.shape[0] != len(metadata):
            raise AssertionError("#labels should equal with #data points")
        rows = [str(x) for x in metadata]
        if metadata_header:
            if len(metadata_header) != len(metadata[0]):
                raise AssertionError("len of header must be equal to the number of columns in metadata")
            rows = ["\t".join(map(str, row)) for row in [metadata_header, *metadata]]
        _write(folder, "metadata.tsv", "\n".join(rows) + "\n")
        info.metadata_path = f"{subdir}/metadata.tsv"
    if label_img is not None:
        images = make_np(label_img)
        if mat.shape[0] != images.shape[0]:
            raise AssertionError("#images should equal with #data points")
        _write(folder, "sprite.png", _sprite(images))
        info.sprite = SpriteMetadata(f"{subdir}/sprite.png", [images.shape[3], images.shape[2]])
    if mat.ndim != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    _write(folder, "tensors.tsv", "".join("\t".join(map(str, row)) + "\n" for row in mat.tolist()))
    info.tensor_path = f"{subdir}/tensors.tsv"
    return info


def _sprite(images: Any) -> bytes:
    """[n, c, h, w] from 0 to 1 as one square sheet of ceil(sqrt n) columns."""
    import numpy as np

    from ._torch_summaries import grid

    sheet = grid(images, math.ceil(images.shape[0] ** 0.5)).transpose(1, 2, 0)
    square = np.zeros((sheet.shape[1], sheet.shape[1], 3), np.float64)
    square[: sheet.shape[0]] = sheet
    return _sonde.png(native((square * 255).clip(0, 255).astype(np.uint8)))


def _write(folder: str, name: str, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
