# SPDX-License-Identifier: Apache-2.0
"""Makes the other half of tests/data/torch: the gradients of PyTorch's attention for 300 sampled sets of arguments.

100 calls each of `torch.nn.functional.scaled_dot_product_attention`, `torch.nn.MultiheadAttention` and
`torch.nn.TransformerEncoderLayer`, sampled as those of torch_goldens.py and computed and stored in the same way.
Gradients are those of sum(out * grad_out), by the inputs and by every parameter.

Run:  python script/goldens/torch_grad_goldens.py
It needs no model and no network. tests/data/torch/README.md describes the files.
"""

import argparse
from pathlib import Path

import torch

from common import DATA, versions
from torch_goldens import SEED, encoder_call, mha_call, sdpa_case, state_of, write_set


def sdpa_grad_case(sampler, i):
    """A case of torch_goldens.py with the gradients of sum(out * grad_out) by q, k, v and a float mask."""
    case, values = sdpa_case(sampler, i)
    arguments = {name: case[name] for name in ("is_causal", "scale", "enable_gqa")}
    leaves = {name: values[name].clone().requires_grad_() for name in ("q", "k", "v")}
    mask = values["attn_mask"]
    if mask is not None and mask.dtype != torch.bool:
        mask = leaves["attn_mask"] = mask.clone().requires_grad_()
    out = torch.nn.functional.scaled_dot_product_attention(
        leaves["q"], leaves["k"], leaves["v"], attn_mask=mask, **arguments
    )
    grad_out = sampler.normal(*out.shape)
    gradients = torch.autograd.grad(out, list(leaves.values()), grad_out)
    names = {"q": "dq", "k": "dk", "v": "dv", "attn_mask": "dmask"}
    values |= {names[name]: gradient for name, gradient in zip(leaves, gradients)} | {"grad_out": grad_out}
    del values["out"]
    return case, values


def gradients_of(module, out, leaves, grad_out):
    """All in one vector: by the inputs as they come, then by the parameters in the order of their names."""
    parameters = [parameter for _, parameter in sorted(module.named_parameters())]
    return torch.cat([g.flatten() for g in torch.autograd.grad(out, leaves + parameters, grad_out)])


def mha_grad_case(sampler, i):
    case, module, inputs = mha_call(sampler, i)
    if case["self_attention"]:  # one leaf, which gets the sum of all three gradients
        leaves = [inputs["query"].requires_grad_()]
        inputs |= {"key": leaves[0], "value": leaves[0]}
    else:
        leaves = [inputs[name].requires_grad_() for name in ("query", "key", "value")]
    out, _ = module(**inputs, **case["call"])
    grad_out = sampler.normal(*out.shape)
    values = {"grad_out": grad_out, "gradients": gradients_of(module, out, leaves, grad_out)}
    if case["self_attention"]:
        del inputs["key"], inputs["value"]
    return case, state_of(module) | inputs | values


def encoder_grad_case(sampler, i):
    causal = sampler.pick(True, False, False, False)
    constructor = {
        "nhead": sampler.pick(1, 2),
        "dim_feedforward": sampler.pick(5, 12),
        "activation": sampler.pick("relu", "gelu"),
        "layer_norm_eps": sampler.pick(1e-5, 1e-3),
        "norm_first": sampler.pick(True, False),
        "batch_first": sampler.pick(True, True, False),
        "bias": sampler.pick(True, True, False),
    }
    masks = {
        "attn_mask": sampler.pick("none", "2d_bool", "2d_float", "3d_bool", "3d_float"),
        "key_padding_mask": sampler.pick("none", "bool", "float"),
    }
    case, module, inputs = encoder_call(sampler, constructor, masks, causal)
    leaves = [inputs["src"].requires_grad_()]
    out = module(**inputs, is_causal=causal)
    grad_out = sampler.normal(*out.shape)
    values = {"grad_out": grad_out, "gradients": gradients_of(module, out, leaves, grad_out)}
    return case, state_of(module) | inputs | values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DATA / "torch")
    args = parser.parse_args()
    used = versions("torch", "safetensors") | {"seed": SEED}
    torch.set_num_threads(1)
    write_set(args.out, "sdpa_grad", 100, sdpa_grad_case, used)
    write_set(args.out, "mha_grad", 100, mha_grad_case, used)
    write_set(args.out, "encoder_layer_grad", 100, encoder_grad_case, used)


if __name__ == "__main__":
    main()
