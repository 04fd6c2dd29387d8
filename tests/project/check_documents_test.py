#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults that are planted in a tree of documents are found by check_documents.py, and what is none is left in peace."""
import pathlib
import sys
import tempfile
import unittest

import check_documents
import markdown

SOUND = {
    "README.md": "# Tandem\n\n[docs](docs/README.md), [more](MORE.md), [parts](bench/)\n",
    "MORE.md": "# More\n",
    "bench/README.md": "# Parts\n",
    "docs/README.md": "# Documents\n\n- [a](a.md)\n- [method](method/a.md)\n- [notebook](notebook.ipynb)\n",
    "docs/a.md": "# A page\n\n## Speed-up\n\n## Speed-up\n\n[up](#speed-up-1)\n",
    "docs/method/a.md": "# Method\n\n[A](../a.md#a-page)\n",
    "docs/notebook.ipynb": "{}",
}


def faults(**changes):
    """What is found in the sound tree with some files more or other text; None takes a file away."""
    files = {**SOUND, **changes.pop("files", {})}
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            if text is not None:
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        return list(check_documents.faults(pathlib.Path(folder)))


def with_text(text):
    return faults(files={"docs/a.md": SOUND["docs/a.md"] + text})


class LinksTest(unittest.TestCase):
    def check(self, text, words, line=8):
        found = with_text(text)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"docs/a.md:{line}: "), found)
        self.assertIn(words, found[0])

    def test_a_sound_tree_is_in_order(self):
        self.assertEqual(faults(), [])

    def test_files_that_are_not_there_are_found(self):
        for text in ("[b](b.md)", "[b](/docs/b.md)", "![b](b.svg)", "[b][b]\n\n[b]: b.md", '<img alt="x > y" src="b.svg">',
                     '<a href="b.md">b</a>', '[![b](../MORE.md)](b.md)', '[two\nwords](b.md "title")',
                     '<picture><source media="(prefers-color-scheme: dark)" srcset="../README.md 1x, b.svg 2x"></picture>'):
            with self.subTest(text=text):
                self.check(text, "leads nowhere: there is no docs/b.", 9 if text.startswith("[two") else 8)

    def test_anchors_that_are_not_there_are_found(self):
        self.check("[up](#speed)", "has no heading #speed; did you mean #speed-up?")
        self.check("[up](#speed-up-2)", "has no heading #speed-up-2")
        self.check("[other](method/a.md#speed-up)", "docs/method/a.md has no heading #speed-up")
        self.check("[folder](../bench/#none)", "bench/README.md has no heading #none")
        self.check("```md\n# Shown\n```\n[shown](#shown)", "has no heading #shown", 11)

    def test_a_reference_that_nothing_defines_is_found(self):
        self.check("[b][nowhere]", "no line defines [nowhere]")
        self.assertEqual(with_text("KIND[:RANK][@STEP]"), [])

    def test_what_is_built_and_what_lies_outside_is_no_target(self):
        self.check("[b](../out/quick-1/report.html)", "leaves the checkout")
        self.check("[b](../../b.md)", "leaves the checkout")

    def test_code_and_the_web_are_left_in_peace(self):
        for text in ("`[b](b.md)`", "```\n[b](b.md)\n```", "    a[i](b)".replace("](b", "] (b"), "<https://example.org>", "[b](https://example.org/#b)",
                     "<!-- [b](b.md) -->", "[b](mailto:a@example.org)", "``a ` [b](b.md)``", "[b](a%2Emd)"):
            with self.subTest(text=text):
                self.assertEqual(with_text(text), [])


class SlugsTest(unittest.TestCase):
    def test_anchors_are_those_of_github(self):
        for heading, slug in (("Speed-up", "speed-up"), ("What `--grads=views` does", "what---gradsviews-does"),
                              ("`tandem run`", "tandem-run"), ("A & B", "a--b"), ("1. *First*, **second**", "1-first-second"),
                              ("[Link](a.md) here", "link-here"), ("phase_exposed_comm", "phase_exposed_comm"),
                              ("Größe", "größe"), ("tandem run ##", "tandem-run"), ("Is it done?", "is-it-done")):
            self.assertEqual(markdown.Page(f"## {heading}\n").anchors(), {slug}, heading)

    def test_the_second_heading_of_a_name_gets_a_number(self):
        self.assertEqual(markdown.Page("# A\n# A\n# A-1\n# A\n").anchors(), {"a", "a-1", "a-1-1", "a-2"})

    def test_anchors_in_html_and_underlined_headings_count(self):
        self.assertEqual(markdown.Page('<a id="own"></a>\n\nTitle\n=====\n').anchors(), {"own", "title"})


class SizesTest(unittest.TestCase):
    def check(self, path, text, start, words):
        found = faults(files={path: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(start), found)
        self.assertIn(words, found[0])

    def test_long_lines_are_found_headings_too(self):
        for text in ("x " * 50 + "y", "## " + "x" * 98, "> " + "x" * 99, "- `" + "x" * 98 + "`"):
            found = with_text("\n" + text + "\n")
            self.assertEqual([line[:13] for line in found], ["docs/a.md:9: "], text)
            self.assertIn("101 columns" if text[0] != "-" else "102 columns", found[0])

    def test_tables_code_and_what_tandem_wrote_may_be_wide(self):
        wide = "x" * 200
        self.assertEqual(with_text(f"\n| a |\n|---|\n| {wide} |\n\n```\n{wide}\n```\n\n- a\n  ~~~sh\n  {wide}\n  ~~~\n"), [])
        link = SOUND["README.md"] + "[sample](reports/samples/quick/report.md)\n"
        self.assertEqual(faults(files={"README.md": link, "reports/samples/quick/report.md": wide}), [])

    def test_a_fence_that_stays_open_is_found(self):
        self.assertEqual([line[:35] for line in with_text("\n````\n```\n")], ["docs/a.md:9: nothing closes this fe"])

    def test_pages_have_an_end(self):
        many = "word\n" * 900
        self.check("README.md", SOUND["README.md"] + many, "README.md:1: 904 words", "900 at most")
        self.check("docs/method/a.md", "word\n" * 1501, "docs/method/a.md:1: 1501 words", "1500 at most")
        self.assertEqual(faults(files={"docs/a.md": SOUND["docs/a.md"] + many * 2}), [])

    def test_code_and_targets_are_no_words(self):
        self.assertEqual(check_documents.words(markdown.Page("a [b](c/d.md) - `e`\n```\nf g\n```\n<img alt='h i'>\n| j | k |\n")), 5)


class ReachTest(unittest.TestCase):
    def test_a_page_that_the_index_does_not_list_is_found(self):
        for path in ("docs/b.md", "docs/method/b.md", "docs/b.ipynb"):
            found = faults(files={path: "{}", "README.md": SOUND["README.md"] + f"[b]({path})\n"})
            self.assertEqual(found, [f"{path}:1: docs/README.md does not list this page: add a line with a link to it"])

    def test_a_missing_index_is_found(self):
        found = faults(files={"docs/README.md": None, "README.md": "[a](docs/a.md), [b](docs/method/a.md), [c](MORE.md), [d](bench)\n"})
        self.assertEqual(found, ["docs/README.md:1: there is no such page: write it, with a line for each page of docs/"])

    def test_a_page_that_no_link_comes_to_is_found(self):
        found = faults(files={"CHANGELOG.md": "# Changes, [more](bench/more.md)\n", "bench/more.md": "[back](../CHANGELOG.md)\n"})
        self.assertEqual([line.split(": ")[0] for line in found], ["CHANGELOG.md:1", "bench/more.md:1"])
        self.assertIn("no links lead from README.md", found[0])

    def test_a_page_below_a_folder_is_where_a_reader_begins(self):
        self.assertEqual(faults(files={"bench/README.md": "[more](more.md)\n", "bench/more.md": "# More\n"}), [])

    def test_what_was_built_is_no_page(self):
        self.assertEqual(faults(files={"out/quick-1/report.md": "[b](b.md)", "build/a.md": "x" * 200, ".cache/a.md": "x" * 200}), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
