# SPDX-License-Identifier: Apache-2.0
"""Twins of the trained models in PyTorch: their first weights, a batch, and how the loss falls on it.

Run: python script/goldens/train_goldens.py    (needs torch and safetensors of script/goldens/requirements.txt)

AdamW in two groups (decay for matrices only), gradients clipped to norm 1, learning rate 1e-2, no dropout, ten steps on
one batch. Everything is computed in float64 from weights that are exact in float32.
"""

import json

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from common import DATA, report, versions, write_tensors

WIDTH, HEADS, LAYERS, FEEDFORWARD = 16, 2, 2, 32
STEPS, RATE, DECAY = 10, 1e-2, 0.05
FOLDER = DATA / "train"


def layer(kind, norm_first):
    return kind(WIDTH, HEADS, FEEDFORWARD, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm_first)


class Stack(nn.Module):
    """nn.TransformerEncoder, or the decoder, with the names and the choice of a last norm that attn has."""

    def __init__(self, kind, norm_first=True):
        super().__init__()
        self.layers = nn.ModuleList(layer(kind, norm_first) for _ in range(LAYERS))
        if norm_first:
            self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x, *memory, **masks):
        for one in self.layers:
            x = one(x, *memory, **masks)
        return self.norm(x) if hasattr(self, "norm") else x


class Table(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, WIDTH) * 0.02)


class Embeddings(nn.Module):
    def __init__(self, vocabulary, positions):
        super().__init__()
        self.tokens, self.positions = Table(vocabulary), Table(positions)

    def forward(self, ids):
        return self.tokens.weight[ids] + self.positions.weight[: ids.shape[1]]


class Images(nn.Module):
    """28 x 28 pixels, patches of 7 x 7."""

    def __init__(self):
        super().__init__()
        self.patches, self.positions = nn.Linear(49, WIDTH), Table(16)
        self.encoder, self.classifier = Stack(nn.TransformerEncoderLayer), nn.Linear(WIDTH, 10)

    def loss(self, batch):
        pixels = batch["pixels"].reshape(-1, 4, 7, 4, 7).permute(0, 1, 3, 2, 4).reshape(-1, 16, 49)
        encoded = self.encoder(self.patches(pixels) + self.positions.weight)
        return cross_entropy(self.classifier(encoded.mean(1)), batch["labels"])


class Texts(nn.Module):
    """Two tables of tokens, norms after the residuals; classifies tokens, or with `whole` the mean of a text's."""

    def __init__(self, whole):
        super().__init__()
        self.whole = whole
        self.embeddings, self.tables = Embeddings(11, 8), nn.ModuleDict({"1": Table(5)})
        self.norm, self.encoder = nn.LayerNorm(WIDTH), Stack(nn.TransformerEncoderLayer, norm_first=False)
        self.classifier = nn.Linear(WIDTH, 3)

    def loss(self, batch):
        ids, more, lengths = batch["ids"], batch["more_ids"], batch["lengths"]
        hidden = torch.arange(ids.shape[1]) >= lengths[:, None]
        x = self.encoder(self.norm(self.embeddings(ids) + self.tables["1"].weight[more]), src_key_padding_mask=hidden)
        if not self.whole:
            return cross_entropy(self.classifier(x).transpose(1, 2), batch["tags"])
        mean = x.masked_fill(hidden[..., None], 0).sum(1) / lengths[:, None]
        return cross_entropy(self.classifier(mean), batch["labels"])


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings, self.decoder = Embeddings(11, 8), Stack(nn.TransformerEncoderLayer)

    def loss(self, batch):
        ids = batch["ids"]
        causal = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], dtype=torch.float64)
        logits = self.decoder(self.embeddings(ids), src_mask=causal) @ self.embeddings.tokens.weight.T
        return cross_entropy(logits.transpose(1, 2), batch["next"])


class Translation(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings(11, 8)
        self.encoder, self.decoder = Stack(nn.TransformerEncoderLayer), Stack(nn.TransformerDecoderLayer)

    def loss(self, batch):
        source, target = batch["ids"], batch["target"]
        hidden = torch.arange(source.shape[1]) >= batch["lengths"][:, None]
        memory = self.encoder(self.embeddings(source), src_key_padding_mask=hidden)
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1], dtype=torch.float64)
        decoded = self.decoder(self.embeddings(target), memory, tgt_mask=causal, memory_key_padding_mask=hidden)
        logits = decoded @ self.embeddings.tokens.weight.T
        return cross_entropy(logits.transpose(1, 2), batch["next"])


def batch_of(task):
    lengths = torch.tensor([7, 3, 5])
    batch = {"ids": torch.randint(11, (3, 7)), "lengths": lengths, "more_ids": torch.randint(5, (3, 7)),
             "labels": torch.randint(3, (3,)), "tags": torch.randint(3, (3, 7)), "target": torch.randint(11, (3, 6)),
             "next": torch.randint(11, (3, 6 if task == "translation" else 7))}
    batch["tags"][torch.arange(7) >= lengths[:, None]] = -100
    batch["next"][1, -2:] = -100
    if task == "images":
        batch = {"labels": torch.randint(10, (5,)), "pixels": torch.randn(5, 28, 28).float().double()}
    return batch


def train(model, batch):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimiser = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0}],
                                  lr=RATE)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = model.loss(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimiser.step()
        losses.append(loss.item())
    return losses


def main():
    made_by = versions("torch")
    FOLDER.mkdir(exist_ok=True)
    cases = {}
    for number, (task, make) in enumerate({"images": Images, "reviews": lambda: Texts(True), "tagging": lambda: Texts(False),
                                           "language": Language, "translation": Translation}.items()):
        torch.manual_seed(number)
        model = make().float().double()
        batch = batch_of(task)
        tensors = {name: value.detach().clone() for name, value in model.state_dict().items()}
        if "pixels" in batch:
            tensors["batch.pixels"] = batch["pixels"]
        write_tensors(FOLDER / f"{task}.safetensors", tensors, made_by)
        cases[task] = {"batch": {name: value.tolist() for name, value in batch.items() if name != "pixels"},
                       "losses": train(model, batch)}
        print(task, [round(loss, 4) for loss in cases[task]["losses"]])
    path = FOLDER / "cases.json"
    path.write_text(json.dumps({"made_by": made_by, "cases": cases}) + "\n")
    report(path)


if __name__ == "__main__":
    main()
