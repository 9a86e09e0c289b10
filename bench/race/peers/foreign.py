# SPDX-License-Identifier: Apache-2.0
"""A library named by --race, with C functions for contiguous f32 arrays (batch, head, token, dim):

    pfwd(B, H, L, S, D, q, k, v, out, lse or null, mode, keep or null, bias or null, threads)
    pfwd256(B, H, L, S, D, q, k, v, out, lse or null, mode, threads)    where there is no pfwd; modes 0 and 1
    pbwd(B, H, L, D, q, k, v, out, grad_out, lse, dq, dk, dv, causal, threads)

mode is 0 full, 1 causal (the last query stands at the last key), 2 boolean, 3 additive."""
import ctypes
import os

import numpy as np

from race.native import address
from race.peers import Run, Unsupported

MODES = {"full": 0, "causal": 1, "bool": 2, "additive": 3}


def pointer(array):
    return ctypes.c_void_p(address(array))


class Foreign:
    def __init__(self, options):
        self.library = ctypes.CDLL(options["race"])
        self.about = os.path.basename(options["race"])

    def attention(self, row, data):
        return self.forward(row, data, None)[0]

    def forward(self, row, data, lse):
        """(Run, out)."""
        n = row.sizes
        is_narrow = not hasattr(self.library, "pfwd")
        modes = ("full", "causal") if is_narrow else tuple(MODES)
        if row.dtype != "f32" or n["heads"] != n["kv_heads"] or n["dim"] != n["value_dim"] or n["dim"] % 16 or row.mask not in modes:
            raise Unsupported("not one of its shapes")
        out = np.empty((n["batch"], n["heads"], n["queries"], n["value_dim"]), np.float32)
        pointers = [pointer(x) for x in (data["q"], data["k"], data["v"], out, lse)]
        masks = [] if is_narrow else [pointer(data.get(name)) for name in ("keep", "bias")]
        arguments = [*row.shape, *pointers, MODES[row.mask], *masks, row.threads]
        function = self.library.pfwd256 if is_narrow else self.library.pfwd
        return Run(lambda: function(*arguments), lambda: out), out

    def backward(self, row, data):
        n = row.sizes
        if not hasattr(self.library, "pbwd") or n["queries"] != n["keys"] or n["queries"] % 64 or n["dim"] % 64 or row.mask not in ("full", "causal"):
            raise Unsupported("not one of its shapes")
        lse = np.empty(n["batch"] * n["heads"] * n["queries"] + 64, np.float32)
        run, out = self.forward(row, data, lse)
        run.call()
        grads = [np.empty_like(data[name]) for name in "qkv"]
        pointers = [pointer(x) for x in (data["q"], data["k"], data["v"], out, data["grad_out"], lse, *grads)]
        arguments = [n["batch"], n["heads"], n["queries"], n["dim"], *pointers, int(row.mask == "causal"), row.threads]
        return Run(lambda: self.library.pbwd(*arguments), lambda: grads, holds=(out, lse))
