# SPDX-License-Identifier: Apache-2.0
"""oneDNN, and code by hand on OpenBLAS: libraries of bench/native with the same functions."""
import ctypes
import os

import numpy as np

from race import native
from race.peers import Run, Unsupported


class Compiled:
    file = package = None

    def __init__(self, options):
        path = os.path.join(options["build"], self.file)
        if not os.path.exists(path):
            raise Unsupported(f"not built, since {self.package} is not installed")
        self.library = native.Library(path)
        self.about = self.library.text("about").strip()

    def plan(self, name, call, result):
        try:
            plan = self.library.pointer("plan_" + name, ctypes.byref(call))
        except native.Failed as e:
            raise Unsupported(str(e)) from None
        return Run(lambda: self.library.check(self.library.run(plan)), lambda: result)

    def attention(self, row, data):
        n = row.sizes
        if row.dtype != "f32":
            raise Unsupported("f32 only")
        out = np.empty((n["batch"], n["heads"], n["queries"], n["value_dim"]), np.float32)
        return self.plan("attention", native.attention_call(row, data, out), out)

    def matmul(self, row, data):
        y = np.empty((row.shape[0], row.shape[2]), np.float32)
        return self.plan("matmul", native.matmul_call(row, data, y), y)


class OneDnn(Compiled):
    file, package = "bench_onednn.so", "libdnnl-dev"


class OpenBlas(Compiled):
    file, package = "bench_openblas.so", "libopenblas-dev"
