/* The entries: what the form holds, what is wrong with it, and the link that restores it. */
(function (calculator) {
  "use strict";
  const { decimal } = calculator.exact;
  const { WindowFault, between } = calculator.windows;
  const { say, number, canonical, typed, reads, moment, find, hours: shownHours } = calculator.words;
  const { show, dated, checked, explain, stated, placed, pinned } = calculator.moments;
  const { tasks } = calculator;
  const COUNT = /^[1-9][0-9]{0,5}$/, ACCEPTED = /^[0-9]{1,6}$/, HOURS = /^(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,6})?$/;
  const AMOUNT = /^(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,12})?$/;
  /* Entry, its name in a link; those of `lab price` and `lab window` where they have one. */
  const TYPED = { lots: "lots", periods: "periods", hours: "window", accepted: "accepted-results", hourly: "hourly" };
  const MOMENTS = ["start", "end"], WAYS = ["dates", "tasks", "hours"];
  const mode = () => document.querySelector('input[name="mode"]:checked').value;

  /* A typed number: null when empty, undefined (and the field says why) when it cannot be. */
  function entered(name, form, key, facts) {
    const text = find(name).value;
    if (!text.trim()) { show(name); return null; }
    if (reads(text, form)) { show(name); return canonical(text); }
    show(name, say(key, facts));
    return undefined;
  }

  function count(name) {
    const text = entered(name, COUNT, "wrong.count", { wanted: "2" });
    if (text === null) { show(name, say("wrong.count", { wanted: "2" })); }
    return text === null || text === undefined ? undefined : BigInt(text);
  }

  function reading(found, start, end) {
    const wall = between(start.slice(0, 16), end.slice(0, 16), "UTC").hours;
    const change = wall.n * found.hours.d !== found.hours.n * wall.d && !pinned("start") && !pinned("end");
    const facts = { start: moment(found.start), end: moment(found.end), hours: shownHours(found.hours) };
    return say("reading", facts) + (change ? ` ${say("reading.clocks", { wall: shownHours(wall) })}` : "");
  }

  function byDates() {
    const zone = find("zone").value;
    for (const name of ["start", "end", "zone"]) { show(name); }
    const [start, end] = MOMENTS.map((name) => checked(name, dated(name), zone));
    find("reading").textContent = "";
    if (start === undefined || end === undefined) { return undefined; }
    if (start === null && end === null) { return null; }
    if (start === null || end === null) {
      show(start === null ? "start" : "end", say("wrong.no_other"));
      return undefined;
    }
    try {
      const found = between(start, end, zone);
      find("reading").textContent = reading(found, start, end);
      return found.hours;
    } catch (fault) {
      if (!(fault instanceof WindowFault)) { throw fault; }
      explain(fault, "end");
      return undefined;
    }
  }

  function byHours() {
    const text = entered("hours", HOURS, "wrong.hours", { wanted: number("96.5") });
    return text && decimal(text);
  }

  /* What the form says. A value is null when it is not stated, and undefined when it cannot be. */
  function read() {
    const way = mode();
    for (const one of WAYS) { find(`by-${one}`).hidden = one !== way; }
    find("zoned").hidden = way === "hours";
    const windows = { dates: byDates, tasks: () => tasks.read(find("zone").value), hours: byHours };
    const accepted = entered("accepted", ACCEPTED, "wrong.number", { wanted: "3" });
    const hourly = entered("hourly", AMOUNT, "wrong.amount", { wanted: number("0.69") });
    return {
      gpu: find("gpu").value, lots: count("lots"), periods: count("periods"), quality: find("quality").checked,
      window: windows[way](),
      accepted: accepted && BigInt(accepted),
      hourly: hourly && decimal(hourly), hourlyText: hourly,
    };
  }

  /* The entries as the fragment of a link; what is as it was at first is left out. */
  function fragment() {
    const link = new URLSearchParams({ gpu: find("gpu").value });
    for (const [name, as] of Object.entries(TYPED)) {
      const text = find(name).value, shown = name !== "hours" || mode() === "hours";
      if (shown && (reads(text, AMOUNT) || reads(text, ACCEPTED))) { link.set(as, canonical(text)); }
    }
    if (mode() === "dates") {
      for (const name of MOMENTS) {
        if (find(name).value) { link.set(name, stated(name)); }
      }
      if (link.has("start") || link.has("end")) { link.set("tz", find("zone").value); }
    } else if (mode() === "tasks") {
      const told = tasks.stated();
      for (const one of told.length ? told : [""]) { link.append("task", one); }
      link.set("tz", find("zone").value);
    } else if (!link.has("window")) {
      link.set("window", "");
    }
    if (find("quality").checked) { link.set("quality", "1"); }
    return `#${String(link).replace(/%3A/g, ":").replace(/%2F/g, "/").replace(/%7E/g, "~")}`;
  }

  /* Fill the form from a fragment; `gpuOf` names the card a typed name means, or null. */
  function restore(text, gpuOf) {
    const link = new URLSearchParams(text.replace(/^#/, ""));
    const gpu = link.get("gpu") && gpuOf(link.get("gpu"));
    if (gpu) { find("gpu").value = gpu; }
    for (const [name, as] of Object.entries(TYPED)) { find(name).value = typed(link.get(as) ?? ""); }
    for (const name of ["lots", "periods"]) { find(name).value ||= "1"; }
    const tz = link.get("tz");
    if (tz) { zone(tz); }
    for (const name of MOMENTS) { placed(name, link.get(name) ?? ""); }
    tasks.restore(link.getAll("task"));
    const given = link.has("window") ? "hours" : link.has("task") ? "tasks" : "dates";
    document.querySelector(`input[name="mode"][value="${given}"]`).checked = true;
    find("quality").checked = link.get("quality") === "1";
  }

  /* Choose a zone; one that the list lacks is added, and refused later if nobody knows it. */
  function zone(name) {
    const list = find("zone");
    if (![...list.options].some((one) => one.value === name)) { list.append(new Option(name, name)); }
    list.value = name;
  }

  function zones() {
    const known = typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : [];
    const mine = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    find("zone").append(...[...new Set([...known, "UTC"])].sort().map((one) => new Option(one.replace(/_/g, " "), one)));
    zone(mine || "UTC");
  }

  calculator.entries = Object.freeze({ read, fragment, restore, zones, forget: calculator.moments.forget });
})(globalThis.calculator ??= {});
