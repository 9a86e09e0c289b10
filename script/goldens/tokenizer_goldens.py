# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/tokenizer/lines.jsonl and pairs.jsonl: what Hugging Face `tokenizers` says of 1,000 lines.

The lines hold every script, control, unassigned and private-use characters, combining marks, special tokens in the text,
very long words and random mixtures (tokenizer_texts.py has the hand-written ones). Each is encoded with the model's own
tokenizer.json, without truncation and padding and with the special tokens added.

Run:  python script/goldens/tokenizer_goldens.py --model MODEL_DIR
where MODEL_DIR holds the tokenizer.json of all-MiniLM-L6-v2. tests/data/tokenizer/README.md describes the files.
"""

import argparse
import json
import random
import sys
import unicodedata
from pathlib import Path

from tokenizers import Tokenizer

import tokenizer_texts as texts
from common import DATA, report, versions, write_json_lines

SEED = 20240
LINES = 1000
PAIRS = 50


def code_points():
    return [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def chunked(characters, size, joiner):
    """Lines of `size` characters each, put together by `joiner`, a function of a list of characters."""
    return [joiner(characters[i : i + size]) for i in range(0, len(characters), size)]


def in_words(characters):
    """Each character between letters, so that it is seen whether it vanishes, splits or stays."""
    return " ".join(f"a{c}b" for c in characters)


def script_lines(rng):
    """One line for each first word of a character's name (LATIN, GREEK, TANGUT, ...), which is nearly its script."""
    groups = {}
    for c in code_points():
        name = unicodedata.name(chr(c), "")
        if name and unicodedata.category(chr(c))[0] in "LMN":
            groups.setdefault(name.split()[0].split("-")[0], []).append(chr(c))
    lines = []
    for _, group in sorted(groups.items()):
        if len(group) < 3:
            continue
        picked = rng.sample(group, min(len(group), 12))
        lines.append(" ".join("".join(picked[i : i + 3]) for i in range(0, len(picked), 3)))
    return lines


def category_lines(rng):
    """Characters of every general category between letters; all of the controls, spaces and format characters."""
    groups = {}
    for c in code_points():
        groups.setdefault(unicodedata.category(chr(c)), []).append(chr(c))
    counts = {
        "Cc": 65,
        "Cf": 163,
        "Zs": 17,
        "Zl": 1,
        "Zp": 1,
        "Cn": 96,
        "Co": 12,
        "Mn": 240,
        "Mc": 48,
        "Me": 13,
        "Lo": 24,
    }
    lines = []
    for category, group in sorted(groups.items()):
        if category == "Cs":
            continue
        count = min(len(group), counts.get(category, 36))
        picked = group if count == len(group) else sorted(rng.sample(group, count))
        lines += chunked(picked, 16 if count > 100 else 12, in_words)
    return lines


def late_lines():
    """Characters whose category depends on the version of Unicode, and those at the edges of the CJK blocks."""
    lines = []
    for ranges in texts.LATE:
        edges = [[int(edge, 16) for edge in item.split("-")] for item in ranges.split()]
        group = [chr(c) for edge in edges for c in range(edge[0], edge[-1] + 1)]
        lines += chunked(group, 12, in_words)
    return lines


def case_lines(rng):
    """Letters whose lower case is another character, glued into words; among them all that map to two."""
    upper = [chr(c) for c in code_points() if chr(c).lower() != chr(c)]
    return chunked(sorted(rng.sample(upper, 240)), 12, lambda group: " ".join("x" + c for c in group))


def long_lines():
    """Words at and around the limit of 100 characters, counted after normalisation, and lines of thousands."""
    words = ["a" * n for n in (99, 100, 101, 200)] + ["é" * 100, "e\u0301" * 100, "e\u0301" * 101, "ä" * 101]
    words += [
        "a" * 100 + "\u0301",
        "\u0301" * 150,
        "İ" * 100,
        "İ" * 101,
        "\u200b" * 50 + "a" * 100,
        "的" * 150,
        "カ" * 100,
        "ガ" * 100,
        "각" * 34,
    ]
    words += [
        "각" * 50,
        "𝕎" * 100,
        "𝕎" * 101,
        "-" * 150,
        "a-" * 80,
        "ab" * 50 + "," + "cd" * 51,
        "the" * 33,
        "the" * 34,
    ]
    words += [
        "[MASK]".join(["a" * 100] * 3),
        "un" * 49 + "able",
        "antidisestablishmentarianism" * 3,
        "antidisestablishmentarianism" * 4,
    ]
    lines = words + [f"before {word} after" for word in ("b" * 100, "b" * 101, "ß" * 101, "0" * 101)]
    return lines + [" ".join(["word"] * 300), "a " * 250]


def blank_lines():
    spaces = [
        "",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        " \t\n ",
        "\u00a0",
        "\u3000",
        "\u2028",
        "\u2029",
        "\u200b",
        "\ufeff",
        "\x00",
    ]
    return spaces + [
        "\ufffd",
        "\u0301",
        "\u00ad",
        " a",
        "a ",
        " a ",
        "\ta\n",
        "a  b",
        "a\u00a0\u00a0b",
        "\x85",
        "a\x0bb\x0cc",
    ]


def vocabulary_lines(rng, vocabulary):
    """Words of the vocabulary: apart, glued, in upper case, with a stray letter; this tries the longest match."""
    whole = sorted(word for word in vocabulary if word.isalpha() and word.isascii() and len(word) > 2)
    parts = sorted(word[2:] for word in vocabulary if word.startswith("##") and len(word) > 4)
    rest = sorted(word for word in vocabulary if not word.isascii())
    lines = []
    for i in range(110):
        words = rng.sample(whole, 5)
        glued = rng.choice(whole) + rng.choice(parts) + rng.choice(parts)
        odd = rng.choice(words).upper() + rng.choice("qxz7é-'")
        lines.append(" ".join([*words, glued, odd, rng.choice(words).capitalize(), rng.choice(rest).lstrip("#")]))
    return lines


def random_lines(rng, hand_written, count):
    """Random mixtures: pieces of the hand-written lines joined with odd characters, and wholly random characters."""
    assigned = [chr(c) for c in code_points() if unicodedata.category(chr(c)) not in ("Cn", "Co")]
    plane0 = [chr(c) for c in code_points() if c < 0x10000]
    joints = [
        " ",
        "",
        "\u0301",
        "\u200d",
        "\u00a0",
        "-",
        "[MASK]",
        "\ufeff",
        "\n",
        "中",
        "é",
        "İ",
        "\u0323\u0307",
        "Σ",
        "\x00",
        "😀",
        "’",
    ]
    lines = []
    for i in range(count):
        if i % 4 == 0:
            line = "".join(rng.choice(assigned) + rng.choice(["", "", " "]) for _ in range(16))
        elif i % 4 == 1:
            line = "".join(rng.choice(plane0) + rng.choice(["", "a", " "]) for _ in range(16))
        else:
            pieces = [rng.choice(hand_written) for _ in range(4)]
            cut = [piece[(start := rng.randrange(len(piece) + 1)) : start + rng.randrange(1, 12)] for piece in pieces]
            line = "".join(piece + rng.choice(joints) for piece in cut)
        lines.append(line)
    return lines


def all_lines(rng, vocabulary):
    groups = {
        "language": texts.LANGUAGES,
        "special": texts.SPECIALS,
        "emoji": texts.EMOJI,
        "maths": texts.MATHS,
        "writing": texts.WRITING,
        "normalisation": texts.NORMALISATION,
        "blank": blank_lines(),
        "long": long_lines(),
        "script": script_lines(rng),
        "category": category_lines(rng),
        "late": late_lines(),
        "case": case_lines(rng),
        "vocabulary": vocabulary_lines(rng, vocabulary),
    }
    hand_written = texts.LANGUAGES + texts.SPECIALS + texts.MATHS + texts.WRITING + texts.NORMALISATION
    made = sum(len(group) for group in groups.values())
    groups["random"] = random_lines(rng, hand_written, LINES - made)
    print(", ".join(f"{len(group)} {kind}" for kind, group in groups.items()))
    return [(kind, line) for kind, group in groups.items() for line in group]


def encode(tokenizer, *parts):
    encoding = tokenizer.encode(*parts, add_special_tokens=True)
    return {"ids": encoding.ids, "offsets": [x for pair in encoding.offsets for x in pair], "types": encoding.type_ids}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder with the tokenizer.json of all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, default=DATA / "tokenizer")
    args = parser.parse_args()
    used = versions("tokenizers") | {"unicodedata": unicodedata.unidata_version, "seed": SEED}
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    rng = random.Random(SEED)
    lines = all_lines(rng, tokenizer.get_vocab())
    singles = []
    for kind, line in lines:
        encoded = encode(tokenizer, line)
        if any(encoded.pop("types")):
            sys.exit(f"a single text has a type id that is not 0: {line!r}")
        singles.append({"kind": kind, "text": line} | encoded)
    pairs = list(texts.PAIRS)
    while len(pairs) < PAIRS:
        pairs.append(tuple(rng.choice(lines[:500])[1][:80] for _ in range(2)))
    doubles = [{"a": a, "b": b} | encode(tokenizer, a, b) for a, b in pairs]

    write_json_lines(args.out / "lines.jsonl", singles)
    write_json_lines(args.out / "pairs.jsonl", doubles)
    (args.out / "versions.json").write_text(json.dumps(used, indent=1) + "\n", encoding="ascii")
    report(args.out / "versions.json")


if __name__ == "__main__":
    main()
