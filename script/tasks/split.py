# SPDX-License-Identifier: Apache-2.0
"""The fixed rule that says which items are held out, and the files they go to."""
import hashlib
import json

PARTS = ("train", "validation", "test")


def part_of(key):
    """A tenth is for the test, a twentieth for validation; equal keys stay together, so that no text is in two parts."""
    number = int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % 20
    return "test" if number < 2 else "validation" if number == 2 else "train"


def write_lines(folder, items):
    """Items are (key, line): writes train.txt and so on, in the order given."""
    write(folder, "txt", items)


def write_json_lines(folder, items):
    """Items are (key, object): writes train.jsonl and so on, in the order given."""
    write(folder, "jsonl", ((key, json.dumps(item, ensure_ascii=False)) for key, item in items))


def write(folder, extension, items):
    lines = {part: [] for part in PARTS}
    for key, line in items:
        lines[part_of(key)].append(line + "\n")
    for part in PARTS:
        (folder / f"{part}.{extension}").write_text("".join(lines[part]), encoding="utf-8")
