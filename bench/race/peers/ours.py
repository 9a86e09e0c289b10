# SPDX-License-Identifier: Apache-2.0
"""attn itself, this commit or another one."""
import ctypes

import numpy as np

from race import native
from race.peers import Run, Unsupported

def widened(x, dtype):
    """f32 numbers from how `dtype` stores them."""
    return (x.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else x.astype(np.float32)


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


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
                   lambda: [widened(x, row.dtype) for x in grads], holds=(out, lse))

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
        texts, width = map(ctypes.c_int64, ids.shape)
        arguments = (model, pointer(ids), pointer(mask), texts, width, pointer(hidden), row.threads)
        return Run(lambda: self.library.check(self.library.encode(*arguments)), lambda: hidden)

    def training(self, row, data):
        batch, tokens, width, heads, feedforward, layers = map(ctypes.c_int64, row.shape)
        library, loss, losses = self.library, ctypes.c_double(), []
        handle = library.pointer("training", layers, width, heads, feedforward, row.threads)
        for name, value in data["parameters"].items():
            rows, columns = (*value.shape, 0)[:2]
            library.check(library.parameter(handle, name.encode(), pointer(value), ctypes.c_int64(rows), ctypes.c_int64(columns)))
        arguments = (handle, pointer(data["x"]), pointer(data["target"]), batch, tokens, width, ctypes.byref(loss))

        def call():
            library.check(library.step(*arguments))
            losses.append(loss.value)

        return Run(call, lambda: losses[0])

    def roofline(self, threads, isa=None):
        """flop/s in registers and byte/s from memory."""
        flops, read = ctypes.c_double(), ctypes.c_double()
        name = isa.encode() if isa else None
        self.library.check(self.library.roofline(threads, name, ctypes.byref(flops), ctypes.byref(read)))
        return flops.value, read.value

    def peaks(self):
        """flop/s of one core on each instruction set that the machine has."""
        return {isa: self.roofline(1, isa)[0] for isa in self.library.text("isas").split()}

    def bf16_peak(self):
        self.library.lib.bench_bf16_peak.restype = ctypes.c_double
        return self.library.bf16_peak()
