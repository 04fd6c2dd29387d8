# SPDX-License-Identifier: Apache-2.0
"""The page of a run whose ladder was measured, in a headless Chromium: ladder_test.py TANDEM FOLDER [TEST...].

FOLDER holds results.json and what `tandem explain` wrote of it, explain.md.
"""
import pathlib
import statistics
import sys

import documents
import probes

TANDEM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])

ROWS = """Array.from(document.querySelectorAll("#ladder h5")).filter((one) => one.textContent.startsWith(%r)).map(function (heading) {
  let at = heading;
  while (!at.querySelector("tbody")) at = at.nextElementSibling;
  return Array.from(at.querySelectorAll("tbody tr"), (row) => Array.from(row.cells, (cell) => cell.textContent));
})[0]"""


def explained(title):
    """The rows of a table of explain.md."""
    lines = (FOLDER / "explain.md").read_text().split(f"## {title}")[1].split("\n\n")[1].splitlines()[2:]
    return [[cell.strip().replace("\\", "") for cell in line.strip("|").split(" |")] for line in lines if line.startswith("|")]


class Ladder(probes.PageTest):
    @classmethod
    def make_page(cls, folder):
        cls.document = documents.read(FOLDER / "results.json")
        return documents.page(TANDEM, cls.document, folder)

    def step_ms(self, strategy, **options):
        return 1e3 * statistics.mean(
            statistics.mean(one["step_seconds"]) for one in self.document["tandem"]["launches"]
            if (one["cell"]["strategy"], one["cell"]["global_batch"], one["cell"]["devices"], one["cell"]["options"])
            == (strategy, 64, 2, options))

    def test_tables_are_explains(self):
        self.assertEqual(self.browser.complaints(), [])
        for title in ("The ladder from dp to ddp", "Replication, reduction", "What a cause is worth", "What ddp itself costs"):
            rows = self.browser.evaluate(ROWS % title)
            self.assertGreater(len(rows), 2, title)
            self.assertEqual(rows, explained(title))

    def test_ends_of_the_ladder_are_the_documents(self):
        rows = self.browser.evaluate(ROWS % "The ladder from dp to ddp")
        top, bottom = float(rows[0][1].split()[0]), float(rows[-2][1].split()[0])
        self.assertAlmostEqual(top, self.step_ms("dp"), delta=0.0006)
        self.assertAlmostEqual(bottom, self.step_ms("ddp", grads="views"), delta=0.0006)
        self.assertAlmostEqual(float(rows[-1][2].split()[0]), top - bottom, delta=0.0016)

    def test_series_of_one_strategy_are_told_apart(self):
        sets = self.browser.evaluate("tandem.charts['scaling-chart'].data.datasets.map((set) => [String(set.pointStyle) + set.borderColor, set.mark])")
        self.assertGreater(len(sets), len({look for look, _ in sets}))
        self.assertEqual(len({(look, mark) for look, mark in sets}), len(sets))

    def test_legends_lie_within_their_charts(self):
        for width in probes.WIDTHS:
            self.browser.resize(width)
            self.browser.open(self.path)
            boxes = self.browser.evaluate("""(function (chart) {
                return chart.legend.legendHitBoxes.map((box) => [box.left, box.left + box.width - chart.width, box.top + box.height - chart.height]);
            })(tandem.charts['scaling-chart'])""")
            self.assertGreater(len(boxes), 4)
            for left, right, bottom in boxes:
                self.assertGreaterEqual(left, 0, width)
                self.assertLessEqual(max(right, bottom), 0, width)

    def test_nothing_overflows(self):
        for width in probes.WIDTHS:
            self.browser.resize(width)
            self.browser.open(self.path)
            self.browser.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
            self.assertEqual(self.browser.evaluate(probes.OVERFLOWING), [], width)
            self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)

    def test_headings_are_in_order(self):
        levels = self.browser.evaluate("Array.from(document.querySelectorAll('h1,h2,h3,h4,h5'), (one) => Number(one.tagName[1]))")
        self.assertIn(4, levels)
        for above, below in zip(levels, levels[1:]):
            self.assertLessEqual(below, above + 1)


if __name__ == "__main__":
    probes.run()
