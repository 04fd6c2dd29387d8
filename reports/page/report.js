// SPDX-License-Identifier: Apache-2.0
// The page's other charts, and the first drawing of all.
"use strict";

(function () {
  const { data, cells, element, colour, number, axis, legend } = tandem;
  const most = (values) => values.reduce((a, b) => (b > a ? b : a));

  function options(scales, tooltip, more) {
    return Object.assign({ responsive: true, maintainAspectRatio: false, animation: false, scales: scales,
                           plugins: { legend: legend(), tooltip: { callbacks: { label: tooltip } } } }, more);
  }

  function height(id, pixels) { element(id).parentNode.style.height = pixels + "px"; }

  // A label of an axis must leave room for the chart: in two lines where there is little.
  function short(text, width) {
    const room = Math.max(18, Math.floor(width / 14));
    const cut = (part) => (part.length > room ? part.slice(0, room - 3) + "..." : part);
    if (width >= 560) return cut(text);
    const comma = text.search(/, | \(| on /);
    return comma < 0 ? cut(text) : [cut(text.slice(0, comma + (text[comma] === "," ? 1 : 0))), cut(text.slice(comma).replace(/^, | /, ""))];
  }

  // A chart whose cells are chosen by fields; `config` makes it of those that are left.
  function chosen(id, from, names, preferred, config) {
    if (!element(id) || from.length === 0) return;
    const state = {};
    tandem.drawers.push(function redraw() {
      tandem.rebuild(id, function (into) {
        const left = tandem.choose(into, from, names, state, preferred, redraw);
        const made = config(left, into, state, redraw);
        tandem.draw(id, made.config, made.words);
      });
    });
  }

  // A hue per phase; work that a single device also does is muted, what parallelism adds is not.
  const phaseColours = {
    forward: "#7fa7c9", backward: "#4f7ea8", loss: "#a9c4da", update: "#8b93a1", input: "#b7bdc7", zero_grad: "#c9cdd4",
    launch: "#8c564b", check: "#c49c94", scatter: "#e0a030", replicate: "#d2691e", gather: "#e8c468",
    scatter_grad: "#b8860b", reduce: "#b03a2e", bucket_copy: "#8e6bbf", exposed_comm: "#c2418c", buffers: "#a07cc5",
    idle: "#d9a7b0", remainder: "#555b66", backward_and_comm: "#5a5fb0",
  };

  function bars(id, labels, datasets, title, unit) {
    const width = element(id).parentNode.clientWidth;
    height(id, 100 + 27 * labels.length + (width < 560 ? 8 : 3) * datasets.length);
    return { type: "bar", data: { labels: labels, datasets: datasets },
             options: options({ x: axis(title, { stacked: unit !== "MiB", beginAtZero: true }),
                                y: axis("", { stacked: unit !== "MiB", grid: { display: false, borderColor: colour("line") },
                                              ticks: { color: colour("ink"), autoSkip: false, callback: (at) => short(labels[at], width) } }) },
                              (item) => item.dataset.label + ": " + number(item.raw) + " " + unit, { indexAxis: "y" }) };
  }

  function name(cell) { return cell.label + " on " + cell.devices + (cell.modelled ? " (modelled)" : ""); }

  // One device first, the bound last: what is between them is what users choose from.
  function inOrder(left) {
    const place = (cell) => (cell.strategy === "single" ? 0 : cell.strategy.startsWith("independent") ? 2 : 1);
    return left.slice().sort((a, b) => place(a) - place(b));
  }

  // One device, and the most devices.
  function ends_of(found) {
    const devices = most(found.map((cell) => cell.devices));
    return found.filter((cell) => cell.strategy === "single" || cell.devices === devices);
  }

  // The mean step behind each stack of phases, with its interval.
  const steps = { id: "steps", afterDatasetsDraw(chart) {
    const { ctx: context, chartArea: frame, scales } = chart;
    context.save();
    context.font = "600 11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.lineWidth = 1.5;
    context.strokeStyle = context.fillStyle = colour("ink");
    chart.options.steps.forEach(function ([center, low, high], row) {
      const y = scales.y.getPixelForValue(row);
      const at = (value) => Math.min(frame.right, scales.x.getPixelForValue(value));
      const isWide = tandem.tooWide(low, high);
      if (typeof low === "number" && !isWide) {
        context.beginPath();
        context.moveTo(at(low), y); context.lineTo(at(high), y);
        for (const end of [low, high]) { context.moveTo(at(end), y - 5); context.lineTo(at(end), y + 5); }
        context.stroke();
      }
      context.fillText(isWide ? tandem.wide : number(center) + " ms" + (low === null ? " (no interval)" : ""), at(isWide || low === null ? center : high) + 6, y);
    });
    context.restore();
  } };

  // Phases of less than a hundredth of every step are one colour together; the table has each.
  function parts(left) {
    const small = (at) => left.every((cell) => cell.phases[at] < 0.01 * cell.mean[0]);
    const used = data.phases.map((_, at) => at).filter((at) => left.some((cell) => cell.phases[at] > 0));
    const rest = used.filter(small);
    const large = used.filter((at) => !small(at)).map((at) => ({ name: data.phases[at], of: (cell) => cell.phases[at] }));
    return rest.length < 2 ? used.map((at) => ({ name: data.phases[at], of: (cell) => cell.phases[at] }))
                           : large.concat({ name: "other phases", of: (cell) => rest.reduce((sum, at) => sum + cell.phases[at], 0) });
  }

  const phased = cells.filter((cell) => cell.phases);
  // The first workload to be seen is the one that the sentence above the chart names.
  const ofLead = (field) => (values) => (data.lead && values.includes(data.lead[field]) ? data.lead[field] : values[0]);
  chosen("phase-chart", phased, ["model", "batch", "conditions"], { model: ofLead("model"), batch: ofLead("batch") }, function (found, into, state, redraw) {
    const left = inOrder(state.every ? found : ends_of(found));
    into.append(tandem.check("as shares of the step", "shares", state.shares === true, function (is_on) { state.shares = is_on; redraw(); }));
    if (ends_of(found).length < found.length) {
      into.append(tandem.check("every number of devices", "every", state.every === true, function (is_on) { state.every = is_on; redraw(); }));
    }
    const sums = left.map((cell) => cell.phases.reduce((a, b) => a + b, 0));
    const used = parts(left);
    const sets = used.map((part) => ({ label: part.name, data: left.map((cell, row) => (state.shares ? 100 * part.of(cell) / sums[row] : part.of(cell))), borderWidth: 0,
                                       backgroundColor: phaseColours[part.name] || colour("soft") }));
    const unit = state.shares ? "%" : "ms";
    const config = bars("phase-chart", left.map(name), sets, state.shares ? "share of the mean step, %" : "mean ms per step, critical device", unit);
    if (!state.shares) {
      config.options.steps = left.map((cell) => cell.mean);
      config.options.scales.x.suggestedMax = 1.15 * most(left.map((cell) => (tandem.tooWide(cell.mean[1], cell.mean[2]) ? cell.mean[0] : cell.mean[2] ?? cell.mean[0])));
      config.plugins = [steps];
    }
    const step = (cell) => tandem.withInterval({ y: cell.mean[0], yLow: cell.mean[1], yHigh: cell.mean[2] });
    return { config: config,
             words: left.map((cell) => name(cell) + ": " + step(cell) + " ms, of which " + used.map((part) => part.name + " " + number(part.of(cell)) + " ms").join(", ")).join("; ") };
  });

  // Lines from the low to the high end of each point's interval.
  const whiskers = { id: "whiskers", beforeDatasetsDraw(chart) {
    const { ctx: context, chartArea: frame } = chart;
    const scale = chart.scales.x;
    const at = (value) => Math.min(frame.right, Math.max(frame.left, scale.getPixelForValue(value)));
    context.save();
    context.lineWidth = 1.5;
    chart.getDatasetMeta(0).data.forEach(function (place, index) {
      const set = chart.data.datasets[0];
      const point = set.data[index];
      if (typeof point.low !== "number") return;
      if (tandem.tooWide(point.low, point.high)) {
        context.font = "11px system-ui, sans-serif";
        context.fillStyle = colour("soft");
        context.textAlign = "center";
        context.fillText(tandem.wide, Math.min(frame.right - 40, Math.max(frame.left + 40, place.x)), place.y - 8);
        return;
      }
      context.strokeStyle = set.borderColor[index];
      context.beginPath();
      for (const end of [point.low, point.high]) {
        // No cap at the frame: the interval goes on beyond it.
        const cap = at(end) === scale.getPixelForValue(end) ? 4 : 0;
        context.moveTo(place.x, place.y); context.lineTo(at(end), place.y);
        context.moveTo(at(end), place.y - cap); context.lineTo(at(end), place.y + cap);
      }
      context.stroke();
    });
    context.restore();
  } };

  const ends = (point) => tandem.tooWide(point.low, point.high) ? " (" + tandem.wide + ")" : (point.low === null ? " (no interval)" : " [" + number(point.low) + " .. " + number(point.high) + "]");

  const verdictColours = { faster: "ddp", slower: "dp", "not resolved": "single" };

  // The line at 1, where neither is faster.
  const parity = { id: "parity", beforeDatasetsDraw(chart) {
    const { ctx: context, chartArea: frame } = chart;
    const x = chart.scales.x.getPixelForValue(1);
    context.save();
    context.strokeStyle = colour("ink");
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x, frame.top);
    context.lineTo(x, frame.bottom);
    context.stroke();
    context.restore();
  } };

  // Very wide intervals must not flatten the rest: the axis ends at half and twice the centres.
  function span(rows) {
    const all = rows.flatMap((row) => (tandem.tooWide(row.low, row.high) ? [row.center, 1] : [row.low ?? row.center, row.high ?? row.center, 1]));
    const centers = rows.map((row) => row.center).concat(1);
    const from = Math.max(Math.min(...all), 0.5 * Math.min(...centers));
    const to = Math.min(Math.max(...all), 2 * Math.max(...centers));
    const step = [0.02, 0.05, 0.1, 0.2, 0.5].find((width) => to - from < 10 * width) || 2;
    return { low: Math.max(0, Math.floor(from / step - 0.1) * step), high: Math.ceil(to / step + 0.1) * step, step: step };
  }

  tandem.drawers.push(function forest() {
    const rows = data.pairs;
    if (!element("forest") || rows.length === 0) return;
    height("forest", 84 + (element("forest").parentNode.clientWidth < 560 ? 40 : 30) * rows.length);
    const narrow = element("forest").parentNode.clientWidth < 560;
    const width = element("forest").parentNode.clientWidth;
    const inks = rows.map((row) => colour(verdictColours[row.verdict]));
    const { low, high, step } = span(rows);
    const work = rows.every((row) => row.work);
    const ratio = work ? "host work of dp / ddp" : "speed of ddp / dp";
    const said = (row) => (row.work ? "ddp has " + ({ faster: "less", slower: "more" }[row.verdict] || "no resolved difference in") + " host work" : "ddp is " + row.verdict) + (row.equal ? ", " + row.equal : "");
    const sides = work ? ["dp has less", "ddp has less"] : ["dp faster", "ddp faster"];
    const x = axis(narrow ? "\u25c0 " + sides.join(" | ") + " \u25b6" : sides[0] + "  \u25c0  " + ratio + "  \u25b6  " + sides[1],
                   { min: low, max: high, ticks: { color: colour("soft"), stepSize: step, autoSkip: narrow, maxRotation: 0, callback: (value) => value.toFixed(2) + "x" } });
    const y = { reverse: true, min: -0.6, max: rows.length - 0.4, grid: { display: false, borderColor: colour("line") },
                afterBuildTicks(scale) { scale.ticks = rows.map((_, at) => ({ value: at })); },
                ticks: { color: colour("ink"), autoSkip: false, callback: (value) => short(rows[value] ? rows[value].label : "", width) } };
    const config = { type: "scatter",
                     data: { datasets: [{ label: ratio, data: rows.map((row, at) => ({ x: row.center, y: at, low: row.low, high: row.high })), borderColor: inks, backgroundColor: inks,
                                          pointBackgroundColor: rows.map((row, at) => (row.low === null || tandem.tooWide(row.low, row.high) ? colour("panel") : inks[at])), pointRadius: 5, pointHoverRadius: 6, borderWidth: 2 }] },
                     options: options({ x: x, y: y }, (item) => rows[item.dataIndex].label + ": " + number(item.raw.x) + "x" + ends(item.raw) + ", " + said(rows[item.dataIndex])),
                     plugins: [parity, whiskers] };
    config.options.plugins.legend = { display: false };
    tandem.draw("forest", config, rows.map((row) => row.label + ": " + number(row.center) + ends(row) + ", " + said(row)).join("; "));
  });

  function draw_all() {
    Chart.defaults.font.family = "system-ui, sans-serif";
    Chart.defaults.font.size = 12;
    for (const drawer of tandem.drawers) drawer();
  }

  draw_all();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw_all);
  // Paper is white: charts are drawn for it, and again for the screen.
  addEventListener("beforeprint", function () { document.documentElement.classList.add("paper"); draw_all(); });
  addEventListener("afterprint", function () { document.documentElement.classList.remove("paper"); draw_all(); });
})();
