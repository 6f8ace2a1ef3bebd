// What the page is made of: numbers as text, and small pictures in SVG. All that
// comes from the server gets into the page as text or as numbers; nothing here
// makes markup of a string.

const svgSpace = "http://www.w3.org/2000/svg";

// element returns an HTML element with a class and a text.
export function element(tag, className = "", text = "") {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text) e.textContent = text;
  return e;
}

// setText changes a text only if it differs, so that a selection stays.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function shape(tag, attributes) {
  const e = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

// picture puts shapes into a container, and says in words what they show.
function picture(container, width, height, words, shapes) {
  let svg = container.firstElementChild;
  if (!svg) {
    svg = shape("svg", { preserveAspectRatio: "none", role: "img" });
    container.append(svg);
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("aria-label", words);
  svg.replaceChildren(...shapes);
}

// whole formats a decimal string of any length.
export function whole(digits) { return BigInt(digits).toLocaleString("en"); }

// rate formats a number of adds per second.
export function rate(x) {
  const digits = Math.abs(x) < 10 ? 1 : 0;
  return (x === 0 ? 0 : x).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// age formats seconds.
export function age(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

// percent formats a share.
export function percent(share) { return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`; }

// spark draws a line over values, from 0 to their greatest.
export function spark(container, values, words) {
  const height = 100, n = Math.max(values.length - 1, 1);
  const highest = Math.max(...values, 0), lowest = Math.min(...values, 0);
  const range = highest - lowest || 1;
  const y = v => height - (v - lowest) / range * height;
  const points = values.map((v, i) => `${i},${y(v).toFixed(1)}`);
  if (points.length === 1) points.push(`1,${points[0].split(",")[1]}`);
  const line = points.join(" ");
  const shapes = points.length === 0 ? [] : [
    shape("path", { d: `M0,${y(0)} L${line.replaceAll(" ", " L")} L${n},${y(0)} Z` }),
    shape("polyline", { points: line }),
  ];
  picture(container, n, height, words, shapes);
}

// bars draws a bar for each value, in proportion to the greatest.
export function bars(container, values, words) {
  const height = 100, highest = Math.max(...values, 1), wide = values.length > 32 ? 1 : 0.8;
  const shapes = values.map((v, i) => {
    const h = Math.max(v, 0) / highest * height;
    return shape("rect", { x: i + (1 - wide) / 2, y: height - h, width: wide, height: h });
  });
  shapes.push(shape("line", { x1: 0, y1: height, x2: values.length, y2: height }));
  picture(container, Math.max(values.length, 6), height, words, shapes); // few are not fat
}

// whisker draws an error band on an axis that reaches to a tenth on both sides.
export function whisker(container, below, above, words) {
  const reach = 0.1, x = share => 50 + Math.max(-1, Math.min(1, share / reach)) * 50;
  picture(container, 100, 20, words, [
    shape("line", { class: "axis", x1: 0, y1: 10, x2: 100, y2: 10 }),
    shape("line", { x1: x(-below), y1: 10, x2: x(above), y2: 10 }),
    ...[x(-below), 50, x(above)].map(at => shape("line", { x1: at, y1: at === 50 ? 2 : 5, x2: at, y2: at === 50 ? 18 : 15 })),
  ]);
}
