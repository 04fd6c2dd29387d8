# SPDX-License-Identifier: Apache-2.0
"""The little of Markdown that the checks of documents need: lines outside fenced code, blocks of it, headings with the
anchors that GitHub gives them, links and pictures."""
import collections
import html
import pathlib
import re
import urllib.parse

MADE = {"build", "out", "dist"}  # folders at the top that a checkout does not have
FENCE = re.compile(r"[ >]*(?:[-*+]|\d+\.)?[ >]*(`{3,}|~{3,})(.*)")
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
LINK = re.compile(r"\]\(\s*<?([^)<>\s]*)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
REFERENCE = re.compile(r" {0,3}\[([^\]]+)\]:\s*<?([^\s>]+)>?")
REFERRING = re.compile(r"(?<![\w\]])\[([^\]\[]+)\]\[([^\]\[]*)\]")
TAG = re.compile(r"<[a-zA-Z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
SOURCE = re.compile(r"\s(src|href|srcset)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
OWN_ANCHOR = re.compile(r"<[a-zA-Z][^<>]*?\s(?:id|name)\s*=\s*[\"']([^\"']+)[\"']")

Block = collections.namedtuple("Block", "line language lines")
Link = collections.namedtuple("Link", "line target")


class Page:
    """One Markdown file: `prose` has (line number, text) outside fenced code, `blocks` the fenced code."""

    def __init__(self, text):
        self.text = text
        self.prose = []
        self.blocks = []
        self.open_fence = None  # line of a fence that nothing closes
        fence = ""
        for number, line in enumerate(text.splitlines(), 1):
            found = FENCE.fullmatch(line)
            if fence:
                if found and found[1].startswith(fence) and not found[2].strip():
                    fence, self.open_fence = "", None
                else:
                    self.blocks[-1].lines.append((number, line))
            elif found and "`" not in found[2]:
                fence, self.open_fence = found[1], number
                self.blocks.append(Block(number, found[2].strip(), []))
            else:
                self.prose.append((number, line))

    def headings(self):
        """(line, text as it is read) of every heading."""
        before = (0, "")
        for number, line in self.prose:
            heading = HEADING.fullmatch(line)
            if heading:
                yield number, plain(heading[2])
            elif re.fullmatch(r" {0,3}(=+|-+) *", line) and is_paragraph(before[1]) and before[0] == number - 1:
                yield before[0], plain(before[1].strip())
            before = (number, line)

    def anchors(self):
        """What may stand behind # in a link to this page: slugs of headings, the second of one name with -1."""
        taken = {}
        for _, heading in self.headings():
            slug = wanted = slug_of(heading)
            while slug in taken:
                taken[wanted] += 1
                slug = f"{wanted}-{taken[wanted]}"
            taken[slug] = 0
        own = {anchor for _, line in self.prose for anchor in OWN_ANCHOR.findall(line)}
        return set(taken) | own

    def links(self):
        """Targets of links and pictures, in Markdown and in HTML, outside code."""
        references = {}
        joined = without_code("\n".join(line for _, line in self.prose))
        numbers = [number for number, _ in self.prose]
        for line in joined.splitlines():
            reference = REFERENCE.match(line)
            if reference:
                references[reference[1].lower()] = reference[2]

        def at(position):
            return numbers[joined.count("\n", 0, position)]

        for found in LINK.finditer(joined):
            yield Link(at(found.start()), found[1])
        for found in REFERRING.finditer(joined):
            name = (found[2] or found[1]).replace("\n", " ").lower()
            yield Link(at(found.start()), references.get(name, f"[{name}]"))
        for tag in TAG.finditer(joined):
            for found in SOURCE.finditer(tag.group()):
                for target in sources(found[1], html.unescape(found[2] or found[3] or "")):
                    yield Link(at(tag.start() + found.start(1)), target)


def sources(attribute, value):
    """The targets that an attribute of HTML names: srcset has several, each with a width behind it."""
    return [part.split()[0] for part in value.split(",") if part.strip()] if attribute == "srcset" else [value]


def is_paragraph(line):
    return bool(line.strip()) and not re.match(r"\s*([-*+>|#]|\d+\.)", line)


def without_code(text):
    """Code between backticks and comments become blanks, so that all else stays where it is."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found.group())
    text = re.sub(r"(?<![`\\])(`+)(?!`)(?:(?!\n[ >]*\n).)+?(?<!`)\1(?!`)", blank, text, flags=re.DOTALL)
    return re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)


def plain(text):
    """A heading without its marks: what GitHub shows, and what it makes the anchor of."""
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"<[^>]+>", "", text)
    text = re.sub(r"(\*\*|\*|~~)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    text = re.sub(r"(?<!\w)(__?)(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", text)
    return html.unescape(re.sub(r"\\([^\w\s])", r"\1", text.replace("`", "")))


def slug_of(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def is_outside(target):
    return bool(re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", target))


def resolve(root, file, target):
    """(path, anchor) that a link in `file` leads to; a path from / begins at the tree's top, as on GitHub."""
    path, _, anchor = target.partition("#")
    path = urllib.parse.unquote(path)
    if not path:
        return file, anchor
    start = root if path.startswith("/") else file.parent
    return pathlib.Path((start / path.lstrip("/")).absolute().as_posix()).resolve(), urllib.parse.unquote(anchor)


def files(root, suffix=".md"):
    """Every Markdown file that belongs to the tree."""
    for file in sorted(root.rglob(f"*{suffix}")):
        parts = file.relative_to(root).parts
        if parts[0] not in MADE and not any(part.startswith(".") or part == "__pycache__" for part in parts):
            yield file
