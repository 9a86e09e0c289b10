# SPDX-License-Identifier: Apache-2.0
"""What transformers makes of exported folders. Run by hub_test.py with a Python that has it:

    hub_outputs.py FOLDER '{"entities": ["text", ...], ...}'

Prints, for each task, the normalised mean of each text's last hidden states, and the labels of its tokens or of it.
"""
import json
import sys

import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer


@torch.no_grad()
def outputs(folder, task, texts):
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    batch = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    mask = batch["attention_mask"].unsqueeze(2)
    hidden = AutoModel.from_pretrained(folder).eval()(**batch).last_hidden_state
    mean = (hidden * mask).sum(1) / mask.sum(1)
    of_texts = task == "reviews"
    kind = AutoModelForSequenceClassification if of_texts else AutoModelForTokenClassification
    model = kind.from_pretrained(folder, trust_remote_code=of_texts).eval()
    best = model(**batch).logits.argmax(-1)
    rows = best.unsqueeze(1) if of_texts else [row[:n] for row, n in zip(best, batch["attention_mask"].sum(1))]
    return {"embeddings": torch.nn.functional.normalize(mean).tolist(),
            "labels": [[model.config.id2label[int(label)] for label in row] for row in rows]}


print(json.dumps({task: outputs(f"{sys.argv[1]}/{task}", task, texts) for task, texts in json.loads(sys.argv[2]).items()}))
