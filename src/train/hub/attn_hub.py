# SPDX-License-Identifier: Apache-2.0
"""What transformers needs to read texts as a model that attn trained does. The network itself is a plain BERT."""
import json

import torch
from transformers import BertModel, BertPreTrainedModel, PreTrainedTokenizer
from transformers.modeling_outputs import SequenceClassifierOutput

UNKNOWN, SPECIAL = 1, 4


class AttnTokenizer(PreTrainedTokenizer):
    """Tokens with two numbers: input_ids tells a character with the one before it, or a word, and token_type_ids tells
    a character with the one after it, or a word's last character. tokenizer.json names both."""

    vocab_files_names = {"vocab_file": "tokenizer.json"}
    model_input_names = ["input_ids", "token_type_ids", "attention_mask"]

    def __init__(self, vocab_file, pad_token="<pad>", unk_token="<unk>", **options):
        with open(vocab_file, encoding="utf-8") as file:
            self.file = json.load(file)
        model = self.file["model"]
        self.is_words = model["unit"] == "words"
        vocabulary, fallback, types = (model[key] for key in ("vocab", "fallback", "types"))
        self.whole = {name: i for i, name in enumerate(vocabulary) if i >= SPECIAL}
        self.part = {name: i for i, name in enumerate(fallback, len(vocabulary))}
        self.types = {name: i for i, name in enumerate(types) if i >= SPECIAL}
        self.type_count = len(types)
        # A space in a name keeps a word apart from the first character of unknown ones.
        self.names = vocabulary + [name + " *" if self.is_words else name for name in fallback]
        super().__init__(pad_token=pad_token, unk_token=unk_token, **options)

    @property
    def vocab_size(self):
        return len(self.names)

    def get_vocab(self):
        return {name: i for i, name in enumerate(self.names)}

    def tokenize(self, text, **_):
        """What the numbers of each token tell: "whole part side"."""
        if self.is_words:
            tokens = [f"{word} {word[0]} {word[-1]}" for word in text.split(" ") if word]
        else:
            line = "_" + text.replace(" ", "_") + "_"
            tokens = [f"{line[i - 1:i + 1]} {line[i]} {line[i:i + 2]}" for i in range(1, len(line) - 1)]
        return tokens or ["  "]  # a text without any is one token of which nothing is known

    def _convert_token_to_id(self, token):
        """Both numbers in one, until there is a whole text."""
        whole, part, side = token.split(" ")
        number = self.whole.get(whole, self.part.get(part, UNKNOWN))
        return number * self.type_count + self.types.get(side, UNKNOWN)

    def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
        return [number // self.type_count for number in token_ids_0 + (token_ids_1 or [])]

    def create_token_type_ids_from_sequences(self, token_ids_0, token_ids_1=None):
        return [number % self.type_count for number in token_ids_0 + (token_ids_1 or [])]

    def _convert_id_to_token(self, index):
        name = self.names[index]
        return name[1:] if not self.is_words and SPECIAL <= index < len(self.whole) + SPECIAL else name

    def convert_tokens_to_string(self, tokens):
        return (" " if self.is_words else "").join(tokens)

    def save_vocabulary(self, save_directory, filename_prefix=None):
        path = f"{save_directory}/{filename_prefix + '-' if filename_prefix else ''}tokenizer.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.file, file, ensure_ascii=False)
        return (path,)


class TextClassifier(BertPreTrainedModel):
    """Classes of a text, from the mean of its tokens."""

    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.classifier = torch.nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, labels=None, **_):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        tokens = self.bert(input_ids, attention_mask, token_type_ids).last_hidden_state
        counts = attention_mask.unsqueeze(2).to(tokens.dtype)
        logits = self.classifier((tokens * counts).sum(1) / counts.sum(1))
        loss = None if labels is None else torch.nn.functional.cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)
