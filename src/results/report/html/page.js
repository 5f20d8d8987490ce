'use strict';
// The page works without this script, but for sorting, filters and the list of mutants. Text from results only ever becomes
// text nodes.
(() => {
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };

  // Tables: a click on a column's head sorts by it.
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return '';
    return 'sort' in cell.dataset ? cell.dataset.sort : cell.textContent.trim();
  };
  const compare = (a, b) => {
    if (a === '' || b === '') return (a === '') - (b === '');
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  for (const table of document.querySelectorAll('table.sortable')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (!head.hasAttribute('scope')) return;
      const button = make('button', { type: 'button' }, ...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, column), row]);
        rows.sort((a, b) => (a[0] === '' || b[0] === '' ? compare(a[0], b[0]) : (down ? -1 : 1) * compare(a[0], b[0])));
        table.tBodies[0].append(...rows.map((row) => row[1]));
      });
    });
  }

  // The list of kernels.
  const find = document.querySelector('nav.pages input.find');
  if (find) {
    find.hidden = false;
    find.addEventListener('input', () => {
      const wanted = find.value.toLowerCase();
      for (const item of document.querySelectorAll('nav.pages li')) {
        item.hidden = !item.textContent.toLowerCase().includes(wanted);
      }
    });
  }
  const mark = () => {
    const view = document.querySelector(':target')?.closest('section.view');
    const id = view ? view.id : 'overview';
    for (const link of document.querySelectorAll('nav.pages ul a')) {
      if (link.getAttribute('href') === '#' + id) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    // A line that is linked to shows what is known of it.
    const line = document.querySelector('ol.source > li:target > details');
    if (line) line.open = true;
  };
  addEventListener('hashchange', mark);
  mark();

  // Mutants. The order of a row's values is that of `Row` in mutants.rs.
  const [ID, LEVEL, OPERATOR, STATUS, FILE, LINE, FROM, TO, FUNCTION, ORIGINAL, REPLACEMENT, KILLED, COVERED, REASON, SAME, SCHEDULE] =
    Array.from({ length: 16 }, (_, n) => n);
  const CHUNK = 200;
  const stores = new Map();
  const dataOf = (page) => {
    if (!stores.has(page)) {
      const element = document.getElementById(`k${page}-data`);
      stores.set(page, element ? JSON.parse(element.textContent) : null);
    }
    return stores.get(page);
  };
  const isMissed = (data, row) => row[STATUS] < data.missed && row[SAME] === null;
  const toneOf = (data, row) => {
    if (row[SAME] !== null) return 'quiet';
    if (row[STATUS] === 1 || row[STATUS] === 3) return 'warn';
    if (isMissed(data, row)) return 'bad';
    return row[STATUS] < 7 ? 'good' : 'quiet';
  };
  const lineText = (page, row) => {
    const code = document.querySelector(`#k${page}-f${row[FILE]}-L${row[LINE]} > code`);
    return code ? code.textContent : null;
  };
  const change = (row) =>
    make('code', {}, row[ORIGINAL] ? make('del', {}, row[ORIGINAL]) : null, row[ORIGINAL] && row[REPLACEMENT] ? ' ' : null,
      row[REPLACEMENT] ? make('ins', {}, row[REPLACEMENT]) : null);

  // The line before and after, where the text that is replaced stands in it; else only the change.
  const diff = (page, row) => {
    const text = lineText(page, row);
    if (text === null || row[FROM] === 0) return make('p', { class: 'diff' }, change(row));
    const [before, old, after] = [text.slice(0, row[FROM] - 1), text.slice(row[FROM] - 1, row[TO] - 1), text.slice(row[TO] - 1)];
    return make('pre', { class: 'diff' },
      make('span', { class: 'minus' }, '- ', before, make('del', {}, old), after), '\n',
      make('span', { class: 'plus' }, '+ ', before, make('ins', {}, row[REPLACEMENT]), after));
  };
  const listed = (data, list) => data.lists[list].map((test) => data.tests[test]).join(', ');
  const details = (page, data, row) => {
    const parts = [diff(page, row)];
    const facts = [];
    if (row[REASON] > 0) facts.push(['reason', data.reasons[row[REASON] - 1]]);
    if (row[SAME] !== null) facts.push(['duplicate of', row[SAME]]);
    if (data.lists[row[KILLED]].length) facts.push(['detected by', listed(data, row[KILLED])]);
    facts.push(['reached by', listed(data, row[COVERED]) || 'no test']);
    if (row[SCHEDULE] !== null) facts.push(['under', row[SCHEDULE]]);
    facts.push(['in', data.functions[row[FUNCTION]]], ['id', row[ID]]);
    parts.push(make('dl', {}, ...facts.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)])));
    return make('div', { class: 'why' }, ...parts);
  };
  const badge = (data, row) =>
    make('span', { class: 'badge ' + toneOf(data, row) }, row[SAME] !== null ? 'duplicate' : data.statuses[row[STATUS]]);

  const rowOf = (page, data, row) => {
    const button = make('button', { type: 'button', 'aria-expanded': 'false', 'aria-label': `details of mutant ${row[ID]}` }, '⋯');
    const tests = data.lists[row[KILLED]].length
      ? `detected by ${data.lists[row[KILLED]].length}`
      : `reached by ${data.lists[row[COVERED]].length}`;
    const element = make('tr', {},
      make('td', {}, badge(data, row)),
      make('td', {}, data.operators[row[OPERATOR]], data.levels.length > 1 ? make('span', { class: 'quiet' }, ' ' + data.levels[row[LEVEL]]) : null),
      make('td', { class: 'n' }, row[LINE] ? make('a', { href: `#k${page}-f${row[FILE]}-L${row[LINE]}` }, String(row[LINE])) : '–'),
      make('td', {}, change(row)), make('td', { class: 'quiet' }, tests), make('td', {}, button));
    button.addEventListener('click', () => {
      const open = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!open));
      if (open) element.nextElementSibling.remove();
      else element.after(make('tr', { class: 'open' }, make('td', { colspan: '6' }, details(page, data, row))));
    });
    return element;
  };

  const lists = [];
  const start = (form) => {
    const page = form.dataset.page;
    const data = dataOf(page);
    const table = document.getElementById(`k${page}-list`);
    if (!data || !table) return;
    const [body, count] = [table.tBodies[0], form.querySelector('output')];
    const select = (name) => form.elements.namedItem(name);
    const used = (position, names, name) => {
      const seen = new Set(data.rows.map((row) => row[position]));
      names.forEach((text, n) => { if (seen.has(n)) select(name).append(make('option', { value: n }, text)); });
    };
    used(OPERATOR, data.operators, 'operator');
    used(LEVEL, data.levels, 'level');
    const present = new Set(data.rows.map((row) => row[STATUS]));
    for (const option of [...select('status').options]) {
      if (/^\d+$/.test(option.value) && !present.has(Number(option.value))) option.remove();
    }
    if (!data.rows.some((row) => isMissed(data, row))) select('status').value = '';
    let [chosen, drawn] = [[], 0];
    const draw = (upTo) => {
      if (upTo <= drawn) return;
      body.append(...chosen.slice(drawn, upTo).map((row) => rowOf(page, data, row)));
      drawn = Math.min(upTo, chosen.length);
      more.hidden = drawn >= chosen.length;
    };
    const more = make('button', { type: 'button', class: 'more' }, 'Show more');
    table.after(more);
    more.addEventListener('click', () => draw(drawn + CHUNK));
    new IntersectionObserver((seen) => { if (seen.some((entry) => entry.isIntersecting)) draw(drawn + CHUNK); }).observe(more);
    const filter = () => {
      const [status, operator, level] = ['status', 'operator', 'level'].map((name) => select(name).value);
      const text = select('text').value.trim().toLowerCase();
      const fits = (row) =>
        (status === '' || (status === 'missed' ? isMissed(data, row) : row[SAME] === null && row[STATUS] === Number(status))) &&
        (operator === '' || row[OPERATOR] === Number(operator)) && (level === '' || row[LEVEL] === Number(level)) &&
        (text === '' || [row[ID], row[ORIGINAL], row[REPLACEMENT], data.functions[row[FUNCTION]],
          row[REASON] > 0 ? data.reasons[row[REASON] - 1] : '', ...data.lists[row[KILLED]].map((test) => data.tests[test])]
          .some((value) => value.toLowerCase().includes(text)));
      chosen = data.rows.filter(fits);
      body.replaceChildren();
      drawn = 0;
      more.hidden = true;
      draw(CHUNK);
      count.textContent = `${chosen.length} of ${data.rows.length}`;
    };
    form.addEventListener('input', filter);
    form.addEventListener('submit', (event) => event.preventDefault());
    [form.hidden, table.hidden] = [false, false];
    filter();
    lists.push(() => draw(Math.min(chosen.length, 2000)));
  };
  document.querySelectorAll('form.filters').forEach(start);

  // The mutants of a line are made when it is opened.
  document.addEventListener('toggle', (event) => {
    const place = event.target.open && event.target.querySelector(':scope .line-mutants:empty');
    if (!place) return;
    const { page, file, line } = place.dataset;
    const data = dataOf(page);
    if (!data) return;
    const rows = data.rows.filter((row) => row[FILE] === Number(file) && row[LINE] === Number(line) && row[SAME] === null);
    rows.sort((a, b) => a[STATUS] - b[STATUS]);
    place.append(make('ul', { class: 'plain' }, ...rows.map((row) => {
      const item = make('details', {}, make('summary', {}, badge(data, row), ' ', data.operators[row[OPERATOR]], ' ', change(row)));
      item.addEventListener('toggle', () => { if (item.open && item.childElementCount === 1) item.append(details(page, data, row)); });
      return make('li', {}, item);
    })));
  }, true);

  // On paper, nothing is closed but what the lines of the source unfold, and filtered lists are whole.
  addEventListener('beforeprint', () => {
    lists.forEach((draw) => draw());
    for (const closed of document.querySelectorAll('details:not([open]):not(ol.source details)')) {
      closed.open = true;
      closed.dataset.closed = '';
    }
  });
  addEventListener('afterprint', () => {
    for (const opened of document.querySelectorAll('details[data-closed]')) {
      opened.open = false;
      delete opened.dataset.closed;
    }
  });
})();
