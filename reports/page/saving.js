// SPDX-License-Identifier: Apache-2.0
// Each chart as a file of its own: PNG is the canvas itself, SVG is what Chart.js draws on it, written
// down stroke by stroke. Nothing leaves the page.
"use strict";

(function () {
  const escape = (text) => text.replace(/[&<>"]/g, (sign) => "&#" + sign.charCodeAt(0) + ";");
  const space = (function () {  // the namespace's address, as the browser has it
    const holder = document.createElement("div");
    holder.innerHTML = "<svg></svg>";
    return holder.firstChild.namespaceURI;
  })();
  const short = (value) => Number(value.toFixed(2));

  // Runs `drawing` on the context and returns the SVG elements of all that it paints. Points are taken
  // through the context's own transform, by `base` pixels of the canvas to one of the page.
  function recorded(context, base, id, drawing) {
    const out = [];
    const clips = [];  // one list of clip paths per save()
    let own = [];
    let path = [];
    let clipCount = 0;
    const matrix = () => context.getTransform();
    function point(x, y) {
      const m = matrix();
      return short((m.a * x + m.c * y + m.e) / base) + " " + short((m.b * x + m.d * y + m.f) / base);
    }
    const scale = () => { const m = matrix(); return Math.hypot(m.a, m.b) / base; };
    const clipped = () => (own.length === 0 ? "" : ' clip-path="url(#' + own[own.length - 1] + ')"');
    const colour = (kind, value) => ' ' + kind + '="' + escape(String(value)) + '"';
    const faded = () => (context.globalAlpha === 1 ? "" : ' opacity="' + short(context.globalAlpha) + '"');
    function line(x, y, isFirst) { path.push((isFirst || path.length === 0 ? "M" : "L") + point(x, y)); }
    function round(x, y, rx, ry, turn, from, to, isBack) {
      const whole = 2 * Math.PI;
      let sweep = to - from;
      if (isBack ? sweep > 0 : sweep < 0) sweep = isBack ? sweep % whole - whole : sweep % whole + whole;
      sweep = Math.max(-whole, Math.min(whole, sweep));
      const steps = Math.max(2, Math.ceil(Math.abs(sweep) * 8));
      for (let at = 0; at <= steps; ++at) {
        const angle = from + sweep * at / steps;
        const [dx, dy] = [rx * Math.cos(angle), ry * Math.sin(angle)];
        line(x + dx * Math.cos(turn) - dy * Math.sin(turn), y + dx * Math.sin(turn) + dy * Math.cos(turn), false);
      }
    }
    function box(x, y, width, height) {
      line(x, y, true); line(x + width, y, false); line(x + width, y + height, false); line(x, y + height, false); path.push("Z");
    }
    function fill() { out.push("<path" + colour("fill", context.fillStyle) + faded() + clipped() + ' d="' + path.join("") + '"/>'); }
    function stroke() {
      const dash = context.getLineDash();
      out.push('<path fill="none"' + colour("stroke", context.strokeStyle) + ' stroke-width="' + short(context.lineWidth * scale()) + '"' +
               (dash.length ? ' stroke-dasharray="' + dash.map((one) => short(one * scale())).join(" ") + '"' : "") + faded() + clipped() + ' d="' + path.join("") + '"/>');
    }
    function apart(make, paint) { const kept = path; path = []; make(); paint(); path = kept; }
    const anchors = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
    const shifts = { top: 0.8, hanging: 0.8, middle: 0.35, bottom: -0.2, alphabetic: 0 };
    const kinds = {
      save() { clips.push(own.slice()); },
      restore() { if (clips.length > 0) own = clips.pop(); },
      beginPath() { path = []; },
      closePath() { path.push("Z"); },
      moveTo(x, y) { line(x, y, true); },
      lineTo(x, y) { line(x, y, false); },
      bezierCurveTo(a, b, c, d, x, y) { path.push("C" + point(a, b) + " " + point(c, d) + " " + point(x, y)); },
      quadraticCurveTo(a, b, x, y) { path.push("Q" + point(a, b) + " " + point(x, y)); },
      arc(x, y, radius, from, to, isBack) { round(x, y, radius, radius, 0, from, to, isBack); },
      ellipse(x, y, rx, ry, turn, from, to, isBack) { round(x, y, rx, ry, turn, from, to, isBack); },
      rect: box,
      fill: fill,
      stroke: stroke,
      fillRect(x, y, width, height) { apart(() => box(x, y, width, height), fill); },
      strokeRect(x, y, width, height) { apart(() => box(x, y, width, height), stroke); },
      clip() {
        const name = id + "-clip" + clipCount++;  // of its own where several charts are put on one page
        out.push('<clipPath id="' + name + '"><path d="' + path.join("") + '"' + clipped() + "/></clipPath>");
        own.push(name);
      },
      fillText(text, x, y) {
        const m = matrix();
        const size = parseFloat(context.font.match(/([\d.]+)px/)[1]);
        const turn = Math.atan2(m.b, m.a) * 180 / Math.PI;
        const [px, py] = point(x, y + shifts[context.textBaseline] * size).split(" ");
        out.push('<text x="' + px + '" y="' + py + '"' + colour("fill", context.fillStyle) + ' font-family="system-ui, sans-serif" font-size="' + short(size * scale()) +
                 '" font-weight="' + (/\b(bold|600|700)\b/.test(context.font) ? 600 : 400) + '" text-anchor="' + anchors[context.textAlign] + '"' +
                 (Math.abs(turn) > 0.01 ? ' transform="rotate(' + short(turn) + " " + px + " " + py + ')"' : "") + faded() + clipped() + ">" + escape(String(text)) + "</text>");
      },
    };
    for (const [name, record] of Object.entries(kinds)) {
      const plain = Object.getPrototypeOf(context)[name];
      context[name] = function (...given) { record(...given); return plain.apply(context, given); };
    }
    try { drawing(); } finally { for (const name of Object.keys(kinds)) delete context[name]; }
    return out;
  }

  // The chart as an SVG document, with its words for those who do not see it.
  tandem.svg = function (id) {
    const chart = tandem.charts[id];
    const [width, height] = [chart.width, chart.height];
    const shapes = recorded(chart.ctx, chart.currentDevicePixelRatio, id, () => chart.draw());
    const words = tandem.element(id).getAttribute("aria-label");
    return '<svg xmlns="' + space + '" viewBox="0 0 ' + width + " " + height + '" width="' + width + '" height="' + height + '" role="img"><title>' +
           escape(words) + '</title><rect width="100%" height="100%" fill="' + tandem.colour("panel") + '"/>' + shapes.join("\n") + "</svg>\n";
  };

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

  function button(text, id, act) {
    const control = document.createElement("button");
    control.type = "button";
    control.textContent = text;
    control.setAttribute("aria-label", "Save the chart " + id + " as " + text);
    control.addEventListener("click", () => { if (tandem.charts[id]) act(); });
    return control;
  }

  for (const canvas of document.querySelectorAll(".chart canvas")) {
    const id = canvas.id;
    const place = document.createElement("p");
    place.className = "save";
    place.append("save as ", button("SVG", id, () => save(new Blob([tandem.svg(id)], { type: "image/svg+xml" }), id + ".svg")), " ",
                 button("PNG", id, () => tandem.png(id).then((blob) => save(blob, id + ".png"))));
    canvas.parentNode.after(place);
  }
})();
