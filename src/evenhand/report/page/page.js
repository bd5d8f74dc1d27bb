"use strict";
(() => {
  const read = (id) => {
    const block = document.getElementById(id);
    return block ? JSON.parse(block.textContent) : null;
  };

  // ---- the threshold explorer: everything follows from the counts in the page -------------------------------------

  /** People at or above every stop, for each group and label: suffix sums, so that a threshold is one look-up. */
  const fromTop = (grouping, stops, labels) => {
    const kinds = grouping.groups * labels;
    const sums = Array.from({ length: kinds }, () => new Float64Array(stops + 1));
    let place = 0;
    grouping.at.forEach((step, i) => {
      place += step;
      sums[place % kinds][Math.floor(place / kinds)] += grouping.n[i];
    });
    for (const sum of sums) for (let i = stops - 1; i >= 0; i--) sum[i] += sum[i + 1];
    return sums;
  };

  const over = (part, whole) => (whole > 0 ? part / whole : NaN);

  const outcome = (data, sums, group, stop) => {
    const selected = [], all = [];
    for (let label = 0; label < data.labels; label++) {
      const sum = sums[group * data.labels + label];
      all.push(sum[0]);
      selected.push(data.risk ? sum[0] - sum[stop] : sum[stop]);
    }
    const add = (a) => a.reduce((x, y) => x + y, 0);
    const found = { selected: add(selected), selection_rate: over(add(selected), add(all)) };
    if (data.labels === 2) {
      Object.assign(found, {
        tpr: over(selected[1], all[1]), fpr: over(selected[0], all[0]), ppv: over(selected[1], add(selected)),
        tp: selected[1], fp: selected[0], fn: all[1] - selected[1], tn: all[0] - selected[0],
      });
    }
    return found;
  };

  /** So many digits, as Python writes them: a number exactly between two goes to the even one. */
  const fixed = (x, digits) => {
    const size = Math.abs(x), scale = 10 ** digits, halves = size * 2 ** (digits + 1);
    if (!Number.isInteger(halves) || halves % 2 === 0) return x.toFixed(digits);
    const low = Math.floor(size * scale), even = low % 2 === 0 ? low : low + 1;
    return (Math.sign(x) * even / scale).toFixed(digits);
  };
  const grouped = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const counts = new Set(["selected", "tp", "fp", "fn", "tn"]);
  const shown = (key, value) => {
    if (Number.isNaN(value)) return "–";
    if (counts.has(key)) {
      const [whole, part] = fixed(value, 1).split(".");
      return grouped(whole) + (part === "0" ? "" : "." + part);
    }
    if (key === "ratio") return fixed(value, 2);
    const text = fixed(100 * value, 1);
    return key === "gap" ? (value > 0 ? "+" + text : text) : text + "%";
  };

  const fill = (cell, key, value) => {
    cell.firstChild.nodeValue = shown(key, value);
    cell.dataset.value = value;
    const bar = cell.querySelector("rect:last-child");
    if (bar) bar.setAttribute("width", Number.isNaN(value) ? 0 : 100 * value);
  };

  const unpacked = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

  const explorer = (root, data) => {
    const stops = unpacked(data.stops);
    const slider = root.querySelector("input[type=range]");
    const typed = root.querySelector("input[type=number]");
    const said = root.querySelector("output");
    const tables = Array.from(root.querySelectorAll("table[data-grouping]"), (table) => {
      const grouping = data.groupings[Number(table.dataset.grouping)];
      const cells = Array.from(table.querySelectorAll("td[data-key]"));
      const known = grouping.known.map((own) => (own === null ? null : new Set(own)));
      return { grouping, cells, known, sums: fromTop(grouping, stops.length, data.labels) };
    });
    const last = stops.length;
    const at = (threshold) => { // the first stop at or above a threshold
      let low = 0, high = last;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (stops[middle] < threshold) low = middle + 1; else high = middle;
      }
      return low;
    };
    const show = (stop, threshold) => {
      const written = threshold ?? (stop < last ? stops[stop] : null);
      const rule = written === null
        ? (data.risk ? "everybody receives it" : "nobody receives it")
        : `${data.score} ${data.risk ? "<" : "≥"} ${written}`;
      const same = stop !== data.policy ? "" : written === data.threshold ? " (the audited one)" : " (decides as audited)";
      const named = document.createElement("bdi");
      named.textContent = rule;
      said.replaceChildren("Favourable decision: ", named, same);
      slider.value = stop;
      slider.setAttribute("aria-valuetext", rule);
      typed.value = written === null ? "" : written;
      for (const { grouping, cells, known, sums } of tables) {
        const told = (g) => stop === last || known[g] === null || known[g].has(stop);
        const found = Array.from({ length: grouping.groups }, (_, g) => (told(g) ? outcome(data, sums, g, stop) : {}));
        const reference = found[grouping.reference].selection_rate;
        found.forEach((row) => {
          row.gap = row.selection_rate - reference;
          row.ratio = over(row.selection_rate, reference);
        });
        for (const cell of cells) fill(cell, cell.dataset.key, found[Number(cell.dataset.group)][cell.dataset.key] ?? NaN);
      }
      mark(written);
    };
    slider.addEventListener("input", () => show(Number(slider.value)));
    typed.addEventListener("change", () => {
      const threshold = Number(typed.value);
      if (typed.value !== "" && Number.isFinite(threshold)) {
        const stop = at(threshold);
        show(stop, data.exact ? threshold : undefined);
      }
    });
    // A decision that is no threshold stays as Python wrote it until somebody moves the slider.
    const audited = { rule: Array.from(said.childNodes), cells: tables.map(({ cells }) => cells.map((c) => c.innerHTML)) };
    const restore = () => {
      if (data.policy !== null) { show(data.policy, data.threshold); return; }
      said.replaceChildren(...audited.rule);
      tables.forEach(({ cells }, t) => cells.forEach((c, i) => { c.innerHTML = audited.cells[t][i]; }));
      slider.value = at(stops[Math.floor(last / 2)]);
      typed.value = "";
      mark(null);
    };
    root.querySelector("button").addEventListener("click", restore);
    root.querySelectorAll("[hidden].needs-script").forEach((part) => { part.hidden = false; });
    restore();
  };

  /** The line at the threshold, in every chart that has the score as its horizontal axis. */
  const mark = (threshold) => {
    for (const figure of document.querySelectorAll("figure[data-lo]")) {
      const lo = Number(figure.dataset.lo), hi = Number(figure.dataset.hi);
      const share = threshold === null ? NaN : (threshold - lo) / (hi - lo);
      const inside = share >= 0 && share <= 1;
      for (const line of figure.querySelectorAll(".threshold line")) {
        line.setAttribute("visibility", inside ? "visible" : "hidden");
        if (!inside) continue;
        const y = /,\s*(-?[\d.]+)/.exec(line.getAttribute("transform") ?? "")?.[1] ?? 0;
        line.setAttribute("transform", `translate(${share * Number(figure.dataset.width)},${y})`);
      }
    }
  };

  // ---- tables that sort, a file to keep ------------------------------------------------------------

  const sortable = (table) => {
    const body = table.tBodies[0];
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => {
          const cell = row.cells[column];
          return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
        };
        const before = (a, b) => {
          if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b));
          return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : -1) : Number.isNaN(b) ? 1 : a - b;
        };
        const rows = Array.from(body.rows).sort((a, b) => before(value(a), value(b)));
        body.append(...(down ? rows.reverse() : rows));
      });
    });
  };

  const keep = (button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      const text = document.getElementById("document").textContent + "\n"; // as it is: numbers keep every digit
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      link.download = "evenhand.json";
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  };

  /** A drawing wider than a phone scrolls, by keyboard too. */
  const scrollable = (part) => {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0; else part.removeAttribute("tabindex");
  };
  const fit = () => document.querySelectorAll(".drawing").forEach(scrollable);
  addEventListener("resize", fit);
  document.addEventListener("toggle", fit, true);
  fit();

  // What belongs on paper is printed, folded or not.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details.paper:not([open])"));
    opened.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((part) => { part.open = false; }));

  /** A link to something folded opens it, and what it is folded in. */
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const part = target && target.closest("details");
    if (!part) return;
    for (let own = part; own; own = own.parentElement.closest("details")) own.open = true;
    target.scrollIntoView();
    if (target === part) part.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", unfold);
  unfold();

  /** A table of verdicts: one cell of it is reached by Tab, the others by arrows; its numbers are read out below. */
  const matrix = (table) => {
    const readout = table.closest("section").querySelector(".readout");
    const rows = Array.from(table.tBodies[0].rows, (row) => Array.from(row.cells).slice(1));
    readout.querySelectorAll("[hidden]").forEach((part) => { part.hidden = false; });
    const explained = Array.from(readout.childNodes);
    const tell = (cell) => {
      const strong = document.createElement("strong");
      const group = cell.parentElement.cells[0].querySelector("bdi").cloneNode(true);
      strong.append(group, ", ", cell.dataset.measure);
      const rest = cell.querySelector(".rest");
      readout.replaceChildren(strong, rest ? `${rest.textContent}. ` : ": –. ", cell.dataset.asks ?? "");
    };
    const reach = (cell) => {
      rows.flat().forEach((other) => { other.tabIndex = -1; });
      cell.tabIndex = 0;
    };
    table.setAttribute("role", "grid");
    if (rows[0] && rows[0][0]) reach(rows[0][0]);
    table.addEventListener("pointerover", (event) => {
      const cell = event.target.closest("tbody td");
      if (cell) tell(cell);
    });
    table.addEventListener("pointerleave", () => { readout.replaceChildren(...explained); });
    table.addEventListener("focusin", (event) => {
      const cell = event.target.closest("tbody td");
      if (cell) { reach(cell); tell(cell); }
    });
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("tbody td"), step = steps[event.key];
      if (!cell || !step) return;
      const at = rows.findIndex((row) => row.includes(cell));
      const next = rows[at + step[0]]?.[rows[at].indexOf(cell) + step[1]];
      if (next) { event.preventDefault(); next.focus(); }
    });
  };
  document.querySelectorAll("table.matrix").forEach(matrix);

  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll("button.keep").forEach(keep);
  const root = document.querySelector(".explorer");
  if (root) explorer(root, read("counts"));
})();
