/* Search over the site without a server: every word of the question must begin a word of what is found. */
"use strict";
(() => {
  const MOST = 40;
  const AROUND = 90; // characters shown on either side of the first word found
  const { words, rows } = JSON.parse(document.getElementById("search-data").textContent);
  const query = document.getElementById("query");
  const count = document.getElementById("count");
  const results = document.getElementById("results");

  /** Accents, case and ligatures make no difference: `reussie` finds `Réussie`, `oeuvre` finds `œuvre`. */
  const fold = (text) =>
    text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/œ/g, "oe").replace(/æ/g, "ae");

  /** The words of a text with where each stands in it. */
  const wordsOf = (text) =>
    [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].map((one) => ({ word: fold(one[0]), at: one.index, end: one.index + one[0].length }));

  const entries = rows.map(([part, page, title, href, text]) => ({
    part, page, title, href, text, titleWords: wordsOf(title), textWords: wordsOf(text),
  }));

  /** How well an entry answers, or 0: a word of the title weighs more than one of the text, a whole word more than its beginning. */
  const score = (entry, asked) => {
    let sum = 0;
    for (const one of asked) {
      const weigh = (found, whole, part) =>
        found.some(({ word }) => word === one) ? whole : found.some(({ word }) => word.startsWith(one)) ? part : 0;
      const best = Math.max(weigh(entry.titleWords, 10, 6), weigh(entry.textWords, 3, 1));
      if (best === 0) return 0;
      sum += best;
    }
    return sum;
  };

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  /** Part of a text with the words that were asked for marked in it. */
  const marked = (parent, text, found, asked, from, to) => {
    let at = from;
    for (const one of found) {
      if (one.at < at || one.end > to || !asked.some((word) => one.word.startsWith(word))) continue;
      parent.append(text.slice(at, one.at), element("mark", text.slice(one.at, one.end)));
      at = one.end;
    }
    parent.append(text.slice(at, to));
  };

  const shown = (entry, asked) => {
    const item = element("li");
    const link = element("a");
    link.href = entry.href;
    marked(link, entry.title, entry.titleWords, asked, 0, entry.title.length);
    const first = entry.textWords.find(({ word }) => asked.some((one) => word.startsWith(one)));
    const middle = first ? first.at : 0;
    const start = entry.textWords.find(({ at }) => at >= middle - AROUND);
    const last = entry.textWords.findLast(({ end }) => end <= middle + 2 * AROUND);
    const from = start && middle > AROUND ? start.at : 0;
    const to = last && entry.text.length > middle + 2 * AROUND ? last.end : entry.text.length;
    const excerpt = element("p", from > 0 ? "… " : "", "excerpt");
    marked(excerpt, entry.text, entry.textWords, asked, from, to);
    if (to < entry.text.length) excerpt.append(" …");
    const heading = element("p");
    heading.append(link);
    item.append(element("p", [entry.part, entry.page].filter(Boolean).join(" · "), "part"), heading, excerpt);
    return item;
  };

  const said = (found) => {
    if (found === 0) return words.none;
    const text = found === 1 ? words["found.one"] : words.found.replace("{n}", found);
    return found > MOST ? `${text} ${words.more.replace("{n}", MOST)}` : text;
  };

  const search = () => {
    const asked = wordsOf(query.value).map(({ word }) => word);
    const found = asked.length === 0 ? [] : entries
      .map((entry, index) => ({ entry, index, score: score(entry, asked) }))
      .filter((one) => one.score > 0)
      .sort((a, b) => b.score - a.score || a.index - b.index);
    results.replaceChildren(...found.slice(0, MOST).map((one) => shown(one.entry, asked)));
    count.textContent = asked.length === 0 ? words.empty : said(found.length);
  };

  const fromAddress = () => {
    const asked = new URLSearchParams(location.hash.slice(1)).get("q");
    if (asked !== null) query.value = asked;
    search();
  };

  query.addEventListener("input", () => {
    history.replaceState(null, "", query.value ? `#${new URLSearchParams({ q: query.value })}` : location.pathname);
    search();
  });
  document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
})();
