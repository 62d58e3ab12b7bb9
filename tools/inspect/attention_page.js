// Draws the attention that is chosen: its map, its graph, and one query with one key; and answers keys, pointers and the form.
const form = $('controls');
const state = {kind: data.first.kind, layer: data.first.layer, heads: data.first.head < 0 ? [] : [data.first.head],
  threshold: 0.1, q: null, k: null};  // q, k: the picked pair

// What is drawn: the chosen heads (none chosen: all), their mean, and the names of its rows and columns.
let view = null;
function chosen() {
  const all = headsOf(state.kind, state.layer);
  if (all.length === 0) return null;
  const heads = state.heads.length ? all.filter(head => state.heads.includes(head.number)) : all;
  return {all, heads, detail: heads[0].detail, weights: meanOf(heads), rows: kinds[state.kind].rows, keys: heads[0].detail.keys,
    named: state.heads.length === 0 ? 'mean of its heads' : (heads.length > 1 ? 'mean of heads ' : 'head ') + heads.map(head => head.name).join(', ')};
}
const most = values => values.reduce((best, value, i) => value > values[best] ? i : best, 0);

function tip(box, from, to, value) {
  $('tip').replaceChildren();
  make('bdi', $('tip'), {}, from);
  $('tip').append(' → ');
  make('bdi', $('tip'), {}, to);
  $('tip').append(': ' + value);
  const size = $('tip').getBoundingClientRect();
  $('tip').style.left = Math.max(0, Math.min(box.right + 12, innerWidth - size.width - 12)) + 'px';
  $('tip').style.top = Math.max(0, Math.min(box.bottom + 12, innerHeight - size.height - 4)) + 'px';
}
const hideTip = () => $('tip').replaceChildren();

let cell = 0, cursor = null;  // pixels; [row, column]
function moveCursor(row, column, scroll) {
  if (view?.weights[row]?.[column] === undefined) return;
  cursor = [row, column];
  Object.assign($('cursor').style, {left: column * cell + 'px', top: row * cell + 'px', width: cell + 'px', height: cell + 'px'});
  $('cursor').hidden = false;
  [...$('rows').children].forEach((name, i) => name.classList.toggle('on', i === row));
  [...$('columns').children].forEach((name, i) => name.classList.toggle('on', i === column));
  if (scroll) $('cursor').scrollIntoView({block: 'nearest', inline: 'nearest'});
  tip($('cursor').getBoundingClientRect(), view.rows[row], view.keys[column], view.weights[row][column]?.toFixed(4) ?? 'hidden');
}

function drawMap(colour) {
  $('title').textContent = `${kinds[state.kind].name}, layer ${state.layer}` + (view ? `, ${view.named}` : '');
  const mechanism = mechanismsOf(state.kind, state.layer);
  $('note').textContent = (mechanism && `Mechanism ${mechanism}. `) + (view ? kinds[state.kind].note : 'It weighs no keys, so it has no matrices.');
  $('map').style.display = view ? '' : 'none';
  $('cursor').hidden = true;
  cursor = null;
  hideTip();
  for (const old of $('board').querySelectorAll('canvas, svg')) old.remove();
  for (const id of ['rows', 'columns', 'places']) $(id).replaceChildren();
  if (!view) return;
  const {rows, keys, weights, detail} = view;
  const room = $('map').parentNode.clientWidth - 150;
  cell = Math.max(15, Math.min(44, Math.floor(room / keys.length), Math.floor(900 / rows.length)));
  $('map').style.fontSize = Math.min(14, cell - 2) + 'px';
  $('rows').style.gridTemplateRows = `repeat(${rows.length}, ${cell}px)`;
  $('columns').style.gridTemplateColumns = `repeat(${keys.length}, ${cell}px)`;
  rows.forEach((token, q) => make('span', $('rows'), {dir: 'auto', title: token}, token)
    .addEventListener('click', () => show({q, k: most(weights[q])})));
  keys.forEach((token, k) => make('span', $('columns'), {dir: 'auto', title: token, style: `line-height: ${cell}px`}, token)
    .addEventListener('click', () => show({q: most(weights.map(row => row[k])), k})));
  const size = {width: keys.length * cell, height: rows.length * cell};
  const canvas = make('canvas', $('board'), {style: `width: ${size.width}px; height: ${size.height}px`});
  $('board').setAttribute('aria-label', `${$('title').textContent}: heat map of ${rows.length} queries and ${keys.length} keys; `
    + 'arrow keys read it, Enter picks a pair');
  paint(canvas, weights, colour);
  const marks = make('svg', $('board'), size);
  if (state.q !== null) {
    make('rect', marks, {x: state.k * cell, y: state.q * cell, width: cell, height: cell, fill: 'none', stroke: 'var(--accent)',
      'stroke-width': 3});
  }
  // Where local_p looks: p_t, and the window around it.
  const width = Number(/^local_p:width=(\d+)/.exec(detail.mechanism)?.[1]);
  (detail.centre ?? []).forEach((p, q) => {
    const at = (p + 0.5) * cell, reach = width * cell;
    make('line', marks, {x1: Math.max(0, at - reach), x2: Math.min(size.width, at + reach), y1: (q + 1) * cell - 2,
      y2: (q + 1) * cell - 2, stroke: 'var(--accent)'});
    make('line', marks, {x1: at, x2: at, y1: q * cell + 2, y2: (q + 1) * cell - 2, stroke: 'var(--accent)', 'stroke-width': 2})
      .append(make('title', marks, {}, `p = ${p.toFixed(2)}`));
  });
  if (detail.centre) {
    $('places').textContent = 'The upright mark of a row is the place p that its query predicts (position 0 is the first), '
      + `the line below it the window of ±${width}: ${detail.centre.map(p => p.toFixed(1)).join(', ')}.`;
  }
  if (detail.place) drawPlaces(detail.place);
}
// Deformable attention: the tokens' positions in a row, and above them where keys were sampled.
function drawPlaces(places) {
  const tokens = kinds[state.kind].columns, step = Math.max(18, Math.min(44, ($('places').clientWidth - 20) / tokens.length));
  $('places').append('Keys are sampled between tokens, at the positions ' + places.map(p => p.toFixed(2)).join(', ') + ':');
  const svg = make('svg', make('div', $('places'), {class: 'scroll'}),
    {width: step * tokens.length + 20, height: 110, role: 'img', 'aria-label': 'places of the keys'});
  const x = p => 10 + step * p;
  make('line', svg, {x1: x(0), x2: x(tokens.length - 1), y1: 30, y2: 30, stroke: 'var(--line)'});
  tokens.forEach((token, i) => make('text', svg, {transform: `translate(${x(i)} 42) rotate(60)`}, token.slice(0, 9)));
  places.forEach((p, n) => {
    make('line', svg, {x1: x(p), x2: x(p), y1: 14, y2: 30, stroke: 'var(--key)', 'stroke-width': 2});
    make('text', svg, {x: x(p), y: 11, 'text-anchor': 'middle', class: 'key'}, n);
  });
}

let picked = null;  // [side, node]: 0 query, 1 key
function drawGraph() {
  $('edges').hidden = !view;
  if (!view) return;
  const graph = $('graph'), sides = [view.rows, view.keys], width = Math.min(900, graph.parentNode.clientWidth - 2);
  const height = 22 * Math.max(...sides.map(side => side.length)), left = width * 0.33, right = width * 0.6;
  const y = (side, i) => (i + 0.5) * height / sides[side].length, letters = Math.floor(left / 8);
  graph.replaceChildren();
  graph.setAttribute('height', height);
  graph.setAttribute('width', width);
  let all = 0;
  for (const {weights, score, number, name} of view.heads) {
    weights.forEach((row, q) => row.forEach((p, k) => {
      if (score[q][k] === null) return;
      ++all;
      if (p < state.threshold) return;
      const edge = make('line', graph, {x1: left, x2: right, y1: y(0, q), y2: y(1, k), stroke: colourOf(number), 'stroke-opacity': Math.max(0.08, p),
        'stroke-width': 0.5 + 4.5 * p, 'data-ends': `${q} ${k}`});
      make('title', edge, {}, `head ${name}: ${view.rows[q]} – ${view.keys[k]}: ${p.toFixed(4)}`);
    }));
  }
  const lengths = view.keys.map((_, k) => mean(view.heads.map(head => head.detail.v_norm[head.h][k])));
  lengths.forEach((length, k) => {
    const bar = make('rect', graph, {x: right + 4, y: y(1, k) - 3, width: 0.07 * width * length / Math.max(...lengths), height: 6,
      fill: 'var(--value)'});
    make('title', bar, {}, `length of the value: ${length.toFixed(3)}`);
  });
  sides.forEach((side, which) => side.forEach((token, i) => {
    const node = make('text', graph, {x: which ? right + 0.07 * width + 8 : left - 6, y: y(which, i) + 5, 'text-anchor': which ? 'start' : 'end',
      class: which ? 'key' : 'query', 'data-node': `${which} ${i}`}, token.length > letters ? token.slice(0, letters - 1) + '…' : token);
    node.addEventListener('pointerenter', () => pick([which, i]));
    node.addEventListener('pointerleave', () => pick(null));
    node.addEventListener('click', () => choose([which, i]));
  }));
  const edges = graph.querySelectorAll('line').length;
  $('count').textContent = `${state.threshold.toFixed(2)}: ${edges} of ${all} edges, ${view.rows.length} queries, ${view.keys.length} keys`;
}
const endsOf = ([side, i]) => side ? view.weights.map(row => row[i]) : view.weights[i];
function choose(node) {
  const other = most(endsOf(node));
  show(node[0] ? {q: other, k: node[1]} : {q: node[1], k: other});
}
function pick(node, scroll) {
  picked = node;
  const graph = $('graph');
  graph.classList.toggle('picked', node !== null);
  for (const edge of graph.querySelectorAll('line')) {
    edge.classList.toggle('on', node !== null && Number(edge.dataset.ends.split(' ')[node[0]]) === node[1]);
  }
  for (const name of graph.querySelectorAll('text')) name.classList.toggle('on', name.dataset.node === node?.join(' '));
  if (node === null) return hideTip();
  const [side, i] = node, names = [view.rows, view.keys];
  const best = endsOf(node).map((p, j) => [p, names[1 - side][j]]).sort((a, b) => b[0] - a[0]).slice(0, 3)
    .map(([p, token]) => `\u2068${token}\u2069 ${(p ?? 0).toFixed(2)}`).join(', ');
  const name = graph.querySelector('text.on');
  if (scroll) name.scrollIntoView({block: 'nearest'});
  tip(name.getBoundingClientRect(), names[side][i], 'most', best);
}

function fillForm() {
  form.kind.value = state.kind;
  form.layer.replaceChildren();
  data[state.kind].forEach((_, i) => make('option', form.layer, {value: i}, i));
  form.layer.value = state.layer;
  $('heads').replaceChildren('Heads');
  for (const head of view?.all ?? []) {
    const label = make('label', $('heads'), {style: `color: ${colourOf(head.number)}`});
    const box = make('input', label, {type: 'checkbox', value: head.number});
    box.checked = state.heads.includes(head.number);
    label.append(' ' + head.name);
  }
  if (view && state.heads.length === 0) make('span', $('heads'), {class: 'soft'}, '(all)');
  $('threshold').value = state.threshold;
}
function show(changes) {
  const moves = 'kind' in changes && changes.kind !== state.kind || 'layer' in changes && changes.layer !== state.layer;
  if (moves && !('q' in changes)) Object.assign(changes, {q: null, k: null});  // another attention has other nodes
  Object.assign(state, changes);
  state.layer = Math.max(0, Math.min(state.layer, data[state.kind].length - 1));
  const count = headsOf(state.kind, state.layer).length;
  state.heads = state.heads.filter(head => head < count);
  view = chosen();
  fillForm();
  const colour = colours();
  paint($('legend'), [Array.from({length: 100}, (_, i) => i / 99)], colour);
  drawMap(colour);
  drawGraph();
  drawPair();
  drawAll(colour);
  drawCompared(colour);
  const asked = {...state, heads: state.heads.join('.')};
  for (const name of ['q', 'k']) if (asked[name] === null) delete asked[name];
  history.replaceState(null, '', '#' + new URLSearchParams(asked));
}
function read() {
  const asked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const changes = asked.kind in kinds ? {kind: asked.kind} : {};
  for (const name of ['layer', 'threshold', 'q', 'k']) if (asked[name] >= 0 && isFinite(asked[name])) changes[name] = Number(asked[name]);
  if ('heads' in asked) changes.heads = asked.heads.split('.').filter(head => head !== '' && isFinite(head)).map(Number);
  show(changes);
}

function onArrows(node, move, enter) {
  const arrows = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  node.addEventListener('keydown', event => {
    if (event.key !== 'Enter' && !(event.key in arrows)) return;
    event.preventDefault();
    if (event.key === 'Enter') enter(); else move(arrows[event.key]);
  });
}
const limit = (value, list) => Math.max(0, Math.min(list.length - 1, value));
const pickCell = () => { if (cursor) { const [q, k] = cursor; show({q, k}); moveCursor(q, k); } };
form.addEventListener('change', event => {
  if (event.target.name === 'kind') return show({kind: form.kind.value});
  if (event.target.name === 'layer') return show({layer: Number(form.layer.value)});
  const value = event.target.value;
  show({heads: [...$('heads').querySelectorAll('input:checked')].map(box => Number(box.value))});
  $('heads').querySelector(`input[value="${value}"]`)?.focus();
});
form.addEventListener('submit', event => event.preventDefault());
$('threshold').addEventListener('input', event => { state.threshold = Number(event.target.value); drawGraph(); });
$('board').addEventListener('pointermove', event => {
  const box = $('board').getBoundingClientRect();
  moveCursor(Math.floor((event.clientY - box.top) / cell), Math.floor((event.clientX - box.left) / cell));
});
$('board').addEventListener('click', pickCell);
for (const leaving of ['pointerleave', 'blur']) $('board').addEventListener(leaving, hideTip);
onArrows($('board'), arrow => {
  const [row, column] = cursor ?? [-arrow[0], -arrow[1]];
  moveCursor(row + arrow[0], column + arrow[1], true);
}, pickCell);
$('graph').addEventListener('blur', () => pick(null));
onArrows($('graph'), arrow => {
  const side = limit((picked?.[0] ?? 0) + arrow[1], [0, 1]);
  pick([side, limit((picked?.[1] ?? 0) + arrow[0], side ? view.keys : view.rows)], true);
}, () => { if (picked) { const node = picked; choose(node); pick(node); } });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { drawTerms(); show({}); });
addEventListener('hashchange', read);
let resized = 0;
addEventListener('resize', () => { clearTimeout(resized); resized = setTimeout(() => show({}), 100); });

document.title = 'Attention: ' + data.source.join(' ').slice(0, 80);
$('model').textContent = data.model;
$('type').textContent = data.compute_type;
// Each token's direction is its own.
for (const side of ['source', 'target']) $(side).textContent = data[side].map(token => `\u2068${token}\u2069`).join(' ');
drawTerms();
read();
