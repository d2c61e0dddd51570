/* The page at work: entries in, results out, a link that holds the entries, and a reader's own catalogues. */
(function (calculator) {
  "use strict";
  const { prices, entries, results } = calculator;
  const { data, say, number, problem, element, marked, find } = calculator.words;
  const LARGEST = 20000000; /* bytes */
  const catalogues = [{
    name: data.catalogue.name, own: false, used: true,
    offers: prices.readCatalogue(data.catalogue.text, data.rules, data.catalogue.name),
  }];

  const offers = () => prices.together(catalogues.filter((one) => one.used).map((one) => one.offers));

  function gpuOf(typed) {
    try {
      return prices.findGpu(offers(), typed);
    } catch (refused) {
      if (!(refused instanceof prices.Refused)) { throw refused; }
      return null;
    }
  }

  /* The cards of the catalogues in use, each once, by the name its catalogue gives it. */
  function cards() {
    const list = find("gpu"), chosen = list.value, named = new Map();
    for (const one of offers()) { if (!named.has(one.gpu)) { named.set(one.gpu, one.name); } }
    list.replaceChildren(...[...named].map(([gpu, name]) => new Option(name, gpu)));
    if (named.has(chosen)) { list.value = chosen; }
  }

  function listed() {
    find("catalogues").replaceChildren(...catalogues.map((one) => {
      const box = element("input", { type: "checkbox" });
      box.checked = one.used;
      box.addEventListener("change", () => { one.used = box.checked; cards(); update(); });
      const versions = [...new Set(one.offers.map((offer) => offer.catalogue_version))].join(", ");
      const facts = { file: one.name, n: number(one.offers.length), versions };
      const said = element("span", {}, say(one.own ? "catalogue.own" : "catalogue.shipped", facts));
      return element("li", {}, element("label", { class: "confirm" }, box, said));
    }));
  }

  function update() {
    const link = entries.fragment();
    results.show(entries.read(), offers());
    history.replaceState(null, "", link);
    for (const one of document.querySelectorAll(".languages a")) {
      one.setAttribute("href", one.getAttribute("href").split("#")[0] + link);
    }
  }

  function refusal(name, problems) {
    const shown = problems.map((one) => (one.slug ? problem(one) : { found: one.text, todo: "" }));
    const lines = shown.map(({ found, todo }) => element(
      "li", {}, ...marked(`${found} `), element("span", { class: "note" }, ...marked(todo)),
    ));
    const head = element("p", {}, say("refused", { file: name }));
    return element("div", { class: "refusal" }, head, element("ul", {}, ...lines));
  }

  /* Take catalogues that a person chose or dropped. They are read here, and stay here. */
  async function take(files) {
    const refusals = [];
    for (const file of files) {
      try {
        if (file.size > LARGEST) {
          throw new prices.Refused([{ slug: null, text: say("refused.big", { n: number(LARGEST / 1e6) }) }]);
        }
        const read = prices.readCatalogue(new Uint8Array(await file.arrayBuffer()), data.rules, file.name);
        const others = catalogues.filter((one) => !(one.own && one.name === file.name));
        const spelled = prices.spellings([...others.flatMap((one) => one.offers), ...read]);
        if (spelled.length) { throw new prices.Refused(spelled); }
        const taken = { name: file.name, own: true, used: true, offers: read };
        const before = catalogues.findIndex((one) => one.own && one.name === file.name);
        if (before < 0) { catalogues.push(taken); } else { catalogues[before] = taken; }
      } catch (refused) {
        /* What the browser itself refuses, such as a folder that was dropped, is no catalogue either. */
        const unreadable = [{ slug: null, text: say("refused.unreadable") }];
        refusals.push(refusal(file.name, refused instanceof prices.Refused ? refused.problems : unreadable));
      }
    }
    find("refusals").replaceChildren(...refusals);
    find("files").value = "";
    listed();
    cards();
    update();
  }

  function copy() {
    const link = element("textarea", {}, location.href);
    document.body.append(link);
    link.select();
    const done = document.execCommand("copy"); /* the newer way is refused to pages opened from the disk */
    link.remove();
    find("copy").focus();
    find("copied").textContent = say(done ? "copied" : "copied.not");
  }

  function restore() {
    entries.restore(location.hash, gpuOf);
    update();
  }

  const form = find("entries");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => {
    entries.forget(target.id);
    find("copied").textContent = "";
    update();
  });
  form.addEventListener("chosen", update);
  find("copy").addEventListener("click", copy);
  find("print").addEventListener("click", () => window.print());
  find("again").addEventListener("click", () => {
    entries.restore(`#gpu=${find("gpu").options[0]?.value ?? ""}`, gpuOf);
    find("copied").textContent = "";
    update();
    find("gpu").focus();
  });
  find("files").addEventListener("change", ({ target }) => take([...target.files]));
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) { event.preventDefault(); find("drop").classList.add("over"); }
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) { find("drop").classList.remove("over"); }
  });
  document.addEventListener("drop", (event) => {
    find("drop").classList.remove("over");
    if (event.dataTransfer.files.length) { event.preventDefault(); take([...event.dataTransfer.files]); }
  });
  window.addEventListener("hashchange", restore);

  form.addEventListener("task", update);
  entries.zones();
  listed();
  cards();
  restore();
})(globalThis.calculator ??= {});
