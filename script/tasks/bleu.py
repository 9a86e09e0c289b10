# SPDX-License-Identifier: Apache-2.0
"""BLEU as sacreBLEU defines it (Post, 2018): 13a tokens, n-grams up to 4, exponential smoothing, one reference."""
import collections
import math
import re


def tokens(text):
    """The tokens of mteval-v13a."""
    for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(entity, character)
    text = re.sub(r"([{-~\[-` -&(-+:-@/])", r" \1 ", f" {text} ")
    text = re.sub(r"([^0-9])([.,])", r"\1 \2 ", text)
    text = re.sub(r"([.,])([^0-9])", r" \1 \2", text)
    return re.sub(r"([0-9])(-)", r"\1 \2 ", text).split()


def ngrams(words, n):
    return collections.Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def bleu(hypotheses, references):
    """Of a whole corpus, in per cent."""
    matches, totals, length, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        found, expected = tokens(hypothesis), tokens(reference)
        length, wanted = length + len(found), wanted + len(expected)
        for n in range(4):
            ours = ngrams(found, n + 1)
            matches[n] += sum((ours & ngrams(expected, n + 1)).values())
            totals[n] += sum(ours.values())
    if not matches[0] or not totals[3]:
        return 0.0
    smooth, logs = 1.0, 0.0
    for match, total in zip(matches, totals):
        if match == 0:
            smooth *= 2
        logs += math.log(match / total if match else 1 / (smooth * total))
    penalty = min(0.0, 1 - wanted / length)
    return 100 * math.exp(penalty + logs / 4)
