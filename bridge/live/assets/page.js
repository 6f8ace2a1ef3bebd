// The page asks its server for a stream of updates and shows each as it comes.
import { age, bars, element, percent, rate, setText, spark, whisker, whole } from "./draw.js";

const byId = id => document.getElementById(id);
const retryMilliseconds = 5000, typingMilliseconds = 250, historyLength = 120;

let source = null;      // the stream that is shown
let paused = false;     // by the user
let retry = 0, typing = 0; // timers
let announced = null;   // the query whose matches were told to screen readers
const history = [];     // rates since the page was opened

function say(state, text) {
  byId("state").dataset.state = state;
  setText(byId("state"), text);
}

// connect opens a stream for what is asked now. The old one goes when the new
// one has something to show, so that the server never sees nobody.
function connect() {
  clearTimeout(retry);
  const query = new URLSearchParams({ q: byId("query").value, by: byId("by").value });
  const old = source;
  const mine = source = new EventSource(`events?${query}`);
  mine.onmessage = message => {
    old?.close();
    if (mine !== source) return mine.close();
    say("live", "live");
    show(JSON.parse(message.data), query.get("q"));
  };
  mine.onerror = () => {
    if (mine !== source) return mine.close();
    say("lost", "no connection, trying again");
    if (mine.readyState === EventSource.CLOSED) retry = setTimeout(connect, retryMilliseconds);
  };
}

function disconnect(text) {
  clearTimeout(retry);
  source?.close();
  source = null;
  say("off", text);
}

// resume connects if anybody looks.
function resume() {
  if (paused) disconnect("paused");
  else if (document.hidden) disconnect("waiting");
  else connect();
}

// show shows one update.
function show(frame, query) {
  document.title = frame.title;
  setText(byId("title"), frame.title);
  showTiles(frame);
  showSeries(frame, query);
  showSection("uniques", frame.uniques, uniquesRow, true);
  showSection("windows", frame.windows, eventsRow, true);
  showSection("exports", frame.exports, exportRow, false);
  showSection("health", frame.health, healthRow, false);
  if (frame.exports.rows.length === 0) setText(byId("exports").querySelector(".note"), "Nothing is exported: the engine counts in memory only.");
}

function showTiles(frame) {
  setText(byId("count"), whole(frame.series));
  setText(byId("hot"), `${frame.rows.filter(r => r.hot).length}`);
  setText(byId("newest"), frame.newest ? `#${whole(frame.newest)}` : "none");
  if (!frame.rated) return;
  setText(byId("rate"), rate(frame.rate));
  history.push(frame.rate);
  if (history.length > historyLength) history.shift();
  spark(byId("history"), history, "Events per second since this page was opened");
}

function showSeries(frame, query) {
  const shown = frame.rows.length;
  const found = query ? `${whole(frame.matches)} of ${whole(frame.series)} series match` : `${whole(frame.series)} series`;
  setText(byId("matches"), shown < frame.matches ? `${found}, ${shown} shown` : found);
  if (announced !== query) {
    if (announced !== null) setText(byId("announce"), found);
    announced = query;
  }
  const body = byId("rows").tBodies[0];
  if (shown === 0) {
    body.replaceChildren(emptyRow(query ? "No series matches." : "No series yet.", 5));
    return;
  }
  fill(body, frame.rows, 5, (cells, row) => counterRow(cells, row, frame.rated));
}

function emptyRow(text, columns) {
  const tr = element("tr"), td = element("td", "empty", text);
  tr.dataset.empty = "yes";
  td.colSpan = columns;
  tr.append(td);
  return tr;
}

// fill makes the rows of a table body as many as needed and lets draw change
// their cells. Rows stay where they are, so that focus and scrolling do too.
function fill(body, rows, columns, draw) {
  if (body.firstElementChild?.dataset.empty) body.replaceChildren();
  while (body.rows.length > rows.length) body.lastElementChild.remove();
  rows.forEach((row, i) => {
    let tr = body.rows[i];
    if (!tr) {
      tr = element("tr");
      tr.setAttribute("role", "row");
      for (let c = 0; c < columns; c++) {
        const td = element("td");
        td.setAttribute("role", "cell");
        tr.append(td);
      }
      body.append(tr);
    }
    draw(tr.cells, row);
  });
}

function showSection(id, section, draw, mayHide) {
  const e = byId(id);
  if (mayHide) e.hidden = section.rows.length === 0;
  fill(e.querySelector("tbody"), section.rows, e.querySelectorAll("th").length, draw);
  setText(e.querySelector(".note"), section.hidden ? `${whole(section.hidden)} more` : "");
}

function nameCell(td, row) {
  if (!td.firstElementChild) {
    td.className = "name";
    td.append(element("span"), element("wbr"), element("span", "labels"));
  }
  setText(td.firstElementChild, row.family);
  setText(td.lastElementChild, row.labels);
}

function numberCell(td, text) {
  td.className = "number";
  setText(td, text);
}

// inside returns a cell's one element, made at the first call.
function inside(td, make) {
  if (!td.firstElementChild) td.append(make());
  return td.firstElementChild;
}

function counterRow(cells, row, rated) {
  nameCell(cells[0], row);
  numberCell(cells[1], whole(row.total));
  numberCell(cells[2], rated ? rate(row.rate) : "–");
  windowCell(cells[3], row.window);
  stripesCell(cells[4], row);
}

function windowCell(td, window) {
  if (!window) {
    td.className = "tag";
    td.replaceChildren("no window");
    return;
  }
  if (td.className) { // there was none before
    td.className = "";
    td.replaceChildren();
  }
  const values = window.perSecond, highest = Math.max(...values, 0), newest = values.at(-1) ?? 0;
  spark(inside(td, () => element("div", "spark")), values,
    `last ${age(window.seconds)}: now ${rate(newest)} per second, at most ${rate(highest)}`);
}

function stripesCell(td, row) {
  const layout = inside(td, () => {
    const e = element("div", "layout");
    e.append(element("span"), element("div", "bars"));
    return e;
  });
  const [tag, picture] = layout.children;
  picture.hidden = !row.hot;
  if (row.hot) {
    const most = Math.max(...row.stripes, 0), sum = row.stripes.reduce((a, b) => a + b, 0) || 1;
    bars(picture, row.stripes, `${row.stripes.length} stripes, the fullest has ${percent(most / sum)}`);
  }
  tag.className = row.hot ? "tag hot" : "tag";
  setText(tag, row.hot ? `hot, skew ${row.skew.toFixed(2)}` : "cold, one cell");
  tag.title = row.hot ? "skew: the fullest stripe divided by their mean; 1 is even" : "";
}

function uniquesRow(cells, row) {
  nameCell(cells[0], row);
  if (row.covered) setText(cells[0].lastElementChild, `${row.labels} last ${age(row.covered)}`);
  numberCell(cells[1], whole(row.count));
  const band = inside(cells[2], () => {
    const e = element("div", "band");
    e.append(element("div", "whisker"), element("span", "tag"));
    return e;
  });
  const words = row.low === row.high ? "exact" : `${whole(row.low)} to ${whole(row.high)}, ±${percent(Math.max(row.below, row.above))}`;
  whisker(band.firstElementChild, row.below, row.above, words);
  setText(band.lastElementChild, words);
}

function eventsRow(cells, row) {
  nameCell(cells[0], row);
  numberCell(cells[1], whole(row.count));
  windowCell(cells[2], row.window);
}

function exportRow(cells, row) {
  cells[0].className = "name";
  setText(cells[0], row.sink);
  numberCell(cells[1], row.acked ? `#${whole(row.acked)}` : "none");
  numberCell(cells[2], row.age < 0 ? "never" : age(row.age));
  numberCell(cells[3], row.failures ? `${whole(row.writes)}, ${whole(row.failures)} failed` : whole(row.writes));
  cells[4].className = row.error || row.stopped ? "bad" : "";
  const state = row.stopped ? "given up" : row.blocked ? "blocked" : row.error ? "failing" : row.writing ? `writing for ${age(row.writing)}` : "in step";
  setText(cells[4], row.error ? `${state}: ${row.error}` : state);
}

function healthRow(cells, row) {
  nameCell(cells[0], row);
  numberCell(cells[1], row.value);
}

byId("search").addEventListener("submit", event => event.preventDefault());
byId("query").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(resume, typingMilliseconds);
});
byId("by").addEventListener("change", resume);
byId("pause").addEventListener("click", () => {
  paused = !paused;
  setText(byId("pause"), paused ? "Resume" : "Pause");
  resume();
});
document.addEventListener("visibilitychange", resume);
resume();
