/* Charts that follow light, dark and paper; folds that open on paper. The page is whole without it. */
(function () {
  "use strict";
  var PRINT_WIDTH = 655; /* A4 less two margins of 18 mm, in CSS pixels */
  var WIDE = 640, MARK = 115, NAMES = 170; /* pixels under which a chart is narrow, of a mark with its words, of the names */
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
    if (layout.xaxis2 && layout.xaxis.domain[0]) { /* the crosses need their room on a phone too */
      var gutter = Math.min(layout.xaxis.domain[0] * Math.max(1, WIDE / width), 0.3);
      layout.xaxis.domain = [gutter, 1];
      layout.xaxis2.domain = [0, gutter - 0.02];
    }
    var marks = layout.xaxis.tickvals, each = marks ? Math.ceil(marks.length * MARK / Math.max(width - NAMES, MARK)) : 1;
    if (each > 1) {
      layout.xaxis.tickvals = marks.filter(function (_, place) { return place % each === 0; });
      layout.xaxis.ticktext = layout.xaxis.ticktext.filter(function (_, place) { return place % each === 0; });
    }
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
        if (trace.line) { trace.line.color = ink; }
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

  folds();
  charts();
})();
