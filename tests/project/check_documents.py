#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents hold together and stay short: links lead somewhere, lines and pages have an end, docs/README.md lists every
page, and a reader who starts at README.md, or at the page that GitHub shows below a folder, can come to every one.

    check_documents.py [ROOT]
"""
import pathlib
import re
import sys

import markdown

MAX_COLUMNS = 100
MAX_WORDS = {"README.md": 850}
MAX_WORDS_OF_METHOD = 1300
MAX_WORDS_OF_DOCS = 33_000
MAX_WORDS_OF_DOCS_WITH_CODE = 45_000  # as wc -w counts
MAX_LINES_OF_RELEASE = 60
INDEX = "docs/README.md"
# Pages that tandem writes, committed as samples: their lines are as long as the program makes them.
WRITTEN_BY_TANDEM = re.compile(r"reports/samples/[^/]+/.*|tests/reports/explained/(explain|report)\.md")
DATA_OF_TESTS = re.compile(r"tests/reports/")


class Tree:
    """All pages of a folder, read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.pages = {file: markdown.Page(file.read_text()) for file in markdown.files(self.root)}
        self.anchors = {file: page.anchors() for file, page in self.pages.items()}

    def name(self, file):
        return file.relative_to(self.root).as_posix() if file.is_relative_to(self.root) else str(file)

    def leads_to(self, file, link):
        """The file of this tree that a link leads to; a folder's is its README.md, as GitHub shows it."""
        if markdown.is_outside(link.target):
            return None
        path, _ = markdown.resolve(self.root, file, link.target)
        return path / "README.md" if path.is_dir() else path


def words(page):
    """Words that a reader reads: neither fenced code nor marks nor the targets of links."""
    text = "\n".join(line for _, line in page.prose)
    text = re.sub(r"<!--.*?-->|<[a-zA-Z/][^<>]*>", " ", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return len(re.findall(r"\S*\w\S*", text))


def link_fault(tree, file, link):
    """What is wrong with where a link leads, or None."""
    if markdown.is_outside(link.target):
        return None
    if link.target.startswith("["):
        return f"no line defines {link.target}: write `{link.target}: TARGET` below, or the target itself"
    path, anchor = markdown.resolve(tree.root, file, link.target)
    if not path.is_relative_to(tree.root) or tree.name(path).split("/")[0] in markdown.MADE:
        return f"the link to {link.target} leaves the checkout: link to what is committed"
    if not path.exists():
        return f"the link to {link.target} leads nowhere: there is no {tree.name(path)}; correct its path"
    if path.is_dir():
        path = path / "README.md"
    if anchor and path in tree.anchors and anchor not in tree.anchors[path]:
        return f"the link to {link.target} leads nowhere: {tree.name(path)} has no heading #{anchor}" + nearest(tree, path, anchor)
    return None


def nearest(tree, path, anchor):
    """A hint: headings that share a word with the anchor."""
    wanted = set(anchor.split("-"))
    near = sorted(tree.anchors[path], key=lambda other: (-len(wanted & set(other.split("-"))), other))
    return f"; did you mean #{near[0]}?" if near and wanted & set(near[0].split("-")) else ""


def links(tree):
    for file, page in tree.pages.items():
        for link in page.links():
            fault = link_fault(tree, file, link)
            if fault:
                yield f"{tree.name(file)}:{link.line}: {fault}"


def is_table(line):
    return line.lstrip(" >").startswith("|")


def line_faults(tree):
    for file, page in tree.pages.items():
        if page.open_fence:
            yield f"{tree.name(file)}:{page.open_fence}: nothing closes this fence: end the code with the same marks"
        if WRITTEN_BY_TANDEM.fullmatch(tree.name(file)):
            continue
        for number, line in page.prose:
            if len(line) > MAX_COLUMNS and not is_table(line):
                yield f"{tree.name(file)}:{number}: {len(line)} columns, {MAX_COLUMNS} at most outside tables and fenced code: break the line"


def sizes(tree):
    for file, page in tree.pages.items():
        name = tree.name(file)
        most = MAX_WORDS_OF_METHOD if name.startswith("docs/method/") else MAX_WORDS.get(name)
        if most and words(page) > most:
            yield f"{name}:1: {words(page)} words outside fenced code, {most} at most: cut, or move some to a page of docs/"


def totals(tree):
    """docs/ as a whole, and the news of each release."""
    docs = [file for file in tree.pages if tree.name(file).startswith("docs/")]
    counts = {"outside": sum(words(tree.pages[file]) for file in docs), "with": sum(len(file.read_text().split()) for file in docs)}
    for place, most in (("outside", MAX_WORDS_OF_DOCS), ("with", MAX_WORDS_OF_DOCS_WITH_CODE)):
        if counts[place] > most:
            yield f"docs: {counts[place]} words {place} fenced code, {most} at most: cut as much as you add"
    news = tree.root / "CHANGELOG.md"
    for release in news.read_text().split("\n## ")[1:] if news in tree.pages else ():
        if release.count("\n") > MAX_LINES_OF_RELEASE:
            yield f"CHANGELOG.md:1: '{release.splitlines()[0]}' has {release.count(chr(10))} lines, {MAX_LINES_OF_RELEASE} at most: keep the news for users"


def unlisted(tree):
    """Pages of docs/ that its index does not name."""
    index = tree.root / INDEX
    if index not in tree.pages:
        yield f"{INDEX}:1: there is no such page: write it, with a line for each page of docs/"
        return
    listed = {tree.leads_to(index, link) for link in tree.pages[index].links()}
    for file in tree.pages:
        if tree.name(file).startswith("docs/") and file != index and file not in listed:
            yield f"{tree.name(file)}:1: {INDEX} does not list this page: add a line with a link to it"


def starts(tree):
    """Where readers begin: README.md, and those of folders of code, which GitHub shows below their files."""
    return [file for file in tree.pages if file.name == "README.md" and not tree.name(file).startswith("docs/")]


def unreachable(tree):
    """Pages that no path of links comes to; what tests read is none that people look for."""
    waiting = starts(tree)
    reached = set(waiting)
    while waiting:
        file = waiting.pop()
        for link in tree.pages[file].links() if file in tree.pages else ():
            to = tree.leads_to(file, link)
            if to and to not in reached:
                reached.add(to)
                waiting.append(to)
    for file in tree.pages:
        if file not in reached and not DATA_OF_TESTS.match(tree.name(file)):
            yield f"{tree.name(file)}:1: no links lead from README.md to this page: link to it from the page that it belongs to"


def faults(root):
    tree = Tree(root)
    if tree.root / "README.md" not in tree.pages:
        return [f"{root}: no README.md here"]
    return [fault for check in (links, line_faults, sizes, totals, unlisted, unreachable) for fault in check(tree)]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    found = faults(root)
    print("\n".join(found) if found else "the documents are in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
