// The page of nibu-serve. Without this program, the form is sent as it is and the server fills the page.
'use strict';

const $ = id => document.getElementById(id);
const AUTO = 'auto';
// Lines are sent in pieces of about so many characters, so that a long text shows how far it is.
const PIECE = 1500;
// Texts of up to so many characters are translated as they are typed, and get alternatives.
const SHORT = 400;
const ALTERNATIVES = 3;

let languages = [];
let limit = -1;       // characters of a request; -1: any number
let running = null;   // the AbortController of the translation under way
let timer = 0;
let shown = { source: '', target: '', lines: [] };  // what stands in the output
let saved = null;     // a file that was translated: { name, type, text }
let hasStarted;       // to be called once the languages are there
const started = new Promise(resolve => { hasStarted = resolve; });

async function ask(path, parameters, signal) {
  const options = { signal };
  if (parameters) {
    const key = $('api_key').value;
    if (key) parameters.api_key = key;
    options.method = 'POST';
    options.headers = { 'Content-Type': 'application/json' };
    options.body = JSON.stringify(parameters);
  }
  const answer = await fetch(path, options);
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(found.error || `The server answered ${answer.status}.`);
  return found;
}

function remember(name, value) {
  try {
    if (value === undefined) return localStorage.getItem('nibu.' + name);
    localStorage.setItem('nibu.' + name, value);
  } catch { /* no storage: nothing is remembered */ }
  return null;
}

function nameOf(code) {
  const found = languages.find(each => each.code === code);
  return found ? found.name : code;
}

// Fills the target's languages with those that the source's can be translated into.
function fillTargets(asked) {
  const source = $('source').value;
  const targets = new Set(languages.filter(each => source === AUTO || each.code === source)
    .flatMap(each => each.targets).filter(code => code !== source));
  const wanted = asked || remember('target') || $('target').value;
  $('target').replaceChildren(...[...targets].sort((a, b) => nameOf(a).localeCompare(nameOf(b)))
    .map(code => new Option(nameOf(code), code, false, code === wanted)));
}

function fillSources(asked, askedTarget) {
  const wanted = asked || remember('source') || $('source').value || AUTO;
  const sources = languages.filter(each => each.targets.some(code => code !== each.code));
  $('source').replaceChildren(new Option('Detect language', AUTO),
    ...sources.map(each => new Option(each.name, each.code, false, each.code === wanted)));
  fillTargets(askedTarget);
}

// Cuts a text at ends of lines into pieces of about PIECE characters.
function pieces(text) {
  const found = [''];
  for (const line of text.split(/(?<=\n)/)) {
    if (found.at(-1) && found.at(-1).length + line.length > PIECE) found.push('');
    found[found.length - 1] += line;
  }
  return found;
}

function fail(error) {
  if (error.name === 'AbortError') return;
  $('error').textContent = error.message;
}

// Begins a translation, which ends the one before.
function begin() {
  clearTimeout(timer);
  if (running) running.abort();
  running = new AbortController();
  $('error').textContent = '';
  $('save').hidden = $('copy').hidden = $('words').hidden = $('others').hidden = true;
  saved = null;
  return running.signal;
}

function showProgress(share) {
  $('progress').hidden = share >= 1;
  $('progress').value = share;
}

function showDetected(found) {
  const name = found ? nameOf(found.language) : '';
  $('detected').textContent = found ? `${name} (${Math.round(found.confidence)} % sure)` : '';
}

// Each line of the translation is a paragraph, whose words light up.
function show(source, text, from, to) {
  const sources = source.split('\n');
  shown = { source: from, target: to, lines: [] };
  $('output').lang = to;
  $('output').replaceChildren(...text.split('\n').map((line, index) => {
    const paragraph = document.createElement('p');
    paragraph.append(...words(line));
    shown.lines.push({ source: sources[index] || '', target: line, pairs: null });
    paragraph.dataset.line = index;
    if (line.trim()) paragraph.tabIndex = 0;
    return paragraph;
  }));
  $('copy').hidden = !text;
}

// Words with a span each, and the blanks between them.
function words(line) {
  let number = 0;
  return line.split(/(\s+)/).filter(part => part).map(part => {
    if (!part.trim()) return part;
    const span = document.createElement('span');
    span.className = 'word';
    span.dataset.word = number++;
    span.textContent = part;
    return span;
  });
}

async function translate() {
  const text = $('q').value;
  const [source, target] = [$('source').value, $('target').value];
  const signal = begin();
  showDetected(null);
  if (!text.trim() || !target) {
    show('', '', source, target);
    return;
  }
  const parts = pieces(text);
  const isShort = parts.length === 1 && text.length <= SHORT && !text.trim().includes('\n');
  let from = source;
  let translation = '';
  try {
    for (const [index, part] of parts.entries()) {
      showProgress(index / parts.length);
      const found = await ask('translate', {
        q: part, source: from, target, format: 'text', alternatives: isShort ? ALTERNATIVES : 0,
      }, signal);
      if (from === AUTO && found.detectedLanguage && part.trim()) {
        showDetected(found.detectedLanguage);
        // All of the text is in the language of its beginning.
        if (found.detectedLanguage.confidence > 0) from = found.detectedLanguage.language;
      }
      translation += found.translatedText;
      show(text, translation, from, target);
      showAlternatives(text, found.alternatives || []);
    }
  } catch (error) {
    fail(error);
  }
  if (!signal.aborted) showProgress(1);
}

function showAlternatives(text, alternatives) {
  $('others').hidden = alternatives.length === 0;
  $('alternatives').replaceChildren(...alternatives.map(each => {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = each;
    button.lang = shown.target;
    button.onclick = () => {
      const current = shown.lines.map(line => line.target).join('\n');
      show(text, each, shown.source, shown.target);
      button.textContent = each = current;
    };
    item.append(button);
    return item;
  }));
}

// Shows a line's words beside those of its source, and lights up those that belong to a word.
async function light(line, side, word) {
  const pair = shown.lines[line];
  if (!pair || !pair.target.trim()) return;
  const of = shown;
  if ($('words').dataset.line !== String(line) || $('words').hidden) {
    $('words').dataset.line = line;
    $('words_source').replaceChildren(...words(pair.source));
    $('words_target').replaceChildren(...words(pair.target));
    $('words_source').lang = shown.source;
    $('words_target').lang = shown.target;
    $('words').hidden = false;
  }
  if (!pair.pairs) {
    pair.pairs = ask('align', {
      q: pair.source, translation: pair.target, source: shown.source, target: shown.target,
    }).then(found => found.alignment).catch(error => {
      fail(error);
      return [];
    });
  }
  const pairs = await pair.pairs;
  if (of !== shown || $('words').dataset.line !== String(line)) return;
  const other = new Set(pairs.filter(each => each[side] === word).map(each => each[1 - side]));
  const lit = [side === 0 ? new Set([word]) : other, side === 1 ? new Set([word]) : other];
  const paragraph = $('output').children[line];
  for (const [place, set] of [[$('words_source'), lit[0]], [$('words_target'), lit[1]], [paragraph, lit[1]]]) {
    for (const span of place.querySelectorAll('.word')) span.classList.toggle('lit', set.has(+span.dataset.word));
  }
  // What lights up is said, too.
  $('said').textContent = ['words_target', 'words_source']
    .map(place => [...$(place).querySelectorAll('.lit')].map(each => each.textContent).join(' ')).join(': ');
}

function unlight() {
  for (const span of document.querySelectorAll('.lit')) span.classList.remove('lit');
}

function lightAt(event) {
  const span = event.target.closest('.word');
  if (!span) return;
  unlight();
  const paragraph = span.closest('#output p');
  const line = paragraph ? +paragraph.dataset.line : +$('words').dataset.line;
  light(line, span.closest('#words_source') ? 0 : 1, +span.dataset.word);
}

// On a line of the output, the arrow keys go from word to word.
function lightByKey(event) {
  const paragraph = event.target.closest('#output p');
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!paragraph || !step) return;
  event.preventDefault();
  const count = paragraph.querySelectorAll('.word').length;
  const now = paragraph.querySelector('.lit');
  const next = now ? (+now.dataset.word + step + count) % count : step > 0 ? 0 : count - 1;
  unlight();
  light(+paragraph.dataset.line, 1, next);
}

// Subtitles go to the server as a file, which keeps their times; the others as texts.
async function translateFile(file, text, signal) {
  const [source, target] = [$('source').value, $('target').value];
  if (!/\.srt$/i.test(file.name)) {
    const found = await ask('translate', { q: text, source, target, format: 'html' }, signal);
    showDetected(found.detectedLanguage);
    return { type: 'text/html', text: found.translatedText };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries({ source, target, api_key: $('api_key').value })) {
    if (value) form.append(name, value);
  }
  form.append('file', file);
  const answer = await fetch('translate_file', { method: 'POST', body: form, signal });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  // A proxy may have another name for the server than the address has.
  const kept = await fetch('download_file/' + found.translatedFileUrl.split('/').pop(), { signal });
  if (!kept.ok) throw new Error(`The translated file is not there (${kept.status}).`);
  return { type: 'application/x-subrip', text: await kept.text() };
}

async function openFile(file) {
  await started;  // What comes with the languages would end the file's translation.
  const isWhole = /\.(x?html?|srt)$/i.test(file.name);
  if (!isWhole && !/\.(txt|text)$/i.test(file.name) && !file.type.startsWith('text/plain')) {
    fail(new Error(`${file.name}: open a text (.txt), a page (.html) or subtitles (.srt).`));
    return;
  }
  const text = await file.text();
  if (limit > 0 && isWhole && text.length > limit) {
    fail(new Error(`${file.name} has ${text.length} characters; the server takes up to ${limit}.`));
    return;
  }
  const target = $('target').value;
  if (!isWhole) {
    $('q').value = text;
    count();
    await translate();
    saved = { type: 'text/plain', text: shown.lines.map(each => each.target).join('\n') };
  } else {
    const signal = begin();
    showProgress(0);
    try {
      const translated = await translateFile(file, text, signal);
      show('', translated.text, '', target);
      shown.lines = [];  // tags and times are no words
      saved = translated;
    } catch (error) {
      fail(error);
    }
    if (signal.aborted) return;
    showProgress(1);
  }
  if (!saved || !saved.text) return;
  saved.name = file.name.replace(/(\.[^.]*)?$/, `.${target}$1`);
  $('save').hidden = false;
}

function save() {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([saved.text], { type: saved.type }));
  link.download = saved.name;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function copy() {
  const text = $('output').innerText;
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // no clipboard without TLS: the text is selected, for Ctrl-C
    getSelection().selectAllChildren($('output'));
    return;
  }
  $('copy').textContent = 'Copied';
  setTimeout(() => { $('copy').textContent = 'Copy'; }, 1500);
}

function count() {
  $('count').textContent = `${$('q').value.length} characters`;
}

async function start() {
  $('form').onsubmit = event => {
    event.preventDefault();
    translate();
  };
  $('q').oninput = () => {
    count();
    clearTimeout(timer);
    if ($('q').value.length <= SHORT) timer = setTimeout(translate, 600);
  };
  $('q').onkeydown = event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) translate();
  };
  $('source').onchange = () => {
    remember('source', $('source').value);
    fillTargets();
    translate();
  };
  $('target').onchange = () => {
    remember('target', $('target').value);
    translate();
  };
  $('swap').onclick = () => {
    const [source, target] = [shown.source || $('source').value, $('target').value];
    const text = shown.lines.map(line => line.target).join('\n');
    $('source').value = target;
    fillTargets();
    if (source !== AUTO) $('target').value = source;
    if (text) $('q').value = text;
    count();
    translate();
  };
  for (const place of [$('output'), $('words')]) {
    place.addEventListener('pointerover', lightAt);
    place.addEventListener('click', lightAt);
    place.addEventListener('pointerleave', unlight);
  }
  $('output').addEventListener('keydown', lightByKey);
  $('copy').onclick = copy;
  $('save').onclick = save;
  $('file').onchange = () => $('file').files[0] && openFile($('file').files[0]);
  const drop = $('drop');
  drop.ondragover = event => {
    event.preventDefault();
    drop.classList.add('over');
  };
  drop.ondragleave = () => drop.classList.remove('over');
  drop.ondrop = event => {
    drop.classList.remove('over');
    if (!event.dataTransfer.files[0]) return;
    event.preventDefault();
    openFile(event.dataTransfer.files[0]);
  };
  $('swap').hidden = $('file_label').hidden = false;
  // A link may have a text: /?q=...&source=en&target=de.
  const asked = new URLSearchParams(location.search);
  if (asked.get('q')) $('q').value = asked.get('q');
  count();
  try {
    const settings = await ask('frontend/settings');
    limit = settings.charLimit;
    languages = await ask('languages');
    fillSources(asked.get('source'), asked.get('target'));
  } catch (error) {
    fail(error);
  }
  if ($('q').value && !$('output').textContent) translate();
  hasStarted();
}

start();
