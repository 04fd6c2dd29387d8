# SPDX-License-Identifier: Apache-2.0
"""Pages of modelled, hostile, damaged and large documents: hard_documents_test.py TANDEM SAMPLE.json [TEST...]."""
import json
import pathlib
import sys
import tempfile
import time
import unittest

import chromium
import documents
import probes
from probes import change, points

TANDEM, SAMPLE = sys.argv[1:3]


class Others(unittest.TestCase):
    """Documents that are modelled, hostile, damaged or large."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.document = documents.read(SAMPLE)

    def page(self, document):
        return documents.page(TANDEM, document, self.folder.name)

    def test_modelled_curves_look_different_and_say_so(self):
        path = self.page(documents.modelled(self.document))
        with chromium.Page() as browser:
            browser.open(path)
            conditions = browser.evaluate(
                "Array.from(document.querySelector('#scaling-chart-controls [name=conditions]').options, (one) => one.value)")
            self.assertEqual(len(conditions), 2)
            looks = "tandem.charts['scaling-chart'].data.datasets.map((set) => [set.label, String(set.borderDash), String(set.pointBackgroundColor)])"
            measured = browser.evaluate(looks)
            change(browser, "scaling-chart", "conditions", next(one for one in conditions if "modelled" in one))
            for one, other in zip(measured[:-1], browser.evaluate(looks)[:-1]):
                self.assertNotIn("modelled", one[0])
                self.assertIn("(modelled)", other[0])
                self.assertNotEqual(one[1:], other[1:])

    def test_foreign_text_runs_no_script(self):
        attack = "</script><script>window.ran=1</script><img src=x onerror=window.ran=1>\"onfocus=\"window.ran=1"

        def spoil(launch):
            launch["cell"]["model"] = attack + launch["cell"]["model"]
            launch["machine"].update(cpu_model=attack, host_name=attack, libraries={attack: attack})
            launch["warnings"] = [attack]
        hostile = documents.with_launches(self.document, spoil)
        hostile["tandem"]["sweep"].update(name=attack, definition=attack)
        path = self.page(hostile)
        for width in probes.WIDTHS:
            with chromium.Page(width) as browser:
                browser.open(path)
                self.assertEqual(browser.complaints(), [])
                self.assertEqual(browser.requests(), [path.resolve().as_uri()])
                self.assertIsNone(browser.evaluate("window.ran ?? null"))
                self.assertEqual(browser.evaluate("document.querySelectorAll('img,[onfocus],[onerror]').length"), 0)
                self.assertEqual(browser.evaluate(probes.OVERFLOWING), [])

    def test_long_names_keep_the_page_small_and_whole(self):
        def lengthen(launch):
            launch["machine"]["cpu_model"] = "x" * 10**6
            launch["warnings"] = ["y" * 10**6]
        path = self.page(documents.with_launches(self.document, lengthen))
        self.assertLess(path.stat().st_size, 8e6)
        with chromium.Page(400) as browser:
            browser.open(path)
            self.assertEqual(browser.complaints(), [])
            self.assertEqual(browser.evaluate(probes.OVERFLOWING), [])

    def test_missing_phases_leave_their_chart_out(self):
        def strip(launch):
            launch.update(phases=[], collectives=[], memory=[])
            launch["critical"].update(mean_seconds={}, span_seconds=0)
        path = self.page(documents.with_launches(self.document, strip))
        with chromium.Page() as browser:
            browser.open(path)
            self.assertEqual(browser.complaints(), [])
            self.assertEqual(browser.evaluate("Array.from(document.querySelectorAll('canvas'), (one) => one.id).sort()"),
                             ["forest", "scaling-chart"])

    def test_nothing_measured_is_a_page(self):
        def lose(launch):
            launch.update(status="failed", reason="lost", step_seconds=[])
        path = self.page(documents.with_launches(self.document, lose))
        with chromium.Page() as browser:
            browser.open(path)
            self.assertEqual(browser.complaints(), [])
            self.assertIn("lost", browser.evaluate("document.querySelector('#without').textContent"))

    def refused(self, document, word):
        ended = documents.report(TANDEM, document, self.folder.name)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertLess(len(ended.stderr), 2000)
        self.assertIn(word, ended.stderr)
        self.assertFalse((pathlib.Path(self.folder.name) / "report.html").exists())

    def test_newer_schema_is_refused_in_a_line(self):
        self.document["tandem"]["schema_version"] = "9.0.0"
        self.refused(self.document, "9.0.0")

    def test_negative_times_are_refused_in_a_line(self):
        def negate(launch):
            launch["step_seconds"] = [-1.0 for _ in launch["step_seconds"]]
        self.refused(documents.with_launches(self.document, negate), "step_seconds")

    def test_cut_off_document_is_refused_in_a_line(self):
        self.refused(json.dumps(self.document)[:100000], "results.json")

    def test_ten_thousand_cells_stay_small_and_are_filtered(self):
        path = self.page(documents.many_cells(self.document, 10000))
        self.assertLess(path.stat().st_size, 8e6)
        with chromium.Page() as browser:
            seconds = browser.open(path)
            self.assertEqual(browser.complaints(), [])
            self.assertEqual(browser.evaluate("tandem.cells.length"), 10000)
            start = time.monotonic()
            change(browser, "scaling-chart", "over", "batch")
            change(browser, "scaling-chart", "model", "mlp-7")
            self.assertGreater(len(points(browser, "scaling-chart")[0]["data"]), 10)
            self.assertGreater(browser.evaluate("document.querySelectorAll('.cut').length"), 0)
            print(f"10000 cells: {path.stat().st_size / 1e6:.1f} MB, drawn in {seconds:.2f} s, filtered in "
                  f"{(time.monotonic() - start) / 2:.2f} s", file=sys.stderr)


if __name__ == "__main__":
    probes.run()
