# SPDX-License-Identifier: Apache-2.0
"""Makes half of tests/data/torch: what PyTorch's attention gives for 108 sampled sets of arguments.

60 calls of `torch.nn.functional.scaled_dot_product_attention`, 40 of `torch.nn.MultiheadAttention`, and 8 of
`torch.nn.TransformerEncoderLayer` (eval mode). Inputs and weights are f32 numbers, raised to float64 for the
computation; results are stored as f32. Rows in which no key is visible do not occur, since PyTorch gives NaN there.
`torch_grad_goldens.py` makes the other half, gradients.

Run:  python script/goldens/torch_goldens.py
It needs no model and no network. tests/data/torch/README.md describes the files.
"""

import argparse
import random
from pathlib import Path

import torch

from common import DATA, versions, write_index, write_tensors

SEED = 2024
# How a mask of logical shape (B, H, L, S) is stored: 1 is a broadcast dimension, missing ones too.
PATTERNS = ["LS", "1S", "L1", "BHLS", "B11S", "B1LS", "1HLS", "1H1S", "BHL1"]


class Sampler:
    """The only source of randomness: one generator for choices, one for numbers."""

    def __init__(self, seed):
        self.choices = random.Random(seed)
        self.numbers = torch.Generator().manual_seed(seed)

    def pick(self, *options):
        return self.choices.choice(options)

    def normal(self, *shape, scale=1.0):
        """Normal f32 numbers, held as float64."""
        return (scale * torch.randn(shape, generator=self.numbers)).double()

    def mask(self, shape, kind):
        """bool: True for 2 of 3 elements; float: normal numbers of which some are -inf."""
        kept = torch.rand(shape, generator=self.numbers) < 2 / 3
        if kind == "bool":
            return kept
        return self.normal(*shape).masked_fill(torch.rand(shape, generator=self.numbers) < 0.15, -torch.inf)


def masked(mask, true_hides):
    """Where the mask hides, as bool."""
    if mask.dtype == torch.bool:
        return mask if true_hides else ~mask
    return torch.isneginf(mask)


def no_empty_row(*hidden):
    """Whether each row still sees a key under all these (broadcastable) masks."""
    union = torch.zeros(1, 1, 1, 1, dtype=torch.bool)
    for h in hidden:
        union = union | h
    return not union.all(-1).any()


def describe(mask):
    return (
        None if mask is None else {"dtype": "bool" if mask.dtype == torch.bool else "float", "shape": list(mask.shape)}
    )


def store(tensors, case, values):
    """Adds CASE.NAME for each value; a bool becomes 0 / 1, since every stored tensor is F32."""
    for name, value in values.items():
        if value is not None:
            tensors[f"{case}.{name}"] = value.detach().to(torch.float32)


# --- scaled_dot_product_attention -----------------------------------------------------------------------------------


def sdpa_kinds():
    kinds = [("none", None), ("causal_square", None), ("causal_wide", None), ("causal_tall", None)]
    return kinds + [(kind, pattern) for pattern in PATTERNS for kind in ("bool", "float")]


def sdpa_case(sampler, i):
    kind, pattern = sdpa_kinds()[i % len(sdpa_kinds())]
    rank = {7: 3, 9: 2}.get(i % 10, 4)
    batch, kv_heads, group = sampler.pick(1, 2, 3), sampler.pick(1, 2, 3), sampler.pick(1, 1, 2, 3)
    length, keys = sampler.pick(1, 2, 4, 5, 7), sampler.pick(2, 3, 6, 9)
    if kind == "causal_square":
        keys = length
    elif kind == "causal_wide":
        keys = length + 3
    elif kind == "causal_tall":
        length = keys + 2
    dim = sampler.pick(1, 3, 4, 8, 16)
    value_dim = sampler.pick(dim, dim, 2, 5)
    lead = {4: (batch, kv_heads), 3: (batch,), 2: ()}[rank]
    query_lead = (batch, kv_heads * group) if rank == 4 else lead
    q = sampler.normal(*query_lead, length, dim)
    k, v = sampler.normal(*lead, keys, dim), sampler.normal(*lead, keys, value_dim)
    mask = None
    if pattern is not None:
        kept = {4: pattern, 3: pattern[:1] + pattern[2:] if len(pattern) == 4 else pattern, 2: pattern[-2:]}[rank]
        sizes = {"B": batch, "H": kv_heads * group, "L": length, "S": keys, "1": 1}
        shape = [sizes[letter] for letter in kept]
        mask = sampler.mask(shape, kind)
        while not no_empty_row(masked(mask, true_hides=False)):
            # A mask with one column for all keys can only be all-visible (bool) or finite (float).
            mask = (
                torch.ones(shape, dtype=torch.bool) if kind == "bool" and shape[-1] == 1 else sampler.mask(shape, kind)
            )
    arguments = {
        "is_causal": kind.startswith("causal"),
        "scale": sampler.pick(None, None, 0.125, 1.0, 0.5),
        "enable_gqa": query_lead != lead,
    }
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, **arguments)
    shapes = {name: list(tensor.shape) for name, tensor in (("q", q), ("k", k), ("v", v), ("out", out))}
    return arguments | {"attn_mask": describe(mask)} | shapes, {"q": q, "k": k, "v": v, "attn_mask": mask, "out": out}


# --- MultiheadAttention ---------------------------------------------------------------------------------------------


def randomise(module, sampler):
    """Every parameter random (PyTorch starts biases at zero, which would hide their absence)."""
    for name, parameter in module.named_parameters():
        if "norm" in name:
            parameter.data = sampler.normal(*parameter.shape, scale=0.25) + (1.0 if name.endswith("weight") else 0.0)
            parameter.data = parameter.data.float().double()
        else:
            wide = parameter.dim() > 1 and not name.startswith("bias_")
            parameter.data = sampler.normal(*parameter.shape, scale=parameter.shape[-1] ** -0.5 if wide else 0.5)


def state_of(module):
    return {f"state.{name}": tensor for name, tensor in module.state_dict().items()}


def mha_masks(sampler, case, batch, heads, length, keys, causal):
    """attn_mask and key_padding_mask of the kinds asked for; True hides in both. No row is left without a key."""
    while True:
        attn_mask, padding = None, None
        if causal:
            attn_mask = torch.ones(length, keys, dtype=torch.bool).triu(1)
        elif case["attn_mask"] != "none":
            dims, kind = case["attn_mask"].split("_")
            shape = (length, keys) if dims == "2d" else (batch * heads, length, keys)
            attn_mask = sampler.mask(shape, kind)
            attn_mask = ~attn_mask if kind == "bool" else attn_mask
        if case["key_padding_mask"] != "none":
            padding = sampler.mask((batch, keys), case["key_padding_mask"])
            padding = ~padding if padding.dtype == torch.bool else padding
        hidden = []
        if attn_mask is not None:
            whole = masked(attn_mask, true_hides=True)
            hidden.append(whole if whole.dim() == 2 else whole.view(batch, heads, length, keys))
        if padding is not None:
            hidden.append(masked(padding, true_hides=True)[:, None, None, :])
        if no_empty_row(*hidden):
            return attn_mask, padding


def mha_call(sampler, i):
    """What the index says, the module, and its inputs."""
    heads = sampler.pick(1, 2, 3, 4)
    embed = heads * sampler.pick(1, 2, 4)
    batched = i % 11 != 0 or i == 0
    batch = sampler.pick(1, 2, 3) if batched else 1
    attention = sampler.pick("self", "cross", "cross")
    causal = i % 8 == 5
    length = sampler.pick(1, 2, 4, 6)
    keys = length if attention == "self" or causal else sampler.pick(1, 3, 5)
    # A different kind of mask for each i, so that all combinations occur in 15 cases.
    masks = {
        "attn_mask": ("none", "2d_bool", "2d_float", "3d_bool", "3d_float")[i % 5],
        "key_padding_mask": ("none", "bool", "float")[i % 3],
    }
    kdim = embed if attention == "self" else sampler.pick(None, None, 3, 5)
    vdim = embed if attention == "self" else sampler.pick(None, None, 2, 6)
    constructor = {
        "embed_dim": embed,
        "num_heads": heads,
        "bias": sampler.pick(True, True, False),
        "add_bias_kv": i % 4 == 1,
        "add_zero_attn": i % 4 >= 2 and i % 3 == 0 or i % 40 == 13,
        "kdim": None if kdim == embed else kdim,
        "vdim": None if vdim == embed else vdim,
        "batch_first": sampler.pick(True, False),
    }
    call = {"need_weights": i % 4 != 3, "average_attn_weights": i % 2 == 0, "is_causal": causal}
    module = torch.nn.MultiheadAttention(**constructor).double().eval()
    randomise(module, sampler)

    def tokens(count, dim):
        x = sampler.normal(batch, count, dim if dim else embed)
        return x[0] if not batched else x if constructor["batch_first"] else x.transpose(0, 1).contiguous()

    query = tokens(length, embed)
    key = query if attention == "self" else tokens(keys, constructor["kdim"])
    value = query if attention == "self" else tokens(keys, constructor["vdim"])
    attn_mask, padding = mha_masks(sampler, masks, batch, heads, length, keys, causal)
    if not batched and padding is not None:
        padding = padding[0]
    case = {"constructor": constructor, "call": call, "batched": batched, "self_attention": attention == "self"}
    case |= {"attn_mask": describe(attn_mask), "key_padding_mask": describe(padding)}
    inputs = {"query": query, "key": key, "value": value, "attn_mask": attn_mask, "key_padding_mask": padding}
    return case, module, inputs


def mha_case(sampler, i):
    case, module, inputs = mha_call(sampler, i)
    out, weights = module(**inputs, **case["call"])
    values = state_of(module) | inputs | {"out": out, "weights": weights}
    shapes = ("query", "key", "value", "out", "weights")
    return case | {name: None if values[name] is None else list(values[name].shape) for name in shapes}, values


# --- TransformerEncoderLayer ----------------------------------------------------------------------------------------


def encoder_call(sampler, constructor, masks, causal):
    """As mha_call, of a layer with nhead * 4 features."""
    heads = constructor["nhead"]
    constructor = {"d_model": heads * 4} | constructor
    module = torch.nn.TransformerEncoderLayer(**constructor, dropout=0.0).double().eval()
    randomise(module, sampler)
    batch, length = sampler.pick(2, 3), sampler.pick(3, 5)
    src_mask, padding = mha_masks(sampler, masks, batch, heads, length, length, causal)
    src = sampler.normal(batch, length, heads * 4)
    src = src if constructor["batch_first"] else src.transpose(0, 1).contiguous()
    case = {"constructor": constructor, "is_causal": causal, "src_mask": describe(src_mask)}
    case |= {"src_key_padding_mask": describe(padding), "src": list(src.shape)}
    return case, module, {"src": src, "src_mask": src_mask, "src_key_padding_mask": padding}


def encoder_case(sampler, i):
    constructor = {
        "nhead": sampler.pick(1, 2, 4),
        "dim_feedforward": sampler.pick(5, 16),
        "activation": ("relu", "gelu")[i % 2],
        "layer_norm_eps": (1e-5, 1e-3)[i // 4],
        "norm_first": i // 2 % 2 == 1,
        "batch_first": i != 5,
        "bias": i != 6,
    }
    masks = {
        "attn_mask": ("none", "2d_bool", "2d_float", "none", "none", "3d_float", "3d_bool", "2d_bool")[i],
        "key_padding_mask": ("none", "bool", "none", "bool", "none", "float", "none", "bool")[i],
    }
    case, module, inputs = encoder_call(sampler, constructor, masks, causal=i in (3, 4))
    out = module(**inputs, is_causal=case["is_causal"])
    return case | {"out": list(out.shape)}, state_of(module) | inputs | {"out": out}


def write_set(folder, name, count, make, used):
    sampler, cases, tensors = Sampler(SEED), [], {}
    for i in range(count):
        case, values = make(sampler, i)
        for key in ("out", "weights", "dq", "dk", "dv", "dmask", "gradients"):
            if values.get(key) is not None and not torch.isfinite(values[key]).all():
                raise ValueError(f"{name} {i}: {key} is not finite")
            if values.get(key) is not None and values[key].dtype != torch.float64:
                raise ValueError(f"{name} {i}: {key} is not computed in float64")
        cases.append({"name": f"{name}_{i:02}"} | case)
        store(tensors, f"{name}_{i:02}", values)
    write_index(folder / f"{name}.json", {"versions": used}, cases)
    write_tensors(folder / f"{name}.safetensors", tensors, used)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DATA / "torch")
    args = parser.parse_args()
    used = versions("torch", "safetensors") | {"seed": SEED}
    torch.set_num_threads(1)
    write_set(args.out, "sdpa", 60, sdpa_case, used)
    write_set(args.out, "mha", 40, mha_case, used)
    write_set(args.out, "encoder_layer", 8, encoder_case, used)


if __name__ == "__main__":
    main()
