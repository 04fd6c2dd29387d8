// SPDX-License-Identifier: Apache-2.0
// The common parts of the page's charts: colours, marks, intervals, axes and the controls that choose cells.
// Text reaches the page through the canvas and textContent alone.
"use strict";

const tandem = (function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const texts = ["model", "strategy", "label", "bare", "conditions"];
  // The cells of a table of columns; a column has null where a cell has nothing.
  function cellsOf(columns) {
    const names = Object.keys(columns);
    return (columns.label || []).map(function (_, at) {
      const cell = { panel: 0 };
      for (const name of names) {
        const value = columns[name][at];
        if (value !== null) cell[name] = texts.includes(name) ? data.texts[value] : value;
      }
      return Object.assign(cell, { bare: cell.bare ?? cell.label });
    });
  }
  const cells = cellsOf(data.cells);
  const projected = cellsOf(data.projected || {});  // in panels of the scaling curves alone
  const panels = data.panels || [{ title: "", note: "" }];  // a source each; one without a title where there is one
  const charts = {};    // by canvas
  const drawers = [];   // each draws one chart anew

  function element(id) { return document.getElementById(id); }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  function number(value) {
    const size = Math.abs(value);
    const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 || size === 0 ? 2 : 4;
    return value.toLocaleString("en-US", { maximumFractionDigits: digits });
  }

  // An interval over more than a factor of three decides nothing: its figure stands in the table alone.
  const wide = "interval wider than 3x";
  function tooWide(low, high) { return typeof low === "number" && high > 3 * low; }

  function withInterval(point) {
    if (tooWide(point.yLow, point.yHigh)) return wide;
    if (point.yLow === undefined) return number(point.y);
    if (point.yLow !== null) return number(point.y) + " [" + number(point.yLow) + " .. " + number(point.yHigh) + "]";
    return number(point.y) + (point.unbounded ? " (interval unbounded)" : " (no interval)");
  }

  // A strategy keeps its colour and its mark in all charts; variants of one share the colour and
  // differ by their dashes. What is modelled is hollow and finely dashed.
  const marks = { single: "circle", dp: "rectRot", ddp: "triangle", "dp-allreduce": "star", "ddp-replicate": "crossRot", fsdp: "rectRot", zero1: "triangle",
                  "independent-threads": "rect", "independent-processes": "rectRounded" };
  function dashes(cell) {
    const variant = cell.label.split("=").length - 1;  // its options
    if (cell.modelled) return [2, 3];
    return variant === 0 ? [] : [7, 2 + 2 * variant];
  }

  function look(cell) {
    const ink = colour(cell.strategy) || colour("ink");
    const dash = dashes(cell);
    return { borderColor: ink, backgroundColor: ink, pointStyle: marks[cell.strategy] || "star", borderDash: dash,
             borderWidth: cell.strategy.startsWith("independent") ? 1 : 2 };
  }

  // A point without an interval, and one that is modelled, must not look like one that is exact.
  function hollow(ink, points, modelled) {
    return { pointBorderColor: ink, pointBorderWidth: 2,
             pointBackgroundColor: points.map((point) => modelled || point.yLow === null || tooWide(point.yLow, point.yHigh) ? colour("panel") : ink) };
  }

  function title(text) { return { display: text !== "", text: text, color: colour("soft") }; }

  function axis(text, more) {
    return Object.assign({ title: title(text), grid: { color: colour("grid"), borderColor: colour("line") },
                           ticks: { color: colour("soft") } }, more);
  }

  // Ticks at the values that occur, a dozen at most.
  function ticksAt(values) {
    const stride = Math.ceil(values.length / 12);
    const shown = values.filter((_, at) => at % stride === 0);
    return { afterBuildTicks(scale) { scale.ticks = shown.map((value) => ({ value: value })); },
             ticks: { color: colour("soft"), autoSkip: true, maxRotation: 0, callback: (value) => number(value) } };
  }

  function legend() {
    return { position: "bottom", labels: { color: colour("ink"), usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 12 } };
  }

  function distinct(values) { return Array.from(new Set(values)); }

  // Draws chart `id` anew, and says in words what it shows, for those who do not see it.
  function draw(id, config, words) {
    if (charts[id]) charts[id].destroy();
    delete charts[id];
    element(id).setAttribute("aria-label", words);
    if (config) charts[id] = new Chart(element(id), config);
  }

  function labelled(text, control, box) {
    const label = document.createElement("label");
    label.append(box ? control : text + " ", box ? " " + text : control);
    return label;
  }

  function select(text, name, options, chosen, changed) {
    const control = document.createElement("select");
    control.name = name;
    for (const option of options) {
      const entry = document.createElement("option");
      entry.value = option.value;
      entry.textContent = option.text.length > 60 ? option.text.slice(0, 57) + "..." : option.text;
      entry.selected = option.value === chosen;
      control.append(entry);
    }
    control.disabled = options.length < 2;
    control.addEventListener("change", () => changed(control.value));
    return labelled(text, control, false);
  }

  function check(text, name, is_on, changed) {
    const control = document.createElement("input");
    control.type = "checkbox";
    control.name = name;
    control.checked = is_on;
    control.addEventListener("change", () => changed(control.checked));
    return labelled(text, control, true);
  }

  // The properties by which cells may be chosen. `of` gives a text or a number.
  const fields = {
    model: { text: "model", of: (cell) => cell.model },
    batch: { text: "batch", of: (cell) => cell.batch },
    share: { text: "batch per device", of: (cell) => cell.batch / cell.devices },
    devices: { text: "devices", of: (cell) => cell.devices },
    label: { text: "strategy", of: (cell) => cell.label },
    conditions: { text: "precision and mode", of: (cell) => cell.conditions },
  };

  // One select per name, each offering what the ones before it leave; returns the cells that all of
  // them leave. `state` keeps the choices by name; `preferred` are first choices.
  function choose(into, from, names, state, preferred, redraw) {
    let left = from;
    for (const name of names) {
      const field = fields[name];
      const values = distinct(left.map(field.of));
      if (typeof values[0] === "number") values.sort((a, b) => a - b);
      const first = preferred && preferred[name] ? preferred[name](values, left) : values[0];
      if (!values.map(String).includes(state[name])) state[name] = String(first);
      const options = values.map((value) => ({ value: String(value), text: String(value) }));
      into.append(select(field.text, name, options, state[name], function (value) { state[name] = value; redraw(name); }));
      left = left.filter((cell) => String(field.of(cell)) === state[name]);
    }
    return left;
  }

  // Redraws keep the focus where the reader has it, though the controls are made anew.
  function rebuild(id, build) {
    const into = element(id + "-controls");
    const active = into.contains(document.activeElement) ? document.activeElement : null;
    const key = active && [active.name, active.value];
    into.replaceChildren();
    build(into);
    if (!key) return;
    const same = Array.from(into.querySelectorAll("select, input"))
        .find((control) => control.name === key[0] && (control.type !== "checkbox" || control.value === key[1]));
    if (same) same.focus();
  }

  return { wide, tooWide, data, cells, projected, panels, charts, drawers, fields, element, colour, number, withInterval, look, hollow, axis, ticksAt, legend,
           distinct, draw, select, check, choose, rebuild };
})();
