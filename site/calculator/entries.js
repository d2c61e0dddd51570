/* The entries: what the form holds, what is wrong with it, and the link that restores it. */
(function (calculator) {
  "use strict";
  const { decimal } = calculator.exact;
  const { WindowFault, between } = calculator.windows;
  const { say, number, canonical, typed, reads, moment, element, find, hours: shownHours } = calculator.words;
  const COUNT = /^[1-9][0-9]{0,5}$/, ACCEPTED = /^[0-9]{1,6}$/, HOURS = /^(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,6})?$/;
  const AMOUNT = /^(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,12})?$/;
  /* Entry, its name in a link; those of `lab price` and `lab window` where they have one. */
  const TYPED = { lots: "lots", periods: "periods", hours: "window", accepted: "accepted-results", hourly: "hourly" };
  const MOMENTS = { start: "start", end: "end" };
  const offsets = {}; /* of a local time that exists twice, once a person has said which one is meant */

  const mode = () => document.querySelector('input[name="mode"]:checked').value;

  function show(name, ...children) {
    const place = find(`${name}-fault`), field = find(name);
    place.replaceChildren(...children);
    place.hidden = !children.length;
    if (children.length) { field.setAttribute("aria-invalid", "true"); } else { field.removeAttribute("aria-invalid"); }
  }

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

  /* A moment as text for `between`: null when empty, undefined when it is not whole. */
  function dated(name) {
    const field = find(name);
    if (field.value) { return field.value + (offsets[name] ?? ""); }
    if (field.validity.badInput) { show(name, say("wrong.no_date")); return undefined; }
    return null;
  }

  function offer(name, reading) {
    const button = element("button", { type: "button", class: "reading" }, moment(reading));
    button.addEventListener("click", () => {
      find(name).value = reading.replace(/[+-][0-9:]+$/, "");
      offsets[name] = /[+-][0-9:]+$/.exec(reading)[0];
      find(name).dispatchEvent(new CustomEvent("chosen", { bubbles: true }));
      find(name).focus();
    });
    return button;
  }

  function explain(fault, names) {
    const place = fault.slug === "time-zone-unknown" ? "zone" : fault.slug === "window-reversed" ? "end" : names;
    const facts = { ...fault.values, found: String(fault.values.found ?? "").replace("T", " ") };
    const text = fault.slug === "time-not-a-date" ? say("wrong.no_date") : say(`wrong.${fault.slug}`, facts);
    const readings = (fault.values.readings ?? []).map((one) => offer(place, one));
    show(place, element("p", {}, text), ...(readings.length ? [element("p", {}, say("wrong.take")), ...readings] : []));
  }

  /* Whether a moment can be read by itself: undefined, and its field says why, when it cannot. */
  function checked(name, text, zone) {
    if (typeof text !== "string") { return text; }
    try {
      calculator.windows.instant(text, zone);
      return text;
    } catch (fault) {
      if (!(fault instanceof WindowFault)) { throw fault; }
      explain(fault, name);
      return undefined;
    }
  }

  function reading(found, start, end) {
    const wall = between(start.slice(0, 16), end.slice(0, 16), "UTC").hours;
    const change = wall.n * found.hours.d !== found.hours.n * wall.d && !offsets.start && !offsets.end;
    const facts = { start: moment(found.start), end: moment(found.end), hours: shownHours(found.hours) };
    return say("reading", facts) + (change ? ` ${say("reading.clocks", { wall: shownHours(wall) })}` : "");
  }

  function byDates() {
    const zone = find("zone").value;
    for (const name of ["start", "end", "zone"]) { show(name); }
    const [start, end] = Object.keys(MOMENTS).map((name) => checked(name, dated(name), zone));
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

  /* What the form says. A value is null when it is not stated, and undefined when it cannot be. */
  function read() {
    const dates = mode() === "dates";
    find("by-dates").hidden = !dates;
    find("by-hours").hidden = dates;
    const typedHours = dates ? null : entered("hours", HOURS, "wrong.hours", { wanted: number("96.5") });
    const accepted = entered("accepted", ACCEPTED, "wrong.number", { wanted: "3" });
    const hourly = entered("hourly", AMOUNT, "wrong.amount", { wanted: number("0.69") });
    return {
      gpu: find("gpu").value, lots: count("lots"), periods: count("periods"), quality: find("quality").checked,
      window: dates ? byDates() : typedHours && decimal(typedHours),
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
      for (const name of Object.keys(MOMENTS)) {
        if (find(name).value) { link.set(name, find(name).value + (offsets[name] ?? "")); }
      }
      if (link.has("start") || link.has("end")) { link.set("tz", find("zone").value); }
    } else if (!link.has("window")) {
      link.set("window", "");
    }
    if (find("quality").checked) { link.set("quality", "1"); }
    return `#${String(link).replace(/%3A/g, ":").replace(/%2F/g, "/")}`;
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
    for (const name of Object.keys(MOMENTS)) {
      /* A plus sign that somebody typed in a link reads as a space there. */
      const text = (link.get(name) ?? "").replace(/ (?=\d\d:\d\d$)(?<=T.*)/, "+");
      const [, value, offset] = /^(.*?)((?:[+-]\d\d:\d\d)?)$/.exec(text);
      find(name).value = value;
      offsets[name] = offset;
    }
    const given = link.has("window") ? "hours" : "dates";
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

  /* A time typed anew is no longer the reading chosen before. */
  function forget(name) {
    for (const one of name in MOMENTS ? [name] : Object.keys(MOMENTS)) { delete offsets[one]; }
  }

  calculator.entries = Object.freeze({ read, fragment, restore, zones, forget });
})(globalThis.calculator ??= {});
