# SPDX-License-Identifier: Apache-2.0
"""Which rows each verb of script/bench measures."""
import dataclasses

from race.layer_rows import EncoderRow, MatmulRow, TrainingRow
from race.rows import AttentionRow, BackwardRow

EVERYBODY = ("torch", "torch-math", "ort-mha", "ort-attention", "onednn", "openblas", "jax")
FASTEST = ("torch", "ort-mha", "ort-attention", "jax")

CORE = ((1, 12, 128, 128, 64), (1, 12, 512, 512, 64), (1, 12, 2048, 2048, 64), (1, 8, 4096, 4096, 128))
HEAD_DIMS = ((40, 0), (64, 0), (72, 0), (80, 0), (96, 0), (112, 0), (128, 0), (192, 0), (256, 0), (576, 512))
LENGTHS = tuple(128 << i for i in range(11))  # 128 to 131072
# PyTorch computes hidden keys as well: beyond this its line would take longer than all others together.
LONGEST_OF_TORCH = 32768


def core(peers=EVERYBODY):
    return [AttentionRow("core", shape, mask, threads=threads, peers=peers)
            for threads in (1, 2) for shape in CORE for mask in ("full", "causal")]


def masks():
    long = (1, 4, 8192, 8192, 64)
    rows = [AttentionRow("masks", long, "full", peers=("torch",)),
            AttentionRow("masks", long, "window", window=256, peers=("torch", "jax"))]
    for mask in ("bool", "additive"):
        rows += [AttentionRow("masks", shape, mask, peers=FASTEST) for shape in CORE[1:3]]
    return rows


def heads():
    """Grouped queries, and head dims."""
    rows = [AttentionRow("heads", (1, 32, 1024, 1024, 128), mask, kv_heads=8, peers=("torch", "ort-attention", "onednn", "jax"))
            for mask in ("full", "causal")]
    rows += [AttentionRow("heads", (1, 8, 512, 512, dim), value_dim=value_dim,
                          peers=("torch", *(["torch-math"] if value_dim else []), "ort-mha", "ort-attention"))
             for dim, value_dim in HEAD_DIMS]
    return rows


def narrow():
    rows = [AttentionRow("dtypes", shape, mask, "bf16", peers=("torch", "jax")) for shape in CORE[1:] for mask in ("full", "causal")]
    rows += [AttentionRow("dtypes", shape, mask, "f16", peers=("torch",)) for shape in CORE[1:3] for mask in ("full", "causal")]
    return rows


def short():
    """Few queries against many keys, down to decoding."""
    rows = [AttentionRow("short", (1, 32, queries, 4096, 128), "causal", kv_heads=8, peers=("torch", "jax"))
            for queries in (1, 4, 16, 32)]
    rows += [AttentionRow("short", (1, 32, 1, 32768, 128), "full", dtype, kv_heads=8, peers=("torch",)) for dtype in ("f32", "bf16")]
    return rows


def lengths():
    """Time and memory against length, for the plots: one head, all threads."""
    rows = []
    for mask, window in (("full", 0), ("causal", 0), ("window", 256)):
        rows += [AttentionRow("lengths", (1, 1, n, n, 64), mask, threads=2, window=window,
                              peers=("torch",) if n <= LONGEST_OF_TORCH and mask != "window" else ()) for n in LENGTHS]
    return rows


def matmul():
    peers = ("onednn", "torch", "openblas")
    return [MatmulRow("matmul", (rows, inputs, outputs), threads, peers)
            for threads in (1, 2) for rows in (512, 1024, 4096)
            for inputs, outputs in ((384, 384), (384, 1536), (1536, 384), (768, 768), (1536, 1536))
            ] + [MatmulRow("few rows", (rows, 4096, 4096), peers=peers) for rows in (1, 4, 16)]


def minilm():
    peers = ("bert", "ort", "openvino")
    return [EncoderRow("minilm", shape, threads, batches, peers) for threads in (1, 2) for shape, batches in
            (((32, 8, 256), 1), ((32, 8, 256), 4), ((32, 128, 128), 1), ((1, 32, 32), 1), ((1, 256, 256), 1))]


def backward():
    peers = ("torch", "torch-math")
    rows = [BackwardRow("backward", shape, mask, threads=threads, peers=peers)
            for threads in (1, 2) for shape in CORE[1:3] for mask in ("full", "causal")]
    rows += [BackwardRow("backward", CORE[1], mask, peers=peers) for mask in ("bool", "additive")]
    rows.append(BackwardRow("backward", CORE[2], "window", window=256, peers=peers))
    rows += [BackwardRow("backward", (1, 32, 512, 512, 128), mask, kv_heads=8, peers=("torch",)) for mask in ("full", "causal")]
    rows += [BackwardRow("backward", CORE[1], mask, "bf16", peers=peers) for mask in ("full", "causal")]
    # One long head: threads must share it.
    rows.append(BackwardRow("backward", (1, 1, 8192, 8192, 64), "full", threads=2, peers=("torch",)))
    return rows


def training():
    return [TrainingRow("training", (32, 128, 256, 4, 1024, 4), threads, ("torch",)) for threads in (1, 2)]


def quick(rows):
    """A few rows of each group, without the longest and without a second thread."""
    wanted = {"core": (0, 1, 2, 3), "masks": (2, 4), "heads": (3, 11), "dtypes": (0, 6), "short": (0, 2), "lengths": (0, 3, 11, 14, 22, 25),
              "matmul": (1, 3), "minilm": (3, 4), "backward": (0, 1, 10),
              "few rows": (1,), "training": (0,)}
    groups = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return [group[i] for name, group in groups.items() for i in wanted[name] if i < len(group)]


VERBS = {
    "forward": lambda: core() + masks() + heads() + narrow() + short() + lengths(),
    "matmul": matmul,
    "minilm": minilm,
    "backward": lambda: backward() + training(),
}


def rows_of(verb, is_quick, race=False):
    """The rows of a verb; with `race`, the foreign library takes part in those of f32 attention."""
    rows = VERBS[verb]()
    if is_quick:
        rows = quick(rows)
    if race:
        rows = [dataclasses.replace(row, peers=(*row.peers, "foreign")) if row.group in ("core", "masks", "backward") else row
                for row in rows]
    return rows
