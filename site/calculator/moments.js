/* A moment as a person types it: its field, what is wrong with it, and which of two readings is meant. */
(function (calculator) {
  "use strict";
  const { WindowFault } = calculator.windows;
  const { say, moment, element, find } = calculator.words;
  const offsets = {}; /* of a local time that exists twice, once a person has said which one is meant */

  function show(name, ...children) {
    const place = find(`${name}-fault`), field = find(name);
    place.replaceChildren(...children);
    place.hidden = !children.length;
    if (children.length) { field.setAttribute("aria-invalid", "true"); } else { field.removeAttribute("aria-invalid"); }
  }

  /* What stands in a field, with the reading that was chosen. */
  const stated = (name) => find(name).value + (offsets[name] ?? "");
  const pinned = (name) => Boolean(offsets[name]);

  /* A moment as text for `between`: null when empty, undefined when it is not whole. */
  function dated(name) {
    const field = find(name);
    if (field.value) { return stated(name); }
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

  /* Say a fault where it can be put right: at `name`, or at the zone. */
  function explain(fault, name) {
    const place = fault.slug === "time-zone-unknown" ? "zone" : name;
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

  /* Put a moment of a link into its field. A plus sign that somebody typed in a link reads as a space there. */
  function placed(name, text) {
    const [, value, offset] = /^(.*?)((?:[+-]\d\d:\d\d)?)$/.exec(text.replace(/ (?=\d\d:\d\d$)(?<=T.*)/, "+"));
    find(name).value = value;
    offsets[name] = offset;
  }

  /* A time typed anew is no longer the reading chosen before; in another zone, none is. */
  function forget(name) {
    for (const one of name === "zone" ? Object.keys(offsets) : [name]) { delete offsets[one]; }
  }

  calculator.moments = Object.freeze({ show, dated, checked, explain, stated, pinned, placed, forget });
})(globalThis.calculator ??= {});
