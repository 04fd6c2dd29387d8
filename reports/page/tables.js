// SPDX-License-Identifier: Apache-2.0
// Wide tables: the first columns stay in sight, as many as leave most of the width to the others, and
// the table says how many columns stand beyond its edge.
"use strict";

(function () {
  const kept = 0.45;  // of the width, at most, to columns that stay

  function fix(panel, table) {
    const isWide = table.scrollWidth > panel.clientWidth + 1;
    const heads = Array.from(table.rows[0].cells);
    let left = 0;
    let count = 0;
    for (; isWide && count < heads.length; ++count) {
      const width = heads[count].offsetWidth;
      if (count > 0 && left + width > kept * panel.clientWidth) break;
      heads[count].dataset.left = String(left);
      left += width;
    }
    for (const row of table.rows) {
      Array.from(row.cells).forEach(function (cell, at) {
        cell.classList.toggle("stays", at < count);
        cell.style.left = at < count ? heads[at].dataset.left + "px" : "";
      });
    }
  }

  function say(panel, table, note) {
    const edge = panel.scrollLeft + panel.clientWidth;
    const beyond = Array.from(table.rows[0].cells).filter((head) => head.offsetLeft + head.offsetWidth / 2 > edge).length;
    panel.classList.toggle("more", beyond > 0);
    note.textContent = beyond === 0 ? "" : beyond + (beyond === 1 ? " more column" : " more columns") + " to the right \u25b6";
  }

  const all = Array.from(document.querySelectorAll(".panel.scroll"), function (panel) {
    const note = document.createElement("p");
    note.className = "hint beyond";
    panel.after(note);
    return { panel: panel, table: panel.querySelector("table"), note: note };
  });
  const observer = new ResizeObserver(function (entries) {
    for (const entry of entries) {
      const one = all.find((each) => each.panel === entry.target);
      if (one.panel.clientWidth === 0) continue;  // folded away
      fix(one.panel, one.table);
      say(one.panel, one.table, one.note);
    }
  });
  for (const one of all) {
    observer.observe(one.panel);
    one.panel.addEventListener("scroll", () => say(one.panel, one.table, one.note), { passive: true });
  }
})();
