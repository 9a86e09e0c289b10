# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/tiny_bert: four tiny random BERT encoders as the hub stores models, and what they compute.

The four differ in what MiniLM does not show: activation, number of heads, names of the tensors, dtype of the weights,
token types, sizes. Expected values are computed by Hugging Face `transformers` in float64 from the very weights that
were stored (bf16 and f16 weights raised to float64), and stored as f32.

Run:  python script/goldens/tiny_bert_goldens.py
It needs no model and no network. tests/data/tiny_bert/README.md describes the files.
"""

import argparse
import json
import random
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, BertModel

from common import DATA, report, versions, write_index, write_tensors

SEED = 11
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "saw the me you cat dog man mat hat sat on in with ran and is was it good very long word old new".split()
PIECES = "##ing ##ed ##er ##ly ##at ##ord".split()
SIGNS = list(".,!?'-") + list("小明在北京")
LETTERS = list("abcdefghijklmnopqrstuvwxyz") + ["##" + c for c in "abcdefghijklmnopqrstuvwxyz"]
VOCABULARY = SPECIAL + WORDS + PIECES + SIGNS + LETTERS
assert len(VOCABULARY) == len(set(VOCABULARY))

COMMON = {"vocab_size": len(VOCABULARY), "num_hidden_layers": 2, "max_position_embeddings": 32, "pad_token_id": 0}
MODELS = {
    # As bert-base-uncased stands on the hub: a prefix, old names of the layer norms, a head that an encoder ignores.
    "relu_prefix": {"hidden_act": "relu", "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48},
    "silu_one_head": {"hidden_act": "silu", "hidden_size": 24, "num_attention_heads": 1, "intermediate_size": 64},
    "gelu_new_bf16": {"hidden_act": "gelu_new", "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64},
    "gelu_f16_types": {
        "hidden_act": "gelu",
        "hidden_size": 36,
        "num_attention_heads": 3,
        "intermediate_size": 37,
        "type_vocab_size": 3,
        "layer_norm_eps": 1e-3,
    },
}
DTYPES = {"gelu_new_bf16": torch.bfloat16, "gelu_f16_types": torch.float16}
TEXTS = [
    ("I saw a saw", None),
    ("", None),
    ("the cat sat on the mat.", "was it a good cat?"),
    ("小明在北京, unknown: ü Ω", None),
]


def make_tokenizer():
    vocabulary = {word: i for i, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer


def randomise(model, generator):
    """Weights large enough that attention is far from uniform and activations leave their linear part."""
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        if "LayerNorm.weight" in name:
            parameter.data = 1 + 0.2 * noise
        elif name.endswith("bias"):
            parameter.data = 0.2 * noise
        elif "embeddings" in name:
            parameter.data = noise
        else:
            parameter.data = noise * 1.5 / parameter.shape[-1] ** 0.5


def old_names(state):
    """The layer norms' names before 2019, which many files on the hub still carry."""
    swap = lambda name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    return {swap(name): tensor for name, tensor in state.items()}


def store_model(name, folder, generator):
    """Writes config.json and model.safetensors; returns the encoder in float64 with the stored weights."""
    config = BertConfig(**COMMON, **MODELS[name], attn_implementation="eager")
    whole = BertForMaskedLM(config) if name == "relu_prefix" else BertModel(config)
    whole = whole.double().eval()
    randomise(whole, generator)
    dtype = DTYPES.get(name, torch.float32)
    state = {
        key: tensor.to(dtype).contiguous() for key, tensor in whole.state_dict().items() if tensor.is_floating_point()
    }
    whole.load_state_dict({key: tensor.double() for key, tensor in state.items()}, strict=False)
    if name == "relu_prefix":
        state = {
            key: tensor
            for key, tensor in state.items()
            if key not in ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")
        }
        state = old_names(state)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    report(folder / "model.safetensors")
    stored = {"architectures": [type(whole).__name__], "model_type": "bert", "dtype": str(dtype).removeprefix("torch.")}
    kept = (
        "hidden_act",
        "hidden_size",
        "intermediate_size",
        "layer_norm_eps",
        "max_position_embeddings",
        "num_attention_heads",
        "num_hidden_layers",
        "pad_token_id",
        "type_vocab_size",
        "vocab_size",
    )
    stored |= {key: getattr(config, key) for key in kept} | {"position_embedding_type": "absolute"}
    (folder / "config.json").write_text(json.dumps(stored, indent=2) + "\n", encoding="ascii")
    return whole.bert if name == "relu_prefix" else whole


def input_cases(name, rng, config, tokenizer):
    """Dicts of batch-shaped ids, types and lengths; with the tokenizer, also the texts they came from."""

    def sentence(length):
        first = rng.randrange(1, length + 1)
        ids = [rng.randrange(1, config.vocab_size) for _ in range(length)]
        types = [0 if j < first else rng.randrange(config.type_vocab_size) for j in range(length)]
        return ids, types

    cases = []
    for case, lengths in (
        ("single", [9]),
        ("one_token", [1]),
        ("all_positions", [config.max_position_embeddings]),
        ("padded", [11, 4, 1]),
    ):
        ids, types = zip(*(sentence(length) for length in lengths))
        pad = lambda rows: [list(row) + [0] * (max(lengths) - len(row)) for row in rows]
        cases.append({"name": case, "ids": pad(ids), "types": pad(types), "lengths": lengths})
    if name == "relu_prefix":
        for i, (text, second) in enumerate(TEXTS):
            encoded = tokenizer.encode(text, second) if second else tokenizer.encode(text)
            case = {
                "name": f"text_{i}",
                "text": text,
                "second": second,
                "ids": [encoded.ids],
                "types": [encoded.type_ids],
            }
            cases.append(case | {"lengths": [len(encoded.ids)]})
    return cases


def expected(model, case):
    """Hidden state (B, T, hidden), weights (B, layer, head, T, T), embedding (B, hidden); 0 where the query is padding."""
    lengths = torch.tensor(case["lengths"])
    real = torch.arange(len(case["ids"][0]))[None] < lengths[:, None]
    with torch.no_grad():
        result = model(
            input_ids=torch.tensor(case["ids"]),
            token_type_ids=torch.tensor(case["types"]),
            attention_mask=real.long(),
            output_attentions=True,
        )
    hidden = result.last_hidden_state * real[..., None]
    weights = torch.stack(result.attentions, dim=1) * real[:, None, None, :, None]
    if hidden.dtype != torch.float64 or (weights * ~real[:, None, None, None, :]).any():
        raise ValueError("not computed in float64, or padding got weight")
    mean = hidden.sum(1) / lengths[:, None]
    return {"last_hidden_state": hidden, "attentions": weights, "embedding": mean / mean.norm(dim=1, keepdim=True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DATA / "tiny_bert")
    args = parser.parse_args()
    used = versions("torch", "transformers", "tokenizers", "safetensors") | {"seed": SEED}
    torch.set_num_threads(1)
    generator, rng = torch.Generator().manual_seed(SEED), random.Random(SEED)
    tokenizer = make_tokenizer()
    for name in MODELS:
        folder = args.out / name
        model = store_model(name, folder, generator)
        if name == "relu_prefix":
            tokenizer.save(str(folder / "tokenizer.json"))
            (folder / "sentence_bert_config.json").write_text(
                '{"max_seq_length": 24, "do_lower_case": false}\n', encoding="ascii"
            )
        cases, tensors = input_cases(name, rng, model.config, tokenizer), {}
        for case in cases:
            values = expected(model, case)
            tensors |= {f"{case['name']}.{key}": value for key, value in values.items()}
            print(f"{name} {case['name']}: largest weight {values['attentions'].max():.3f}")
        write_index(args.out / f"{name}.json", {"versions": used}, cases)
        write_tensors(args.out / f"{name}.safetensors", tensors, used)


if __name__ == "__main__":
    main()
