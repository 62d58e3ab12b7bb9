// Reads the data of the page, and draws matrices as colours. A "head" is one of a layer's, with the attention (detail) that it
// belongs to: a layer of two parts has the heads of both.
const $ = id => document.getElementById(id);
const data = JSON.parse($('data').textContent);
const kinds = {
  encoder: {name: 'Self-attention (encoder)', rows: data.source, columns: data.source,
    note: 'Each source token is a query; its keys are the source tokens, or what the mechanism makes of them.'},
  decoder: {name: 'Masked self-attention (decoder)', rows: data.read, columns: data.read,
    note: 'Each token that the decoder has read is a query; its keys are the tokens up to itself, since later ones are hidden.'},
  cross: {name: 'Cross-attention', rows: data.target, columns: data.source,
    note: 'Each row is the query by which the decoder finds the target token there; its keys are the encoder’s outputs for the source '
      + 'tokens, or what the mechanism makes of them.'},
};

function make(tag, parent, attributes = {}, text) {
  const isSvg = ['svg', 'line', 'text', 'title', 'rect', 'circle', 'polyline'].includes(tag);
  const node = isSvg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

function headsOf(kind, layer) {
  const heads = [];
  for (const detail of data.details[kind]) {
    if (detail.layer !== layer || !detail.score) continue;
    detail.score.forEach((score, h) => heads.push({detail, h, score, number: heads.length, weights: data[kind][layer][heads.length],
      name: (detail.part && detail.part + ' ') + h}));
  }
  return heads;
}
const mechanismsOf = (kind, layer) => data.details[kind].filter(detail => detail.layer === layer)
  .map(detail => (detail.part && detail.part + ': ') + detail.mechanism).join(', ');

// The mean of some heads, with null for a key that all of them hide from the query.
function meanOf(heads) {
  return heads[0].weights.map((row, q) => row.map((_, k) => {
    const seen = heads.filter(head => head.score[q][k] !== null);
    return seen.length === 0 ? null : seen.reduce((sum, head) => sum + head.weights[q][k], 0) / heads.length;
  }));
}
const colourOf = number => `hsl(${(number * 137.5 + 210) % 360} 75% var(--light))`;

// Returns the colour of a number from 0 to 1 on a ramp of CSS; hidden ones are grey.
function colours(name = '--ramp', lift = 0.6) {
  const style = getComputedStyle(document.documentElement);
  const ramp = style.getPropertyValue(name).split(',').map(stop => stop.trim().split(' ').map(Number));
  const masked = style.getPropertyValue('--masked').trim().split(' ').map(Number);
  return p => {
    if (p === null) return masked;
    const at = Math.max(0, Math.min(1, p)) ** lift * (ramp.length - 1);
    const stop = Math.min(Math.floor(at), ramp.length - 2);
    return ramp[stop].map((low, i) => low + (ramp[stop + 1][i] - low) * (at - stop));
  };
}
// A pixel a number; CSS makes it larger.
function paint(canvas, matrix, colour) {
  canvas.width = matrix[0].length;
  canvas.height = matrix.length;
  const context = canvas.getContext('2d');
  const image = context.createImageData(canvas.width, canvas.height);
  matrix.flat().forEach((p, at) => image.data.set([...colour(p), 255], 4 * at));
  context.putImageData(image, 0, 0);
}

// A small chart of lines over x = 0, 1, ..., with a dot for each number of `dots`: [[x, y, colour], ...].
function chart(parent, title, lines, dots = [], {labels, from = 0} = {}) {
  const box = make('div', parent);
  make('h3', box, {}, title);
  const numbers = [...lines.flatMap(line => line.values), ...dots.map(dot => dot[1])];
  const top = Math.max(...numbers, from + 1e-9), width = 280, height = 120;
  const count = Math.max(...lines.map(line => line.values.length));
  const x = i => 58 + (count > 1 ? i * (width - 74) / (count - 1) : (width - 74) / 2);
  const y = value => height - 20 - (value - from) * (height - 30) / (top - from);
  const spoken = lines.map(({name, values}) => `${name ?? ''} ${values.map(value => value.toFixed(2)).join(', ')}`).join('; ');
  const svg = make('svg', box, {width, height, role: 'img', 'aria-label': `${title}: ${spoken}`});
  for (const value of [from, top]) {
    make('line', svg, {x1: 54, x2: width, y1: y(value), y2: y(value), stroke: 'var(--line)'});
    make('text', svg, {x: 52, y: y(value) + 4, 'text-anchor': 'end'}, Number(value.toPrecision(3)));
  }
  for (let i = 0; i < count; ++i) make('text', svg, {x: x(i), y: height - 4, 'text-anchor': 'middle'}, labels ? labels[i] : i);
  for (const [at, value, colour] of dots) make('circle', svg, {cx: x(at), cy: y(value), r: 3, fill: colour, 'fill-opacity': .6});
  for (const {values, colour = 'currentColor'} of lines) {
    make('polyline', svg, {points: values.map((value, i) => `${x(i)},${y(value)}`).join(' '), fill: 'none', stroke: colour, 'stroke-width': 2});
  }
  for (const line of lines) if (line.name) make('p', box, {style: `color: ${line.colour}; font-size: .85rem; margin: 0`}, '— ' + line.name);
}
