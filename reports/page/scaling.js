// SPDX-License-Identifier: Apache-2.0
// The scaling curves, whose controls choose figure, axis and cells: one chart, or one for each source of
// figures. Such panels have one scale, and no line is of two of them.
"use strict";

(function () {
  const id = "scaling-chart";
  if (!tandem.element(id)) return;
  const panels = tandem.panels;
  const hasPanels = panels.length > 1;
  const canvas = (at) => (at === 0 ? id : id + "-" + (at + 1));
  const isProjected = panels.some((panel) => panel.projected) || (tandem.cells.length > 0 && tandem.cells.every((cell) => cell.conditions.includes(", simulated")));
  // If projected devices each get the same samples, there are no more shares than batches; with --batch they share one.
  const known = tandem.cells.concat(tandem.projected);
  const isWeak = isProjected && tandem.distinct(known.map((cell) => cell.batch / cell.devices)).length <= tandem.distinct(known.map((cell) => cell.batch)).length;
  // A scale that nobody chose is logarithmic where panels are far apart.
  const state = { figure: "throughput", over: isWeak ? "weak" : "devices", logX: null, logY: null };
  const hidden = new Set();  // strategies

  const figures = { throughput: "samples per second", speedup: "speed-up against single", efficiency: "efficiency against single" };
  // Over what, by which fields the cells of one chart are alike, and what an x is.
  const axes = {
    devices: { text: "devices, batch shared out (strong)", names: ["model", "batch", "conditions"], x: (cell) => cell.devices, title: "devices" },
    weak: { text: "devices, same batch per device (weak)", names: ["model", "share", "conditions"], x: (cell) => cell.devices, title: "devices" },
    batch: { text: "batch", names: ["model", "devices", "conditions"], x: (cell) => cell.batch, title: "samples per step over all devices" },
    size: { text: "model size", names: ["batch", "devices", "conditions"], x: (cell) => cell.parameters / 1e6, title: "million parameters" },
  };
  // The question that most sources answer, the most devices, and the workload with the most of them, show most.
  const most = (values) => values.reduce((a, b) => (b > a ? b : a));
  function widest(field) {
    return function (values, cells) {
      const counts = new Map();
      for (const cell of cells) {
        const key = tandem.fields[field].of(cell);
        const one = counts.get(key) || { panels: new Set(), points: new Set() };
        one.panels.add(cell.panel);
        one.points.add(cell.panel + " " + (state.over === "batch" ? cell.batch : cell.devices));
        counts.set(key, one);
      }
      const weight = (value) => 1e6 * counts.get(value).panels.size + counts.get(value).points.size;
      return values.reduce((a, b) => (weight(b) > weight(a) ? b : a));
    };
  }
  const preferred = { model: widest("model"), batch: widest("batch"), share: widest("share"), devices: most };

  function figureOf(cell) {
    if (state.figure === "throughput") return cell.throughput;
    if (state.over === "weak") return state.figure === "speedup" ? cell.weakSpeedup : cell.weakEfficiency;
    return state.figure === "speedup" ? cell.speedup : cell.efficiency;
  }

  function idealOf(cell) {
    const strong = state.over !== "weak";
    if (state.figure === "throughput") return strong ? cell.ideal : cell.weakIdeal;
    if ((strong ? cell.ideal : cell.weakIdeal) === undefined) return undefined;
    return state.figure === "speedup" ? cell.devices : 1;
  }

  function seriesOf(cells) {
    const x = axes[state.over].x;
    return tandem.distinct(cells.map((cell) => cell.label)).map(function (label) {
      const own = cells.filter((cell) => cell.label === label && figureOf(cell)).sort((a, b) => x(a) - x(b));
      const points = own.map(function (cell) {
        const [center, low, high, unbounded] = figureOf(cell);
        return { x: x(cell), y: center, yLow: low, yHigh: high, unbounded: unbounded !== undefined, cell: cell };
      });
      return { label: label, own: own, points: points };
    }).filter((series) => series.points.length > 0);
  }

  // Series of one strategy look alike: they differ by number. Where lines end at one place,
  // numbers stand beside one another.
  const markWidth = 16;
  function number(series) {
    const kind = (one) => one.own[0].strategy + " " + one.own[0].launch;
    const kinds = new Map();
    for (const one of series) kinds.set(kind(one), (kinds.get(kind(one)) || []).concat(one));
    for (const alike of kinds.values()) alike.forEach((one, at) => { one.number = alike.length > 1 ? at + 1 : 0; });
  }

  function strategy(first) {
    return first.bare + (panels[first.panel].projected ? " (projected)" : first.modelled ? " (modelled)" : "");
  }

  function name(series) { return strategy(series.own[0]); }

  function dataset(series) {
    const style = tandem.look(series.own[0]);
    return Object.assign(style, tandem.hollow(style.borderColor, series.points, series.own[0].modelled), {
      label: name(series), mark: String(series.number || ""), markPlace: Math.max(0, series.number - 1), data: series.points,
      pointStyle: series.points.map((point) => point.cell.flag ? "cross" : style.pointStyle), showLine: series.points.length > 1, pointRadius: 4.5, pointHoverRadius: 6.5,
      tension: 0, hidden: hidden.has(series.own[0].bare) });
  }

  function ideal(cells) {
    const points = new Map();
    for (const cell of cells) {
      const y = idealOf(cell);
      if (y !== undefined) points.set(axes[state.over].x(cell), y);
    }
    if (points.size < 1) return [];
    const list = Array.from(points, ([x, y]) => ({ x: x, y: y })).sort((a, b) => a.x - b.x);
    const ink = tandem.colour("soft");
    return [{ label: panels[cells[0].panel].projected ? "ideal" : "ideal (not measured)", data: list, showLine: true, pointRadius: list.length === 1 ? 3 : 0, pointHitRadius: 0,
              pointStyle: "line", borderColor: ink, backgroundColor: ink, borderDash: [1, 4], borderWidth: 2, tension: 0 }];
  }

  // Its mark at the end of each line: not by dashes and colours alone.
  const marks = {
    id: "marks",
    afterDatasetsDraw(chart) {
      const context = chart.ctx;
      context.save();
      context.font = "600 11px system-ui, sans-serif";
      context.textBaseline = "middle";
      chart.data.datasets.forEach(function (set, index) {
        const places = chart.getDatasetMeta(index).data;
        if (!set.mark || !chart.isDatasetVisible(index) || places.length === 0) return;
        const last = places[places.length - 1];
        context.fillStyle = set.borderColor;
        context.fillText(set.mark, last.x + 9 + markWidth * set.markPlace, last.y);
      });
      context.restore();
    },
  };

  // The interval of a series as a band between its lower and upper ends; where one end is beyond
  // the frame, so is the band. A whisker on each point separates the ends.
  const bands = {
    id: "bands",
    beforeDatasetsDraw(chart) {
      const { ctx: context, chartArea: frame, scales } = chart;
      const at = (value) => scales.y.getPixelForValue(scales.y.type === "logarithmic" ? Math.max(value, scales.y.min) : value);
      context.save();
      context.beginPath();
      context.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
      context.clip();
      chart.data.datasets.forEach(function (set, index) {
        if (!chart.isDatasetVisible(index)) return;
        const ends = set.data.filter((point) => typeof point.yLow === "number" && !tandem.tooWide(point.yLow, point.yHigh));
        context.fillStyle = set.borderColor;
        context.strokeStyle = set.borderColor;
        context.globalAlpha = 0.14;
        context.beginPath();
        ends.forEach((point) => context.lineTo(scales.x.getPixelForValue(point.x), at(point.yHigh)));
        ends.slice().reverse().forEach((point) => context.lineTo(scales.x.getPixelForValue(point.x), at(point.yLow)));
        if (ends.length > 1) context.fill();
        context.globalAlpha = 0.9;
        context.lineWidth = 1.2;
        for (const point of ends) {
          const x = scales.x.getPixelForValue(point.x);
          context.beginPath();
          context.moveTo(x, at(point.yLow)); context.lineTo(x, at(point.yHigh));
          for (const end of [point.yLow, point.yHigh]) { context.moveTo(x - 4, at(end)); context.lineTo(x + 4, at(end)); }
          context.stroke();
        }
      });
      context.restore();
    },
  };

  // Room for the points, and for intervals that are no wider than half of them.
  function top(series) {
    const points = series.flatMap((one) => one.points);
    const highest = Math.max(0, ...points.map((point) => point.y));
    return 1.05 * Math.min(1.6 * highest, Math.max(highest, ...points.map((point) => (tandem.tooWide(point.yLow, point.yHigh) ? 0 : point.yHigh || 0))));
  }

  function isLog(axis, series) {
    if (state[axis] !== null) return state[axis];
    const values = series.flatMap((one) => one.points.map((point) => (axis === "logX" ? point.x : point.y)));
    return hasPanels && Math.max(...values) > (axis === "logX" ? 4 : 20) * Math.min(...values);
  }

  // The ends of the y of all panels, which each would otherwise find for itself.
  function sharedEnds(points, isLogY, highest) {
    const high = Math.max(highest, ...points.map((point) => point.y));
    if (isLogY) {
      const low = 0.8 * Math.min(...points.map((point) => point.y));
      const digits = high > 100 * low ? [1] : high > 20 * low ? [1, 3] : [1, 2, 5];
      const powers = Array.from({ length: Math.ceil(Math.log10(high / low)) + 2 }, (_, at) => 10 ** (Math.floor(Math.log10(low)) + at));
      const ticks = powers.flatMap((power) => digits.map((digit) => digit * power)).filter((tick) => tick >= low && tick <= 1.1 * high);
      return Object.assign(tandem.ticksAt(ticks), { min: low, max: 1.1 * high });
    }
    const step = [1, 2, 2.5, 5, 10].map((digit) => digit * 10 ** Math.floor(Math.log10(high / 5))).find((each) => high / each <= 6);
    return { min: 0, max: step * Math.ceil(high / step), ticks: { color: tandem.colour("soft"), stepSize: step } };
  }

  // In panels the ideals of all of them count, so that each has the same scale.
  function scales(series, ideals) {
    const xs = tandem.distinct(series.flatMap((one) => one.points.map((point) => point.x))).sort((a, b) => a - b);
    const from = xs[0];
    const to = xs[xs.length - 1];
    const isLogX = isLog("logX", series);
    const room = from === to ? 0.5 * from : isLogX ? 0 : 0.06 * (to - from);
    const x = { type: isLogX ? "logarithmic" : "linear", offset: false,
                min: isLogX ? from / 1.15 : from - room, max: isLogX ? to * 1.15 : to + room };
    const isLogY = isLog("logY", series);
    const y = isLogY ? { type: "logarithmic" } : { type: "linear", beginAtZero: true, suggestedMax: top(series) };
    if (hasPanels) Object.assign(y, sharedEnds(series.flatMap((one) => one.points).concat(ideals.flatMap((set) => set.data)), isLogY, top(series)));
    if (state.figure === "efficiency") y.ticks = Object.assign({ color: tandem.colour("soft") }, y.ticks, { callback: (value) => tandem.number(100 * value) + " %" });
    return { x: tandem.axis(axes[state.over].title, Object.assign(x, tandem.ticksAt(xs))), y: tandem.axis(figures[state.figure], y) };
  }

  function tooltip(item) {
    const cell = item.raw.cell;
    if (!cell) return item.dataset.label + ": " + tandem.number(item.raw.y);
    return item.dataset.label + ": " + tandem.withInterval(item.raw) + ", " + (panels[cell.panel].projected ? "projected" : cell.launches + " launches, " + cell.samples + " samples") + (cell.flag ? ": " + cell.flag : "");
  }

  function switches(into) {
    const texts = (names) => Object.entries(names).map(([value, text]) => ({ value: value, text: text.text || text }));
    into.append(tandem.select("figure", "figure", texts(figures), state.figure, function (value) { state.figure = value; redraw(); }));
    into.append(tandem.select("over", "over", texts(axes), state.over, function (value) {
      state.over = value;
      state.logX = value === "batch" || value === "size" || null;
      for (const field of axes[value].names) delete state[field];
      redraw();
    }));
  }

  function strategies(into, series) {
    const group = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = "strategies";
    group.append(legend);
    const shown = new Map(series.map((one) => [one.own[0].bare, one.own[0]]));
    for (const [bare, first] of shown) {
      group.append(tandem.check(hasPanels ? bare : strategy(first), "show " + bare, !hidden.has(bare), function (is_on) {
        if (is_on) hidden.delete(bare); else hidden.add(bare);
        redraw();
      }));
    }
    into.append(group);
  }

  function redraw() {
    tandem.rebuild(id, function (into) {
      switches(into);
      const whole = known.filter((cell) => state.over !== "weak" || Number.isInteger(cell.batch / cell.devices));
      const cells = tandem.choose(into, whole, axes[state.over].names, state, preferred, redraw);
      const charts = panels.map(function (panel, at) {
        const own = cells.filter((cell) => cell.panel === at);
        return { id: canvas(at), panel: panel, cells: own, series: seriesOf(own) };
      });
      const series = charts.flatMap((chart) => chart.series);
      into.append(tandem.check("log x", "log-x", isLog("logX", series), function (is_on) { state.logX = is_on; redraw(); }),
                  tandem.check("log y", "log-y", isLog("logY", series), function (is_on) { state.logY = is_on; redraw(); }));
      strategies(into, series);
      show(charts, series);
    });
  }

  // Many series have as many entries in the legend, below one another where it is narrow, of which
  // Chart.js gives it half the height; and marks beside the lines.
  function heightOf(chart) {
    const isNarrow = tandem.element(chart.id).parentNode.clientWidth < 560;
    const isMany = chart.sets.length > 4;
    return 360 + (isNarrow ? 30 : 10) * (isMany ? chart.sets.length : 0);
  }

  function markRoom(sets) {
    const marked = sets.filter((set) => set.mark);
    const ends = tandem.distinct(sets.flatMap((set) => set.data.map((point) => point.x)));
    return marked.length === 0 || ends.length < 2 ? 0 : markWidth * (1 + Math.max(...marked.map((set) => set.markPlace))) + 4;
  }

  // A legend's line does not break: what is longer than the chart is wide has its whole name at its
  // switch above.
  function entries(chart) {
    const most = Math.floor((chart.width - chart.options.layout.padding.right) / 6.5) - 8;
    return Chart.defaults.plugins.legend.labels.generateLabels(chart).map(function (entry) {
      const set = chart.data.datasets[entry.datasetIndex];
      const text = (set.mark ? set.mark + "  " : "") + entry.text;
      return Object.assign(entry, { text: text.length > most ? text.slice(0, most - 1) + "\u2026" : text });
    });
  }

  function legend() {
    const shown = tandem.legend();
    shown.labels.generateLabels = entries;
    return Object.assign(shown, { onClick: () => {} });
  }

  // The panel's source in lines that are no wider than its chart, so that a saved picture has it, too.
  function titleOf(chart) {
    const most = Math.max(20, Math.floor(tandem.element(chart.id).parentNode.clientWidth / 8.4));
    const lines = [""];
    for (const word of chart.panel.title.split(" ")) {
      const last = lines.length - 1;
      if (lines[last].length + word.length < most) lines[last] += (lines[last] && " ") + word; else lines.push(word);
    }
    return { display: chart.panel.title !== "", text: lines, color: tandem.colour("ink"), font: { size: 13, weight: 600 } };
  }

  // A frame of dashes: what is in it was not measured.
  const frame = {
    id: "frame",
    beforeDatasetsDraw(chart) {
      const { ctx: context, chartArea: area } = chart;
      context.save();
      context.strokeStyle = tandem.colour("field");
      context.setLineDash([6, 5]);
      context.strokeRect(area.left, area.top, area.right - area.left, area.bottom - area.top);
      context.restore();
    },
  };

  // Titles and legends differ in height, axes in width: panels get room for the largest of each.
  function align(drawn) {
    const edges = drawn.map(({ chartArea: area, height }) => ({ top: area.top, left: area.left, bottom: height - area.bottom }));
    const largest = (side) => Math.max(...edges.map((edge) => edge[side]));
    drawn.forEach(function (chart, at) {
      const more = (side) => largest(side) - edges[at][side];
      chart.options.layout.padding = { top: more("top"), left: more("left"), bottom: more("bottom"), right: chart.options.layout.padding.right };
      chart.update();
    });
  }

  function wordsOf(chart) {
    return (chart.panel.title && chart.panel.title + ". ") + figures[state.figure] + " over " + axes[state.over].text + ": " +
           chart.series.map((one) => name(one) + " " + one.points.map((point) => tandem.number(point.x) + ": " + tandem.withInterval(point)).join(", ")).join("; ") +
           (chart.panel.note && ". " + chart.panel.note);
  }

  // The panels share the choices of the controls above.
  function askWhat() {
    const words = { batch: (value) => "batch " + value, share: (value) => value + " samples per device", devices: (value) => value + " devices" };
    const asked = axes[state.over].names.map((field) => (words[field] || String)(state[field]));
    tandem.element("scaling-question").textContent = asked.join(", ") + ": " + figures[state.figure];
  }

  function show(charts, series) {
    const note = tandem.element(id + "-note");
    note.textContent = series.length === 0 ? "Nothing measured has this figure: `single` at the same batch is its baseline." : "";
    if (hasPanels) askWhat();
    for (const chart of charts) {
      number(chart.series);
      const shown = hasPanels && tandem.element(chart.id).closest(".source");
      if (shown) shown.hidden = chart.series.length === 0;
    }
    for (const chart of charts) {
      chart.ideals = ideal(chart.cells);
      chart.sets = chart.series.map(dataset).concat(chart.ideals);
    }
    const height = Math.max(...charts.map(heightOf));
    const right = Math.max(...charts.map((chart) => markRoom(chart.sets)));
    for (const chart of charts) {
      tandem.element(chart.id).parentNode.style.height = height + "px";
      tandem.draw(chart.id, chart.series.length === 0 ? null : {
        type: "scatter",
        data: { datasets: chart.sets },
        options: { layout: { padding: { right: right } }, responsive: true, maintainAspectRatio: false, animation: false,
                   scales: scales(series, charts.flatMap((one) => one.ideals)),
                   plugins: { title: titleOf(chart), legend: legend(), tooltip: { callbacks: { label: tooltip } } } },
        plugins: chart.panel.projected ? [bands, marks, frame] : [bands, marks],
      }, wordsOf(chart));
    }
    if (hasPanels) align(charts.map((chart) => tandem.charts[chart.id]).filter(Boolean));
  }

  // Another width breaks titles and legends elsewhere.
  function followWidth() {
    const place = document.querySelector(".sources");
    let width = place.clientWidth;
    new ResizeObserver(function () {
      if (place.clientWidth === width) return;
      width = place.clientWidth;
      redraw();
    }).observe(place);
  }

  tandem.drawers.push(redraw);
  if (hasPanels) followWidth();
})();
