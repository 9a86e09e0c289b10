# SPDX-License-Identifier: Apache-2.0
"""JAX's dot_product_attention, compiled for the CPU."""
import os

os.environ["JAX_PLATFORMS"] = "cpu"
# XLA takes a thread for each processor that it may run on, and has no other setting for that.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(os.environ["BENCH_THREADS"])])

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

from race.peers import Run  # noqa: E402


class Jax:
    def __init__(self, options):
        self.about = jax.__version__

    def attention(self, row, data):
        n = row.sizes

        def operand(name):
            x = data[name].view(ml_dtypes.bfloat16) if row.dtype == "bf16" else data[name]
            return jnp.asarray(np.ascontiguousarray(x.swapaxes(1, 2)))  # (batch, token, head, dim)

        q, k, v = operand("q"), operand("k"), operand("v")
        extra, keywords = {}, {}
        if row.mask == "causal" and n["queries"] == n["keys"]:
            keywords["is_causal"] = True
        elif row.mask in ("causal", "window", "bool"):
            extra["mask"] = jnp.asarray(row.visible(list(range(n["queries"])), data)[None, None])
        elif row.mask == "additive":
            extra["bias"] = jnp.asarray(data["bias"][None, None])
        compiled = jax.jit(lambda q, k, v, extra: jax.nn.dot_product_attention(q, k, v, **extra, **keywords))
        compiled = compiled.lower(q, k, v, extra).compile()
        last = []

        def call():
            last[:] = [compiled(q, k, v, extra).block_until_ready()]

        return Run(call, lambda: np.asarray(last[0]).astype(np.float32).swapaxes(1, 2))
