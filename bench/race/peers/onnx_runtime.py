# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: the contributed operator MultiHeadAttention, and Attention of ONNX's own opset 23."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from race.peers import Run, Unsupported


def session_of(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that go on spinning after a run would steal from whoever runs next.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def model_of(node, feeds, domain):
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in feeds.items()]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    opsets = [helper.make_opsetid("", 23)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    graph = helper.make_graph([node], "attention", inputs, [output])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def added_to_scores(row, data):
    """(1, 1, queries, keys): the bias, and -inf at hidden pairs; nothing when there is nothing to add."""
    if row.mask == "additive":
        return data["bias"][None, None]
    if row.mask in ("bool", "window", "causal"):
        seen = row.visible(list(range(row.sizes["queries"])), data)
        return np.where(seen, np.float32(0), np.float32(-np.inf))[None, None]
    return None


class OnnxRuntime:
    def __init__(self, options):
        self.about = onnxruntime.__version__

    def attention(self, row, data):
        if row.dtype != "f32":
            raise Unsupported("f32 only")
        feeds, node, domain = self.node(row, data)
        session = session_of(model_of(node, feeds, domain), row.threads)
        last = []

        def call():
            last[:] = session.run(None, feeds)

        return Run(call, lambda: self.unpacked(row, last[0]))


class MultiHeadAttention(OnnxRuntime):
    def node(self, row, data):
        n = row.sizes
        if n["heads"] != n["kv_heads"]:
            raise Unsupported("no grouped queries")
        feeds = {name: np.ascontiguousarray(data[name].swapaxes(1, 2)).reshape(n["batch"], data[name].shape[2], -1) for name in "qkv"}
        inputs, attributes = ["q", "k", "v"], {"num_heads": n["heads"]}
        if row.mask == "causal" and n["queries"] == n["keys"]:
            attributes["unidirectional"] = 1
        elif row.mask != "full":
            feeds["bias"] = added_to_scores(row, data)
            inputs += ["", "", "bias"]
        node = helper.make_node("MultiHeadAttention", inputs, ["out"], domain="com.microsoft", **attributes)
        return feeds, node, "com.microsoft"

    def unpacked(self, row, out):
        n = row.sizes
        return out.reshape(n["batch"], n["queries"], n["heads"], n["value_dim"]).swapaxes(1, 2)


class Attention(OnnxRuntime):
    def node(self, row, data):
        n = row.sizes
        feeds, attributes = {name: data[name] for name in "qkv"}, {}
        inputs = ["q", "k", "v"]
        if row.mask == "causal" and n["queries"] == n["keys"]:
            attributes["is_causal"] = 1
        elif row.mask != "full":
            feeds["bias"] = added_to_scores(row, data)[0, 0]
            inputs.append("bias")
        return feeds, helper.make_node("Attention", inputs, ["out"], **attributes), ""

    def unpacked(self, row, out):
        return out
