# SPDX-License-Identifier: Apache-2.0
"""The page of several documents in a headless Chromium: side_by_side_test.py TANDEM SAMPLE.json [TEST...].

The second document is the sample again, some cells slower; the third lacks cells and has a name that
is an attack.
"""
import json
import pathlib
import statistics
import subprocess
import sys

import documents
import probes
from probes import change, points

TANDEM, SAMPLE = sys.argv[1:3]
HOSTILE = "<script>window.ran=1<" + chr(0x2215) + "script><img src=x onerror=window.ran=1>.json"


def slower(launch):
    """Other times to the last digit, and dp half as fast again."""
    factor = 1.5 if launch["cell"]["strategy"] == "dp" else 1.0001
    launch["step_seconds"] = [factor * seconds for seconds in launch["step_seconds"]]
    launch["machine"]["cpu_model"] = "Another CPU"


def other(launch):
    launch["step_seconds"] = [1.0002 * seconds for seconds in launch["step_seconds"]]


class SideBySide(probes.PageTest):
    @classmethod
    def make_page(cls, folder):
        cls.first = documents.bucket_caps(documents.read(SAMPLE))
        third = documents.with_launches(cls.first, other)
        third["tandem"]["launches"] = [one for one in third["tandem"]["launches"] if one["cell"]["strategy"] != "ddp"]
        cls.sources = [folder / "first.json", folder / "second.json", folder / HOSTILE]
        for path, document in zip(cls.sources, (cls.first, documents.with_launches(cls.first, slower), third)):
            path.write_text(json.dumps(document))
        path = folder / "page" / "report.html"
        ended = subprocess.run([TANDEM, "report", *map(str, cls.sources), f"--out={path.parent}"], capture_output=True,
                               text=True, check=False)
        if ended.returncode != 0:
            raise AssertionError(ended.stderr[:1000])
        return path

    def test_hostile_names_run_no_script(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [self.path.resolve().as_uri()])
        self.assertIsNone(self.browser.evaluate("window.ran ?? null"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img,[onerror]').length"), 0)
        self.assertIn("<script>window.ran=1", self.browser.evaluate("document.querySelector('#side').textContent"))

    def test_verdicts_are_those_of_compare(self):
        file = pathlib.Path(self.folder.name) / "changes.json"
        subprocess.run([TANDEM, "compare", str(self.sources[0]), str(self.sources[1]), f"--json={file}"], capture_output=True, check=False)
        told = [cell["verdict"] for cell in json.loads(file.read_text())["cells"]]
        column = "Array.from(document.querySelectorAll('#side table')[1].rows).map((row) => row.cells[%s].textContent)"
        self.assertEqual(self.browser.evaluate(column % 8)[0], "B is")
        self.assertEqual(self.browser.evaluate(column % 8)[1:], told)
        self.assertIn("SLOWER", told)
        self.assertIn("-", self.browser.evaluate(column % 11))

    def test_curves_are_each_documents_own(self):
        change(self.browser, "scaling-chart", "model", "mlp-base")
        drawn = {one["label"]: one["data"] for one in points(self.browser, "scaling-chart")}
        for letter, factor in (("A", 1), ("B", 1.5), ("C", 1.0002)):
            mean = statistics.mean(statistics.mean(one["step_seconds"]) for one in self.first["tandem"]["launches"]
                                   if (one["cell"]["strategy"], one["cell"]["model"], one["cell"]["devices"]) == ("dp", "mlp-base", 2))
            point = next(point for point in drawn[letter + ": dp"] if point["x"] == 2)
            self.assertAlmostEqual(point["y"] / (64 / mean / factor), 1, places=4)
        self.assertIn("B: ideal (not measured)", drawn)
        self.assertNotIn("C: ddp", drawn)

    def test_documents_differ_by_more_than_colour(self):
        looks = self.browser.evaluate("""tandem.charts['scaling-chart'].data.datasets.filter((set) => set.label.endsWith(': dp'))
            .map((set) => [set.borderColor, JSON.stringify(set.borderDash), set.source])""")
        self.assertEqual([look[2] for look in looks], ["A", "B", "C"])
        self.assertEqual(len({look[0] for look in looks}), 1)
        self.assertEqual(len({look[1] for look in looks}), 3)

    def test_documents_can_be_left_out(self):
        change(self.browser, "scaling-chart", "document B", None)
        letters = {one["label"][0] for one in points(self.browser, "scaling-chart")}
        self.assertEqual(letters, {"A", "C"})
        for letter in "AC":
            change(self.browser, "scaling-chart", "document " + letter, None)
        self.assertEqual(self.browser.evaluate("document.getElementById('scaling-chart-note').textContent"), "No document is chosen.")
        self.assertEqual(self.browser.complaints(), [])

    def test_other_charts_name_the_document(self):
        change(self.browser, "phase-chart", "model", "mlp-base")
        labels = self.browser.evaluate("tandem.charts['phase-chart'].data.labels")
        self.assertEqual([label for label in labels if label.endswith(" dp on 2")], ["A: dp on 2", "B: dp on 2", "C: dp on 2"])
        self.assertEqual(labels.index("B: dp on 2"), labels.index("A: dp on 2") + 1)
        self.assertEqual(self.browser.evaluate("new Set(tandem.data.pairs.map((pair) => pair.label.slice(0, 3))).size"), 2)
        canvases = self.browser.evaluate("Array.from(document.querySelectorAll('canvas'), (one) => one.id).sort()")
        self.assertEqual(canvases, sorted(self.browser.evaluate("Object.keys(tandem.charts)")))
        self.assertEqual(len(canvases), 6)

    def test_nothing_overflows_and_text_has_contrast(self):
        probes.assert_fits(self, self.browser, self.path)

    def test_keyboard_reaches_the_documents(self):
        names = []
        last = -1
        for _ in range(40):
            self.browser.press("Tab")
            place, name, outline = self.browser.evaluate("""(function () {
              const active = document.activeElement;
              return [Array.from(document.querySelectorAll('*')).indexOf(active), active.name || active.ariaLabel || "", getComputedStyle(active).outlineStyle]; })()""")
            self.assertGreater(place, last)
            self.assertNotEqual(outline, "none")
            last = place
            names.append(name)
        self.assertIn("Cells side by side", names)
        self.assertIn("document B", names)
        self.browser.evaluate("document.querySelector('[name=\"document B\"]').focus()")
        self.browser.press(" ")
        self.assertEqual(self.browser.evaluate("document.activeElement.name"), "document B")
        self.assertEqual({one["label"][0] for one in points(self.browser, "scaling-chart")}, {"A", "C"})

    def test_headings_and_links(self):
        levels = self.browser.evaluate("Array.from(document.querySelectorAll('h1,h2,h3,h4'), (one) => Number(one.tagName[1]))")
        self.assertEqual(levels.count(1), 1)
        for above, below in zip(levels, levels[1:]):
            self.assertLessEqual(below, above + 1)
        self.assertEqual(self.browser.evaluate(
            "Array.from(document.querySelectorAll('a')).filter((one) => !document.getElementById(one.hash.slice(1))).length"), 0)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('[id]').length"),
                         self.browser.evaluate("new Set(Array.from(document.querySelectorAll('[id]'), (one) => one.id)).size"))


if __name__ == "__main__":
    probes.run()
