# SPDX-License-Identifier: Apache-2.0
"""Makes the README's pictures of the page anew: readme_pictures.py TANDEM SAMPLE.json FOLDER

verdict.png, the page's head in light colours, and scaling.png, the curves in dark ones, both of the
sample. Needs Chromium. Look at them before they are committed.
"""
import pathlib
import sys
import tempfile

import chromium
import documents
from probes import change

WIDTH = 960    # pixels: what the README shows at full size
HEIGHT = 14000  # the whole page, so that no scroll bar takes room


def clip(browser, selector, height=None):
    """The place of an element on the page, with a margin, cut off at a height."""
    left, top, wide, high = browser.evaluate(f"""(function () {{
        const box = document.querySelector({selector!r}).getBoundingClientRect();
        return [box.left + scrollX, box.top + scrollY, box.width, box.height]; }})()""")
    high = min(high, height or high)
    return int(max(0, left - 16)), int(max(0, top - 16)), int(wide + 32), int(high + 32)


def main(tandem, sample, folder):
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory() as made, chromium.Page(WIDTH) as browser:
        path = documents.page(tandem, documents.read(sample), made)
        browser.resize(WIDTH, HEIGHT)
        browser.open(path)
        browser.screenshot(folder / "verdict.png", clip(browser, "header"))
        browser.resize(WIDTH, HEIGHT)
        browser.dark(True)
        browser.open(path)
        change(browser, "scaling-chart", "model", "mlp-base")
        browser.screenshot(folder / "scaling.png", clip(browser, "#scaling .panel"))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
