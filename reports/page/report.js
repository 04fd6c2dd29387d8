// SPDX-License-Identifier: Apache-2.0
// Draws the charts of the page from the JSON beside it. Text reaches the page through the canvas
// and textContent alone.
"use strict";

(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const charts = [];

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  // A strategy keeps its colour and its mark in all charts; variants of one share the colour and
  // are told apart by their dashes.
  const marks = { single: "circle", dp: "rectRot", ddp: "triangle",
                  "dp-allreduce": "crossRot", "ddp-replicate": "cross", "independent-threads": "rect",
                  "independent-processes": "rectRounded" };
  function look(series) {
    const launch = series.strategy === "independent" ? "-" + series.launch : "";
    const variant = series.label.split(",").length - 1;
    const ink = colour(series.strategy + launch) || colour("ink");
    return { borderColor: ink, backgroundColor: ink, pointStyle: marks[series.strategy + launch] || "star",
             borderDash: variant === 0 ? [] : [6, 2 + 2 * variant] };
  }

  // Whiskers for points that carry yLow and yHigh, or xLow and xHigh. One that is too long for the
  // axis ends at the frame in an arrow. Points without an interval are drawn hollow by hollow().
  const whiskers = {
    id: "whiskers",
    beforeDatasetsDraw(chart) {
      const context = chart.ctx;
      const frame = chart.chartArea;
      chart.data.datasets.forEach(function (dataset, index) {
        if (!chart.isDatasetVisible(index)) return;
        chart.getDatasetMeta(index).data.forEach(function (element, at) {
          const point = dataset.data[at];
          const across = point.xLow !== undefined && point.xLow !== null;
          const along = point.yLow !== undefined && point.yLow !== null;
          if (!across && !along) return;
          const scale = across ? chart.scales.x : chart.scales.y;
          const from = scale.getPixelForValue(across ? point.xLow : point.yLow);
          const to = scale.getPixelForValue(across ? point.xHigh : point.yHigh);
          const cap = 4;
          context.save();
          context.beginPath();
          context.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
          context.clip();
          context.strokeStyle = Array.isArray(dataset.borderColor) ? dataset.borderColor[at] : dataset.borderColor;
          context.lineWidth = 1.5;
          context.beginPath();
          if (across) {
            context.moveTo(from, element.y); context.lineTo(to, element.y);
            for (const x of [from, to]) {
              const edge = Math.min(Math.max(x, frame.left), frame.right);
              const back = edge === x ? 0 : x < edge ? 6 : -6;
              context.moveTo(edge + back, element.y - cap); context.lineTo(edge, back ? element.y : element.y + cap);
              if (back) context.lineTo(edge + back, element.y + cap);
            }
          } else {
            context.moveTo(element.x, from); context.lineTo(element.x, to);
            for (const y of [from, to]) {
              const edge = Math.min(Math.max(y, frame.top), frame.bottom);
              const back = edge === y ? 0 : y < edge ? 6 : -6;
              context.moveTo(element.x - cap, edge + back); context.lineTo(back ? element.x : element.x + cap, edge);
              if (back) context.lineTo(element.x + cap, edge + back);
            }
          }
          context.stroke();
          context.restore();
        });
      });
    },
  };

  function number(value) {
    const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : 2;
    return value.toLocaleString("en-US", { maximumFractionDigits: digits });
  }

  function withInterval(value, low, high, unbounded) {
    return low === null || low === undefined ? number(value) + (unbounded ? " (interval unbounded)" : " (no interval)")
                                             : number(value) + " [" + number(low) + " .. " + number(high) + "]";
  }

  // A point without an interval must not look like one that is exact.
  function hollow(inks, lows) {
    return { pointBorderColor: inks, pointBorderWidth: 2,
             pointBackgroundColor: lows.map((low, at) => low === null ? colour("panel") : Array.isArray(inks) ? inks[at] : inks) };
  }

  function title(text) {
    return { display: true, text: text, color: colour("soft") };
  }

  function axis(text, more) {
    return Object.assign({ title: title(text), grid: { color: colour("grid"), borderColor: colour("line") },
                           ticks: { color: colour("soft") } }, more);
  }

  function legend() {
    return { position: "bottom", labels: { color: colour("ink"), usePointStyle: true, boxWidth: 7, boxHeight: 7, padding: 12 } };
  }

  // Device counts stand side by side by their place in the list; series are set off a little, so
  // that whiskers do not hide each other.
  function places(group) {
    return axis("devices", {
      type: "linear", min: -0.4, max: group.devices.length - 0.6,
      grid: { display: false, borderColor: colour("line") },
      afterBuildTicks(scale) { scale.ticks = group.devices.map((_, at) => ({ value: at })); },
      ticks: { color: colour("soft"), callback: (value) => String(group.devices[value]) },
    });
  }

  function seriesOf(group, figure) {
    const shown = group.series.filter((series) => series.points.some((point) => point[figure]));
    return shown.map(function (series, index) {
      const offset = (index - (shown.length - 1) / 2) * 0.05;
      const points = series.points.filter((point) => point[figure]).map(function (point) {
        const [center, low, high, unbounded] = point[figure];
        return { x: group.devices.indexOf(point.devices) + offset, y: center, yLow: low, yHigh: high,
                 unbounded: unbounded !== undefined, devices: point.devices, flag: point.flag };
      });
      const style = look(series);
      return Object.assign(style, hollow(style.borderColor, points.map((point) => point.yLow)), { label: series.label, data: points, borderWidth: 1.5,
                                           pointStyle: points.map((point) => point.flag ? "crossRot" : style.pointStyle),
                                           showLine: points.length > 1, pointRadius: 4.5, pointHoverRadius: 6 });
    });
  }

  // What a perfect division of `single` would give: a reference, drawn as one.
  function reference(group, one) {
    if (one === undefined || group.devices.length < 2) return [];
    return [{ label: "linear from single (not measured)", pointRadius: 0, pointHoverRadius: 0, pointHitRadius: 0,
              pointStyle: "line", borderColor: colour("soft"), backgroundColor: colour("soft"), borderDash: [3, 4],
              borderWidth: 1, showLine: true,
              data: group.devices.map((count, at) => ({ x: at, y: one * count, devices: count })) }];
  }

  function overDevices(canvas, group, figure, label, one) {
    const shown = seriesOf(group, figure);
    const points = shown.flatMap((series) => series.data);
    const top = 1.6 * Math.max(...points.map((point) => point.y));
    const whisker = Math.max(...points.map((point) => point.yHigh || 0));
    return new Chart(canvas, {
      type: "scatter",
      data: { datasets: shown.concat(reference(group, one)) },
      options: {
        responsive: true, maintainAspectRatio: false, animation: false,
        scales: { x: places(group), y: axis(label, { beginAtZero: true, suggestedMax: 1.05 * Math.min(top, whisker) }) },
        plugins: { legend: legend(), tooltip: { callbacks: {
          label: (item) => item.dataset.label + " on " + item.raw.devices + ": " +
              (item.raw.yLow === undefined ? number(item.raw.y) : withInterval(item.raw.y, item.raw.yLow, item.raw.yHigh, item.raw.unbounded)) +
              (item.raw.flag ? ": " + item.raw.flag : "") } } },
      },
      plugins: [whiskers],
    });
  }

  // A hue per phase; work that a single device also does is muted, what parallelism adds is not.
  const phaseColours = {
    forward: "#7fa7c9", backward: "#4f7ea8", loss: "#a9c4da", update: "#8b93a1", input: "#b7bdc7", zero_grad: "#c9cdd4",
    launch: "#8c564b", check: "#c49c94", scatter: "#e0a030", replicate: "#d2691e", gather: "#e8c468",
    scatter_grad: "#b8860b", reduce: "#b03a2e", bucket_copy: "#8e6bbf", exposed_comm: "#c2418c", buffers: "#a07cc5",
    idle: "#d9a7b0", remainder: "#555b66",
  };

  function phases(canvas, group) {
    const bars = group.phases;
    canvas.parentNode.style.height = 90 + 30 * bars.labels.length + "px";
    return new Chart(canvas, {
      type: "bar",
      data: { labels: bars.labels,
              datasets: bars.names.map((name, at) => ({ label: name, data: bars.milliseconds[at], borderWidth: 0,
                                                        backgroundColor: phaseColours[name] || colour("soft") })) },
      options: {
        indexAxis: "y", responsive: true, maintainAspectRatio: false, animation: false,
        scales: { x: axis("mean ms per step, critical device", { stacked: true }),
                  y: axis("", { stacked: true, title: { display: false }, grid: { display: false, borderColor: colour("line") },
                                ticks: { color: colour("ink") } }) },
        plugins: { legend: legend(),
                   tooltip: { callbacks: { label: (item) => item.dataset.label + ": " + item.raw.toFixed(3) + " ms" } } },
      },
    });
  }

  const verdictColours = { faster: "ddp", slower: "dp", "not resolved": "single" };

  // The line at 1, where neither is faster.
  const parity = {
    id: "parity",
    beforeDatasetsDraw(chart) {
      const x = chart.scales.x.getPixelForValue(1);
      const context = chart.ctx;
      context.save();
      context.strokeStyle = colour("ink");
      context.lineWidth = 1;
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(x, chart.chartArea.top);
      context.lineTo(x, chart.chartArea.bottom);
      context.stroke();
      context.restore();
    },
  };

  function forest(canvas, rows) {
    canvas.parentNode.style.height = 64 + 30 * rows.length + "px";
    const inks = rows.map((row) => colour(verdictColours[row.verdict]));
    const ends = rows.flatMap((row) => [row.low === null ? row.center : row.low, row.high === null ? row.center : row.high, 1]);
    // Very wide intervals must not flatten the rest: the axis ends at half and twice the centres.
    const centers = rows.map((row) => row.center).concat(1);
    const from = Math.max(Math.min(...ends), 0.5 * Math.min(...centers));
    const to = Math.min(Math.max(...ends), 2 * Math.max(...centers));
    const step = [0.02, 0.05, 0.1, 0.2, 0.5].find((width) => to - from < 12 * width) || 2;
    const low = Math.max(0, Math.floor(from / step - 0.1) * step);
    const high = Math.ceil(to / step + 0.1) * step;
    return new Chart(canvas, {
      type: "scatter",
      data: { datasets: [{ data: rows.map((row, at) => ({ x: row.center, y: at, xLow: row.low, xHigh: row.high })),
                           borderColor: inks, backgroundColor: inks,
                           ...hollow(inks, rows.map((row) => row.low)), pointRadius: 5, pointHoverRadius: 6 }] },
      options: {
        responsive: true, maintainAspectRatio: false, animation: false,
        scales: {
          x: axis("dp faster  \u25c0  speed of ddp / speed of dp  \u25b6  ddp faster",
                  { min: low, max: high,
                    ticks: { color: colour("soft"), stepSize: step, autoSkip: false, callback: (value) => value.toFixed(2) + "x" } }),
          y: { reverse: true, min: -0.6, max: rows.length - 0.4, grid: { display: false, borderColor: colour("line") },
               afterBuildTicks(scale) { scale.ticks = rows.map((_, at) => ({ value: at })); },
               ticks: { color: colour("ink"), callback: (value) => rows[value].label } },
        },
        plugins: { legend: { display: false }, tooltip: { callbacks: {
          label: (item) => withInterval(item.raw.x, item.raw.xLow, item.raw.xHigh) + ": ddp is " + rows[item.dataIndex].verdict } } },
      },
      plugins: [parity, whiskers],
    });
  }

  function canvas(id) { return document.getElementById(id); }

  function draw() {
    while (charts.length > 0) charts.pop().destroy();
    Chart.defaults.font.family = "system-ui, sans-serif";
    Chart.defaults.font.size = 12;
    if (data.comparisons.length > 0) charts.push(forest(canvas("forest"), data.comparisons));
    data.groups.forEach(function (group, at) {
      charts.push(overDevices(canvas("throughput-" + at), group, "throughput", "samples per second", group.single_throughput));
      if (canvas("speedup-" + at)) {
        charts.push(overDevices(canvas("speedup-" + at), group, "speedup", "speed-up against single", 1));
      }
      if (canvas("phases-" + at)) charts.push(phases(canvas("phases-" + at), group));
    });
  }

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
