/* Tables that sort, search, filter and page; long ones take rows and entries from the data beside them. */
(function () {
  "use strict";
  var PAGE = 50; /* rows shown at once */
  var language = document.documentElement.lang;

  function list(found) { return Array.prototype.slice.call(found); }
  function data(source) { return JSON.parse(source.textContent); }
  function values(coded) {
    return coded.each || coded.at.map(function (place) { return coded.of[place]; });
  }
  function element(name, attributes, content) {
    var made = document.createElement(name);
    Object.keys(attributes).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (typeof content === "string") { made.textContent = content; } else { content.forEach(function (one) { made.appendChild(one); }); }
    return made;
  }

  /* Rows that stand in the page: what is not shown is hidden, and comes back on paper. */
  function standing(table) {
    var body = table.tBodies[0], rows = list(body.rows);
    return {
      length: rows.length,
      text: function (place, column) { return rows[place].cells[column].querySelector(".cell > span").textContent; },
      words: function (place) { return rows[place].textContent; },
      sort: function (place, column) {
        var cell = rows[place].cells[column];
        return cell.dataset.sort !== undefined ? cell.dataset.sort : cell.textContent;
      },
      show: function (order, page) {
        order.forEach(function (place) { rows[place].hidden = page.indexOf(place) < 0; body.appendChild(rows[place]); });
      }
    };
  }

  /* Rows that are built when they are shown. */
  function stored(table, source) {
    var body = table.tBodies[0], heads = list(table.tHead.rows[0].cells).map(function (head) {
      var unit = head.querySelector(".unit"), label = head.firstElementChild.textContent;
      return { label: unit ? label + " (" + unit.textContent + ")" : label, number: head.className === "number" };
    });
    var columns = data(source).columns.map(function (column) {
      var found = { mono: column.mono };
      ["text", "note", "state", "sort", "href"].forEach(function (name) { if (column[name]) { found[name] = values(column[name]); } });
      return found;
    });

    function cell(column, place, at) {
      var text = column.text[place], state = column.state && column.state[place], note = column.note && column.note[place];
      var shown = column.href && column.href[place] ? [element("a", { href: column.href[place] }, text)] : text;
      var inner = [element("span", {}, shown)], kind = heads[at].number ? "number" : "";
      if (note) { inner.push(element("span", { "class": "note" }, note)); }
      kind += (column.mono ? " mono" : "") + (state ? " " + state : "");
      var attributes = { "class": kind, "data-label": heads[at].label, role: at ? "cell" : "rowheader" };
      if (!at) { attributes.scope = "row"; }
      return element(at ? "td" : "th", attributes, [element("span", { "class": "cell" }, inner)]);
    }

    return {
      length: columns[0].text.length,
      text: function (place, column) { return columns[column].text[place]; },
      words: function (place) {
        return columns.map(function (column) { return column.text[place] + " " + ((column.note && column.note[place]) || ""); }).join(" ");
      },
      sort: function (place, column) { return (columns[column].sort || columns[column].text)[place] || ""; },
      show: function (order, page) {
        body.textContent = "";
        page.forEach(function (place) {
          body.appendChild(element("tr", { role: "row" }, columns.map(function (column, at) { return cell(column, place, at); })));
        });
      }
    };
  }

  function compare(a, b) {
    if (a === "" || b === "") { return a === b ? 0 : a === "" ? 1 : -1; }
    var x = Number(a), y = Number(b);
    return isNaN(x) || isNaN(y) ? a.localeCompare(b, language, { numeric: true }) : x - y;
  }

  function controls(tools) {
    var table = document.getElementById(tools.dataset.tools);
    var source = document.querySelector('[data-rows="' + table.id + '"]');
    var rows = source ? stored(table, source) : standing(table), words = [], first = 0;
    var order = []; for (var one = 0; one < rows.length; one += 1) { order.push(one); }
    var input = tools.querySelector("input"), output = tools.querySelector("output"), choices = list(tools.querySelectorAll("select"));
    var pager = document.querySelector('[data-pager="' + table.id + '"]'), before = pager.children[0], after = pager.children[1];

    function fits(place, wanted) {
      if (wanted && words[place] === undefined) { words[place] = rows.words(place).toLocaleLowerCase(); }
      return (!wanted || words[place].indexOf(wanted) >= 0) && choices.every(function (choice) {
        return !choice.value || rows.text(place, Number(choice.dataset.column)) === choice.value;
      });
    }

    function show() {
      var wanted = input.value.trim().toLocaleLowerCase();
      var found = order.filter(function (place) { return fits(place, wanted); });
      var page = found.slice(first, first + PAGE);
      rows.show(order, page);
      pager.hidden = found.length <= PAGE;
      before.setAttribute("aria-disabled", String(first === 0));
      after.setAttribute("aria-disabled", String(first + PAGE >= found.length));
      output.textContent = !found.length ? tools.dataset.empty : tools.dataset.shown
        .replace("{first}", (first + 1).toLocaleString(language)).replace("{last}", (first + page.length).toLocaleString(language))
        .replace("{found}", found.length.toLocaleString(language)).replace("{all}", rows.length.toLocaleString(language));
    }

    function again() { first = 0; show(); }

    list(table.tHead.rows[0].cells).forEach(function (head, column) {
      /* The label stays outside: Chromium leaves buttons out of the header that it repeats on each printed page. */
      var label = tools.dataset.sort + " " + head.firstElementChild.textContent;
      var button = element("button", { type: "button", title: label, "aria-label": label }, "");
      head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") === "ascending";
        list(head.parentNode.cells).forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        order.sort(function (a, b) {
          var x = rows.sort(a, column), y = rows.sort(b, column), found = compare(x, y);
          return (down && x !== "" && y !== "" ? -found : found) || a - b;
        });
        again();
      });
    });
    input.addEventListener("input", again);
    choices.forEach(function (choice) { choice.addEventListener("change", again); });
    before.addEventListener("click", function () { if (first) { first -= PAGE; show(); } });
    after.addEventListener("click", function () { if (after.getAttribute("aria-disabled") === "false") { first += PAGE; show(); } });
    if (source) { source.previousElementSibling.classList.add("scripted"); }
    tools.hidden = false;
    show();
  }

  /* A link to what is folded, or not built yet, finds it open. */
  function reveal(id) {
    list(document.querySelectorAll("[data-entries]")).forEach(function (source) {
      var name = source.dataset.entries, place = Number(id.slice(name.length + 1));
      if (id.indexOf(name + "-") !== 0 || document.getElementById(id)) { return; }
      var stored = data(source), title = stored.titles[place];
      if (title === undefined) { return; }
      var pairs = stored.pairs.map(function (pair) { return [pair[0], values(pair[1])[place]]; }).filter(function (pair) { return pair[1]; });
      document.getElementById(name).appendChild(element("div", { "class": "entry", id: id }, [
        element("p", { "class": "mono" }, title),
        element("dl", {}, pairs.map(function (pair) { return element("div", {}, [element("dt", {}, pair[0]), element("dd", {}, pair[1])]); }))
      ]));
    });
    var target = document.getElementById(id), fold = target && target.closest("details");
    if (fold) { fold.open = true; }
    return target;
  }

  document.addEventListener("click", function (event) {
    var link = event.target.closest("a[href^='#']");
    if (link) { reveal(link.getAttribute("href").slice(1)); }
  });
  var asked = location.hash && reveal(location.hash.slice(1));
  if (asked) { asked.scrollIntoView(); }
  list(document.querySelectorAll("[data-tools]")).forEach(controls);
})();
