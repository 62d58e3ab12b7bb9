// Shows the description of the interface that /spec gives.
'use strict';

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

function table(heads, rows) {
  return element('table', '', element('thead', '', element('tr', '', ...heads.map(head => element('th', head)))),
    element('tbody', '', ...rows.map(row => element('tr', '', ...row.map(cell => element('td', cell))))));
}

// The command that asks for a path, with the examples of its parameters.
function command(base, path, method, parameters) {
  const url = base + path.replace(/\{(\w+)\}/g, (_, name) => name.toUpperCase());
  if (method === 'delete') return `curl -X DELETE '${url}'`;
  if (parameters.some(each => each.type === 'file')) {
    return 'curl ' + parameters.filter(each => each['x-example'] !== undefined)
      .map(each => `-F '${each.name}=${each['x-example']}'`).join(' ') + ` '${url}'`;
  }
  if (method === 'get') {
    const query = parameters.filter(each => each['x-example'] !== undefined)
      .map(each => `${each.name}=${encodeURIComponent(each['x-example'])}`).join('&');
    return `curl '${url}${query ? '?' + query : ''}'`;
  }
  const values = {};
  for (const each of parameters) if (each['x-example'] !== undefined) values[each.name] = each['x-example'];
  const body = parameters.find(each => each.in === 'body');
  const example = body && body.schema && body.schema.example || values;
  return `curl -H 'Content-Type: application/json' -d '${JSON.stringify(example)}' '${url}'`;
}

function describe(base, path, method, operation) {
  const parameters = operation.parameters || [];
  const section = element('section', '', element('h2', `${method.toUpperCase()} ${path}`),
    element('p', operation.summary || operation.description || ''));
  if (parameters.length > 0) {
    section.append(table(['Parameter', 'Type', 'Needed', 'What it is'], parameters.map(each => [
      each.name, each.type || (each.schema && each.schema.type) || '', each.required ? 'yes' : '',
      each.description || ''])));
  }
  section.append(element('pre', command(base, path, method, parameters)));
  const rows = [];
  for (const [status, answer] of Object.entries(operation.responses || {})) {
    const example = answer.examples && Object.values(answer.examples)[0] ||
      answer.schema && answer.schema.example;
    rows.push([status, answer.description || '', example === undefined ? '' : JSON.stringify(example)]);
  }
  section.append(table(['Status', 'When', 'Example'], rows));
  return section;
}

async function start() {
  const main = document.getElementById('main');
  const spec = await (await fetch('spec')).json();
  const base = location.href.replace(/\/docs.*$/, '');
  for (const [path, operations] of Object.entries(spec.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      main.append(describe(base, path, method, operation));
    }
  }
}

start();
