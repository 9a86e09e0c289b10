# SPDX-License-Identifier: Apache-2.0
"""PyTorch's scaled_dot_product_attention: its flash path, and its math path."""
import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import linear, scaled_dot_product_attention

from race.peers import Run


def tensor_of(array, dtype):
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if dtype == "bf16" else torch.from_numpy(array)


class Flash:
    backend = SDPBackend.FLASH_ATTENTION

    def __init__(self, options):
        torch.set_num_threads(options["threads"])
        torch.set_grad_enabled(False)
        self.about = torch.__version__

    def operands(self, row, data):
        """q, k, v, and the keywords that say the mask."""
        n = row.sizes
        q, k, v = (tensor_of(data[name], row.dtype) for name in "qkv")
        keywords = {"enable_gqa": True} if n["heads"] != n["kv_heads"] else {}
        if row.mask == "causal" and n["queries"] == n["keys"]:
            keywords["is_causal"] = True
        elif row.mask in ("causal", "window", "bool"):
            keywords["attn_mask"] = torch.from_numpy(row.visible(list(range(n["queries"])), data))
        elif row.mask == "additive":
            keywords["attn_mask"] = torch.from_numpy(data["bias"])
        return q, k, v, keywords

    def attention(self, row, data):
        q, k, v, keywords = self.operands(row, data)
        last = []

        def call():
            with sdpa_kernel(self.backend):
                last[:] = [scaled_dot_product_attention(q, k, v, **keywords)]

        return Run(call, lambda: last[0].float().numpy())

    def backward(self, row, data):
        """The gradients alone, of a forward call that was made before."""
        torch.set_grad_enabled(True)
        q, k, v, keywords = self.operands(row, data)
        operands = [x.requires_grad_() for x in (q, k, v)]
        with sdpa_kernel(self.backend):
            out = scaled_dot_product_attention(*operands, **keywords)
        grad_out, last = tensor_of(data["grad_out"], row.dtype), []

        def call():
            last[:] = torch.autograd.grad(out, operands, grad_out, retain_graph=True)

        return Run(call, lambda: [x.float().numpy() for x in last])

    def matmul(self, row, data):
        x, weight = torch.from_numpy(data["x"]), torch.from_numpy(data["weight"])
        last = []

        def call():
            last[:] = [linear(x, weight)]

        return Run(call, lambda: last[0].numpy())


    def training(self, row, data):
        """Eager, as the layers come."""
        _, _, width, heads, feedforward, layers = row.shape
        torch.set_grad_enabled(True)
        layer = torch.nn.TransformerEncoderLayer(width, heads, feedforward, dropout=0.0, batch_first=True)
        model = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        model.load_state_dict({name: torch.from_numpy(value) for name, value in data["parameters"].items()})
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
        x, target, losses = torch.from_numpy(data["x"]), torch.from_numpy(data["target"]), []

        def call():
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), target)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())

        return Run(call, lambda: losses[0])


class Math(Flash):
    backend = SDPBackend.MATH
