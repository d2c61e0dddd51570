/* Catalogues and prices by the rules of `calcul_forfaits.py`; what a column accepts is in the page, from there. */
(function (calculator) {
  "use strict";
  const { fraction, decimal, subtract, multiply, divide, compare, ceil, cents, plain, zero } = calculator.exact;
  const { Refused, refuse, strip, decoded, records } = calculator.csv;
  const MARKS = [";", "\t", "|", ","], DELIMITER = ",";

  const READ = {
    str: (text) => text,
    int: (text) => BigInt(text),
    Decimal: (text) => decimal(text),
    bool: (text) => text.toLowerCase() === "true",
    tuple: (text) => text.match(/[^; ][^;]*(?<! )/g) ?? [],
  };

  function forms(rules) {
    return rules.columns.map((one) => ({ ...one, form: new RegExp(`^(?:${one.form})$`, one.any_case ? "iu" : "u") }));
  }

  /* One row to an offer, or the problems of its cells. */
  function offerOf(at, row, columns, rules) {
    const texts = {}, offer = {}, problems = [];
    for (const { name } of columns) { texts[name] = strip(row[name] ?? ""); }
    const own = Object.hasOwn(rules.models, texts.model) ? rules.models[texts.model] : rules.of_models;
    for (const { name, form, type, example, optional, absent } of columns) {
      const text = texts[name];
      let fits = form.test(text), wanted = example, empty = optional;
      if (name === "model") {
        [fits, wanted] = [Object.hasOwn(rules.models, text), Object.keys(rules.models).join(" | ")];
      } else if (rules.of_models.includes(name) && !own.includes(name)) {
        [fits, wanted, empty] = [false, "", true]; /* says nothing to this model, so it has to be empty */
      } else if (name === "price" && texts.model === "forfait") {
        fits = fits && !/\.[0-9]{3}/.test(text); /* a package is in whole cents: `2.071` is two thousand to many */
      }
      offer[name] = fits ? READ[type](text) : absent ?? null;
      if (!fits && (text || !empty)) {
        problems.push({ slug: "price-cell", place: at.place, values: { column: name, value: text, wanted } });
      }
    }
    offer.price_text = texts.price;
    offer.at = at;
    offer.example = texts.catalogue_version.startsWith("example");
    return problems.length ? problems : Object.freeze(offer);
  }

  /* What makes it one offer, which has one price; by the hour, one card is sold as many instances. */
  function identity(offer) {
    const size = offer.days === null ? [offer.name, String(offer.cards_per_lot)] : [];
    return JSON.stringify([offer.gpu, offer.model, String(offer.days), offer.region, offer.spot, ...size]);
  }

  /* A problem for each offer that spells a card otherwise than one before it: `rtx4090` after `rtx-4090`. */
  function spellings(offers) {
    const cards = new Map(), problems = [];
    for (const offer of offers) {
      const key = parts(offer.gpu).join(" "), first = cards.get(key);
      if (first === undefined) { cards.set(key, offer); continue; }
      if (first.gpu === offer.gpu) { continue; }
      const there = first.at.file === offer.at.file ? first.at.place : `${first.at.file}, ${first.at.place}`;
      const values = { gpu: offer.gpu, other: first.gpu, first: there };
      problems.push({ slug: "price-gpu-spellings", place: offer.at.place, values });
    }
    return problems;
  }

  /* Where two catalogues price one offer differently: facts of each such price beside the first one. */
  function twoPrices(offers) {
    const seen = new Map(), told = [];
    const line = (offer) => offer.at.place.replace("line ", "");
    for (const offer of offers) {
      const key = identity(offer), first = seen.get(key);
      if (first === undefined) { seen.set(key, offer); continue; }
      if (!compare(first.price, offer.price) && first.currency === offer.currency) { continue; }
      told.push({
        gpu: offer.gpu, file: offer.at.file, line: line(offer), first_file: first.at.file, first_line: line(first),
        here: `${offer.price_text} ${offer.currency}`, there: `${first.price_text} ${first.currency}`,
      });
    }
    return told;
  }

  /* Offers of rows [place, { column: text }], blank ones passed over; Refused with every bad cell and second price. */
  function offersFromRows(rows, rules, file) {
    const columns = forms(rules), seen = new Map(), problems = [];
    for (const [place, row] of rows) {
      if (!Object.values(row).some((text) => strip(text))) { continue; }
      const offer = offerOf({ file, place }, row, columns, rules);
      if (Array.isArray(offer)) { problems.push(...offer); continue; }
      const key = identity(offer), first = seen.get(key);
      if (first) {
        const [here, there] = [offer, first].map((one) => `${one.price_text} ${one.currency}`);
        problems.push({ slug: "price-twice", place, values: { here, there, gpu: offer.gpu, first: first.at.place } });
      } else {
        seen.set(key, offer);
      }
    }
    problems.push(...spellings(seen.values()));
    if (problems.length) { throw new Refused(problems); }
    return [...seen.values()];
  }

  /* Offers of a CSV, bytes or text, columns in any order; `file` is its name. Refused with each line. */
  function readCatalogue(content, rules, file = null) {
    const rows = records(typeof content === "string" ? content : decoded(content), DELIMITER);
    const header = rows.length ? rows[0][1].map(strip) : [], known = rules.columns.map((one) => one.name);
    const mark = header.length === 1 && MARKS.find((one) => header[0].includes(one));
    if (mark) { refuse("price-delimiter", 1, { found: mark, wanted: DELIMITER }); }
    for (const [line, cells] of rows) {
      if (cells.length && cells.length !== header.length) { refuse("price-row", line); }
    }
    const missing = known.filter((name) => !header.includes(name)).join(", ");
    const unknown = header.filter((name) => !known.includes(name) || header.indexOf(name) !== header.lastIndexOf(name));
    if (missing || unknown.length) {
      refuse("price-columns", 1, { missing: missing || "–", unknown: unknown.join(", ") || "–" });
    }
    const named = rows.slice(1).map(([line, cells]) => [
      `line ${line}`, Object.fromEntries(cells.map((text, place) => [header[place], text])),
    ]);
    const offers = offersFromRows(named, rules, file);
    if (!offers.length) { refuse("price-empty", null); }
    return offers;
  }

  /* Lots and periods 1 or more. Price x lots x periods; a lot's cards are in its price. */
  function pricePackage(offer, lots, periods) {
    return {
      periods,
      committed: cents(fraction(offer.price.n * lots * periods, offer.price.d)),
      covers: fraction(24n * offer.days * periods),
    };
  }

  /* The window rounded up to the increment, at least the minimum, x price x lots. */
  function priceHourly(offer, window, lots) {
    const step = fraction(offer.increment_minutes, 60n), least = offer.minimum_hours ?? zero;
    const billed = multiply(fraction(ceil(divide(window, step))), step);
    const covers = compare(billed, least) < 0 ? least : billed;
    return { periods: 1n, committed: cents(multiply(multiply(offer.price, covers), fraction(lots))), covers };
  }

  /* What an offer answers; `window` a fraction or null, `accepted` a BigInt or null. */
  function row(offer, lots, periods, window, accepted) {
    const quote = offer.days !== null ? pricePackage(offer, lots, periods) : window && priceHourly(offer, window, lots);
    const [status, cost] = costPerResult(quote && quote.committed, accepted);
    const left = quote && window ? subtract(quote.covers, window) : null;
    return {
      offer, lots, periods: quote ? quote.periods : 1n, cards: offer.cards_per_lot * lots,
      committed: quote ? quote.committed : null, covers: quote ? quote.covers : null,
      covers_window: left && left.n >= 0n, left, cost_status: status, cost_per_result: cost, accepted,
    };
  }

  /* Whole budget / accepted results; undefined when none was accepted, not stated when none is known. */
  function costPerResult(committed, accepted) {
    if (committed === null || accepted === null) { return ["not_stated", null]; }
    return accepted ? ["value", cents(divide(decimal(committed), fraction(accepted)))] : ["undefined", null];
  }

  const parts = (name) => name.toLowerCase().match(/[a-z]+|[0-9]+/g) ?? [];
  const same = (a, b) => a.length === b.length && a.every((one, place) => one === b[place]);
  const sorted = (names) => [...new Set(names)].sort((a, b) => (a < b ? -1 : 1));

  /* The gpu that `typed` names, as people type it: `4090`, `RTX 4090`. Refused unless exactly one does. */
  function findGpu(offers, typed) {
    const gpus = sorted(offers.map((one) => one.gpu)), wanted = parts(typed);
    const names = (one) => [one.gpu, one.name, ...one.device_names];
    const named = offers.flatMap((one) => names(one).map((name) => [one.gpu, parts(name)]));
    const of = (fits) => sorted(named.filter(([, part]) => fits(part)).map(([gpu]) => gpu));
    const whole = gpus.includes(typed) ? [typed] : of((part) => same(part, wanted));
    const found = whole.length ? whole : of((part) => wanted.length > 0 && same(part.slice(-wanted.length), wanted));
    if (found.length === 1) { return found[0]; }
    const near = [found, of((part) => part.some((one) => wanted.includes(one))), gpus].find((one) => one.length) ?? [];
    const slug = found.length ? "price-gpu-several" : "price-gpu-unknown";
    throw new Refused([{ slug, place: null, values: { gpu: typed, near: near.join(", ") } }]);
  }

  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

  /* Cheapest first within a currency; what does not cover the window after, what has no budget last. */
  function ranked(rows) {
    const amount = (one) => (one.committed === null ? one.offer.price : decimal(one.committed));
    return [...rows].sort((a, b) => order(a.committed === null, b.committed === null)
      || order(a.covers_window === false, b.covers_window === false)
      || order(a.offer.currency, b.offer.currency) || compare(amount(a), amount(b)));
  }

  /* What `lab price` answers: rows of the gpu, or the one package of `days`. Refused as there. */
  function answer(offers, asked) {
    const { gpu, days = null, lots = 1, periods = 1, window = null, accepted_results: accepted = null } = asked;
    const counts = [["--days", days], ["--lots", lots], ["--periods", periods], ["--window", window]];
    for (const [option, value] of [...counts, ["--accepted-results", accepted]]) {
      const amount = value === null ? null : decimal(value).n;
      if (amount !== null && (amount < 0n || (amount === 0n && option !== "--accepted-results"))) {
        throw new Refused([{ slug: "price-option", place: option, values: { value: String(value) } }]);
      }
    }
    const found = findGpu(offers, gpu), held = offers.filter((one) => one.gpu === found);
    const meant = held.filter((one) => days === null || one.days === BigInt(days));
    if (days !== null && meant.length !== 1) {
      const known = meant.length
        ? meant.map((one) => [one.name, one.region, one.catalogue_version, one.source].filter(Boolean).join(" "))
        : packageDays(held).map(String);
      const values = { gpu: found, days: String(days), held: (known.length ? known : ["–"]).join(", ") };
      throw new Refused([{ slug: meant.length ? "price-offers-several" : "price-days-unknown", place: null, values }]);
    }
    const hours = window === null ? null : decimal(window), count = accepted === null ? null : BigInt(accepted);
    return ranked(meant.map((one) => ({
      ...row(one, BigInt(lots), BigInt(periods), hours, count), rival: rival(one, held, BigInt(periods)),
    })));
  }

  const packageDays = (offers) => [...new Set(offers.map((one) => one.days).filter((one) => one !== null))].sort(order);

  /* A row with the keys and texts of `lab price --json`. */
  function asJson(one) {
    const { offer } = one, missing = one.left === null ? null : one.left.n < 0n ? subtract(zero, one.left) : zero;
    const count = (value) => (value === null ? null : Number(value));
    return {
      gpu: offer.gpu, days: count(offer.days), lots: count(one.lots), cards: count(one.cards), committed: one.committed,
      currency: offer.currency, accepted_results: count(one.accepted), cost_status: one.cost_status,
      cost_per_result: one.cost_per_result, periods: count(one.periods), catalogue_version: offer.catalogue_version,
      covers_hours: one.covers && plain(one.covers), covers_window: one.covers_window,
      hours_missing: missing && plain(missing), name: offer.name, model: offer.model, region: offer.region,
      spot: offer.spot, source: offer.source, example: offer.example,
      break_even_hours: one.rival && plain(one.rival.hours), break_even_price: one.rival && one.rival.price,
    };
  }

  /* Billed hours at which as many cards by the hour cost what the package does; beyond them the package is cheaper. */
  function breakEven(offer, hourly, periods) {
    const whole = fraction(offer.price.n * periods * hourly.cards_per_lot, offer.price.d);
    return divide(whole, fraction(hourly.price.n * offer.cards_per_lot, hourly.price.d));
  }

  /* How many lots of `hourly` hold as many cards as one of `offer`; 0 when no number of them does. */
  function lotsOf(offer, hourly) {
    return offer.cards_per_lot % hourly.cards_per_lot ? 0n : offer.cards_per_lot / hourly.cards_per_lot;
  }

  /* "0.25" taken twice is "0.50": as many decimals as were written. */
  function times(text, count) {
    const [whole, rest = ""] = text.split(".");
    const digits = String(BigInt(whole + rest) * count).padStart(rest.length + 1, "0");
    return rest ? `${digits.slice(0, -rest.length)}.${digits.slice(-rest.length)}` : digits;
  }

  /* The cheapest hourly offer of as many cards, not spot: where it costs as much, and its price; null where none is. */
  function rival(offer, offers, periods) {
    const alike = offers.filter((one) => one.days === null && offer.days !== null && one.currency === offer.currency
      && !one.spot && lotsOf(offer, one));
    const found = alike.map((hourly) => ({ hourly, hours: breakEven(offer, hourly, periods) }));
    const best = found.reduce((a, b) => (a && compare(a.hours, b.hours) >= 0 ? a : b), null);
    return best && { hours: best.hours, price: times(best.hourly.price_text, lotsOf(offer, best.hourly)) };
  }

  /* Offers of several catalogues; one that stands in two of them counts once. */
  function together(catalogues) {
    const text = (_, value) => (typeof value === "bigint" ? String(value) : value);
    const key = (offer) => JSON.stringify({ ...offer, price_text: null, at: null }, text);
    return [...new Map(catalogues.flat().map((one) => [key(one), one])).values()];
  }

  calculator.prices = Object.freeze({
    Refused, readCatalogue, together, spellings, twoPrices, row, ranked, findGpu, answer, packageDays, asJson, breakEven, lotsOf,
  });
})(globalThis.calculator ??= {});
