/* A catalogue's file to rows: strict CSV in UTF-8, as Python's `csv.reader(strict=True)` reads it. */
(function (calculator) {
  "use strict";
  const LONGEST_CELL = 131072;
  const SPACE = "[\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
  const EDGES = new RegExp(`^${SPACE}|${SPACE}$`, "g");

  /* What is wrong with a catalogue or a question: problems { slug, place, values }, all at once. */
  class Refused extends Error {
    constructor(problems) {
      super(problems.map((one) => `${one.slug} ${one.place ?? ""}`).join("; "));
      this.problems = problems;
    }
  }

  function refuse(slug, line, values = {}) {
    throw new Refused([{ slug, place: line === null ? null : `line ${line}`, values }]);
  }

  /* Spaces at both ends, as Python's `strip` sees them. */
  const strip = (text) => text.replace(EDGES, "");

  /* Bytes to text, a byte-order mark left out. Refused with the first line that is not UTF-8. */
  function decoded(bytes) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      let line = 1, start = 0;
      for (; ; line += 1) {
        const end = bytes.indexOf(10, start);
        const part = end < 0 ? bytes.subarray(start) : bytes.subarray(start, end);
        try { new TextDecoder("utf-8", { fatal: true }).decode(part); } catch { return refuse("price-encoding", line); }
        start = end + 1;
      }
    }
  }

  /* Rows as [first line, cells]; a blank line has no cells. Refused with the line where a row cannot be read. */
  function records(text, delimiter) {
    const rows = [], lines = text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
    let cells = [], cell = "", state = "start", from = 1;
    const keep = () => { cells.push(cell); cell = ""; state = "field"; };
    const spill = () => {
      if (cell.length > LONGEST_CELL && [...cell].length > LONGEST_CELL) { refuse("price-row", from); }
    };
    lines.forEach((line, place) => {
      for (const one of line) {
        const ends = one === "\n" || one === "\r";
        if (state === "quoted") {
          if (one === '"') { state = "quote"; } else { cell += one; spill(); }
        } else if (ends) {
          if (state !== "start" && state !== "ended") { keep(); }
          state = "ended";
        } else if (one === delimiter) {
          keep();
        } else if (state === "quote") {
          if (one !== '"') { refuse("price-row", from); }
          cell += one;
          state = "quoted";
        } else if (one === '"' && state !== "plain") {
          state = "quoted";
        } else {
          cell += one;
          state = "plain";
          spill();
        }
      }
      if (state === "quoted") { return; }
      if (state !== "start" && state !== "ended") { keep(); }
      rows.push([from, cells]);
      [cells, state, from] = [[], "start", place + 2];
    });
    if (state === "quoted") { refuse("price-row", from); }
    return rows;
  }

  calculator.csv = Object.freeze({ Refused, refuse, strip, decoded, records });
})(globalThis.calculator ??= {});
