const scene = JSON.parse(document.getElementById("scene").textContent);
const byId = (id) => document.getElementById(id);
const map = byId("map"), canvas = byId("ground"), places = byId("places"), tip = byId("tip"), panel = byId("chosen");
const pen = canvas.getContext("2d");
const SVG = "http://www.w3.org/2000/svg";
const AT_ONCE = 120; // points of a track that are drawn in one stroke: what crosses itself later is darker
const NEAREST = 4; // pixels per unit
let width = 1, height = 1, waiting = false, showsAll = false;
let view = { x: 0, y: 0, scale: 1 }; // the middle in units, and pixels per unit

// what is drawn

function strokesOf(lines) {
  const strokes = [];
  for (const [person, steps] of lines) {
    let x = 0, y = 0, path = null, count = 0;
    for (let k = 0; k < steps.length; k += 2) {
      const from = [x, y];
      x += steps[k];
      y += steps[k + 1];
      if (k === 0) continue;
      if (!path || count === AT_ONCE) {
        path = new Path2D();
        path.moveTo(from[0], from[1]);
        strokes.push([person, path]);
        count = 0;
      }
      path.lineTo(x, y);
      count += 1;
    }
    if (steps.length === 2) { // one point alone: a dot of a metre or so
      path = new Path2D();
      path.arc(x, y, 6, 0, 7);
      strokes.push([person, path]);
    }
  }
  return strokes;
}

const strokes = strokesOf(scene.lines);
// with few lines each must be seen; with many, only what is taken often is dark
const opacity = Math.min(0.8, Math.max(0.2, 4.5 / Math.sqrt(strokes.length || 1)));
const people = new Set(scene.lines.map(([person]) => person));

function drawTracks() {
  const style = getComputedStyle(document.documentElement), ratio = canvas.width / width;
  const scale = ratio * view.scale;
  pen.setTransform(scale, 0, 0, scale, canvas.width / 2 - view.x * scale, canvas.height / 2 - view.y * scale);
  pen.lineWidth = 1.5 / view.scale;
  pen.lineJoin = "round";
  pen.globalAlpha = opacity;
  const colours = [0, 1, 2, 3, 4, 5, 6].map((person) => style.getPropertyValue(`--person-${person}`));
  for (const [person, path] of strokes) {
    pen.strokeStyle = people.size > 1 ? colours[person] : colours[0];
    pen.stroke(path);
  }
  pen.globalAlpha = 1;
}

const images = new Map();

function tile(z, x, y) {
  const key = `${z}/${x}/${y}`;
  if (!images.has(key)) {
    if (images.size > 300) images.delete(images.keys().next().value);
    const image = new Image();
    image.onload = later;
    image.referrerPolicy = "no-referrer";
    image.src = scene.tiles.replace("{z}", z).replace("{x}", x).replace("{y}", y);
    images.set(key, image);
  }
  const image = images.get(key);
  return image.complete && image.naturalWidth ? image : null;
}

function drawTiles() {
  const world = view.scale / scene.unit; // pixels
  const z = Math.max(0, Math.min(19, Math.round(Math.log2(world / 256)))), count = 2 ** z, side = world / count;
  const left = (scene.origin[0] + view.x * scene.unit) * world - width / 2;
  const top = (scene.origin[1] + view.y * scene.unit) * world - height / 2;
  const ratio = canvas.width / width;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.globalAlpha = 0.6;
  for (let x = Math.floor(left / side); x * side < left + width; x++) {
    for (let y = Math.max(0, Math.floor(top / side)); y < count && y * side < top + height; y++) {
      const image = tile(z, ((x % count) + count) % count, y);
      if (image) pen.drawImage(image, x * side - left, y * side - top, side + 0.5, side + 0.5);
    }
  }
  pen.globalAlpha = 1;
}

const onScreen = ([x, y]) => [(x - view.x) * view.scale + width / 2, (y - view.y) * view.scale + height / 2];

function draw() {
  waiting = false;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  if (scene.tiles) drawTiles();
  drawTracks();
  const [left, top] = onScreen([0, 0]);
  for (const id of ["areas", "ways"]) byId(id).setAttribute("transform", `translate(${left} ${top}) scale(${view.scale})`);
  for (const place of shapes) {
    if (!place.area) {
      const [x, y] = onScreen(place.at);
      place.element.setAttribute("cx", x);
      place.element.setAttribute("cy", y);
      place.element.setAttribute("r", radius(place.share));
    }
  }
  drawNames();
  const latitude = latitudeOf(scene.origin[1] + view.y * scene.unit);
  const bar = scaleBar(metresPerWorld(latitude) * scene.unit / view.scale, Math.min(130, width / 3));
  byId("scale").querySelector("i").style.width = `${bar.pixels}px`;
  byId("scale").querySelector("b").textContent = bar.words;
}

function later() {
  if (!waiting) requestAnimationFrame(draw);
  waiting = true;
}

// places

const most = Math.max(...scene.places.map((place) => place.share), 1e-9);
const radius = (share) => (7 + 15 * Math.sqrt(share / most)) * (width < 500 ? 0.75 : 1);

const shapes = scene.places.map((place, k) => {
  const area = place.outline.length > 0;
  const element = document.createElementNS(SVG, area ? "polygon" : "circle");
  if (area) element.setAttribute("points", place.outline.join(" "));
  element.setAttribute("class", "place");
  element.setAttribute("tabindex", "0");
  element.setAttribute("role", "button");
  element.setAttribute("aria-pressed", "false");
  element.setAttribute("aria-label", `${place.name}: ${place.facts.map(([name, words]) => `${name} ${words}`).join(", ")}`);
  const text = document.createElementNS(SVG, "text");
  text.textContent = place.name.length > 28 ? `${place.name.slice(0, 27)}…` : place.name;
  text.style.display = "none";
  return { ...place, k, area, element, text, wide: 0 };
});
const bySize = [...shapes].sort((a, b) => b.share - a.share);
for (const place of bySize) {
  byId(place.area ? "areas" : "dots").append(place.element);
  byId("names").append(place.text);
}
let pinned = null, shown = null;

function drawNames() {
  pen.font = "600 13px system-ui, sans-serif";
  const taken = [];
  const wanted = bySize.filter((place) => place.named || place.k === shown);
  wanted.sort((a, b) => (b.k === shown) - (a.k === shown));
  for (const place of wanted) {
    place.wide = place.wide || pen.measureText(place.text.textContent).width;
    const [x, at] = onScreen(place.at), y = at + (place.area ? 4 : radius(place.share) + 15);
    const box = [x - place.wide / 2 - 3, y - 13, x + place.wide / 2 + 3, y + 4];
    const hidden = box[2] < 0 || box[0] > width || box[3] < 0 || box[1] > height ||
      taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
    place.text.style.display = hidden ? "none" : "";
    if (hidden) continue;
    taken.push(box);
    place.text.setAttribute("x", x);
    place.text.setAttribute("y", y);
  }
}

const percent = (share) => share > 0 && share < 0.0005 ? "< 0.1 %" : `${Number((100 * share).toFixed(1))} %`;

function shade() {
  const chosen = shown === null ? null : shapes[shown], from = chosen !== null && chosen.towards.length > 0;
  const values = from ? new Map(chosen.towards) : new Map(shapes.map((place) => [place.k, place.share]));
  const top = Math.max(...values.values(), 1e-9);
  for (const place of shapes) {
    const value = values.get(place.k) || 0;
    place.element.setAttribute("fill-opacity", 0.08 + 0.8 * Math.sqrt(value / top));
    place.element.classList.toggle("chosen", place.k === shown);
    place.element.setAttribute("aria-pressed", String(place.k === pinned));
    if (place.k !== shown) place.text.style.display = "none";
  }
  for (const button of document.querySelectorAll("#list button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.place) === pinned));
  }
  byId("ways").replaceChildren(...(from ? chosen.towards : []).filter(([to, p]) => to !== shown && p >= 0.02).map(([to, p]) => {
    const line = document.createElementNS(SVG, "line");
    ["x1", "y1", "x2", "y2"].forEach((name, k) => line.setAttribute(name, [...chosen.at, ...shapes[to].at][k]));
    line.setAttribute("stroke-width", 1 + 9 * p);
    line.setAttribute("stroke-opacity", 0.25 + 0.5 * Math.sqrt(p));
    return line;
  }));
  if (byId("most")) {
    byId("measure").textContent = from ? scene.towards : scene.measure;
    byId("most").textContent = percent(top);
    byId("half").textContent = percent(top / 4);
  }
  later();
}

function told(tag, text, ...inside) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  element.append(...inside);
  return element;
}

function rowOf(to, p, here) {
  const row = told("div", "", told("bdi", shapes[to].name));
  row.className = here ? "share here" : "share";
  const bar = document.createElementNS(SVG, "svg"), fill = document.createElementNS(SVG, "rect");
  fill.setAttribute("width", `${100 * p}%`);
  fill.setAttribute("height", "100%");
  fill.setAttribute("rx", "2");
  bar.append(fill);
  row.append(bar, told("span", percent(p)));
  return row;
}

function describe() {
  panel.hidden = shown === null;
  if (shown === null) return;
  const place = shapes[shown], list = document.createElement("dl");
  for (const [name, words] of place.facts) list.append(told("dt", name), told("dd", words));
  panel.replaceChildren(told("h2", "", told("bdi", place.name)), list);
  if (place.towards.length) {
    panel.append(told("h3", scene.towards));
    for (const [to, p] of place.towards.slice(0, 6)) panel.append(rowOf(to, p, to === shown));
  }
}

function show(k) {
  if (k === shown) return;
  shown = k;
  describe();
  shade();
}

function pin(k) {
  pinned = k === pinned ? null : k;
  shown = NaN; // so that it is drawn again
  show(pinned);
}

function tell(place, event) {
  tip.replaceChildren(told("strong", "", told("bdi", place.name)), told("span", place.facts[0].join(": ")));
  tip.hidden = false;
  const box = map.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  tip.style.transform = `translate(${Math.min(x + 14, width - tip.offsetWidth - 6)}px, ${Math.max(6, y - tip.offsetHeight - 10)}px)`;
}

for (const place of shapes) {
  place.element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse" || event.buttons) return;
    show(place.k);
    tell(place, event);
  });
  place.element.addEventListener("pointerleave", () => {
    tip.hidden = true;
    show(pinned);
  });
  place.element.addEventListener("focus", () => {
    bring(place);
    show(place.k);
  });
  place.element.addEventListener("blur", () => show(pinned));
  place.element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pin(place.k);
  });
}
for (const button of document.querySelectorAll("#list button")) {
  button.addEventListener("click", () => {
    pin(Number(button.dataset.place));
    if (pinned !== null) bring(shapes[pinned]);
  });
}

// the view

function clamped(scale) {
  return Math.min(NEAREST, Math.max(Math.min(width, height) * scene.unit / 2, scale));
}

function fit([west, north, east, south]) {
  const room = Math.min(72, width / 5); // so that the buttons cover nothing
  const scale = clamped(Math.min((width - 2 * room) / (east - west), (height - 2 * room) / (south - north)));
  view = { x: (west + east) / 2, y: (north + south) / 2, scale };
  later();
}

function zoom(factor, x = width / 2, y = height / 2) {
  const scale = clamped(view.scale * factor), dx = x - width / 2, dy = y - height / 2;
  view = { x: view.x + dx / view.scale - dx / scale, y: view.y + dy / view.scale - dy / scale, scale };
  later();
}

function move(dx, dy) {
  view = { ...view, x: view.x - dx / view.scale, y: view.y - dy / view.scale };
  later();
}

function bring(place) {
  const [x, y] = onScreen(place.at);
  if (x < 0 || y < 0 || x > width || y > height) move(width / 2 - x, height / 2 - y);
}

const fingers = new Map();
let travelled = 0;
const inside = (event) => {
  const box = map.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
const spread = () => {
  const [a, b] = [...fingers.values()];
  return [Math.hypot(a[0] - b[0], a[1] - b[1]), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
};

map.addEventListener("pointerdown", (event) => {
  if (event.target.closest("button")) return;
  if (!fingers.size) travelled = 0;
  fingers.set(event.pointerId, inside(event));
});
window.addEventListener("pointermove", (event) => {
  if (!fingers.has(event.pointerId)) return;
  const before = fingers.get(event.pointerId), now = inside(event);
  const [apart, x, y] = fingers.size === 2 ? spread() : [0, 0, 0];
  fingers.set(event.pointerId, now);
  travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
  if (fingers.size === 1) move(now[0] - before[0], now[1] - before[1]);
  if (fingers.size === 2 && apart > 0) {
    const [farther, newX, newY] = spread();
    move(newX - x, newY - y);
    zoom(farther / apart, newX, newY);
  }
});
for (const end of ["pointerup", "pointercancel"]) {
  window.addEventListener(end, (event) => {
    if (!fingers.delete(event.pointerId) || end !== "pointerup" || travelled > 6 || fingers.size) return;
    const place = shapes.find((one) => one.element === event.target);
    if (place) pin(place.k);
  });
}
map.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : event.ctrlKey ? 0.01 : 0.0016)), ...inside(event));
}, { passive: false });
map.addEventListener("dblclick", (event) => {
  if (!event.target.closest("button, .place")) zoom(2, ...inside(event));
});
map.addEventListener("pointermove", (event) => {
  const [x, y] = inside(event);
  const east = longitudeOf(scene.origin[0] + (view.x + (x - width / 2) / view.scale) * scene.unit);
  const north = latitudeOf(scene.origin[1] + (view.y + (y - height / 2) / view.scale) * scene.unit);
  byId("where").textContent =
    `${Math.abs(north).toFixed(4)}° ${north < 0 ? "S" : "N"}, ${Math.abs(east).toFixed(4)}° ${east < 0 ? "W" : "E"}`;
});
const keys = {
  ArrowLeft: () => move(80, 0), ArrowRight: () => move(-80, 0), ArrowUp: () => move(0, 80), ArrowDown: () => move(0, -80),
  "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: () => fit(scene.view),
  Escape: () => pinned !== null && pin(pinned),
};
map.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});
byId("nearer").addEventListener("click", () => zoom(1.5));
byId("farther").addEventListener("click", () => zoom(1 / 1.5));
byId("fit").addEventListener("click", () => {
  showsAll = !showsAll;
  fit(showsAll ? scene.whole : scene.view);
});

let fitted = false;
new ResizeObserver(() => {
  width = map.clientWidth || 1;
  height = map.clientHeight || 1;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  if (!fitted && width > 1) {
    fitted = true;
    fit(scene.view);
  }
  draw(); // at once, since a canvas that changes its size is empty
}).observe(map);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
if (scene.first !== null) pin(scene.first);
else shade();
