# SPDX-License-Identifier: Apache-2.0
"""Rows of what stands around attention: matrix products, a whole encoder, a step of training."""
import dataclasses
import os
import re

import numpy as np

from race.rows import AttentionRow, BackwardRow, error_of


@dataclasses.dataclass(frozen=True)
class MatmulRow:
    """y = x W^T in f32, W as the project's layers hold it."""
    group: str
    shape: tuple  # rows, inputs, outputs
    threads: int = 1
    peers: tuple = ()
    dtype: str = "f32"
    kind: str = "matmul"

    @property
    def name(self):
        return "x".join(map(str, self.shape))

    @property
    def key(self):
        return f"{self.kind} {self.name} {self.threads}"

    @property
    def flops(self):
        return 2.0 * np.prod(self.shape, dtype=float)

    @property
    def bytes(self):
        """The weight read once."""
        return 4.0 * self.shape[1] * self.shape[2]

    def inputs(self):
        rows, inputs, outputs = self.shape
        rng = np.random.default_rng(1)
        return {"x": rng.standard_normal((rows, inputs), dtype=np.float32),
                "weight": rng.standard_normal((outputs, inputs), dtype=np.float32)}

    def error(self, y, data):
        some = slice(None, None, max(1, self.shape[0] // 8))
        return error_of(np.asarray(y)[some], data["x"][some].astype(np.float64) @ data["weight"].T.astype(np.float64))


@dataclasses.dataclass(frozen=True)
class EncoderRow:
    """A batch of texts through all-MiniLM-L6-v2. `batches`: into how many the caller of a peer sorts them by length."""
    group: str
    shape: tuple  # texts, shortest, longest
    threads: int = 1
    batches: int = 1
    peers: tuple = ()
    dtype: str = "f32"
    kind: str = "encoder"

    @property
    def name(self):
        texts, shortest, longest = self.shape
        lengths = f"{longest}" if shortest == longest else f"{shortest} to {longest}"
        return f"{texts} of {lengths} tokens" + (f", in {self.batches} batches" if self.batches > 1 else "")

    @property
    def key(self):
        return f"{self.kind} {self.name} {self.threads}"

    def lengths(self):
        """Log-uniform, the longest and the shortest among them."""
        texts, shortest, longest = self.shape
        spread = np.exp(np.linspace(np.log(shortest), np.log(longest), texts)).round().astype(int)
        return np.random.default_rng(1).permutation(spread)

    @property
    def flops(self):
        """Of the work that the texts need, without padding: six layers of width 384, feed-forward 1536."""
        n = self.lengths().astype(float)
        return float(6 * (2 * n.sum() * (4 * 384 * 384 + 2 * 384 * 1536) + (4 * n * n * 384).sum()))

    def inputs(self):
        lengths = self.lengths()
        ids = np.random.default_rng(2).integers(1000, 20000, (len(lengths), int(lengths.max())))
        mask = (np.arange(ids.shape[1])[None] < lengths[:, None]).astype(np.int64)
        data = {"ids": (ids * mask).astype(np.int64), "mask": mask, "lengths": lengths}
        if os.path.exists(self.expected_path()):
            data["expected"] = np.load(self.expected_path())
        return data

    def expected_path(self):
        """Where the driver has kept what the model gives in f64, if it could be computed."""
        return os.path.join(os.environ["BENCH_CACHE"], "encoder-" + re.sub(r"\W+", "-", self.name) + ".npy")

    def batches_of(self, data):
        """(rows, ids, mask) of each batch, padded to the longest in it."""
        order = np.argsort(data["lengths"]) if self.batches > 1 else np.arange(len(data["lengths"]))
        for rows in np.array_split(order, self.batches):
            width = int(data["lengths"][rows].max())
            yield rows, np.ascontiguousarray(data["ids"][rows, :width]), np.ascontiguousarray(data["mask"][rows, :width])

    def error(self, hidden, data):
        """Against what PyTorch computes in f64; unknown where PyTorch is not installed."""
        if "expected" not in data:
            return None
        seen = data["mask"].astype(bool)
        return error_of(np.asarray(hidden)[seen], data["expected"][seen])


@dataclasses.dataclass(frozen=True)
class TrainingRow:
    """A step of training: forward, backward and AdamW, against a fixed target."""
    group: str
    shape: tuple  # batch, tokens, width, heads, feed-forward width, layers
    threads: int = 1
    peers: tuple = ()
    dtype: str = "f32"
    kind: str = "training"

    @property
    def name(self):
        batch, tokens, width, heads, feedforward, layers = self.shape
        return f"{layers} layers of width {width}, {heads} heads, feed-forward {feedforward}; {batch}x{tokens} tokens"

    @property
    def key(self):
        return f"{self.kind} {self.name} {self.threads}"

    @property
    def flops(self):
        """Products by weights three times, attention three and a half."""
        batch, tokens, width, _, feedforward, layers = self.shape
        products = 2.0 * batch * tokens * (4 * width * width + 2 * width * feedforward)
        return layers * (3 * products + 3.5 * 4 * batch * tokens * tokens * width)

    def inputs(self):
        """x, target, and the parameters under PyTorch's names."""
        batch, tokens, width, _, feedforward, layers = self.shape
        rng = np.random.default_rng(1)

        def normal(*shape, scale=1.0):
            return (rng.standard_normal(shape) * scale).astype(np.float32)

        parameters = {}
        for i in range(layers):
            for name, rows, columns in (("self_attn.in_proj_", 3 * width, width), ("self_attn.out_proj.", width, width),
                                        ("linear1.", feedforward, width), ("linear2.", width, feedforward)):
                parameters[f"layers.{i}.{name}weight"] = normal(rows, columns, scale=columns ** -0.5)
                parameters[f"layers.{i}.{name}bias"] = normal(rows, scale=0.1)
            for name in ("norm1", "norm2"):
                parameters[f"layers.{i}.{name}.weight"] = 1 + normal(width, scale=0.1)
                parameters[f"layers.{i}.{name}.bias"] = normal(width, scale=0.1)
        return {"x": normal(batch, tokens, width), "target": normal(batch, tokens, width), "parameters": parameters}

    def expected(self, data):
        """The loss before any step, in f64."""
        batch, tokens, width, heads, _, layers = self.shape

        def norm(x, weight, bias):
            x = x - x.mean(-1, keepdims=True)
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight + bias

        x = data["x"].astype(np.float64)
        for i in range(layers):
            p = {name.removeprefix(f"layers.{i}."): value.astype(np.float64) for name, value in data["parameters"].items()
                 if name.startswith(f"layers.{i}.")}
            q, k, v = (part.reshape(batch, tokens, heads, -1).swapaxes(1, 2)
                       for part in np.split(x @ p["self_attn.in_proj_weight"].T + p["self_attn.in_proj_bias"], 3, axis=-1))
            scores = q @ k.swapaxes(2, 3) / np.sqrt(width / heads)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            seen = (weights / weights.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(batch, tokens, width)
            x = norm(x + seen @ p["self_attn.out_proj.weight"].T + p["self_attn.out_proj.bias"], p["norm1.weight"], p["norm1.bias"])
            hidden = np.maximum(x @ p["linear1.weight"].T + p["linear1.bias"], 0)
            x = norm(x + hidden @ p["linear2.weight"].T + p["linear2.bias"], p["norm2.weight"], p["norm2.bias"])
        return np.mean((x - data["target"]) ** 2)

    def error(self, first_loss, data):
        return error_of(first_loss, self.expected(data))


KINDS = {"attention": AttentionRow, "backward": BackwardRow, "matmul": MatmulRow, "encoder": EncoderRow,
         "training": TrainingRow}


def to_json(row):
    return dataclasses.asdict(row)


def from_json(fields):
    fields = {name: tuple(x) if isinstance(x, list) else x for name, x in fields.items()}
    return KINDS[fields["kind"]](**fields)
