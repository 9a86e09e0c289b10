# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/training: the losses of short trainings in PyTorch, and where they started from.

- `adamw`: ten AdamW steps of a 4-layer `torch.nn.TransformerEncoder` (width 32, pre-norm, GELU), mean squared error
  against a fixed random target, weight decay 0.01, gradients clipped to norm 1.
- `decoder`: ten SGD steps (momentum 0.9) of a `torch.nn.TransformerDecoderLayer` under a causal mask, cross entropy with
  label smoothing 0.1 and an ignored target.

Computed in float64 from f32 numbers, without dropout; losses are stored in full.

Run:  python script/goldens/training_goldens.py
It needs no model and no network.
"""

import argparse
import json
from pathlib import Path

import torch

from common import DATA, report, versions, write_tensors

SEED = 11
STEPS = 10


def normal(generator, *shape, scale=1.0):
    """Normal f32 numbers, held as float64."""
    return (scale * torch.randn(shape, generator=generator)).double()


def randomise(module, generator):
    """f32 numbers for every parameter, those of the norms near 1."""
    with torch.no_grad():
        for name, p in module.named_parameters():
            values = normal(generator, *p.shape, scale=0.2) + (1.0 if "norm" in name and "weight" in name else 0.0)
            p.copy_(values.float())


def stored(prefix, module):
    return {f"{prefix}.state.{name}": tensor.clone() for name, tensor in module.state_dict().items()}


def adamw(generator, tensors):
    layer = torch.nn.TransformerEncoderLayer(
        32, 4, 64, dropout=0.0, activation="gelu", norm_first=True, batch_first=True
    )
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).double()
    randomise(model, generator)
    x, target = normal(generator, 3, 7, 32), normal(generator, 3, 7, 32)
    tensors |= stored("adamw", model) | {"adamw.x": x, "adamw.target": target}
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    return losses


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(9, 16)
        self.layer = torch.nn.TransformerDecoderLayer(16, 2, 24, dropout=0.0, batch_first=True)

    def forward(self, ids, memory, mask):
        x = self.layer(self.embed(ids), memory, tgt_mask=mask, tgt_is_causal=True)
        return x @ self.embed.weight.T


def decoder(generator, tensors):
    model = Decoder().double()
    randomise(model, generator)
    memory = normal(generator, 2, 5, 16)
    ids = torch.randint(9, (2, 6), generator=generator)
    targets = torch.randint(9, (2, 6), generator=generator)
    targets[1, 4:] = -100
    mask = torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)
    tensors |= stored("decoder", model) | {"decoder.memory": memory, "decoder.ids": ids, "decoder.targets": targets}
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        logits = model(ids, memory, mask)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=0.1)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DATA / "training")
    args = parser.parse_args()
    used = versions("torch", "safetensors") | {"seed": SEED}
    torch.set_num_threads(1)
    generator, tensors = torch.Generator().manual_seed(SEED), {}
    losses = {"adamw": adamw(generator, tensors), "decoder": decoder(generator, tensors)}
    write_tensors(args.out / "training.safetensors", tensors, used)
    path = args.out / "training.json"
    path.write_text(json.dumps({"versions": used, "losses": losses}, indent=1) + "\n", encoding="ascii")
    report(path)


if __name__ == "__main__":
    main()
