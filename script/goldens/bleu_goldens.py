# SPDX-License-Identifier: Apache-2.0
"""tests/data/bleu.json: texts, and the tokens and scores that the package sacrebleu gives them.

Run: python script/goldens/bleu_goldens.py    (needs sacrebleu of script/goldens/requirements.txt)
"""

import json

import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from common import DATA, report

TEXTS = [
    "Y alzó sus ojos y miró, y he aquí tres varones: y cuando los vió, salió corriendo.",
    "He paid $1,234.50 on 3-4 days (or 12.), “twice”; it's 5-fold... &quot;so&quot; &amp; <done>",
    "no.1 is not No. 1, and 3.14,15 ends.",
    "a,b.c,, ..x",
    "",
    "one",
    "[x]{y}~`^_\\|/@#%*+=",
]
CORPORA = [
    (["the cat sat on the mat", "he reads a book in the evening"],
     ["the cat is on the mat", "he reads a good book every evening"]),
    (["a b c d e", "x y"], ["a b x d e", "x y"]),
    (["Dios dijo: Sea la luz."], ["Y dijo Dios: Sea la luz: y fué la luz."]),
    (["w x y z q"], ["a b c d e"]),
    (["the the the the the the"], ["the cat is there, it is"]),
    ([TEXTS[0], TEXTS[1]], [TEXTS[0], TEXTS[1]]),
]


def main():
    tokenize = Tokenizer13a()
    golden = {
        "sacrebleu": sacrebleu.__version__,
        "tokens": [{"text": text, "tokens": tokenize(text).split()} for text in TEXTS],
        "scores": [
            {"hypotheses": hypotheses, "references": references,
             "bleu": sacrebleu.corpus_bleu(hypotheses, [references]).score}
            for hypotheses, references in CORPORA
        ],
    }
    path = DATA / "bleu.json"
    path.write_text(json.dumps(golden, indent=1) + "\n")
    report(path)


if __name__ == "__main__":
    main()
