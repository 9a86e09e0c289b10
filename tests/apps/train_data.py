# SPDX-License-Identifier: Apache-2.0
"""Small data of the form that script/data makes, drawn from a fixed seed: something that a model can learn at once."""
import json
import os
import random
import struct


def npy(shape, data):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(data)


def images(chance, count):
    """A bright bar, whose row tells the class."""
    labels = [chance.randrange(10) for _ in range(count)]
    pixels = []
    for label in labels:
        for row in range(28):
            is_bright = 2 * label + 4 <= row < 2 * label + 7
            pixels += [chance.randrange(180, 256) if is_bright else chance.randrange(60) for _ in range(28)]
    return {"images.npy": npy((count, 28, 28), pixels), "labels.npy": npy((count,), labels)}


def json_lines(items):
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()


def reviews(chance, count):
    items = []
    for _ in range(count):
        label = chance.randrange(2)
        text = [chance.choice("这本书我的人") for _ in range(chance.randrange(3, 12))] + ["好" if label else "坏"]
        chance.shuffle(text)
        items.append({"text": "".join(text), "label": label})
    return {"jsonl": json_lines(items)}


def tagged(chance, count, choices):
    items = []
    for _ in range(count):
        parts = [chance.choice(choices) for _ in range(chance.randrange(2, 8))]
        items.append({"tokens": [t for part in parts for t, _ in part], "tags": [t for part in parts for _, t in part]})
    return {"jsonl": json_lines(items)}


def tagging(chance, count):
    return tagged(chance, count, [[("我们", "r")], [("看", "v")], [("世界", "n")], [("好", "a")], [("。", "w")]])


def entities(chance, count):
    names = [("北", "B-ns"), ("京", "I-ns")], [("王", "B-nr"), ("明", "I-nr")]
    return tagged(chance, count, [*names, [("去", "O")], [("的", "O")]])


WORDS = {"one": "uno", "two": "dos", "three": "tres", "and": "y", "four": "cuatro"}


def translation(chance, count):
    items = []
    for i in range(count):
        words = [chance.choice(list(WORDS)) for _ in range(chance.randrange(2, 7))]
        items.append({"key": f"Test 1:{i + 1}", "source": " ".join(words), "target": " ".join(WORDS[w] for w in words)})
    return {"jsonl": json_lines(items)}


def language(chance, count):
    lines = (" ".join(["the cat sat on the mat"] * chance.randrange(1, 3)) for _ in range(count))
    return {"txt": "".join(line + "\n" for line in lines).encode()}


MAKERS = {f.__name__: f for f in (images, reviews, tagging, entities, translation, language)}


def write(folder, task, count=200):
    """FOLDER/train.* and so on."""
    chance = random.Random(task)
    os.makedirs(folder, exist_ok=True)
    for part, share in (("train", 1), ("validation", 4), ("test", 4)):
        for extension, data in MAKERS[task](chance, count // share).items():
            with open(os.path.join(folder, f"{part}.{extension}"), "wb") as file:
                file.write(data)
