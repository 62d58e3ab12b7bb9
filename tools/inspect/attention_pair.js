// Draws a query and a key of one head: their products, and what each key of the query gets.
const norm = x => Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

// All that a query and a key have in common; no score: the key is hidden from the query.
function pairOf(head, q, k) {
  const {detail, h} = head, query = detail.q[h][q], key = detail.k[h][k], sum = dot(query, key);
  const cosine = sum / (norm(query) * norm(key) || 1);
  return {name: detail.keys[k], query, key, long: norm(key), sum, angle: Math.acos(Math.max(-1, Math.min(1, cosine))) * 180 / Math.PI,
    score: head.score[q][k], weight: head.weights[q][k], value: detail.v_norm[h][k]};
}

// Numbers as colours: one sign on each side of the middle.
function drawStrip(text, values, className) {
  const largest = Math.max(...values.map(Math.abs), 1e-9);
  make('div', $('strips'), {class: className}, `${text} (${values.length} numbers, ±${largest.toFixed(2)})`);
  const strip = make('canvas', $('strips'), {class: 'strip', role: 'img', 'aria-label': text});
  paint(strip, [values.map(value => 0.5 + value / largest / 2)], colours('--signs', 1));
}

function drawPair() {
  $('pair').hidden = !view;
  for (const id of ['strips', 'pair-rows', 'pair-sum']) $(id).replaceChildren();
  if (!view) return;
  const head = view.heads[0], q = Math.min(state.q ?? 0, view.rows.length - 1);
  const k = Math.min(state.k ?? most(head.weights[q]), view.keys.length - 1);
  const pairs = view.keys.map((_, j) => pairOf(head, q, j)), {query, key, long, angle, sum, score, weight, value} = pairs[k];
  $('pair-note').textContent = `Head ${head.name} of layer ${state.layer}. Pick others by a click on a cell, a token or a row below, or by the arrow keys and `
    + 'Enter in the map or the graph.';
  drawStrip('q: ' + view.rows[q], query, 'query');
  drawStrip('k: ' + view.keys[k], key, 'key');
  drawStrip('q × k, element by element; their sum is q · k', query.map((each, i) => each * key[i]), '');
  $('pair-sum').textContent = `|q| = ${norm(query).toFixed(3)}, |k| = ${long.toFixed(3)}, angle ${angle.toFixed(1)}°: `
    + `q · k = |q| |k| cos = ${sum.toFixed(3)}; ` + (score === null ? 'hidden from this query.'
      : `score ${score.toFixed(3)}, weight ${weight.toFixed(4)}; with a value of length ${value.toFixed(3)} it adds a vector of `
        + `length ${(weight * value).toFixed(3)}.`);
  const rounded = state.kind === 'encoder' || data.compute_type === 'float32' ? ''
    : ` In ${data.compute_type}, it takes that of a rounded key.`;
  const faded = head.detail.centre ? ' The weight is the softmax times a Gaussian of the distance from the place p.' : '';
  $('pair-caption').textContent = `All keys of the query ${view.rows[q]}. A key weighs more if it is longer or at a smaller angle. `
    + 'The score is what the softmax takes: ' + (/score=(general|concat)/.test(head.detail.mechanism)
      ? 'this mechanism maps q and k before it compares them.' : 'q · k times the model’s scale, plus what it adds by distance.') + rounded + faded;
  pairs.forEach((pair, j) => {
    const row = make('tr', $('pair-rows'), j === k ? {class: 'on'} : {});
    const seen = pair.score !== null;
    for (const text of [pair.name, pair.long.toFixed(3), pair.angle.toFixed(1) + '°', pair.sum.toFixed(3),
      seen ? pair.score.toFixed(3) : 'hidden', seen ? pair.weight.toFixed(4) : '', pair.value.toFixed(3),
      seen ? (pair.weight * pair.value).toFixed(3) : '']) make('td', row, {}, text);
    row.addEventListener('click', () => show({q, k: j}));
  });
}

