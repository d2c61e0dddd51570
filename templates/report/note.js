/* Charts that follow light, dark and paper; a table that sorts, filters and pages. The page is whole without it. */
(function () {
  "use strict";
  var PRINT_WIDTH = 655; /* A4 less two margins of 18 mm, in CSS pixels */
  var PAGE = 100; /* rows shown at first, and more at each request */
  var dark = window.matchMedia("(prefers-color-scheme: dark)");

  function colour(name, mode) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + mode + "-" + name).trim();
  }

  function themed(source, mode, width) {
    var figure = JSON.parse(source.textContent);
    var ink = colour("ink", mode), paper = colour("paper", mode), line = colour("line", mode);
    var layout = figure.layout;
    layout.paper_bgcolor = paper;
    layout.plot_bgcolor = paper;
    layout.font = { color: ink, size: 13, family: getComputedStyle(document.body).fontFamily };
    layout.hoverlabel = { bgcolor: paper, bordercolor: colour("quiet", mode), font: { color: ink } };
    layout.width = width;
    Object.keys(layout).forEach(function (key) {
      if (/^xaxis|^yaxis/.test(key)) {
        layout[key].gridcolor = line;
        layout[key].linecolor = line;
        layout[key].tickfont = { color: ink };
        if (layout[key].title) { layout[key].title.font = { color: colour("quiet", mode), size: 13 }; }
      }
    });
    figure.data.forEach(function (trace) {
      if (trace.meta === "ink") {
        trace.textfont = { color: ink, size: 13 };
        if (trace.marker) { trace.marker.color = ink; trace.marker.line.color = ink; }
      }
      if (trace.meta === "outlined") { trace.marker.line.color = ink; }
    });
    return figure;
  }

  function draw(printing) {
    var mode = dark.matches && !printing ? "dark" : "light";
    document.querySelectorAll(".chart").forEach(function (place) {
      var width = printing ? PRINT_WIDTH : place.clientWidth;
      if (!width) { return; }
      var figure = themed(document.getElementById(place.id + "-data"), mode, width);
      window.Plotly.react(place, figure.data, figure.layout, { displayModeBar: false, responsive: false, displaylogo: false });
    });
  }

  function charts() {
    if (!window.Plotly || !document.querySelector(".chart")) { return; }
    var width = 0, waiting = 0;
    draw(false);
    document.querySelectorAll(".without-script").forEach(function (one) { one.hidden = true; });
    dark.addEventListener("change", function () { draw(false); });
    window.addEventListener("resize", function () {
      if (width === document.body.clientWidth) { return; }
      width = document.body.clientWidth;
      clearTimeout(waiting);
      waiting = setTimeout(function () { draw(false); }, 100);
    });
    window.addEventListener("beforeprint", function () { draw(true); });
    window.addEventListener("afterprint", function () { draw(false); });
    document.querySelectorAll("[data-image]").forEach(function (button) {
      button.parentNode.hidden = false;
      button.addEventListener("click", function () {
        var place = document.getElementById(button.dataset.image);
        window.Plotly.downloadImage(place, { format: "png", scale: 2, filename: button.dataset.name,
          width: place.clientWidth, height: place.clientHeight });
      });
    });
  }

  function folds() {
    var opened = [];
    window.addEventListener("beforeprint", function () {
      opened = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
      opened.forEach(function (one) { one.open = true; });
    });
    window.addEventListener("afterprint", function () {
      opened.forEach(function (one) { one.open = false; });
      opened = [];
    });
  }

  function value(row, column) {
    var cell = row.cells[column];
    return cell.dataset.sort !== undefined ? cell.dataset.sort : cell.textContent;
  }

  function compare(a, b) {
    if (a === "" || b === "") { return a === b ? 0 : a === "" ? 1 : -1; }
    var x = Number(a), y = Number(b);
    return isNaN(x) || isNaN(y) ? a.localeCompare(b, document.documentElement.lang, { numeric: true }) : x - y;
  }

  function table(tools) {
    var shownTable = document.getElementById(tools.dataset.tools), body = shownTable.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows), limit = PAGE;
    var words = rows.map(function (row) { return row.textContent.toLocaleLowerCase(); });
    var order = rows.map(function (_, place) { return place; });
    var input = tools.querySelector("input"), output = tools.querySelector("output");
    var more = document.querySelector('[data-more="' + shownTable.id + '"]');

    function show() {
      var wanted = input.value.trim().toLocaleLowerCase(), found = 0;
      order.forEach(function (place) {
        var fits = !wanted || words[place].indexOf(wanted) >= 0;
        if (fits) { found += 1; }
        rows[place].hidden = !fits || found > limit;
      });
      more.hidden = found <= limit;
      output.textContent = found ? tools.dataset.shown.replace("{shown}", Math.min(found, limit)).replace("{all}", rows.length) : tools.dataset.empty;
    }

    Array.prototype.forEach.call(shownTable.tHead.rows[0].cells, function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.title = tools.dataset.sort;
      /* The label stays outside: Chromium leaves buttons out of the header that it repeats on each printed page. */
      button.setAttribute("aria-label", tools.dataset.sort + " " + head.firstElementChild.textContent);
      head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") === "ascending";
        Array.prototype.forEach.call(head.parentNode.cells, function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        order.sort(function (a, b) {
          var x = value(rows[a], column), y = value(rows[b], column), first = compare(x, y);
          return (down && x !== "" && y !== "" ? -first : first) || a - b;
        });
        order.forEach(function (place) { body.appendChild(rows[place]); });
        show();
      });
    });
    input.addEventListener("input", function () { limit = PAGE; show(); });
    more.querySelector("button").addEventListener("click", function () { limit += PAGE; show(); });
    tools.hidden = false;
    show();
  }

  folds();
  charts();
  document.querySelectorAll("[data-tools]").forEach(table);
})();
