'use strict';
// The page.
const graph = JSON.parse(document.getElementById('graph').textContent);
const functions = new Map(graph.functions.map((one) => [one.name, one]));
const query = document.getElementById('query');
const count = document.getElementById('count');
const articles = [...document.querySelectorAll('article')];
const sections = [...document.querySelectorAll('section')];
const texts = articles.map((one) => one.textContent.toLowerCase());

function filter() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  articles.forEach((article, number) => {
    article.hidden = !words.every((word) => texts[number].includes(word));
    shown += article.hidden || article.id.startsWith('seam=') ? 0 : 1;
  });
  for (const section of sections) {
    section.hidden = !section.querySelector('article:not([hidden])');
  }
  count.textContent = words.length ? `${shown} of ${graph.errors.length} errors` : '';
}

function openTarget() {
  let id = '';
  try {
    id = decodeURIComponent(location.hash.slice(1));
  } catch {
    // A link that somebody has cut off leads nowhere.
  }
  const article = articles.find((one) => one.id === id);
  if (!article) return;
  if (article.hidden) {
    query.value = '';
    filter();
  }
  article.querySelector('details').open = true;
  article.querySelector('summary').focus({ preventScroll: true });
  article.scrollIntoView();
}

function move(from, by) {
  const summaries = articles.filter((one) => !one.hidden).map((one) => one.querySelector('summary'));
  const next = summaries.indexOf(from) + by;
  if (next < 0) query.focus();
  else summaries[next]?.focus();
}

// The drawing: what makes the error on the left, its ends on the right.
const MOST_DRAWN = 60;
const HEIGHT = 40;
const LONGEST = 44;
const [SPACE, GAP, SIGN] = [16, 56, 7.4];

function edgesOf(error) {
  const edges = new Map();
  const add = (source, target, kind) => edges.set(JSON.stringify([source, target, kind]), { source, target, kind });
  const having = (every) => every.filter((one) => one.errors.includes(error));
  const shows = having(graph.shows);
  const showing = new Set(shows.map((one) => one.function));
  for (const one of having(graph.calls)) {
    const kind = one.fate === 'handled' && showing.has(one.caller) ? 'passes' : one.fate;
    add(`f ${one.callee}`, `f ${one.caller}`, kind);
  }
  for (const one of having(graph.overrides)) add(`f ${one.method}`, `f ${one.base}`, 'override');
  for (const one of shows) add(`f ${one.function}`, `s ${one.seam}`, 'show');
  return [...edges.values()];
}

function distances(begin, neighbours) {
  const found = new Map([...begin].map((one) => [one, 0]));
  for (const one of found.keys()) {
    for (const next of neighbours.get(one) ?? []) {
      if (!found.has(next)) found.set(next, found.get(one) + 1);
    }
  }
  return found;
}

function neighbours(edges, from, to) {
  const found = new Map();
  for (const edge of edges) {
    if (!found.has(edge[from])) found.set(edge[from], []);
    found.get(edge[from]).push(edge[to]);
  }
  return found;
}

/** The nodes of an error, those on the shortest ways first. */
function nearest(edges, makers) {
  const nodes = [...new Set([...makers, ...edges.flatMap((one) => [one.source, one.target])])];
  const [after, before] = [neighbours(edges, 'source', 'target'), neighbours(edges, 'target', 'source')];
  const begin = distances(nodes.filter((one) => makers.has(one) || !before.has(one)), after);
  const end = distances(nodes.filter((one) => !after.has(one)), before);
  const way = (one) => (begin.get(one) ?? nodes.length) + (end.get(one) ?? nodes.length);
  return nodes.sort((one, other) => way(one) - way(other) || (one < other ? -1 : 1));
}

/** How many columns each node is away from the last one: further than all that follow it, but for what leads back in a cycle. */
function layersOf(nodes, edges) {
  const after = neighbours(edges, 'source', 'target');
  const hasSeam = nodes.some((one) => one.kind === 'seam');
  const kinds = new Map(nodes.map((one) => [one.name, one.kind]));
  const layers = new Map();
  const begun = new Set();
  const isTarget = new Set(edges.map((one) => one.target));
  const starts = [...nodes].sort((one, other) => isTarget.has(one.name) - isTarget.has(other.name)).map((one) => one.name);
  for (const start of starts) {
    const waiting = [start];
    while (waiting.length) {
      const name = waiting.at(-1);
      const following = after.get(name) ?? [];
      const next = begun.has(name) ? [] : following.filter((one) => !begun.has(one));
      begun.add(name);
      if (next.length) {
        waiting.push(...next);
        continue;
      }
      waiting.pop();
      if (layers.has(name)) continue;
      const last = hasSeam && kinds.get(name) !== 'seam' ? 1 : 0;
      layers.set(name, following.reduce((most, one) => Math.max(most, (layers.get(one) ?? -1) + 1), last));
    }
  }
  return layers;
}

/** The end of a text that is too long for a box. */
function fitting(text) {
  const signs = [...text];
  return signs.length > LONGEST ? `…${signs.slice(1 - LONGEST).join('')}` : text;
}

function label(name, makers) {
  if (name.startsWith('s ')) return { kind: 'seam', title: fitting(name.slice(2)), below: 'seam', whole: name.slice(2) };
  const own = functions.get(name.slice(2));
  if (!own.place) return { kind: 'foreign', title: fitting(own.name), below: 'from elsewhere', whole: own.name };
  return {
    kind: makers.has(name) ? 'made' : 'function',
    title: fitting(own.name.startsWith(`${own.module}.`) ? own.name.slice(own.module.length + 1) : own.name),
    below: fitting(`${makers.has(name) ? 'made in ' : ''}${own.module}`),
    whole: `${own.name}, ${own.place.path}:${own.place.line}`,
  };
}

/** Give every node its place, and every edge the cells that it goes through: it never crosses a box of a column between its ends. */
function laidOut(nodes, edges) {
  const layers = layersOf(nodes, edges);
  const last = Math.max(...layers.values());
  const columns = Array.from({ length: last + 1 }, () => []);
  const cells = new Map();
  const before = new Map();
  const put = (cell, column) => columns[column].push(Object.assign(cell, { column }));
  for (const node of nodes) {
    put(Object.assign(node, { height: HEIGHT, room: Math.max(node.title.length, node.below.length * 0.85) * SIGN + 16 }), last - layers.get(node.name));
    cells.set(node.name, node);
  }
  for (const edge of edges) {
    const [from, to] = [cells.get(edge.source), cells.get(edge.target)];
    edge.through = [from];
    for (let column = from.column + 1; column < to.column; column += 1) {
      const bridge = { name: '', height: 0, room: 0 };
      put(bridge, column);
      edge.through.push(bridge);
    }
    edge.through.push(to);
    edge.through.forEach((cell, number) => number && before.set(cell, [...(before.get(cell) ?? []), edge.through[number - 1]]));
  }
  let [x, height] = [16, 0];
  for (const column of columns) {
    const middle = (cell) => {
      const known = (before.get(cell) ?? []).filter((one) => one.column < cell.column).map((one) => one.y + one.height / 2);
      return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : 0;
    };
    const middles = new Map(column.map((cell) => [cell, middle(cell)]));
    column.sort((one, other) => middles.get(one) - middles.get(other) || (one.name < other.name ? -1 : 1));
    const width = Math.max(...column.map((cell) => cell.room));
    let y = 16;
    for (const cell of column) {
      Object.assign(cell, { x, y, width });
      y += cell.height + SPACE;
    }
    x += width + GAP;
    height = Math.max(height, y);
  }
  return { width: x - GAP + 16, height };
}

function svg(name, attributes, ...children) {
  const one = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  one.append(...children);
  return one;
}

function box(node) {
  const at = { x: node.x + 8 };
  const parts = [
    svg('title', {}, node.whole),
    svg('rect', { x: node.x, y: node.y, width: node.width, height: HEIGHT, rx: node.kind === 'seam' ? HEIGHT / 2 : 6 }),
    svg('text', { ...at, y: node.y + 17 }, node.title),
    svg('text', { ...at, y: node.y + 32, class: 'quiet' }, node.below),
  ];
  return svg('g', { class: node.kind }, ...parts);
}

function arrow(edge) {
  const [first, ...rest] = edge.through;
  let path = `M${first.x + first.width} ${first.y + first.height / 2}`;
  let from = first;
  for (const to of rest) {
    const [x, y, endX, endY] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
    const bend = Math.max(GAP / 2, Math.abs(endX - x) / 3);
    path += `C${x + bend} ${y} ${endX - bend} ${endY} ${endX} ${endY}`;
    if (to !== edge.through.at(-1)) path += `H${endX + to.width}`;
    from = to;
  }
  const ends = { handled: 'bar', lost: 'bar' };
  return svg('path', { d: path, class: edge.kind, 'marker-end': `url(#${ends[edge.kind] ?? 'arrow'})` });
}

function markers() {
  const marker = (id, d) =>
    svg('marker', { id, viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' },
      svg('path', { d }));
  return svg('defs', {}, marker('arrow', 'M0 0L10 5L0 10Z'), marker('bar', 'M7 0H9V10H7Z'));
}

function draw(article) {
  const room = article.querySelector('.drawing');
  if (!room || room.firstChild) return;
  const error = article.id.slice('error='.length);
  const makers = new Set(graph.makes.filter((one) => one.errors.includes(error)).map((one) => `f ${one.function}`));
  const edges = edgesOf(error);
  const nodes = nearest(edges, makers);
  if (!nodes.length) return;
  const drawn = nodes.slice(0, MOST_DRAWN).map((one) => ({ name: one, ...label(one, makers) }));
  const names = new Set(drawn.map((one) => one.name));
  const between = edges.filter((one) => names.has(one.source) && names.has(one.target));
  const size = laidOut(drawn, between);
  const name = article.querySelector('h3').textContent;
  room.append(svg(
    'svg',
    { ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: 'img', 'aria-label': `The ways of ${name}, drawn; they are told in words below.` },
    markers(), ...between.map(arrow), ...drawn.map(box),
  ));
  const kinds = new Set(edges.map((one) => one.kind));
  const told = [
    kinds.has('handled') && 'Dashed, with a bar: handled there.',
    kinds.has('lost') && 'Dotted in red: lost there, nobody looks at it.',
    kinds.has('override') && 'Dotted: from a method to the one in whose place it stands.',
    nodes.length > MOST_DRAWN && `Drawn are the ${MOST_DRAWN} places on the shortest ways, of ${nodes.length}.`,
  ].filter(Boolean);
  if (told.length) {
    const legend = document.createElement('p');
    legend.textContent = told.join(' ');
    room.append(legend);
  }
  room.tabIndex = 0;
  room.setAttribute('role', 'group');
  room.setAttribute('aria-label', `Drawing of ${name}`);
  room.hidden = false;
}

document.getElementById('search').hidden = false;
query.addEventListener('input', filter);
for (const article of articles) {
  article.querySelector('details').addEventListener('toggle', (event) => event.target.open && draw(article));
}
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isSummary = event.target.tagName === 'SUMMARY';
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.target === query && event.key === 'Escape') {
    query.value = '';
    filter();
  } else if (event.target === query && event.key === 'Enter') {
    const only = articles.filter((one) => !one.hidden && one.id.startsWith('error='));
    if (only.length) location.hash = encodeURIComponent(only[0].id);
  } else if (event.key === '/' && event.target !== query) {
    event.preventDefault();
    query.focus();
  } else if (by && (isSummary || (event.target === query && by > 0))) {
    event.preventDefault();
    move(event.target, by);
  }
});
window.addEventListener('hashchange', openTarget);
filter();
openTarget();
