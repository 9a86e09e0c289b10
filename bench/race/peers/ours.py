# SPDX-License-Identifier: Apache-2.0
"""attn itself, this commit or another one."""
import ctypes

import numpy as np

from race import native
from race.peers import Run, Unsupported

def widened(x, dtype):
    """f32 numbers from how `dtype` stores them."""
    return (x.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else x.astype(np.float32)


class Ours:
    def __init__(self, options):
        self.library = native.Library(options["library"])
        if not self.library.has("abi") or self.library.abi() != native.ABI:
            raise Unsupported("it is from before the functions that script/bench calls were as they are now")
        self.options = options
        self.about = self.library.text("isa")

    def attention(self, row, data):
        n = row.sizes
        out = np.empty((n["batch"], n["heads"], n["queries"], n["value_dim"]), data["q"].dtype)
        call = native.attention_call(row, data, out)
        reference = ctypes.byref(call)

        return Run(lambda: self.library.check(self.library.attention(reference)), lambda: widened(out, row.dtype),
                   self.library.text("describe", reference))

    def backward(self, row, data):
        n = row.sizes
        out, lse = np.empty_like(data["grad_out"]), np.empty((n["batch"], n["heads"], n["queries"]), np.float32)
        forward = native.attention_call(row, data, out, lse)
        self.library.check(self.library.attention(ctypes.byref(forward)))
        grads = [np.empty_like(data[name]) for name in "qkv"]
        call = native.Backward(forward, native.address(data["grad_out"]), *map(native.address, grads))
        return Run(lambda: self.library.check(self.library.backward(ctypes.byref(call))),
                   lambda: [widened(x, row.dtype) for x in grads])

    def matmul(self, row, data):
        y = np.empty((row.shape[0], row.shape[2]), np.float32)
        call = native.matmul_call(row, data, y)
        packed = self.library.pointer("pack", ctypes.byref(call))
        return Run(lambda: self.library.check(self.library.matmul(packed, ctypes.byref(call))), lambda: y)

    def encoder(self, row, data):
        """The whole padded batch in one call, however a peer's caller would sort it."""
        model = self.library.pointer("load", self.options["model"].encode(), row.threads)
        ids, mask = data["ids"], data["mask"]
        hidden = np.empty((*ids.shape, 384), np.float32)
        arguments = (model, ctypes.c_void_p(ids.ctypes.data), ctypes.c_void_p(mask.ctypes.data), ctypes.c_int64(ids.shape[0]),
                     ctypes.c_int64(ids.shape[1]), ctypes.c_void_p(hidden.ctypes.data), row.threads)
        return Run(lambda: self.library.check(self.library.encode(*arguments)), lambda: hidden)

    def roofline(self, threads, isa=None):
        """flop/s in registers and byte/s from memory."""
        flops, read = ctypes.c_double(), ctypes.c_double()
        name = isa.encode() if isa else None
        self.library.check(self.library.roofline(threads, name, ctypes.byref(flops), ctypes.byref(read)))
        return flops.value, read.value

    def bf16_peak(self):
        self.library.lib.bench_bf16_peak.restype = ctypes.c_double
        return self.library.bf16_peak()
