# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/minilm: what all-MiniLM-L6-v2 computes for 20 texts, by Hugging Face `transformers` in float64.

For each text: token ids, last hidden state, sentence embedding (mean over the tokens, L2-normalised) and every layer's
attention weights; of long texts 16 sampled rows. Values are stored as f32: that rounding is at most 6e-8 of the value
(2.4e-7 absolute for hidden states, which stay below 8; 3e-8 for a weight or an embedding), far below the tolerances they serve
(2e-5 for hidden states, 2e-6 for embeddings, 1e-5 for weights). The script checks that a padded batch of 8 gives the
same as the texts alone, so the batch needs no goldens of its own.

Run:  python script/goldens/minilm_goldens.py --model MODEL_DIR
where MODEL_DIR holds config.json, tokenizer.json and model.safetensors. tests/data/minilm/README.md describes the files.
"""

import argparse
import hashlib
import random
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import BertModel

from common import DATA, versions, write_index, write_tensors

SEED = 7
SAMPLED_ROWS = 16
WHOLE_UP_TO = 24  # Texts of at most this many tokens are stored with all rows.

PROSE = (
    "Attention lets every word of a sentence look at every other word and decide how much of it to take in. A saw that cuts "
    "wood and a saw that somebody once had are written alike, yet a reader never mistakes one for the other, because the words "
    "around them differ. The model asks a question for each token, compares it with a key that each token offers, and turns the "
    "scores into shares which sum to one. Then it mixes the values in those shares. Nothing more happens in a head; the rest is "
    "adding, normalising and a small network for each position. Twelve heads do this side by side, six layers do it one after "
    "another, and what comes out at the end is a vector for each token. Their mean, brought to length one, stands for the whole "
    "sentence: texts that mean nearly the same lie close together, and texts about other matters lie far apart. "
)

# (name, text, second text or None)
TEXTS = [
    ("saw", "I saw a saw", None),
    ("empty", "", None),
    ("one_word", "attention", None),
    ("pair", "Where did the cat sleep?", "The cat slept on the warm stove."),
    ("emoji", "good morning 😀👍🏽 ❤️ friends", None),
    ("chinese", "小明 在 北京 大学 学习 人工智能", None),
    ("accents", "Zoë ate crème brûlée in Zürich, naïvely", None),
    ("turkish", "İstanbul'da ışık", None),
    ("greek", "ὁ σοφός ΣΟΦΟΣ", None),
    ("arabic", "السلام عليكم", None),
    ("mask_inside", "Paris is the [MASK] of France.", None),
    ("numbers", "3.14159 + 2,000 = 0x7F?", None),
    ("code", "for (int i = 0; i < n; ++i)", None),
    ("repeats", "the the the the the the the the", None),
    ("unknown", "a \U00012000 b " + "x" * 101, None),
    ("blank", " \t\n ", None),
]


def exactly(tokenizer, count):
    """The start of the prose, cut between words, that has exactly this many tokens."""
    words = (PROSE * 4).split()
    for n in range(len(words)):
        text = " ".join(words[:n])
        if len(tokenizer.encode(text).ids) == count:
            return text
    raise ValueError(f"no prefix of the prose has {count} tokens")


def all_texts(tokenizer):
    """(name, text, second, limit in tokens or None, whether attention weights of all stored rows are stored)."""
    listed = [(name, a, b, None, True) for name, a, b in TEXTS]
    listed.append(("tokens_80", exactly(tokenizer, 80), None, None, True))
    listed.append(("tokens_256", exactly(tokenizer, 256), None, None, True))
    long_text = (PROSE * 4).strip()
    listed.append(("cut_at_256", long_text, None, 256, False))
    listed.append(("cut_at_512", long_text, None, 512, False))
    return listed


def encode(tokenizer, text, second, limit):
    tokenizer.no_truncation()
    if limit is not None:
        tokenizer.enable_truncation(limit)
    return tokenizer.encode(text, second) if second is not None else tokenizer.encode(text)


def run(model, ids, types, mask):
    with torch.no_grad():
        result = model(
            input_ids=torch.tensor(ids),
            token_type_ids=torch.tensor(types),
            attention_mask=torch.tensor(mask),
            output_attentions=True,
        )
    weights = torch.stack(result.attentions, dim=1)  # (batch, layer, head, query, key)
    chosen = torch.tensor(mask, dtype=torch.float64)[..., None]
    mean = (result.last_hidden_state * chosen).sum(1) / chosen.sum(1)
    return result.last_hidden_state, weights, mean / mean.norm(dim=1, keepdim=True)


def check_padded_batch(model, cases, results, batch):
    """Stops unless the padded batch gives, at its real tokens, what each text gives alone."""
    width = max(len(cases[i]["ids"]) for i in batch)
    pad = lambda row: row + [0] * (width - len(row))
    ids, types = ([pad(cases[i][key]) for i in batch] for key in ("ids", "types"))
    mask = [pad([1] * len(cases[i]["ids"])) for i in batch]
    hidden, weights, embedding = run(model, ids, types, mask)
    worst = 0.0
    for row, i in enumerate(batch):
        n = len(cases[i]["ids"])
        alone = results[i]
        for padded, single in (
            (hidden[row, :n], alone[0][0]),
            (weights[row, :, :, :n, :n], alone[1][0]),
            (embedding[row], alone[2][0]),
        ):
            worst = max(worst, (padded - single).abs().max().item())
        if weights[row, :, :, :n, n:].abs().sum() != 0:
            raise ValueError(f"{cases[i]['name']}: padding got weight")
    print(f"padded batch of {len(batch)} against the texts alone: max difference {worst:.1e}")
    if worst > 1e-11:
        raise ValueError("the padded batch differs from the texts alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, default=DATA / "minilm")
    args = parser.parse_args()
    used = versions("torch", "transformers", "tokenizers", "safetensors") | {"seed": SEED}
    weights_hash = hashlib.sha256((args.model / "model.safetensors").read_bytes()).hexdigest()
    torch.set_num_threads(1)
    rng = random.Random(SEED)
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model = BertModel.from_pretrained(args.model, dtype=torch.float64, attn_implementation="eager").eval()

    cases, results, tensors = [], [], {}
    for i, (name, text, second, limit, keeps_all) in enumerate(all_texts(tokenizer)):
        encoding = encode(tokenizer, text, second, limit)
        count = len(encoding.ids)
        hidden, weights, embedding = run(model, [encoding.ids], [encoding.type_ids], [[1] * count])
        rows = list(range(count))
        if count > WHOLE_UP_TO:
            rows = sorted({0, count - 1} | set(rng.sample(range(1, count - 1), SAMPLED_ROWS - 2)))
        tensors[f"{name}.last_hidden_state"] = hidden[0, rows]
        tensors[f"{name}.embedding"] = embedding[0]
        # Two rows of the texts that are cut, so that the files stay below 3 MB.
        attention_rows = rows if keeps_all else [rows[SAMPLED_ROWS // 2], rows[-1]]
        tensors[f"{name}.attentions"] = weights[0][:, :, attention_rows]
        case = {
            "name": name,
            "text": text,
            "second": second,
            "limit": limit,
            "ids": encoding.ids,
            "types": encoding.type_ids,
        }
        cases.append(case | {"rows": rows, "attention_rows": attention_rows})
        results.append((hidden, weights, embedding))
        print(f"{name}: {count} tokens, largest hidden value {hidden.abs().max():.2f}")

    batch = [
        i
        for i, case in enumerate(cases)
        if case["name"] in ("saw", "empty", "pair", "emoji", "chinese", "accents", "unknown", "tokens_80")
    ]
    check_padded_batch(model, cases, results, batch)
    head = {"versions": used, "model_sha256": weights_hash, "batch": [cases[i]["name"] for i in batch]}
    write_index(args.out / "cases.json", head, cases)
    write_tensors(args.out / "expected.safetensors", tensors, used | {"model_sha256": weights_hash})


if __name__ == "__main__":
    main()
