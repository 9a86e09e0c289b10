# SPDX-License-Identifier: Apache-2.0
"""The C functions of bench/native: the same structs, said in Python."""
import ctypes

# Of the functions as they are called here: bench_abi() of the library.
ABI = 2

DTYPES = {"f32": 1, "bf16": 3, "f16": 4}


class Attention(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in
                ("batch", "heads", "kv_heads", "queries", "keys", "dim", "value_dim", "window_left")] + [
        (name, ctypes.c_void_p) for name in ("q", "k", "v", "keep", "bias", "out", "lse")] + [
        (name, ctypes.c_int32) for name in ("dtype", "is_causal", "threads")]


class Backward(ctypes.Structure):
    _fields_ = [("forward", Attention)] + [(name, ctypes.c_void_p) for name in ("grad_out", "dq", "dk", "dv")]


class Matmul(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("rows", "inputs", "outputs")] + [
        (name, ctypes.c_void_p) for name in ("x", "weight", "y")] + [("threads", ctypes.c_int32)]


class Failed(Exception):
    """A C function that failed, with its sentence."""


def address(array):
    return None if array is None else array.ctypes.data


def attention_call(row, data, out, lse=None):
    return Attention(**row.sizes, window_left=row.window - 1 if row.mask == "window" else -1, dtype=DTYPES[row.dtype],
                     is_causal=row.mask == "causal", threads=row.threads, out=address(out), lse=address(lse), keep=address(data.get("keep")),
                     bias=address(data.get("bias")), **{name: address(data[name]) for name in "qkv"})


def matmul_call(row, data, y):
    rows, inputs, outputs = row.shape
    return Matmul(rows=rows, inputs=inputs, outputs=outputs, x=address(data["x"]), weight=address(data["weight"]),
                  y=address(y), threads=row.threads)


class Library:
    """A library of bench/native. Functions that give a pointer or an int are checked for failure."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.bench_error.restype = ctypes.c_char_p

    def __getattr__(self, name):
        return getattr(self.lib, "bench_" + name)

    def has(self, name):
        return hasattr(self.lib, "bench_" + name)

    def text(self, name, *arguments):
        function = getattr(self, name)
        function.restype = ctypes.c_char_p
        return function(*arguments).decode()

    def pointer(self, name, *arguments):
        function = getattr(self, name)
        function.restype = ctypes.c_void_p
        result = function(*arguments)
        if not result:
            raise Failed(self.lib.bench_error().decode())
        return ctypes.c_void_p(result)

    def check(self, failed):
        if failed:
            raise Failed(self.lib.bench_error().decode())
