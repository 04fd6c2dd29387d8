#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/pictures draws what a sample says, with text that can be read, and tells a stale picture and a sample that is none."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
CELLS = "model,global_batch,devices,strategy,launch,backend,options,status,median_step_s,speedup,speedup_low,speedup_high\n"
LADDER = r"""# CPU only

- dp takes 50.0 \[49.0 .. 51.0\] ms, ddp as torch has it 55.0 \[52.0 .. 58.0\] ms; the gap, dp minus ddp, is -5.0 \[-7.0 .. -3.0\] ms: dp is faster.

| rung | takes, ms \[95 %\] | saves, ms \[95 %\] | | remark |
| --- | ---: | ---: | --- | --- |
| dp | 50.0 \[49.0 .. 51.0\] | | | |
| + threads kept | 49.5 \[48.0 .. 51.0\] | 0.5 \[-1.0 .. 2.0\] | ~ | not resolved |
| + a new <cause> | 40.0 \[39.0 .. 41.0\] | 9.5 \[8.0 .. 11.0\] | ### | |
| dp to the ladder's end | | 10.0 \[9.0 .. 11.0\] | | |

- ddp as torch has it against the ladder's end (gradients copied, not views), measured apart: 15.0 \[13.0 .. 17.0\].
"""


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


class PicturesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        sweep = {"launches_per_cell": 6, "definition": json.dumps({"explain": {"model": "mlp-base", "batch": 64, "devices": 2}})}
        document = {"context": {"date": "2026-11-24T04:32:22+00:00", "tandem_cores": "2", "tandem_cpu_model": "A & B"},
                    "tandem": {"sweep": sweep}}
        self.cells = CELLS + "".join(f"mlp,64,{row}\n" for row in (
            "1,single,threads,host,,ok,0.050,,,", "2,dp,threads,host,,ok,0.060,0.83,0.80,0.86", "2,dp,threads,host,loss=replicas,ok,9,9,9,9",
            "2,ddp,processes,host,,ok,0.040,1.25,1.20,1.30", "2,independent,processes,host,,ok,0.030,1.67,1.60,1.74"))
        for name in ("quick", "explain"):
            self.put(name, "results.json", json.dumps(document))
            self.put(name, "cells.csv", self.cells)
        self.put("quick", "comparisons.csv", "model,global_batch,devices,ddp_is\nmlp,64,2,faster\n")
        self.put("explain", "explain.md", LADDER)

    def put(self, sample, name, text):
        file = self.root / f"reports/samples/{sample}-2-cores" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def pictures(self, *options):
        return subprocess.run([sys.executable, "-B", ROOT / "tools/pictures", "--root", self.root, *options],
                              capture_output=True, text=True, timeout=60)

    def drawn(self, name):
        result = self.pictures()
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.root / f"docs/pictures/{name}.svg").read_text()

    def test_a_picture_says_what_the_sample_says(self):
        text = self.drawn("strategies-light")
        for words in ("DDP is faster in 1 of 1 workloads", "mlp, batch 64", "0.83x", "1.25x", "60.0", "No communication (bound)",
                      "Measured on 2 cores of A &amp; B, 24 November 2026. CPU only: says nothing about GPUs."):
            self.assertIn(words, text)
        text = self.drawn("waterfall-dark")
        for words in ("DDP takes 5.0 ms longer per step than DP", "95 % interval 3.0 to 7.0 ms.", "gradients copied to buckets, +15.0 ms",
                      "Threads kept", "A new &lt;cause&gt;", "\N{MINUS SIGN}11.0 .. \N{MINUS SIGN}8.0", "+13.0 .. +17.0", "mlp-base, batch 64"):
            self.assertIn(words, text)
        self.assertEqual(text.count('fill="url(#hatch)"'), 2)  # threads kept, and its mark in the legend

    def test_of_gpus_nothing_is_said_of_cpus(self):
        self.put("quick", "cells.csv", self.cells.replace("host", "cuda"))
        self.assertNotIn("CPU only", self.drawn("strategies-light"))

    def test_text_can_be_read_in_both_themes_and_files_are_small(self):
        self.drawn("waterfall-light")
        for file in (self.root / "docs/pictures").iterdir():
            text = file.read_text()
            xml.etree.ElementTree.fromstring(text)
            page = re.search(r'rx="6" fill="(#\w+)"', text)[1]
            for colour in set(re.findall(r'<text [^>]*fill="(#\w+)"', text)):
                self.assertGreaterEqual(contrast(page, colour), 4.5, (file.name, colour))
            for colour in set(re.findall(r'<rect [^>]*rx="2" fill="(#\w+)"', text)):
                self.assertGreaterEqual(contrast(page, colour), 3, (file.name, colour))
            self.assertLess(len(text.encode()), 30_000, file.name)
            self.assertNotRegex(text, r"@font-face|href|<image")

    def test_text_stays_within_the_picture(self):
        for text in (self.drawn("strategies-light"), self.drawn("waterfall-light")):
            for element in xml.etree.ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text"):
                wide = 0.6 * int(element.get("font-size")) * len(element.text)  # a wide font
                left = float(element.get("x")) - {"start": 0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "start")]
                self.assertTrue(left >= 0 and left + wide <= 800, element.text)

    def test_a_stale_picture_is_named_and_fresh_ones_are_none(self):
        self.assertEqual(self.pictures("--check").stdout.count("stale"), 4)
        self.drawn("strategies-light")
        before = {file: file.read_bytes() for file in (self.root / "docs/pictures").iterdir()}
        self.assertEqual((self.pictures("--check").returncode, self.pictures("--check").stdout), (0, ""))
        self.put("quick", "cells.csv", self.cells.replace("0.83", "0.82"))
        result = self.pictures("--check")
        self.assertEqual(result.returncode, 1)
        self.assertEqual([line.split(":")[0] for line in result.stdout.splitlines()],
                         ["docs/pictures/strategies-light.svg", "docs/pictures/strategies-dark.svg"])
        self.assertEqual({file: file.read_bytes() for file in before}, before)

    def test_a_sample_that_is_none_is_named_with_what_it_lacks(self):
        for sample, name, text, words in (("quick", "cells.csv", CELLS, "cells.csv has no single of mlp, batch 64"),
                                          ("quick", "comparisons.csv", "model,global_batch,devices,ddp_is\n", "no comparison of dp and ddp"),
                                          ("explain", "explain.md", "# None\n", "explain.md has no table of rungs"),
                                          ("explain", "explain.md", LADDER.replace("| 9.5", "| 8.5"), "`a new <cause>` saves 8.5 ms, but 49.5 ms become 40.0"),
                                          ("explain", "explain.md", LADDER.replace("55.0", "56.0"), "`gradients as views` saves 15.0"),
                                          ("explain", "explain.md", LADDER.replace("measured apart: 15.0", "later: "), "no figure behind `against")):
            self.setUp()
            self.put(sample, name, text)
            result = self.pictures("--check")
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"pictures: reports/samples/{sample}-2-cores: ", result.stderr)
            self.assertIn(words, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
