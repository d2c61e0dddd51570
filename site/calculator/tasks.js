/* The window as a short list of tasks: overlaps are counted once, waiting between them counts. */
(function (calculator) {
  "use strict";
  const { WindowFault, tasks: spanOf } = calculator.windows;
  const { say, moment, element, find, hours } = calculator.words;
  const { show, dated, checked, explain, stated, placed, forget } = calculator.moments;
  const PARTS = ["start", "end"], MARK = "~";
  let made = 0; /* every row has ids of its own, also after others were removed */

  const list = () => find("tasks");
  const rows = () => [...list().children].map((one) => one.dataset.task);
  const changed = () => list().dispatchEvent(new CustomEvent("task", { bubbles: true }));

  function field(id, label, type, fault) {
    const input = element("input", { id, type });
    if (fault) {
      input.setAttribute("aria-describedby", `${id}-fault`);
      [input.min, input.max] = ["1990-01-01T00:00", "2099-12-31T23:59"];
    }
    const told = fault ? element("div", { class: "fault", id: `${id}-fault`, hidden: "" }) : null;
    return element("div", { class: "field" }, element("label", { for: id }, label), input, told);
  }

  /* Numbers go by the place in the list, so that what is read aloud is what is seen. */
  function numbered() {
    for (const [place, one] of [...list().children].entries()) {
      const title = say("task.n", { n: place + 1 });
      one.querySelector("legend").textContent = title;
      one.querySelector(".remove").setAttribute("aria-label", say("task.remove_n", { task: title }));
    }
  }

  function add() {
    const task = `task-${made += 1}`;
    const remove = element("button", { type: "button", class: "remove" }, say("task.remove"));
    const row = element(
      "fieldset", { class: "task" }, element("legend", {}),
      field(`${task}-name`, say("task.name"), "text", false),
      field(`${task}-start`, say("start"), "datetime-local", true),
      field(`${task}-end`, say("end"), "datetime-local", true), remove,
      element("p", { class: "told", id: `${task}-told` }),
    );
    row.dataset.task = task;
    remove.addEventListener("click", () => {
      row.remove();
      for (const part of PARTS) { forget(`${task}-${part}`); }
      if (!rows().length) { add(); }
      numbered();
      find("add-task").focus();
      changed();
    });
    list().append(row);
    numbered();
    return task;
  }

  const said = (span) => say("reading", { start: moment(span.start), end: moment(span.end), hours: hours(span.hours) });

  /* The moments of one row: null when nothing is entered, undefined (and the row says why) when it cannot be. */
  function moments(task, zone) {
    const ids = PARTS.map((part) => `${task}-${part}`);
    for (const id of ids) { show(id); }
    find(`${task}-told`).textContent = "";
    const [start, end] = ids.map((id) => checked(id, dated(id), zone));
    if (start === undefined || end === undefined) { return undefined; }
    if (start === null && end === null) {
      if (!find(`${task}-name`).value.trim()) { return null; }
      show(ids[0], say("wrong.no_date"));
      return undefined;
    }
    if (start === null || end === null) {
      show(start === null ? ids[0] : ids[1], say("wrong.no_other"));
      return undefined;
    }
    try {
      const own = spanOf([{ start, end }], zone); /* on paper it stands in full, whatever form the fields have */
      find(`${task}-told`).textContent = said(own);
      return { start, end };
    } catch (fault) {
      if (!(fault instanceof WindowFault)) { throw fault; }
      explain(fault, ids[1]);
      return undefined;
    }
  }

  /* The hours of the window: null without any task, undefined when one cannot be read. */
  function read(zone) {
    find("reading").textContent = "";
    show("zone");
    const found = rows().map((task) => moments(task, zone)), known = found.filter(Boolean);
    if (found.includes(undefined)) { return undefined; }
    if (!known.length) { return null; }
    const span = spanOf(known, zone);
    const parts = { tasks: hours(span.task_hours), waiting: hours(span.waiting_hours) };
    find("reading").textContent = `${said(span)} ${say("reading.tasks", parts)}`;
    return span.hours;
  }

  /* The rows for a link, empty ones left out. */
  function texts() {
    const told = rows().map((task) => [
      stated(`${task}-start`), stated(`${task}-end`), find(`${task}-name`).value.trim(),
    ]);
    return told.filter((one) => one.some(Boolean)).map((one) => one.join(MARK));
  }

  /* Fill the list from a link; without any task it has one empty row. */
  function restore(given) {
    list().replaceChildren();
    for (const text of given.length ? given : [""]) {
      const [start = "", end = "", ...name] = text.split(MARK), task = add();
      placed(`${task}-start`, start);
      placed(`${task}-end`, end);
      find(`${task}-name`).value = name.join(MARK);
    }
  }

  find("add-task").addEventListener("click", () => {
    find(`${add()}-name`).focus();
    changed();
  });

  calculator.tasks = Object.freeze({ read, stated: texts, restore });
})(globalThis.calculator ??= {});
