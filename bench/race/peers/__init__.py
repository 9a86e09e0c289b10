# SPDX-License-Identifier: Apache-2.0
"""Everybody who takes part in a race. A peer is a class in a module of its own, made in a process of its own:

    about               which version it is
    attention(row, data), matmul(row, data), encoder(row, data)
                        a Run for the row, or Unsupported with the reason
"""
import dataclasses
import importlib
from collections.abc import Callable


class Unsupported(Exception):
    """The peer cannot do this row; the sentence says why."""


@dataclasses.dataclass
class Run:
    call: Callable  # does the work once; this is what is timed
    result: Callable  # gives what the last call computed, as f32 in the row's own layout
    says: str = ""  # which kernel ran, if it tells
    holds: tuple = ()  # arrays that the call reads by their addresses, to live as long


# name -> (module, class, title in the report)
PEERS = {
    "attn": ("ours", "Ours", "attn"),
    "previous": ("ours", "Ours", "attn before"),
    "torch": ("pytorch", "Flash", "PyTorch"),
    "torch-math": ("pytorch", "Math", "PyTorch math path"),
    "ort-mha": ("onnx_runtime", "MultiHeadAttention", "ORT MultiHeadAttention"),
    "ort-attention": ("onnx_runtime", "Attention", "ORT Attention"),
    "ort": ("encoders", "OnnxRuntime", "ONNX Runtime"),
    "onednn": ("compiled", "OneDnn", "oneDNN"),
    "openblas": ("compiled", "OpenBlas", "OpenBLAS by hand"),
    "jax": ("jax_cpu", "Jax", "JAX"),
    "openvino": ("encoders", "OpenVino", "OpenVINO"),
    "bert": ("encoders", "PyTorch", "PyTorch"),
    "foreign": ("foreign", "Foreign", "other library"),
}


def title_of(name):
    return PEERS[name][2]


def make(name, options):
    module, cls, _ = PEERS[name]
    return getattr(importlib.import_module("race.peers." + module), cls)(options)
