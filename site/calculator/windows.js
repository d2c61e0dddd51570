/* Access windows: exact hours between two local times of a named zone, through clock changes, by Intl alone. */
(function (calculator) {
  "use strict";
  const { fraction, decimal, compare, subtract, plain, ceil, divide } = calculator.exact;
  const HOUR = 3600000;
  const FORM = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?(Z|[+-]\d\d:\d\d)?)?$/;
  const clocks = new Map();

  /* What a person has to change: a slug and the facts of its text. */
  class WindowFault extends Error {
    constructor(slug, values) {
      super(slug);
      this.slug = slug;
      this.values = values;
    }
  }

  function clock(zone) {
    if (!clocks.has(zone)) {
      try {
        clocks.set(zone, new Intl.DateTimeFormat("en-US", {
          timeZone: zone, hourCycle: "h23", calendar: "gregory", numberingSystem: "latn",
          year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
        }));
      } catch {
        throw new WindowFault("time-zone-unknown", { zone });
      }
    }
    return clocks.get(zone);
  }

  /* Milliseconds that the clocks of `zone` are ahead of UTC at an instant (whole seconds since 1970, in ms). */
  function ahead(instant, zone) {
    const part = {};
    for (const { type, value } of clock(zone).formatToParts(instant)) { part[type] = +value; }
    return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second) - instant;
  }

  const two = (value) => String(value).padStart(2, "0");

  /* An instant as local text with its offset, `2026-10-25T02:30+02:00`; seconds only where there are any. */
  function local(instant, zone) {
    const offset = ahead(instant, zone), text = new Date(instant + offset).toISOString();
    const minutes = Math.trunc(Math.abs(offset) / 60000);
    const seconds = text.slice(17, 19) === "00" ? "" : text.slice(16, 19);
    return `${text.slice(0, 16)}${seconds}${offset < 0 ? "-" : "+"}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
  }

  /* The instants whose local time in `zone` is `wall` (ms, read as if it were UTC), earliest first where there are two.
     No clock is 26 hours off, and none changes twice in two days: the offsets before and after are the only candidates. */
  function readings(wall, zone) {
    const before = ahead(wall - 26 * HOUR, zone), after = ahead(wall + 26 * HOUR, zone);
    if (before === after) { return { exists: true, instants: [wall - before] }; }
    const both = [before, after].map((offset) => [wall - offset, offset]);
    const valid = both.filter(([instant, offset]) => ahead(instant, zone) === offset);
    return { exists: valid.length > 0, instants: (valid.length ? valid : both).map(([instant]) => instant) };
  }

  /* The instant (ms) that `text` means in `zone`: local time, or with its own offset. WindowFault where it is none, or two. */
  function instant(text, zone) {
    clock(zone);
    const found = FORM.exec(text.trim());
    const [year, month, day, hour, minute, second] = (found ?? []).slice(1, 7).map((one) => +(one ?? 0));
    const wall = found ? Date.UTC(year, month - 1, day, hour, minute, second) : NaN;
    const shown = found && !Number.isNaN(wall) ? new Date(wall) : null;
    const real = shown && shown.getUTCMonth() === month - 1 && shown.getUTCDate() === day
      && shown.getUTCHours() === hour && shown.getUTCMinutes() === minute && second < 60 && year >= 1000;
    if (!real) { throw new WindowFault("time-not-a-date", { found: text }); }
    if (found[4] === undefined) { throw new WindowFault("time-no-time", { found: text }); }
    if (found[7] === "Z") { return wall; }
    if (found[7]) {
      const [hours, minutes] = found[7].slice(1).split(":").map(Number);
      return wall - (found[7][0] === "-" ? -1 : 1) * (hours * HOUR + minutes * 60000);
    }
    const { exists, instants } = readings(wall, zone);
    if (exists && instants.length === 1) { return instants[0]; }
    const [first, last] = instants.map((one) => local(one, zone));
    throw new WindowFault(exists ? "time-twice" : "time-never", { found: text, zone, readings: [first, last] });
  }

  /* Exact hours from `start` to `end`, both with their moments; WindowFault also when the end is not after the start. */
  function between(start, end, zone) {
    const begun = instant(start, zone), ended = instant(end, zone);
    if (ended <= begun) { throw new WindowFault("window-reversed", {}); }
    return { hours: fraction(BigInt(ended - begun), BigInt(HOUR)), start: local(begun, zone), end: local(ended, zone) };
  }

  /* The span of tasks { start, end }, and the hours in which at least one of them runs: overlaps are counted once, and
     what is left of the span is waiting, which counts too. */
  function tasks(list, zone) {
    const each = list.map(({ start, end }) => [instant(start, zone), instant(end, zone)]);
    if (each.some(([begun, ended]) => ended <= begun)) { throw new WindowFault("window-reversed", {}); }
    each.sort(([a], [b]) => a - b); /* instants in whole milliseconds, no money */
    let reached = each[0][0], busy = 0;
    for (const [begun, ended] of each) {
      busy += Math.max(ended - Math.max(begun, reached), 0);
      reached = Math.max(reached, ended);
    }
    const hours = (ms) => fraction(BigInt(ms), BigInt(HOUR)), whole = reached - each[0][0];
    return {
      hours: hours(whole), task_hours: hours(busy), waiting_hours: hours(whole - busy),
      start: local(each[0][0], zone), end: local(reached, zone),
    };
  }

  /* A package of d days covers 24 d hours, and not one second more. */
  function packages(hours, days) {
    return days.map((one) => {
      const left = subtract(decimal(24n * BigInt(one)), hours);
      return { days: one, covers: left.n >= 0n, hours_left: plain(left), left };
    });
  }

  /* Beyond the longest package: how many of it in a row cover the window; null when one is enough. */
  function extra(hours, days) {
    const longest = days.reduce((a, b) => (a > b ? a : b));
    const covered = decimal(24n * BigInt(longest));
    if (compare(hours, covered) <= 0) { return null; }
    const periods = ceil(divide(hours, covered));
    return { days: longest, periods, extra_periods: periods - 1n };
  }

  calculator.windows = Object.freeze({ WindowFault, instant, local, between, tasks, packages, extra });
})(globalThis.calculator ??= {});
