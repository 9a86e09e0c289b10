# SPDX-License-Identifier: Apache-2.0
"""Rows of attention: a row says one piece of work, makes its inputs, and knows the right result in float64."""
import dataclasses

import numpy as np

# Largest relative error (Frobenius) of a result that is timed at all.
TOLERANCE = {"f32": 1e-5, "f16": 4e-3, "bf16": 2e-2}


def error_of(found, expected):
    """Relative error in the Frobenius norm; infinite if anything is not finite."""
    difference = np.asarray(found, dtype=np.float64) - expected
    if not np.isfinite(difference).all():
        return float("inf")
    return float(np.linalg.norm(difference) / np.linalg.norm(expected))


def rounded(x, dtype):
    """f32 numbers as `dtype` holds them: (their bits as f32, f16 or u16; the values as f32)."""
    if dtype == "f32":
        return x, x
    if dtype == "f16":
        half = x.astype(np.float16)
        return half, half.astype(np.float32)
    bits = x.view(np.uint32)
    short = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return short, (short.astype(np.uint32) << 16).view(np.float32)


@dataclasses.dataclass(frozen=True)
class AttentionRow:
    """Attention of (batch, heads, tokens, dim); the last query stands at the last key."""
    group: str
    shape: tuple  # batch, heads, queries, keys, dim
    mask: str = "full"  # full, causal, window, bool, additive
    dtype: str = "f32"
    threads: int = 1
    kv_heads: int = 0  # 0: as many as heads
    value_dim: int = 0  # 0: as dim
    window: int = 0  # keys that a query sees, its own and those before it
    peers: tuple = ()
    kind: str = "attention"

    @property
    def sizes(self):
        """Everything that the shape leaves out, filled in."""
        batch, heads, queries, keys, dim = self.shape
        return {"batch": batch, "heads": heads, "kv_heads": self.kv_heads or heads, "queries": queries, "keys": keys,
                "dim": dim, "value_dim": self.value_dim or dim}

    @property
    def name(self):
        n = self.sizes
        heads = f"{n['heads']}" if n["heads"] == n["kv_heads"] else f"{n['heads']}/{n['kv_heads']}"
        dim = f"{n['dim']}" if n["dim"] == n["value_dim"] else f"{n['dim']}/{n['value_dim']}"
        return f"{n['batch']}x{heads}x{n['queries']}x{n['keys']}x{dim}"

    @property
    def key(self):
        """By which limits and ratios between rows name it."""
        return f"{self.kind} {self.name} {self.mask} {self.dtype} {self.threads}"

    def pairs(self):
        """Visible pairs of one head; half of all for causal, as the figures of the literature count."""
        n = self.sizes
        if self.mask == "causal":
            return n["queries"] * n["keys"] / 2 if n["queries"] == n["keys"] else n["queries"] * (n["keys"] - n["queries"] / 2)
        if self.mask == "window":
            seen = np.arange(n["queries"]) + 1 + n["keys"] - n["queries"]
            return float(np.minimum(seen, self.window).sum())
        return n["queries"] * n["keys"]

    @property
    def flops(self):
        n = self.sizes
        return 2.0 * n["batch"] * n["heads"] * self.pairs() * (n["dim"] + n["value_dim"])

    @property
    def bytes(self):
        """Keys and values read once."""
        n = self.sizes
        size = 4 if self.dtype == "f32" else 2
        return float(n["batch"] * n["kv_heads"] * n["keys"] * (n["dim"] + n["value_dim"]) * size)

    def inputs(self):
        """q, k, v as stored and as f32 values, and keep (queries, keys) or bias (queries, keys) for those masks."""
        n, rng, data = self.sizes, np.random.default_rng(1), {"values": {}}
        for name, heads, tokens, dim in (("q", "heads", "queries", "dim"), ("k", "kv_heads", "keys", "dim"),
                                         ("v", "kv_heads", "keys", "value_dim")):
            x = rng.standard_normal((n["batch"], n[heads], n[tokens], n[dim]), dtype=np.float32)
            data[name], data["values"][name] = rounded(x, self.dtype)
        if self.mask == "bool":
            data["keep"] = rng.random((n["queries"], n["keys"]), dtype=np.float32) < 0.75
            data["keep"][:, 0] = True
        if self.mask == "additive":
            data["bias"] = rng.standard_normal((n["queries"], n["keys"]), dtype=np.float32)
        return data

    def sample(self):
        """The (heads, queries) whose results are compared: enough to find any mistake of tiles, masks and groups."""
        n = self.sizes
        queries = sorted({0, 1, n["queries"] // 3, n["queries"] // 2, n["queries"] - 1} & set(range(n["queries"])))
        return sorted({0, n["heads"] // 2, n["heads"] - 1}), queries

    def visible(self, queries, data):
        """(sampled queries, keys): which keys each sees."""
        n = self.sizes
        position = np.array(queries)[:, None] + n["keys"] - n["queries"]
        key = np.arange(n["keys"])[None]
        seen = np.ones((len(queries), n["keys"]), bool)
        if self.mask in ("causal", "window"):
            seen &= key <= position
        if self.mask == "window":
            seen &= key > position - self.window
        if self.mask == "bool":
            seen &= data["keep"][queries]
        return seen

    def expected(self, data):
        """The sampled rows of the last batch entry in f64: (heads, queries, value_dim)."""
        heads, queries = self.sample()
        n, values = self.sizes, data["values"]
        seen = self.visible(queries, data)
        rows = []
        for h in heads:
            kv = h // (n["heads"] // n["kv_heads"])
            q, k, v = (values[x][-1, i].astype(np.float64) for x, i in (("q", h), ("k", kv), ("v", kv)))
            scores = q[queries] @ k.T / np.sqrt(n["dim"])
            if self.mask == "additive":
                scores += data["bias"][queries]
            scores = np.where(seen, scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            rows.append(weights / weights.sum(-1, keepdims=True) @ v)
        return np.array(rows)

    def error(self, out, data):
        """Of a result (batch, heads, queries, value_dim)."""
        heads, queries = self.sample()
        return error_of(np.asarray(out)[-1][np.ix_(heads, queries)], self.expected(data))


@dataclasses.dataclass(frozen=True)
class BackwardRow(AttentionRow):
    """The gradients of q, k and v alone; the forward call has been made."""
    kind: str = "backward"

    @property
    def flops(self):
        return 2.5 * super().flops

    def inputs(self):
        data, n = super().inputs(), self.sizes
        x = np.random.default_rng(2).standard_normal((n["batch"], n["heads"], n["queries"], n["value_dim"]), dtype=np.float32)
        data["grad_out"], data["values"]["grad_out"] = rounded(x, self.dtype)
        return data

    def expected(self, data):
        """(dq, dk, dv) in f64 of the last head of keys and values, dq of the last query head on it."""
        n, values = self.sizes, data["values"]
        k, v = (values[name][-1, -1].astype(np.float64) for name in "kv")
        dk, dv, scale = np.zeros_like(k), np.zeros_like(v), 1 / np.sqrt(n["dim"])
        for h in range(n["heads"] - n["heads"] // n["kv_heads"], n["heads"]):
            dq = np.zeros((n["queries"], n["dim"]))
            for first in range(0, n["queries"], 512):  # in blocks, since queries x keys of f64 may be too many
                some = np.arange(first, min(first + 512, n["queries"]))
                q, grad = (values[name][-1, h, some].astype(np.float64) for name in ("q", "grad_out"))
                scores = np.where(self.visible(some, data), scale * q @ k.T + (data["bias"][some] if "bias" in data else 0), -np.inf)
                weights = np.exp(scores - scores.max(-1, keepdims=True))
                weights /= weights.sum(-1, keepdims=True)
                ds = weights * (grad @ v.T - ((weights @ v) * grad).sum(-1, keepdims=True))
                dq[some] = scale * ds @ k
                dk += scale * ds.T @ q
                dv += weights.T @ grad
        return dq, dk, dv

    def error(self, grads, data):
        """The largest of the three."""
        return max(error_of(np.asarray(found)[-1, -1], right) for found, right in zip(grads, self.expected(data)))
