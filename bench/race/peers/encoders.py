# SPDX-License-Identifier: Apache-2.0
"""all-MiniLM-L6-v2 in PyTorch, ONNX Runtime and OpenVINO. The last two read a file that PyTorch exports, once."""
import importlib.metadata
import os

import numpy as np

from race.peers import Run, Unsupported


def torch_model(folder):
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers  # slow to load, so that only who needs it does
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers.AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()


def in_batches(row, data, forward):
    """A Run that calls forward(ids, mask) for each batch of the row."""
    batches = list(row.batches_of(data))
    last = []

    def call():
        last[:] = [forward(ids, mask) for _, ids, mask in batches]

    def result():
        hidden = np.zeros((*data["ids"].shape, 384), np.float32)
        for (rows, ids, _), values in zip(batches, last):
            hidden[rows, :ids.shape[1]] = np.asarray(values)
        return hidden

    return Run(call, result)


class PyTorch:
    def __init__(self, options):
        import torch
        torch.set_num_threads(options["threads"])
        torch.set_grad_enabled(False)
        self.torch, self.folder = torch, options["model"]
        self.about = f"{torch.__version__}, transformers {importlib.metadata.version('transformers')}"

    def encoder(self, row, data):
        model, from_numpy = torch_model(self.folder), self.torch.from_numpy
        return in_batches(row, data, lambda ids, mask: model(
            input_ids=from_numpy(ids), attention_mask=from_numpy(mask)).last_hidden_state.numpy())

    def keep_expected(self, row):
        """Writes what the model gives in f64 where rows look for it."""
        data = row.inputs()
        model = torch_model(self.folder).double()
        hidden = model(input_ids=self.torch.from_numpy(data["ids"]), attention_mask=self.torch.from_numpy(data["mask"]))
        np.save(row.expected_path(), hidden.last_hidden_state.numpy())

    def export(self, path):
        """The model as ONNX, with any number and length of texts."""
        torch = self.torch
        model = torch_model(self.folder)

        class Encoder(torch.nn.Module):
            def forward(self, ids, mask):
                return model(input_ids=ids, attention_mask=mask).last_hidden_state

        ids = torch.randint(5, 1000, (2, 16))
        mask = torch.ones_like(ids)
        mask[1, 9:] = 0  # With nothing hidden the mask would be left out of the graph.
        size = {0: torch.export.Dim("texts", min=1, max=64), 1: torch.export.Dim("width", min=2, max=512)}
        torch.onnx.export(Encoder(), (ids, mask), path + ".part", input_names=["ids", "mask"], output_names=["hidden"],
                          dynamic_shapes={"ids": size, "mask": size}, dynamo=True, external_data=False, verbose=False)
        os.replace(path + ".part", path)


class Exported:
    """A peer that reads the exported file."""

    def __init__(self, options):
        self.path, self.threads = options["exported"], options["threads"]
        if not os.path.exists(self.path):
            raise Unsupported("PyTorch could not export the model")
        self.load()

    def encoder(self, row, data):
        return in_batches(row, data, self.session(row.threads))


class OnnxRuntime(Exported):
    def load(self):
        import onnxruntime
        from onnxruntime.transformers import optimizer
        self.about = onnxruntime.__version__
        self.optimised = self.path + ".optimised"
        if not os.path.exists(self.optimised):  # Fused layer norms and GELU: a third faster than as exported.
            optimizer.optimize_model(self.path, model_type="bert", num_heads=12, hidden_size=384).save_model_to_file(self.optimised)

    def session(self, threads):
        from race.peers.onnx_runtime import session_of
        session = session_of(self.optimised, threads)
        return lambda ids, mask: session.run(None, {"ids": ids, "mask": mask})[0]


class OpenVino(Exported):
    def load(self):
        import openvino
        self.openvino, self.about = openvino, openvino.__version__

    def session(self, threads):
        settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        model = self.openvino.Core().compile_model(self.openvino.convert_model(self.path), "CPU", settings)
        return lambda ids, mask: model([ids, mask])[0].copy()
