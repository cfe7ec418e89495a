'use strict';
// Search, keyboard navigation and drawings of the error map.
const graph = JSON.parse(document.getElementById('graph').textContent);
const functions = new Map(graph.functions.map((node) => [node.name, node]));
const query = document.getElementById('query');
const count = document.getElementById('count');
const articles = [...document.querySelectorAll('article')];
const sections = [...document.querySelectorAll('section:not(#picture)')];
const articleTexts = articles.map((article) => article.textContent.toLowerCase());

function filter() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let matches = 0;
  articles.forEach((article, index) => {
    article.hidden = !words.every((word) => articleTexts[index].includes(word));
    matches += article.hidden || article.id.startsWith('seam=') ? 0 : 1;
  });
  for (const section of sections) {
    section.hidden = !section.querySelector('article:not([hidden])');
  }
  count.textContent = words.length ? `${matches} of ${graph.errors.length} errors` : '';
}

function openTarget() {
  let id = '';
  try {
    id = decodeURIComponent(location.hash.slice(1));
  } catch {
    // A truncated link may end within a percent escape.
  }
  const article = articles.find((candidate) => candidate.id === id);
  if (!article) return;
  if (article.hidden) {
    query.value = '';
    filter();
  }
  article.querySelector('details').open = true;
  article.querySelector('summary').focus({ preventScroll: true });
  article.scrollIntoView();
}

function moveFocus(from, offset) {
  const visible = articles.filter((article) => !article.hidden);
  const summaries = visible.map((article) => article.querySelector('summary'));
  const index = summaries.indexOf(from) + offset;
  if (index < 0) query.focus();
  else summaries[index]?.focus();
}

// The drawing has the creators of an error on the left and its ends on the right. Node names are
// 'f NAME' for functions and 's NAME' for seams. Lengths are in pixels.
const MAX_NODES = 60;
const MAX_TITLE = 44; // characters
const BOX_HEIGHT = 40;
const MARGIN = 16;
const ROW_GAP = 16;
const COLUMN_GAP = 56;
const CHARACTER_WIDTH = 7.4;
const SMALL_FONT_SCALE = 0.85;

function edgesOf(error) {
  const edges = new Map();
  const add = (source, target, kind) => edges.set(JSON.stringify([source, target, kind]), { source, target, kind });
  const ofError = (parts) => parts.filter((part) => part.errors.includes(error));
  const seamEdges = ofError(graph.shows);
  const showing = new Set(seamEdges.map((edge) => edge.function));
  for (const call of ofError(graph.calls)) {
    const kind = call.fate === 'handled' && showing.has(call.caller) ? 'passes' : call.fate;
    add(`f ${call.callee}`, `f ${call.caller}`, kind);
  }
  for (const edge of ofError(graph.overrides)) add(`f ${edge.method}`, `f ${edge.base}`, 'override');
  for (const edge of seamEdges) add(`f ${edge.function}`, `s ${edge.seam}`, 'show');
  return [...edges.values()];
}

/** Breadth-first search: the distance of each reachable node. */
function distances(starts, neighbours) {
  const result = new Map([...starts].map((node) => [node, 0]));
  for (const node of result.keys()) {
    for (const neighbour of neighbours.get(node) ?? []) {
      if (!result.has(neighbour)) result.set(neighbour, result.get(node) + 1);
    }
  }
  return result;
}

function neighboursBy(edges, from, to) {
  const result = new Map();
  for (const edge of edges) {
    if (!result.has(edge[from])) result.set(edge[from], []);
    result.get(edge[from]).push(edge[to]);
  }
  return result;
}

/** The nodes of an error, those on the shortest paths first. */
function sortedNodes(edges, creators) {
  const nodes = [...new Set([...creators, ...edges.flatMap((edge) => [edge.source, edge.target])])];
  const next = neighboursBy(edges, 'source', 'target');
  const previous = neighboursBy(edges, 'target', 'source');
  const fromStart = distances(nodes.filter((node) => creators.has(node) || !previous.has(node)), next);
  const toEnd = distances(nodes.filter((node) => !next.has(node)), previous);
  const pathLength = (node) => (fromStart.get(node) ?? nodes.length) + (toEnd.get(node) ?? nodes.length);
  return nodes.sort((left, right) => pathLength(left) - pathLength(right) || (left < right ? -1 : 1));
}

/** The layer of each node, counted from the right: one more than the highest layer of its targets, except in cycles. */
function layersOf(nodes, edges) {
  const targetsOf = neighboursBy(edges, 'source', 'target');
  const hasSeam = nodes.some((node) => node.kind === 'seam');
  const kinds = new Map(nodes.map((node) => [node.name, node.kind]));
  const layers = new Map();
  const visited = new Set();
  const isTarget = new Set(edges.map((edge) => edge.target));
  const starts = [...nodes]
    .sort((left, right) => isTarget.has(left.name) - isTarget.has(right.name))
    .map((node) => node.name);
  for (const start of starts) {
    const stack = [start];
    while (stack.length) {
      const name = stack.at(-1);
      const targets = targetsOf.get(name) ?? [];
      const unvisited = visited.has(name) ? [] : targets.filter((target) => !visited.has(target));
      visited.add(name);
      if (unvisited.length) {
        stack.push(...unvisited);
        continue;
      }
      stack.pop();
      if (layers.has(name)) continue;
      // Only seams are in the last column, if there are any.
      const minimum = hasSeam && kinds.get(name) !== 'seam' ? 1 : 0;
      const layer = targets.reduce((highest, target) => Math.max(highest, (layers.get(target) ?? -1) + 1), minimum);
      layers.set(name, layer);
    }
  }
  return layers;
}

/** The end of a text that is too long for a box. */
function truncateStart(text) {
  const characters = [...text];
  return characters.length > MAX_TITLE ? `…${characters.slice(1 - MAX_TITLE).join('')}` : text;
}

function describe(name, creators) {
  const ownName = name.slice(2);
  if (name.startsWith('s ')) return { kind: 'seam', title: truncateStart(ownName), subtitle: 'seam', tooltip: ownName };
  const node = functions.get(ownName);
  if (!node.place) {
    return { kind: 'foreign', title: truncateStart(node.name), subtitle: 'external', tooltip: node.name };
  }
  const isCreator = creators.has(name);
  const localName = node.name.startsWith(`${node.module}.`) ? node.name.slice(node.module.length + 1) : node.name;
  return {
    kind: isCreator ? 'made' : 'function',
    title: truncateStart(localName),
    subtitle: truncateStart(`${isCreator ? 'created in ' : ''}${node.module}`),
    tooltip: `${node.name}, ${node.place.path}:${node.place.line}`,
  };
}

/** Set the position of each node, and the cells that each edge passes through, so that it crosses no box between its ends. */
function setPositions(nodes, edges) {
  const layers = layersOf(nodes, edges);
  const lastLayer = Math.max(...layers.values());
  const columns = Array.from({ length: lastLayer + 1 }, () => []);
  const cells = new Map();
  const previousCells = new Map();
  const addCell = (cell, column) => columns[column].push(Object.assign(cell, { column }));
  for (const node of nodes) {
    const characters = Math.max(node.title.length, node.subtitle.length * SMALL_FONT_SCALE);
    Object.assign(node, { height: BOX_HEIGHT, minWidth: characters * CHARACTER_WIDTH + 16 });
    addCell(node, lastLayer - layers.get(node.name));
    cells.set(node.name, node);
  }
  for (const edge of edges) {
    const [source, target] = [cells.get(edge.source), cells.get(edge.target)];
    edge.cells = [source];
    for (let column = source.column + 1; column < target.column; column += 1) {
      const emptyCell = { name: '', height: 0, minWidth: 0 };
      addCell(emptyCell, column);
      edge.cells.push(emptyCell);
    }
    edge.cells.push(target);
    edge.cells.slice(1).forEach((cell, index) => {
      previousCells.set(cell, [...(previousCells.get(cell) ?? []), edge.cells[index]]);
    });
  }
  let [x, height] = [MARGIN, 0];
  for (const column of columns) {
    const barycenter = (cell) => {
      const placed = (previousCells.get(cell) ?? []).filter((previous) => previous.column < cell.column);
      const middles = placed.map((previous) => previous.y + previous.height / 2);
      return middles.length ? middles.reduce((sum, middle) => sum + middle, 0) / middles.length : 0;
    };
    const order = new Map(column.map((cell) => [cell, barycenter(cell)]));
    column.sort((left, right) => order.get(left) - order.get(right) || (left.name < right.name ? -1 : 1));
    const width = Math.max(...column.map((cell) => cell.minWidth));
    let y = MARGIN;
    for (const cell of column) {
      Object.assign(cell, { x, y, width });
      y += cell.height + ROW_GAP;
    }
    x += width + COLUMN_GAP;
    height = Math.max(height, y);
  }
  return { width: x - COLUMN_GAP + MARGIN, height };
}

function svg(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function drawBox(node) {
  const x = node.x + 8;
  const radius = node.kind === 'seam' ? BOX_HEIGHT / 2 : 6;
  return svg(
    'g', { class: node.kind },
    svg('title', {}, node.tooltip),
    svg('rect', { x: node.x, y: node.y, width: node.width, height: BOX_HEIGHT, rx: radius }),
    svg('text', { x, y: node.y + 17 }, node.title),
    svg('text', { x, y: node.y + 32, class: 'quiet' }, node.subtitle),
  );
}

function drawEdge(edge) {
  const [start, ...rest] = edge.cells;
  let path = `M${start.x + start.width} ${start.y + start.height / 2}`;
  let from = start;
  for (const to of rest) {
    const [x, y, endX, endY] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
    const bend = Math.max(COLUMN_GAP / 2, Math.abs(endX - x) / 3);
    path += `C${x + bend} ${y} ${endX - bend} ${endY} ${endX} ${endY}`;
    if (to !== edge.cells.at(-1)) path += `H${endX + to.width}`;
    from = to;
  }
  const markerId = ['handled', 'lost'].includes(edge.kind) ? 'bar' : 'arrow';
  return svg('path', { d: path, class: edge.kind, 'marker-end': `url(#${markerId})` });
}

function drawMarkers() {
  const marker = (id, d) =>
    svg('marker', { id, viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' },
      svg('path', { d }));
  return svg('defs', {}, marker('arrow', 'M0 0L10 5L0 10Z'), marker('bar', 'M7 0H9V10H7Z'));
}

const MIN_SCALE = 0.25;
const MAX_SCALE = 3;

/** Append a drawing to its container, with buttons for its size. */
function addDrawing(container, size, label, parts) {
  const drawing = svg(
    'svg', { ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: 'img', 'aria-label': label }, ...parts,
  );
  const canvas = document.createElement('div');
  canvas.className = 'canvas';
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'group');
  canvas.setAttribute('aria-label', label);
  canvas.append(drawing);
  let scale = 1;
  const zoom = (value) => {
    scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, value));
    drawing.setAttribute('width', size.width * scale);
    drawing.setAttribute('height', size.height * scale);
  };
  const fit = () => zoom(Math.min(1, (canvas.clientWidth - 2) / size.width));
  const tools = document.createElement('div');
  tools.className = 'tools';
  const addButton = (text, name, action) => {
    const button = document.createElement('button');
    Object.assign(button, { type: 'button', textContent: text });
    button.setAttribute('aria-label', name);
    button.addEventListener('click', () => action(button));
    tools.append(button);
    return button;
  };
  addButton('+', 'Zoom in', () => zoom(scale * 1.25));
  addButton('−', 'Zoom out', () => zoom(scale / 1.25));
  addButton('Fit', 'Fit the drawing into its pane', fit);
  const pane = addButton('Full pane', 'Show the drawing in the whole window', () => setFull(!container.classList.contains('full')));
  const setFull = (isFull) => {
    container.classList.toggle('full', isFull);
    pane.setAttribute('aria-pressed', isFull);
    if (isFull) canvas.focus();
    fit();
  };
  pane.setAttribute('aria-pressed', false);
  container.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && container.classList.contains('full')) {
      setFull(false);
      pane.focus();
    }
  });
  container.append(tools, canvas);
  container.hidden = false;
  fit();
}

// The picture of the whole program: one color an error, and a click follows it.
const COLORS = 8;
const MAX_LEGEND = 24;
const LINE_GAP = 4; // between the lines of two errors on one edge
const MAX_LINES = 5; // on one edge

function drawOverview(container) {
  const creators = new Set(graph.makes.map((creation) => `f ${creation.function}`));
  const edges = new Map();
  const weights = new Map();
  for (const { name: error } of graph.errors) {
    const ofError = edgesOf(error);
    if (ofError.length) weights.set(error, ofError.length);
    for (const edge of ofError) {
      const key = JSON.stringify([edge.source, edge.target]);
      if (!edges.has(key)) edges.set(key, { source: edge.source, target: edge.target, errors: [] });
      edges.get(key).errors.push({ name: error, kind: edge.kind });
    }
  }
  if (!edges.size) return;
  const all = [...edges.values()];
  const names = sortedNodes(all, creators);
  const drawnNames = new Set(names.slice(0, MAX_NODES));
  const nodes = [...drawnNames].map((name) => ({ name, ...describe(name, creators) }));
  const drawnEdges = all.filter((edge) => drawnNames.has(edge.source) && drawnNames.has(edge.target));
  const errors = [...weights.keys()].sort((left, right) => weights.get(right) - weights.get(left) || (left < right ? -1 : 1));
  const colors = new Map(errors.map((error, index) => [error, index % COLORS]));
  const size = setPositions(nodes, drawnEdges);
  const lines = drawnEdges.flatMap((edge) => {
    const shown = edge.errors.slice(0, MAX_LINES);
    return shown.map((error, index) => {
      const line = drawEdge({ ...edge, kind: error.kind });
      line.classList.add(`color${colors.get(error.name)}`);
      line.dataset.error = error.name;
      line.setAttribute('transform', `translate(0 ${(index - (shown.length - 1) / 2) * LINE_GAP})`);
      line.append(svg('title', {}, error.name));
      return line;
    });
  });
  const boxes = nodes.map((node) => {
    const box = drawBox(node);
    box.dataset.node = node.name;
    return box;
  });
  const label = 'Errors, from the functions that create them to the seams; the lists below describe them.';
  addDrawing(container, size, label, [drawMarkers(), ...lines, ...boxes]);
  const legend = document.createElement('ul');
  legend.className = 'legend';
  let followed = '';
  const follow = (error) => {
    followed = followed === error ? '' : error;
    const touched = new Set(edgesOf(followed).flatMap((edge) => [edge.source, edge.target]));
    for (const creation of graph.makes) if (creation.errors.includes(followed)) touched.add(`f ${creation.function}`);
    for (const line of lines) line.classList.toggle('dim', followed !== '' && line.dataset.error !== followed);
    for (const box of boxes) box.classList.toggle('dim', followed !== '' && !touched.has(box.dataset.node));
    for (const button of legend.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', button.dataset.error === followed);
    }
  };
  for (const error of errors.slice(0, MAX_LEGEND)) {
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.error = error;
    button.className = `color${colors.get(error)}`;
    button.textContent = error.split('.').at(-1);
    button.title = error;
    button.setAttribute('aria-pressed', false);
    button.addEventListener('click', () => follow(error));
    const link = document.createElement('a');
    link.href = `#${encodeURIComponent(`error=${error}`)}`;
    link.textContent = 'paths';
    link.setAttribute('aria-label', `Paths of ${error}`);
    const item = document.createElement('li');
    item.append(button, ' ', link);
    legend.append(item);
  }
  for (const line of lines) line.addEventListener('click', () => follow(line.dataset.error));
  const note = document.createElement('p');
  note.textContent = [
    'Functions that create errors are on the left, seams on the right. Choose an error to follow it.',
    names.length > MAX_NODES && `The picture shows ${MAX_NODES} of ${names.length} nodes: those on the shortest paths.`,
    errors.length > MAX_LEGEND && `${errors.length - MAX_LEGEND} more errors are in the list below.`,
  ].filter(Boolean).join(' ');
  container.append(legend, note);
  container.closest('section').hidden = false;
  fitInside(container);
}

/** Fit a drawing after its section has become visible: a hidden one has no width. */
function fitInside(container) {
  container.querySelector('.tools button:nth-child(3)').click();
}

function draw(article) {
  const container = article.querySelector('.drawing');
  if (!container || container.firstChild) return;
  const error = article.id.slice('error='.length);
  const creations = graph.makes.filter((creation) => creation.errors.includes(error));
  const creators = new Set(creations.map((creation) => `f ${creation.function}`));
  const edges = edgesOf(error);
  const names = sortedNodes(edges, creators);
  if (!names.length) return;
  const drawnNames = new Set(names.slice(0, MAX_NODES));
  const nodes = [...drawnNames].map((name) => ({ name, ...describe(name, creators) }));
  const drawnEdges = edges.filter((edge) => drawnNames.has(edge.source) && drawnNames.has(edge.target));
  const size = setPositions(nodes, drawnEdges);
  const title = article.querySelector('h3').textContent;
  addDrawing(
    container, size, `Paths of ${title}; the text below describes them.`,
    [drawMarkers(), ...drawnEdges.map(drawEdge), ...nodes.map(drawBox)],
  );
  const kinds = new Set(edges.map((edge) => edge.kind));
  const notes = [
    kinds.has('handled') && 'Dashed, with a bar: handled.',
    kinds.has('lost') && 'Dotted in red: lost, never read.',
    kinds.has('override') && 'Dotted: from a method to the method that it overrides.',
    names.length > MAX_NODES && `The drawing shows the ${MAX_NODES} nodes on the shortest paths, of ${names.length}.`,
  ].filter(Boolean);
  if (notes.length) {
    const legend = document.createElement('p');
    legend.textContent = notes.join(' ');
    container.append(legend);
  }
}

document.getElementById('search').hidden = false;
query.addEventListener('input', filter);
for (const article of articles) {
  article.querySelector('details').addEventListener('toggle', (event) => event.target.open && draw(article));
}
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isSummary = event.target.tagName === 'SUMMARY';
  const offset = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.target === query && event.key === 'Escape') {
    query.value = '';
    filter();
  } else if (event.target === query && event.key === 'Enter') {
    const match = articles.find((article) => !article.hidden && article.id.startsWith('error='));
    if (match) location.hash = encodeURIComponent(match.id);
  } else if (event.key === '/' && event.target !== query) {
    event.preventDefault();
    query.focus();
  } else if (offset && (isSummary || (event.target === query && offset > 0))) {
    event.preventDefault();
    moveFocus(event.target, offset);
  }
});
window.addEventListener('hashchange', openTarget);
drawOverview(document.querySelector('#picture .drawing'));
filter();
openTarget();
