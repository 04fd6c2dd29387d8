# SPDX-License-Identifier: Apache-2.0
"""The page of a real document in a headless Chromium: page_test.py TANDEM SAMPLE.json [TEST...].

What is drawn is read back from the charts and held against the document.
"""
import statistics
import sys

import documents
import probes
from probes import change, points

TANDEM, SAMPLE = sys.argv[1:3]


class Sample(probes.PageTest):
    """The committed sample's page, and the sample itself to hold it against."""

    @classmethod
    def make_page(cls, folder):
        cls.document = documents.read(SAMPLE)
        return documents.page(TANDEM, documents.bucket_caps(cls.document), folder)

    def launches(self, **cell):
        return [one for one in self.document["tandem"]["launches"]
                if all(one["cell"][name] == value for name, value in cell.items())]

    def test_loads_without_complaint_or_request(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [self.path.resolve().as_uri()])

    def test_each_canvas_is_a_chart_that_says_what_it_shows(self):
        canvases = self.browser.evaluate("Array.from(document.querySelectorAll('canvas'), (one) => one.id)")
        self.assertEqual(sorted(canvases), sorted(self.browser.evaluate("Object.keys(tandem.charts)")))
        self.assertEqual(len(canvases), 3)
        for canvas in canvases:
            words = self.browser.evaluate(f"document.getElementById('{canvas}').getAttribute('aria-label')")
            self.assertRegex(words, r"\d", canvas)

    def test_throughput_is_the_documents(self):
        change(self.browser, "scaling-chart", "model", "mlp-base")
        drawn = {one["label"]: one["data"] for one in points(self.browser, "scaling-chart")}
        for strategy in ("dp", "ddp"):
            for devices in (1, 2):
                means = [statistics.mean(one["step_seconds"])
                         for one in self.launches(strategy=strategy, model="mlp-base", devices=devices)]
                point = next(point for point in drawn[strategy] if point["x"] == devices)
                self.assertAlmostEqual(point["y"] / (64 / statistics.mean(means)), 1, places=4)

    def test_speedup_is_the_documents(self):
        change(self.browser, "scaling-chart", "model", "mlp-base")
        change(self.browser, "scaling-chart", "figure", "speedup")
        drawn = {one["label"]: one["data"] for one in points(self.browser, "scaling-chart")}

        def median(strategy, devices):
            return statistics.geometric_mean(statistics.median(one["step_seconds"])
                                             for one in self.launches(strategy=strategy, model="mlp-base", devices=devices))
        self.assertNotIn("single", drawn)
        self.assertEqual([point["y"] for point in drawn["ideal (not measured)"]], [1, 2])
        point = next(point for point in drawn["ddp"] if point["x"] == 2)
        self.assertAlmostEqual(point["y"] / (median("single", 1) / median("ddp", 2)), 1, places=4)
        change(self.browser, "scaling-chart", "figure", "efficiency")
        half = next(one for one in points(self.browser, "scaling-chart") if one["label"] == "ddp")["data"][1]
        self.assertAlmostEqual(2 * half["y"] / point["y"], 1, places=4)

    def test_filters_choose_cells(self):
        change(self.browser, "scaling-chart", "model", "mlp-small")
        change(self.browser, "scaling-chart", "batch", "64")
        before = points(self.browser, "scaling-chart")
        change(self.browser, "scaling-chart", "batch", "512")
        after = points(self.browser, "scaling-chart")
        self.assertEqual({one["label"] for one in before}, {one["label"] for one in after})
        self.assertNotEqual(before, after)
        change(self.browser, "scaling-chart", "show dp", None)
        self.assertEqual({one["label"] for one in after} - {one["label"] for one in points(self.browser, "scaling-chart")}, {"dp"})

    def test_switches_change_the_axes(self):
        kind = "tandem.charts['scaling-chart'].scales.%s.type"
        self.assertEqual(self.browser.evaluate(kind % "y"), "linear")
        change(self.browser, "scaling-chart", "log-y", None)
        self.assertEqual(self.browser.evaluate(kind % "y"), "logarithmic")
        self.assertEqual(self.browser.evaluate(kind % "x"), "linear")
        change(self.browser, "scaling-chart", "over", "batch")
        self.assertEqual(self.browser.evaluate(kind % "x"), "logarithmic")
        change(self.browser, "scaling-chart", "model", "mlp-small")
        ddp = next(one for one in points(self.browser, "scaling-chart") if one["label"] == "ddp")
        self.assertEqual([point["x"] for point in ddp["data"]], [64, 512])
        change(self.browser, "scaling-chart", "over", "size")
        self.assertEqual(self.browser.complaints(), [])

    def test_phases_sum_to_the_step(self):
        change(self.browser, "phase-chart", "model", "mlp-base")
        sets = points(self.browser, "phase-chart")
        labels = self.browser.evaluate("tandem.charts['phase-chart'].data.labels")
        row = labels.index("dp on 2")
        step = statistics.mean(statistics.mean(one["step_seconds"])
                               for one in self.launches(strategy="dp", model="mlp-base", devices=2))
        self.assertAlmostEqual(sum(one["data"][row] for one in sets) / (1e3 * step), 1, places=3)
        change(self.browser, "phase-chart", "shares", None)
        self.assertAlmostEqual(sum(one["data"][row] for one in points(self.browser, "phase-chart")), 100, places=6)

    def test_forest_has_every_comparison(self):
        self.assertEqual(len(points(self.browser, "forest")[0]["data"]), 6)

    def test_the_first_screen_has_sentence_picture_and_what_to_use(self):
        self.browser.resize(1000)
        self.browser.open(self.path)
        places = self.browser.evaluate("""["p.overall", "#phase-chart", "#choices tbody tr:last-child", "#warnings, #advice"].map(
            (one) => document.querySelector(one).getBoundingClientRect().bottom)""")
        self.assertEqual(places, sorted(places))
        self.assertLess(places[2], 1000)
        texts = self.browser.evaluate("Array.from(document.querySelectorAll('p.overall'), (one) => one.textContent)")
        self.assertIn("dp spends 28 % of its step adding gradients on device 0", texts[0])
        self.assertIn("mlp-base, batch 64 (dp at 0.90x)", texts[1])

    def test_the_picture_has_one_device_the_most_devices_and_their_intervals(self):
        change(self.browser, "phase-chart", "model", "mlp-base")
        labels = "tandem.charts['phase-chart'].data.labels"
        shown = self.browser.evaluate(labels)
        self.assertEqual(shown[:3], ["single on 1", "dp on 2", "ddp on 2"])
        self.assertEqual(shown[-2:], ["no communication (bound), threads on 2", "no communication (bound), processes on 2"])
        center, low, high = self.browser.evaluate("tandem.charts['phase-chart'].options.steps[1]")
        step = 1e3 * statistics.mean(statistics.mean(one["step_seconds"])
                                     for one in self.launches(strategy="dp", model="mlp-base", devices=2))
        self.assertAlmostEqual(center / step, 1, places=4)
        self.assertTrue(low < center < high)
        change(self.browser, "phase-chart", "every", None)
        self.assertLessEqual({"dp on 1", "ddp on 1"}, set(self.browser.evaluate(labels)) - set(shown))

    def test_wide_tables_keep_their_first_columns_and_tell_of_more(self):
        self.browser.resize(1000)
        self.browser.open(self.path)
        self.browser.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        self.browser.evaluate("new Promise((done) => setTimeout(done, 200))")
        script = """(function () {
          const panel = document.querySelector("#phases .scroll");
          const cells = Array.from(panel.querySelectorAll("tbody tr")[5].cells);
          return [panel.nextElementSibling.textContent, cells.filter((one) => one.classList.contains("stays")).length,
                  cells[0].getBoundingClientRect().left, cells[3].getBoundingClientRect().left]; })()"""
        note, count, first, fourth = self.browser.evaluate(script)
        self.assertRegex(note, r"^\d+ more columns to the right")
        self.assertGreaterEqual(count, 4)  # model, batch, devices, strategy
        self.browser.evaluate("document.querySelector('#phases .scroll').scrollLeft = 1e6")
        self.browser.evaluate("new Promise((done) => setTimeout(done, 200))")
        note, _, first_after, fourth_after = self.browser.evaluate(script)
        self.assertEqual(note, "")
        self.assertAlmostEqual(first, first_after, delta=20)  # the panel's own edge
        self.assertAlmostEqual(fourth, fourth_after, delta=20)

    def test_an_interval_over_a_factor_of_three_is_called_wider_than_3x(self):
        said = self.browser.evaluate("[[1, 0.5, 1.6], [1, 0.6, 1.6], [1, null, null]].map(([y, yLow, yHigh]) => tandem.withInterval({y, yLow, yHigh}))")
        self.assertEqual(said, ["interval wider than 3x", "1 [0.6 .. 1.6]", "1 (no interval)"])

    def test_nothing_overflows_and_text_has_contrast(self):
        probes.assert_fits(self, self.browser, self.path)

    def test_folded_text_has_contrast(self):
        for is_dark in (False, True):
            with self.subTest(dark=is_dark):
                self.browser.dark(is_dark)
                self.browser.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
                self.assertEqual(self.browser.evaluate(probes.FAINT), [])

    def test_headings_are_in_order(self):
        levels = self.browser.evaluate("Array.from(document.querySelectorAll('h1,h2,h3,h4,h5'), (one) => Number(one.tagName[1]))")
        self.assertEqual(levels.count(1), 1)
        self.assertEqual(levels[0], 1)
        for above, below in zip(levels, levels[1:]):
            self.assertLessEqual(below, above + 1)

    def test_controls_have_labels_and_tables_headers(self):
        self.assertEqual(self.browser.evaluate(
            "Array.from(document.querySelectorAll('select,input')).filter((one) => !one.labels[0] || !one.labels[0].textContent.trim()).length"), 0)
        self.assertEqual(self.browser.evaluate(
            "Array.from(document.querySelectorAll('table')).filter((one) => !one.caption || one.querySelector('th:not([scope])')).length"), 0)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('[id]').length"),
                         self.browser.evaluate("new Set(Array.from(document.querySelectorAll('[id]'), (one) => one.id)).size"))

    def test_focus_follows_the_page_and_shows(self):
        last = -1
        for _ in range(25):
            self.browser.press("Tab")
            place, outline = self.browser.evaluate("""(function () {
              const all = Array.from(document.querySelectorAll('*'));
              return [all.indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle]; })()""")
            self.assertGreater(place, last)
            self.assertNotEqual(outline, "none")
            last = place

    def test_redrawing_keeps_the_focus(self):
        self.browser.evaluate("document.querySelector('#scaling-chart-controls [name=figure]').focus()")
        change(self.browser, "scaling-chart", "figure", "speedup")
        self.assertEqual(self.browser.evaluate("document.activeElement.name + document.activeElement.value"), "figurespeedup")

    def test_links_lead_somewhere(self):
        self.assertEqual(self.browser.evaluate(
            "Array.from(document.querySelectorAll('a')).filter((one) => !document.getElementById(one.hash.slice(1))).length"), 0)


if __name__ == "__main__":
    probes.run()
