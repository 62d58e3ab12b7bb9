// Draws what does not depend on a picked token: thumbnails of all heads, and the summary by layer with what it says.
const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;

// Kendall's tau of numbers and their order: 1 if each is larger than those before it, -1 if smaller.
function trend(values) {
  let sum = 0;
  values.forEach((a, i) => values.slice(i + 1).forEach(b => sum += Math.sign(b - a)));
  return sum / (values.length * (values.length - 1) / 2);
}
function growth(values) {
  const tau = trend(values);
  return tau >= 0.6 ? 'grows with depth' : tau <= -0.6 ? 'shrinks with depth' : 'neither grows nor shrinks steadily with depth';
}

function drawAll(colour) {
  $('all').replaceChildren();
  $('summary').replaceChildren();
  const layers = [];
  data[state.kind].forEach((_, layer) => {
    const mechanism = mechanismsOf(state.kind, layer);
    make('h3', $('all'), {}, `Layer ${layer}${mechanism && ': ' + mechanism}`);
    const group = make('div', $('all'), {class: 'heads'});
    const heads = headsOf(state.kind, layer);
    if (heads.length === 0) make('p', group, {class: 'soft'}, 'It weighs no keys, so it has no matrices.');
    heads.forEach(head => {
      const bits = head.detail.entropy[head.h].toFixed(2);
      const on = layer === state.layer && state.heads.includes(head.number);
      const button = make('button', group, {class: 'head', type: 'button', 'aria-pressed': on,
        'aria-label': `Enlarge layer ${layer}, head ${head.name}, entropy ${bits} bits`});
      paint(make('canvas', button), meanOf([head]), colour);
      make('span', button, {style: `color: ${colourOf(head.number)}`}, '■ ');
      make('span', button, {}, `${head.name}: ${bits} bits`);
      button.addEventListener('click', () => {
        show({layer, heads: [head.number]});
        $('title').scrollIntoView({block: 'center'});
        $('board').focus({preventScroll: true});
      });
      const row = make('tr', $('summary'), on ? {class: 'on'} : {});
      for (const value of [layer, head.name, bits, head.detail.distance[head.h].toFixed(2)]) make('td', row, {}, value);
    });
    if (heads.length > 0) layers.push({layer, heads, likeness: mean(heads.map(head => head.detail.likeness))});
  });
  drawLayers(layers);
}

function drawLayers(layers) {
  $('layers').replaceChildren();
  $('says').replaceChildren();
  if (layers.length === 0) return;
  const labels = layers.map(each => each.layer);
  const say = text => make('p', $('says'), {}, text);
  const means = name => layers.map(({heads}) => mean(heads.map(head => head.detail[name][head.h])));
  const dots = name => layers.flatMap(({heads}, i) => heads.map(head => [i, head.detail[name][head.h], colourOf(head.number)]));
  chart($('layers'), 'Distance (tokens)', [{values: means('distance')}], dots('distance'), {labels});
  chart($('layers'), 'Entropy (bits)', [{values: means('entropy')}], dots('entropy'), {labels});
  chart($('layers'), 'Likeness of heads', [{values: layers.map(each => each.likeness)}], [], {labels});
  if (layers.length > 1) {
    const far = means('distance');
    say(`Distance by layer: ${far.map(x => x.toFixed(1)).join(', ')} tokens. It ${growth(far)}` + (state.kind !== 'encoder' ? '.'
      : `: that shallow layers look nearby and deep ones far ${trend(far) >= 0.6 ? 'holds' : 'does not hold'} for this model and text.`));
    say(`Entropy ${growth(means('entropy'))}: ${means('entropy').map(x => x.toFixed(1)).join(', ')} bits.`);
  }
  const sorted = [...layers].sort((a, b) => a.likeness - b.likeness);
  say(`Likeness is the part of the weight that two heads put on the same keys, 1 if they are equal. Heads differ most in layer ${sorted[0].layer} `
    + `(${sorted[0].likeness.toFixed(2)}) and least in layer ${sorted.at(-1).layer} (${sorted.at(-1).likeness.toFixed(2)}).`);
}

// Mechanisms beside each other: what each sees, what the target becomes worth, and what it costs.
function drawCompared(colour) {
  const compared = data.compare;
  $('compare').hidden = compared.length === 0;
  if (compared.length === 0) return;
  for (const id of ['compared', 'compare-says', 'fields']) $(id).replaceChildren();
  const layer = Math.min(state.kind === 'encoder' ? state.layer : 0, data.encoder.length - 1);
  $('compare-layer').textContent = layer;
  const best = Math.max(...compared.map(each => each.log_prob));
  const dearest = Math.max(...compared.map(each => each.edges), 1);
  const least = Math.min(...compared.map(each => each.log_prob));
  compared.forEach((each, i) => {
    const row = make('tr', $('compared'));
    make('td', row, {style: `color: ${colourOf(i)}; text-align: left; white-space: normal`}, '■ ' + each.mechanism);
    const cell = make('td', row), map = each.maps[layer] ?? [];
    const size = 'width: 84px; height: 84px';
    if (map.length) paint(make('canvas', cell, {style: size, role: 'img', 'aria-label': each.mechanism}), map, colour);
    else cell.textContent = 'none';
    const bar = (value, part, className) => {
      const cell = make('td', row, {style: 'text-align: left'}, value);
      make('br', cell);
      make('span', cell, {class: 'bar', style: `width: ${Math.max(1, 90 * part)}px; background: var(--${className})`});
    };
    bar(each.log_prob.toFixed(2), each.log_prob / least, 'query');
    bar(each.edges === 0 ? 'no pairs' : each.edges, each.edges / dearest, 'key');
    bar(each.field.at(-1).toFixed(1), each.field.at(-1) / data.source.length, 'value');
  });
  const lines = compared.map((each, i) => ({values: [1, ...each.field], colour: colourOf(i), name: each.mechanism}));
  chart($('fields'), 'Receptive field by depth (positions)', lines, [], {labels: ['in', ...compared[0].field.map((_, l) => l)]});
  const say = text => make('p', $('compare-says'), {}, text);
  const name = each => each.mechanism, all = data.source.length;
  const top = compared.find(each => each.log_prob === best), worst = compared.find(each => each.log_prob === least);
  const cheap = compared.filter(each => each.edges > 0).sort((a, b) => a.edges - b.edges)[0];
  if (best > least) {
    say(`The model was trained with its own mechanism, not with others. The target is most probable with ${name(top)} (log-probability `
      + `${best.toFixed(2)}) and least with ${name(worst)} (${least.toFixed(2)}).`);
  }
  const full = compared.find(each => each.mechanism === 'full');
  const idle = compared.filter(each => full && each !== full && each.edges === full.edges && each.log_prob === full.log_prob).map(name);
  if (idle.length) say(`Nothing is hidden in ${all} tokens by ${idle.join(', ')}: windows or buckets are wider than the text.`);
  if (cheap && cheap.edges < dearest) say(`${name(cheap)} computes the fewest pairs, ${(100 * cheap.edges / dearest).toFixed(0)} % of the most.`);
  const slow = compared.filter(each => each.field[0] < all - 0.001);
  if (slow.length) {
    say(`After one layer a position has seen ${slow.map(each => `${each.field[0].toFixed(1)} (${name(each)})`).join(', ')} of ${all} `
      + `positions, after ${slow[0].field.length} layers ${slow.map(each => each.field.at(-1).toFixed(1)).join(', ')}.`);
    const whole = slow.filter(each => each.field.at(-1) > all - 0.001).map(name);
    if (whole.length) say(`Depth makes up for what is hidden by ${whole.join(', ')}: in the end, every position depends on all.`);
  }
}

// The part of a term's variance over the keys that is the same for every query: 1 for a map of upright stripes.
function stripes(map) {
  const rows = map.map(row => row.map(score => score - mean(row)));
  const square = values => values.reduce((sum, value) => sum + value * value, 0);
  return square(rows[0].map((_, k) => mean(rows.map(row => row[k])))) * rows.length / (square(rows.flat()) || 1);
}
const termTexts = {XX: 'words look for words', XP: 'words look for positions', PX: 'positions look for words',
  PP: 'positions look for positions, which is all that a convolution has', bias: 'products with the biases of the maps'};
function drawTerms() {
  $('terms').hidden = !data.terms;
  if (!data.terms) return;
  for (const id of ['term-rows', 'term-says', 'term-names']) $(id).replaceChildren();
  const {names, variance, map} = data.terms, signs = colours('--signs', 1);
  names.forEach(name => make('p', $('term-names'), {}, `${name}: ${termTexts[name]}.`));
  const largest = [];
  variance.forEach((own, h) => {
    const total = own.reduce((a, b) => a + b, 0) || 1;
    // Not Math.max(...scores): a long text has more scores than a call may have arguments.
    const limit = map.flatMap(term => term[h].flat()).reduce((most, score) => Math.max(most, Math.abs(score)), 1e-9);
    const row = make('tr', $('term-rows'));
    make('td', row, {}, h);
    own.forEach((value, t) => {
      const cell = make('td', row, {style: 'text-align: left'});
      paint(make('canvas', cell, {style: 'width: 84px; height: 84px', role: 'img', 'aria-label': `head ${h}, ${names[t]}`}),
        map[t][h].map(scores => scores.map(score => 0.5 + score / limit / 2)), signs);
      cell.append(`${value.toFixed(2)} (${(100 * value / total).toFixed(0)} %)`);
    });
    largest.push(names[own.indexOf(Math.max(...own))]);
  });
  for (const name of new Set(largest)) {
    const heads = largest.flatMap((each, h) => each === name ? [h] : []);
    const same = mean(heads.map(h => stripes(map[names.indexOf(name)][h])));
    const where = heads.length === largest.length ? 'every head' : (heads.length > 1 ? 'heads ' : 'head ') + heads.join(', ');
    make('p', $('term-says'), {}, `${name} is the largest part in ${where}: there ${termTexts[name]}. `
      + (same > 0.8 ? 'Its map has upright stripes: the same keys are preferred by whatever query.' : 'Its map differs from query to query.'));
  }
}
