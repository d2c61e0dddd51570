/* Texts, numbers and small pieces of the page, as its language writes them. */
(function (calculator) {
  "use strict";
  const { plain, written, zero, subtract } = calculator.exact;
  const data = JSON.parse(document.getElementById("calculator-data").textContent);
  const LOCALES = { en: "en-GB" };

  /* The text of a key with its places filled; facts are always shown as text, never as markup. */
  function say(key, facts = {}) {
    return data.words[key].replace(/\{(\w+)\}/g, (_, name) => String(facts[name]));
  }

  const number = (text) => written(String(text), data.marks);
  const hours = (amount) => number(plain(amount.n < 0n ? subtract(zero, amount) : amount));
  const moneyMarks = { ...data.marks, group: data.marks.money_group };
  const money = (text, currency) => `${written(String(text), moneyMarks)}\u00a0${currency}`;
  /* A price as its catalogue states it, with two decimals at least. */
  const price = (text, currency) => {
    const [whole, rest = ""] = text.split(".");
    return money(`${whole}.${rest.padEnd(2, "0")}`, currency);
  };
  const days = (count) => say(count === 1n ? "day" : "days", { n: number(count) });
  const cards = (count) => say(count === 1n ? "price.card" : "price.cards", { n: number(count) });

  /* A typed number as JSON holds it: in the language's own form only, since `1.234` and `1,234` can mean two numbers. */
  const canonical = (typed) => typed.trim().replace(data.marks.decimal, ".");
  const typed = (text) => text.replace(".", data.marks.decimal);
  const reads = (text, form) => form.test(canonical(text)) && !(data.marks.decimal === "," && text.includes("."));

  /* `2026-10-25T02:30+02:00` as a date that nobody can read in two ways, with its offset. */
  function moment(local) {
    const [, date, time, offset] = /^(\S+)T([0-9:]+)([+-][0-9:]+)$/.exec(local);
    const form = new Intl.DateTimeFormat(LOCALES[data.language] ?? data.language, {
      timeZone: "UTC", weekday: "long", day: "numeric", month: "long", year: "numeric",
    });
    return `${form.format(new Date(`${date}T00:00Z`)).replace(/,/g, "")}, ${time} UTC${offset}`;
  }

  /* A problem of a catalogue: where it is, what was found, what to do. */
  function problem({ slug, place, values }) {
    const where = place && say("place.line", { number: place.replace("line ", "") });
    const line = (_, before, n) => before + say("place.line", { number: n });
    const facts = { ...values, first: values.first && values.first.replace(/(^|, )line (\d+)$/, line) };
    const found = say(`fault.${slug}`, facts);
    return { found: where ? say("place.fault", { where, found }) : found, todo: say(`fault.${slug}.do`, facts) };
  }

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) { made.setAttribute(name, value); }
    made.append(...children.filter((one) => one !== null));
    return made;
  }

  /* Text in which what stands between backticks is a name or a value of a file. */
  function marked(text) {
    return text.split("`").map((part, place) => (place % 2 ? element("code", { class: "mono" }, part) : part));
  }

  const find = (id) => document.getElementById(id);

  calculator.words = Object.freeze({
    data, say, number, hours, money, price, days, cards, canonical, typed, reads, moment, problem, element, marked, find,
  });
})(globalThis.calculator ??= {});
