# SPDX-License-Identifier: Apache-2.0
"""What the page's tests ask of a page, and what they do to it as a reader would."""
import json
import pathlib
import sys
import tempfile
import unittest

import chromium

WIDTHS = (400, 1000, 1400)  # pixels: a telephone, a window and a desk

# Elements that reach beyond the window; what scrolls in a box of its own does not.
OVERFLOWING = """Array.from(document.querySelectorAll("main *")).filter(function (one) {
  if (one.closest(".scroll") && !one.matches(".scroll") || one.closest(".unseen")) return false;
  const box = one.getBoundingClientRect();
  return box.width > 0 && (box.right > document.documentElement.clientWidth + 1 || box.left < -1);
}).map((one) => one.tagName + "." + one.className + " " + one.textContent.slice(0, 40))"""

# Text whose contrast with the ground behind it is below WCAG's 4.5 (3 for large text).
FAINT = """(function () {
  const parse = (text) => { const p = text.match(/[\\d.]+/g).map(Number); return p.length < 4 ? p.concat(1) : p; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
                         return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  function ground(one) {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  }
  const seen = new Set();
  const found = [];
  for (const one of document.querySelectorAll("body *")) {
    if (!Array.from(one.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    const style = getComputedStyle(one);
    if (one.getClientRects().length === 0 || one.closest("canvas, script, style, .unseen")) continue;
    const behind = ground(one);
    const ink = over(parse(style.color), behind);
    const [a, b] = [light(ink), light(behind)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const key = style.color + behind;
    if ((a + 0.05) / (b + 0.05) < needed && !seen.has(key)) { seen.add(key); found.push(one.className + " " + one.textContent.slice(0, 40) + " " + key); }
  }
  return found;
})()"""


def points(page, chart):
    """[{label, data}] of a chart, as it is drawn."""
    return page.evaluate(f"""tandem.charts["{chart}"].data.datasets.filter((set) => !set.hidden).map((set) => ({{
        label: set.label, data: set.data.map((point) => typeof point === "object" && point ? {{x: point.x, y: point.y}} : point)}}))""")


def change(page, chart, name, value):
    """What a reader does with a control; the chart is drawn anew at once."""
    found = page.evaluate(f"""(function () {{
      const control = document.querySelector('[id="{chart}-controls"] [name="{name}"]');
      if (!control) return false;
      if (control.type === "checkbox") control.click();
      else {{ control.value = {json.dumps(value)}; control.dispatchEvent(new Event("change")); }}
      return true; }})()""")
    if not found:
        raise AssertionError(f"{chart} has no control {name}")


class PageTest(unittest.TestCase):
    """Tests of the page that make_page() writes into a folder and names: open before each, 1400 px wide, in light colours."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = cls.make_page(pathlib.Path(cls.folder.name))
        cls.browser = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.resize(1400)
        self.browser.dark(False)
        self.browser.open(self.path)


def run():
    """Runs the calling program's tests; exit status 77 where there is no Chromium."""
    if not chromium.program():
        print("skipped: no Chromium: install the package chromium (tools/install-deps --browser does)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


def assert_fits(test, browser, path):
    """At every width, in light and dark, nothing overflows and text has contrast."""
    for width in WIDTHS:
        for is_dark in (False, True):
            with test.subTest(width=width, dark=is_dark):
                browser.resize(width)
                browser.dark(is_dark)
                browser.open(path)
                test.assertEqual(browser.evaluate(OVERFLOWING), [])
                test.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), width)
                test.assertEqual(browser.evaluate(FAINT), [])
