# SPDX-License-Identifier: Apache-2.0
"""Fashion-MNIST (Zalando SE, MIT): 28 x 28 grey pictures of ten kinds of clothes."""
import gzip
import struct

from tasks import fetch

VALIDATION = 5000  # the last of the 60,000 for training


def prepare(folder, fetcher):
    source = fetcher.debian("dataset-fashion-mnist") / "usr/share/datasets/fashion-mnist"
    for prefix, name in (("train", "train"), ("t10k", "test")):
        pixels, count = read_idx(source / f"{prefix}-images-idx3-ubyte.gz")
        labels, _ = read_idx(source / f"{prefix}-labels-idx1-ubyte.gz")
        parts = {name: (0, count)}
        if name == "train":
            parts = {"train": (0, count - VALIDATION), "validation": (count - VALIDATION, count)}
        for part, (first, last) in parts.items():
            write_npy(folder / f"{part}.images.npy", (last - first, 28, 28), pixels[first * 784 : last * 784])
            write_npy(folder / f"{part}.labels.npy", (last - first,), labels[first:last])


def read_idx(path):
    """The bytes of an IDX file (LeCun's format) without its header, and the number of items."""
    data = gzip.decompress(fetch.check(path.name, path.read_bytes()))
    (count,) = struct.unpack_from(">i", data, 4)
    return data[4 + 4 * data[3] :], count


def write_npy(path, shape, data):
    """Version 1 of NumPy's format, unsigned bytes."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
