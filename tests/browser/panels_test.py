# SPDX-License-Identifier: Apache-2.0
"""The scaling curves of three sources in a headless Chromium: panels_test.py TANDEM SAMPLE.json [TEST...].

The sample again as another implementation's launches, half as fast; and in `projected` as a projection.
"""
import copy
import json
import sys

import documents
import probes
from probes import change, points

TANDEM, SAMPLE = sys.argv[1:3]
CHARTS = ("scaling-chart", "scaling-chart-2", "scaling-chart-3")
HARDWARE = "dgx-a100"
TITLES = ("Tandem, measured", "PyTorch 2.15.0, measured", f"Tandem, projected onto {HARDWARE}: not the measured machine")


def torch(launch):
    launch["cell"]["options"]["implementation"] = "torch-2.15.0"
    launch["step_seconds"] = [2 * seconds for seconds in launch["step_seconds"]]


def simulated(launch):
    launch["cell"].update(backend="simulated", options={"hardware": HARDWARE + "#0"})
    launch["modelled"] = [f"hardware {HARDWARE}: all times are simulated"]
    launch["step_seconds"] = [0.04 * launch["step_seconds"][0]]


def further(launches):
    """dp and ddp on 2 devices again on 4 and 8, with the same share of the batch."""
    more = []
    for launch in launches:
        for factor in (2, 4):
            if launch["cell"]["devices"] != 2 or launch["cell"]["strategy"] not in ("dp", "ddp"):
                continue
            other = copy.deepcopy(launch)
            other["cell"]["devices"] *= factor
            other["cell"]["global_batch"] *= factor
            more.append(other)
    return launches + more


class Panels(probes.PageTest):
    @classmethod
    def make_page(cls, folder):
        sample = documents.read(SAMPLE)
        both = documents.with_launches(sample, torch)
        both["tandem"]["launches"] = sample["tandem"]["launches"] + both["tandem"]["launches"]
        projected = documents.with_launches(sample, simulated)
        projected["tandem"]["launches"] = further([one for one in projected["tandem"]["launches"] if one["launch_index"] == 0])
        projected["context"] = dict(sample["context"], tandem_standing="Projected, not measured. It errs by 6 %",
                                    tandem_half_widths="dp:0.1:2,ddp:0.1:2")
        (folder / "projected").mkdir()
        (folder / "projected" / "results.json").write_text(json.dumps(projected))
        return documents.page(TANDEM, both, folder)

    def shown(self):
        return [one for one in CHARTS if self.browser.evaluate(f"'{one}' in tandem.charts && !document.getElementById('{one}').closest('.source').hidden")]

    def test_each_source_has_a_chart_of_its_own(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.shown(), list(CHARTS))
        change(self.browser, "scaling-chart", "over", "devices")
        change(self.browser, "scaling-chart", "model", "mlp-base")
        for chart in CHARTS:
            labels = [one["label"] for one in points(self.browser, chart)]
            self.assertEqual(len(labels), len(set(labels)))
            self.assertFalse([label for label in labels if "torch" in label], labels)
        own = {one["label"]: one["data"] for one in points(self.browser, CHARTS[0])}
        beside = {one["label"]: one["data"] for one in points(self.browser, CHARTS[1])}
        self.assertAlmostEqual(own["dp"][0]["y"] / beside["dp"][0]["y"], 2, places=4)

    def test_nothing_projected_passes_for_measured(self):
        for chart, is_projected in zip(CHARTS, (False, False, True)):
            sets = self.browser.evaluate(f"""tandem.charts['{chart}'].data.datasets.filter((set) => !set.label.startsWith('ideal'))
                .map((set) => [set.label.endsWith(' (projected)'), set.borderDash.length > 0, set.data.every((point) => point.cell.modelled)])""")
            self.assertTrue(sets)
            self.assertEqual({json.dumps(one) for one in sets}, {json.dumps([is_projected] * 3)})
        self.assertIn("It errs by 6 %", self.browser.evaluate("document.getElementById('scaling-chart-3').closest('.source').textContent"))
        self.assertNotIn("simulated", self.browser.evaluate("JSON.stringify(tandem.charts['phase-chart'].data)"))

    def test_panels_have_one_scale(self):
        areas = """[%s].map((id) => tandem.charts[id]).map(({scales: {x, y}, chartArea: area}) =>
            [x.type, x.min, x.max, y.type, y.min, y.max, y.ticks.length, area.top, area.bottom, area.right - area.left].map((one) => typeof one === "number" ? Math.round(1e6 * one) / 1e6 : one))"""
        ids = ",".join(f"'{one}'" for one in CHARTS)
        for width in (400, 1000, 1400):
            for figure in ("throughput", "speedup", "efficiency"):
                for over in ("weak", "devices"):
                    with self.subTest(width=width, figure=figure, over=over):
                        self.browser.resize(width)
                        self.browser.open(self.path)
                        change(self.browser, "scaling-chart", "over", over)
                        change(self.browser, "scaling-chart", "figure", figure)
                        found = self.browser.evaluate(areas % ",".join(f"'{one}'" for one in self.shown()) if self.shown() else "[]")
                        if figure == "throughput":
                            self.assertGreaterEqual(len(found), 3 if over == "weak" else 2, found)
                        self.assertEqual(len({json.dumps(one[:7]) for one in found}), 1 if found else 0, found)
                        if width != 400:
                            heights = [one[7:9] for one in found]
                            self.assertLess(max(map(lambda one: abs(one[0] - heights[0][0]) + abs(one[1] - heights[0][1]), heights), default=0), 1.5)

    def test_a_source_without_data_has_no_panel(self):
        change(self.browser, "scaling-chart", "over", "devices")
        change(self.browser, "scaling-chart", "model", "mlp-base")
        change(self.browser, "scaling-chart", "batch", "256")
        self.assertEqual(self.shown(), [CHARTS[2]])
        self.assertEqual(self.browser.complaints(), [])

    def test_the_question_is_named(self):
        question = "document.getElementById('scaling-question').textContent"
        change(self.browser, "scaling-chart", "over", "devices")
        change(self.browser, "scaling-chart", "model", "mlp-base")
        self.assertEqual(self.browser.evaluate(question), "mlp-base, batch 64, fp32, synchronous: samples per second")
        change(self.browser, "scaling-chart", "over", "weak")
        self.assertIn("samples per device", self.browser.evaluate(question))

    def test_panels_stand_side_by_side_or_below_one_another(self):
        tops = "Array.from(document.querySelectorAll('.source'), (one) => Math.round(one.getBoundingClientRect().top))"
        for width, rows in ((400, 3), (1000, 1), (1400, 1)):
            self.browser.resize(width)
            self.browser.open(self.path)
            self.assertEqual(len(set(self.browser.evaluate(tops))), rows, width)

    def test_nothing_overflows_and_text_has_contrast(self):
        probes.assert_fits(self, self.browser, self.path)

    def test_each_panel_has_its_title(self):
        for chart, title in zip(CHARTS, TITLES):
            self.assertEqual(self.browser.evaluate(f"tandem.charts['{chart}'].options.plugins.title.text.join(' ')"), title)

    def test_the_tables_say_the_same(self):
        titles = self.browser.evaluate("""Array.from(document.querySelectorAll('#sources h4'), (one) => one.textContent)""")
        self.assertEqual(titles, list(TITLES))

    def test_a_strategy_is_left_out_of_all(self):
        change(self.browser, "scaling-chart", "show dp", None)
        for chart in CHARTS:
            self.assertNotIn("dp", {one["label"].replace(" (projected)", "") for one in points(self.browser, chart)})


if __name__ == "__main__":
    probes.run()
