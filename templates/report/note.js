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

  function each(selector, act) { Array.prototype.slice.call(document.querySelectorAll(selector)).forEach(act); }

  function draw(place, printing) {
    var width = printing ? PRINT_WIDTH : place.clientWidth;
    if (!width) { return; }
    var mode = dark.matches && !printing ? "dark" : "light";
    var figure = themed(document.getElementById(place.id + "-data"), mode, width);
    window.Plotly.react(place, figure.data, figure.layout, { displayModeBar: false, responsive: false, displaylogo: false });
    place.dataset.drawn = "";
    place.style.minHeight = "";
    each("[data-image='" + place.id + "']", function (button) { button.parentNode.hidden = false; });
    each("[data-instead='" + place.id + "']", function (text) { text.hidden = true; });
  }

  function again() { each(".chart[data-drawn]", function (place) { draw(place, false); }); }

  /* plotly.js is by far the largest part of the page: it waits, as text or as a name, until a chart is due. */
  function library() {
    var source = document.getElementById("plotly"), script = document.createElement("script");
    if (window.Plotly || !source) { return; }
    source.removeAttribute("id");
    script.addEventListener("load", function () { idle(next); });
    if (source.dataset.src) { script.src = source.dataset.src; } else { script.textContent = source.textContent; }
    document.body.appendChild(script);
    if (window.Plotly) { idle(next); } /* a text runs at once, and has no load event */
  }

  function next() {
    var waits = Array.prototype.slice.call(document.querySelectorAll(".chart:not([data-drawn])"));
    var shown = waits.filter(function (place) { return place.clientWidth; });
    if (shown.length) { draw(shown[0], false); idle(next); }
  }

  function idle(act) {
    if (window.requestIdleCallback) { window.requestIdleCallback(act, { timeout: 1000 }); } else { setTimeout(act, 100); }
  }

  function charts() {
    if (!document.querySelector(".chart")) { return; }
    var width = document.body.clientWidth, waiting = 0;
    each(".chart", function (place) { /* its room is kept, so that nothing moves when it comes */
      place.style.minHeight = JSON.parse(document.getElementById(place.id + "-data").textContent).layout.height + "px";
    });
    if (document.readyState === "complete") { idle(library); } else { window.addEventListener("load", function () { idle(library); }); }
    dark.addEventListener("change", again);
    window.addEventListener("resize", function () {
      if (width === document.body.clientWidth) { return; }
      width = document.body.clientWidth;
      clearTimeout(waiting);
      waiting = setTimeout(again, 100);
    });
    window.addEventListener("beforeprint", function () {
      library();
      if (window.Plotly) { each(".chart", function (place) { draw(place, true); }); }
    });
    window.addEventListener("afterprint", again);
    each("[data-image]", function (button) {
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
