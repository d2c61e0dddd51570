/* What follows from the entries and the catalogues in use, as elements of the page. */
(function (calculator) {
  "use strict";
  const { fraction, compare, ceil, divide, zero } = calculator.exact;
  const { row, ranked, packageDays, breakEven, lotsOf, twoPrices } = calculator.prices;
  const { packages } = calculator.windows;
  const { data, say, number, hours, money, price, days, cards, element, find } = calculator.words;

  const MARKS = { passed: "✓", failed: "✗" };
  const mark = (state, text) => element(
    "p", { class: `state ${state}` },
    state in MARKS ? element("span", { class: "mark", "aria-hidden": "true" }, `${MARKS[state]} `) : null, text,
  );
  const figure = (label, value, note, absent = false) => element(
    "div", { class: "figure" },
    element("span", { class: "label" }, label), element("span", { class: absent ? "value absent" : "value" }, value),
    note === null ? null : element("span", { class: "note" }, note),
  );

  function named(offer) {
    const spot = offer.spot ? say("spot") : null;
    return [offer.name, offer.region, spot].filter(Boolean).join(" · ");
  }

  /* Whether a package covers the window, and by how many hours. */
  function coverage(covers, window) {
    if (window === null) { return mark("open", say("holds", { hours: hours(covers) })); }
    const left = packages(window, [covers.n / 24n])[0];
    const facts = { hours: hours(left.left) };
    return left.covers ? mark("passed", say("covers", facts)) : mark("failed", say("short", facts));
  }

  function cost(one, entries) {
    const label = say("cost"), { offer } = one;
    if (one.cost_status === "undefined") { return figure(label, say("cost.undefined"), null, true); }
    if (one.cost_status === "not_stated") { return figure(label, say("cost.not_stated"), null, true); }
    if (!entries.quality) { return figure(label, say("cost.unconfirmed"), null, true); }
    const note = say("cost.value", { n: number(entries.accepted) });
    return figure(label, money(one.cost_per_result, offer.currency), note);
  }

  function counted(one) {
    const facts = { cards: cards(one.cards), lots: number(one.lots), periods: number(one.periods) };
    return say("counted", facts);
  }

  /* How often in a row the package would be needed, and what that commits: nothing is extended by itself. */
  function more(one, entries) {
    const once = fraction(24n * one.offer.days);
    if (entries.window === null || compare(one.covers, entries.window) >= 0) { return null; }
    const periods = ceil(divide(entries.window, once)), again = row(one.offer, one.lots, periods, entries.window, null);
    const counts = { n: number(periods), extra: number(periods - 1n), hours: hours(again.covers) };
    const facts = { ...counts, money: money(again.committed, one.offer.currency) };
    return element("p", { class: "more" }, say(periods === 2n ? "more.one" : "more", facts));
  }

  function source(offer) {
    const facts = { catalogue_version: offer.catalogue_version, source: offer.source };
    return element(
      "p", { class: "source" }, say("price.source", facts),
      offer.example ? element("strong", {}, ` ${say("price.example-price")}`) : null,
    );
  }

  /* A package as one column of the comparison; `best` is the row of the smallest budget that covers the window. */
  function priced(one, entries, best) {
    const cheapest = one === best ? element("p", { class: "cheapest" }, say("cheapest")) : null;
    return element(
      "li", { class: one === best ? "package best" : "package" },
      element("div", {}, element("h3", {}, days(one.offer.days)), element("p", { class: "note" }, named(one.offer))),
      coverage(one.covers, entries.window),
      figure(say("committed"), money(one.committed, one.offer.currency), counted(one)),
      cost(one, entries),
      element("div", {}, cheapest, more(one, entries), source(one.offer)),
    );
  }

  function unpriced(count, name, entries) {
    const covers = fraction(24n * count * entries.periods);
    return element(
      "li", { class: "package" },
      element("div", {}, element("h3", {}, days(count)), element("p", { class: "note" }, name)),
      coverage(covers, entries.window),
      figure(say("committed"), say("unknown"), say("unknown.why", { days: days(count), name }), true),
    );
  }

  function answer(entries, best, currencies) {
    if ([entries.lots, entries.periods, entries.window].includes(undefined)) { return say("answer.entries"); }
    if (entries.window === null) { return say("answer.no_window"); }
    const facts = { hours: hours(entries.window) };
    if (currencies > 1) { return say("answer.currencies", facts); }
    if (!best) { return say("answer.none", facts); }
    const budget = money(best.committed, best.offer.currency);
    const chosen = { days: days(best.offer.days), periods: number(best.periods), money: budget };
    return say(best.periods === 1n ? "answer.covers_once" : "answer.covers", { ...facts, ...chosen });
  }

  /* One hourly offer: its price, what the window commits by the hour, and from where on each package costs less. */
  function hourly(offer, entries, rows) {
    const alike = (rows[0] && lotsOf(rows[0].offer, offer)) || 1n; /* as many cards as the packages beside it */
    const one = row(offer, entries.lots * alike, 1n, entries.window, null), typed = offer.model === "typed";
    const counts = { cards: cards(one.cards), lots: number(one.lots) };
    const billed = one.covers && say("hour.hours", { hours: hours(one.covers), ...counts });
    const title = element("h3", {}, say("hour.price", { money: price(offer.price_text, offer.currency) }));
    const who = element("p", { class: "note" }, typed ? say("hour.typed") : named(offer));
    const lines = [say("hour.billed", { n: number(offer.increment_minutes) })];
    if (offer.minimum_hours) { lines.push(say("hour.minimum", { hours: hours(offer.minimum_hours) })); }
    const against = rows.map((pack) => compared(pack, offer, entries.periods));
    return element(
      "div", { class: "hourly" },
      element("div", {}, title, who, element("p", { class: "note" }, lines.join(" "))),
      one.committed === null ? element("p", {}, say("hour.open"))
        : figure(say("hour.committed", { hours: hours(entries.window) }), money(one.committed, offer.currency), billed),
      element("ul", { class: "against" }, ...against.map((text) => element("li", {}, text))),
      typed ? null : source(offer),
    );
  }

  function compared(pack, offer, periods) {
    const facts = { days: days(pack.offer.days), money: money(pack.committed, pack.offer.currency) };
    if (pack.offer.currency !== offer.currency) { return say("hour.currency", facts); }
    if (!lotsOf(pack.offer, offer)) { return say("hour.cards", facts); }
    const from = breakEven(pack.offer, offer, periods);
    if (compare(from, offer.minimum_hours ?? zero) < 0) { return say("hour.even_never", facts); }
    return say(compare(from, pack.covers) >= 0 ? "hour.even_always" : "hour.even", { ...facts, hours: hours(from) });
  }

  /* The price typed to compare with: of a lot like those of the packages, billed by the started hour. */
  function typedOffer(entries, rows) {
    const first = rows[0]?.offer;
    return entries.hourly && first ? [{
      model: "typed", price: entries.hourly, price_text: entries.hourlyText, currency: first.currency, days: null,
      cards_per_lot: first.cards_per_lot, increment_minutes: 60n, minimum_hours: null, spot: false,
    }] : [];
  }

  function remarks(entries, rows, unknown, held) {
    const told = [];
    const enough = (count) => entries.window && packages(entries.window, [count * entries.periods])[0].covers;
    const covering = unknown.filter(enough);
    if (covering.length) { told.push(say("remark.unknown", { days: covering.map(days).join(", ") })); }
    if (rows.some((one) => one.offer.spot)) { told.push(say("remark.spot")); }
    told.push(...twoPrices(held).map((facts) => say("price.two-prices", facts)));
    return told.map((text) => element("li", {}, text));
  }

  /* The packages of a card at the entries' lots and periods, the shortest first. */
  function packageRows(held, entries) {
    const { lots, periods, window, accepted } = entries;
    const rows = held.filter((one) => one.days !== null).map((one) => row(one, lots, periods, window, accepted));
    return rows.sort((a, b) => Number(a.offer.days - b.offer.days)); /* lengths of packages, no money */
  }

  /* The smallest budget among packages that cover the window, when their prices are in one currency. */
  function smallest(rows) {
    const covering = ranked(rows.filter((one) => one.covers_window && !one.offer.spot));
    const currencies = new Set(covering.map((one) => one.offer.currency)).size;
    return { best: currencies === 1 ? covering[0] : null, currencies };
  }

  function columns(rows, held, name, entries, best) {
    const lengths = [...new Set([...data.days.map(BigInt), ...packageDays(held)])].sort((a, b) => (a < b ? -1 : 1));
    return lengths.flatMap((count) => {
      const mine = ranked(rows.filter((one) => one.offer.days === count));
      return mine.length ? mine.map((one) => priced(one, entries, best)) : [unpriced(count, name, entries)];
    });
  }

  function byTheHour(rows, held, name, entries) {
    const offers = [...held.filter((one) => one.days === null), ...typedOffer(entries, rows)];
    if (!offers.length) { return [element("p", { class: "note" }, say("hour.none", { name }))]; }
    return offers.map((one) => hourly(one, entries, rows));
  }

  /* How many cards one lot holds, of the packages where there are any. */
  function lotHint(held, rows) {
    const sold = rows.length ? rows.map((one) => one.offer) : held;
    const inOne = [...new Set(sold.map((one) => cards(one.cards_per_lot)))].join(" / ");
    return sold.length ? say("lot_cards", { cards: inOne }) : "";
  }

  /* Show everything that `entries` (from the form) and the `offers` in use say. */
  function show(entries, offers) {
    const held = offers.filter((one) => one.gpu === entries.gpu), name = held[0]?.name ?? entries.gpu;
    const sound = held.length > 0 && entries.lots !== undefined && entries.periods !== undefined;
    const { window = null, accepted = null } = entries, known = sound ? { ...entries, window, accepted } : null;
    const rows = sound ? packageRows(held, known) : [], { best, currencies } = smallest(rows);
    const unknown = data.days.map(BigInt).filter((count) => !packageDays(held).includes(count));
    find("answer").textContent = held.length ? answer(entries, best, currencies) : say("catalogue.none");
    find("gpu-hint").textContent = lotHint(held, rows);
    find("remarks").replaceChildren(...(sound ? remarks(known, rows, unknown, held) : []));
    find("packages").replaceChildren(...(sound ? columns(rows, held, name, known, best) : []));
    find("by-the-hour").replaceChildren(...(sound ? byTheHour(rows, held, name, known) : []));
  }

  calculator.results = Object.freeze({ show });
})(globalThis.calculator ??= {});
