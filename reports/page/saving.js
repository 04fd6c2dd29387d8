// SPDX-License-Identifier: Apache-2.0
// Each chart as a file of its own, the canvas itself. Nothing leaves the page.
"use strict";

(function () {
  // The chart as PNG, on the page's ground: a canvas by itself has none.
  tandem.png = function (id) {
    const drawn = tandem.element(id);
    const copy = document.createElement("canvas");
    copy.width = drawn.width;
    copy.height = drawn.height;
    const context = copy.getContext("2d");
    context.fillStyle = tandem.colour("panel");
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(drawn, 0, 0);
    return new Promise((done) => copy.toBlob(done, "image/png"));
  };

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  for (const canvas of document.querySelectorAll(".chart canvas")) {
    const id = canvas.id;
    const control = document.createElement("button");
    control.type = "button";
    control.textContent = "save as PNG";
    control.setAttribute("aria-label", "Save the chart " + id + " as PNG");
    control.addEventListener("click", () => { if (tandem.charts[id]) tandem.png(id).then((blob) => save(blob, id + ".png")); });
    const place = document.createElement("p");
    place.className = "save";
    place.append(control);
    canvas.parentNode.after(place);
  }
})();
