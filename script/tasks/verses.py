# SPDX-License-Identifier: Apache-2.0
"""Verses in English (World English Bible) and Spanish (Reina Valera 1909), both in the public domain."""
import html
import os
import re

from tasks import fetch, split

MODULES = {"en": ("sword-text-web", "engWEB2015eb"), "es": ("sword-text-sparv", "spaRV1909eb")}
# What is not the text itself: notes, headings, other readings.
APART = re.compile(r"<(note|title|rdg|list|speaker)\b[^>]*?(?:/>|>.*?</\1>)", re.DOTALL)
TAG = re.compile(r"<[^>]*>")


def read(fetcher, language):
    """{"Genesis 1:1": text}, in the order of the book."""
    package, module = MODULES[language]
    program, environment = fetcher.debian_program("libsword-utils", "mod2imp")
    environment["SWORD_PATH"] = os.fspath(fetcher.debian(package) / "usr/share/sword")
    data = fetch.check(f"{module}.imp", fetch.run([program, module], env=environment))
    verses = {}
    for entry in data.decode("utf-8", "replace").split("$$$")[1:]:
        key, _, body = entry.partition("\n")
        text = plain(body)
        if text and re.search(r":[1-9]\d*$", key) and not key.startswith("["):
            verses[key] = text
    return verses


def plain(body):
    """The words of a verse. A note stands where the space between two words was."""
    text = TAG.sub("", re.sub(r"<(l|lb|div)\b", r" <\1", APART.sub(" ", body)))
    return re.sub(r" ([,.;:!?’”)])", r"\1", " ".join(html.unescape(text).split()))


def chapter_of(key):
    return key.rpartition(":")[0]


def prepare_translation(folder, fetcher):
    """Verses that both have, paired by their key; a chapter is held out as a whole."""
    english, spanish = read(fetcher, "en"), read(fetcher, "es")
    split.write_json_lines(
        folder,
        ((chapter_of(key), {"key": key, "source": text, "target": spanish[key]})
         for key, text in english.items() if key in spanish),
    )


def prepare_language(folder, fetcher):
    """The English text, a verse a line; a chapter is held out as a whole."""
    split.write_lines(folder, ((chapter_of(key), text) for key, text in read(fetcher, "en").items()))
