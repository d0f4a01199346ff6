// Makes the html that Node-RED loads from `nodes/*.html`. There a dialog is a list of `<row field="…">`, and `registerType` names only
// icon, inputs and outputs. The build adds what is the same for all nodes. The kind of a field and the `defaults` come from the table in
// src/settings.ts; a field that is not in this table is a credential. The result holds a literal `registerType` call, which the flow
// library can read without running it. It also works without the editor script, with plain fields.
//
// A row: <row field="mac" icon="plug" hint placeholder unit="seconds">
// - hint: shows the text `<set>.hint.<field>` of the node's catalogue
// - placeholder: the same with `<set>.placeholder.<field>`; placeholder="text" shows this text in every language
// - unit: a key below `strip-account.unit`
// - wide: a text field that the editor script makes a typedInput, which is as wide as the field was
// - flags: names of properties of which each has a check box in this row, called `<set>.<field>.<flag>`; `field` only
//   names the row, and may be the name of the flag if there is only one

const PACKAGE = '@smart-strip/node-red-smart-strip';
const UNITS = `${PACKAGE}/strip-account:strip-account.unit`;

/** The key of a property's label. Those that several nodes have are in the account's catalogue. */
function labelOf(name, set) {
  const owner = ['account', 'mac', 'port'].includes(name) ? 'strip-account' : set;
  return `${PACKAGE}/${owner}:${owner}.label.${name}`;
}

/** The html of a node as Node-RED loads it. `set`: the name of the file without ".html". */
export function expandForm(html, set, settings) {
  const type = /registerType\('([^']+)'/.exec(html)?.[1];
  if (type === undefined) return html; // a plugin
  const table = settings[type];
  if (table === undefined) throw new Error(`${set}.html: ${type} is not in src/settings.ts`);
  const config = html.includes("category: 'config'");
  const credentials = [];
  return html
    .replace(/<row ([^>]*)>/g, (_, text) => {
      const attributes = readAttributes(text);
      const { field, flags } = attributes;
      if (!(field in table) && flags === undefined) credentials.push(field);
      return row(attributes, { set, table, config });
    })
    .replace(
      /(registerType\('[^']+', )\{ (.*) \}\);/,
      (_, call, own) => `${call}{\n${registration({ own, credentials, set, table, config })}  });`,
    );
}

function readAttributes(text) {
  const found = [...text.matchAll(/(\w+)(?:="([^"]*)")?/g)];
  return Object.fromEntries(found.map(([, name, value]) => [name, value ?? true]));
}

function row(attributes, { set, table, config }) {
  const { field, icon = 'user-circle-o', hint, unit, flags } = attributes;
  const idOf = (property) => `node-${config ? 'config-' : ''}input-${property}`;
  const id = idOf(field);
  if (field === 'name') return nameRow(id);
  // The message has no role: Firefox leaves an element with role="status" out of a description.
  const unitId = unit ? `smart-strip-unit-${field} ` : '';
  const describedBy = `aria-describedby="${unitId}smart-strip-message-${field} smart-strip-hint-${field}"`;
  const label = `<i class="fa fa-${icon}"></i> <span data-i18n="${labelOf(field, set)}"></span>`;
  const boxes = (flags?.split(' ') ?? []).map((flag) => {
    const box = `<input type="checkbox" id="${idOf(flag)}">`;
    return `      <label for="${idOf(flag)}">${box} <span data-i18n="${set}.${field}.${flag}"></span></label>`;
  });
  const start = flags
    ? [
        `<div class="form-row smart-strip-checks" id="smart-strip-row-${field}" role="group" aria-labelledby="smart-strip-label-${field}" ${describedBy}>`,
        `    <label id="smart-strip-label-${field}">${label}</label>`,
        '    <div class="smart-strip-boxes">',
        ...boxes,
        '    </div>',
      ]
    : [
        `<div class="form-row" id="smart-strip-row-${field}">`,
        `    <label for="${id}" id="smart-strip-label-${field}">${label}</label>`,
        `    ${control(attributes, table[field], { set, id, describedBy })}${unit ? ` <span id="smart-strip-unit-${field}" data-i18n="${UNITS}.${unit}"></span>` : ''}`,
      ];
  return [
    ...start,
    `    <div class="smart-strip-message" id="smart-strip-message-${field}" aria-live="polite" aria-atomic="true"></div>`,
    `    <div class="smart-strip-hint" id="smart-strip-hint-${field}"${hint ? ` data-i18n="${set}.hint.${field}"` : ''}></div>`,
    `  </div>`,
  ].join('\n');
}

/** The control for a property. One without a setting is a credential; the default is a choice. */
function control({ field, placeholder, wide }, setting, { set, id, describedBy }) {
  const translated = placeholder ? ` data-i18n="[placeholder]${set}.placeholder.${field}"` : '';
  const shown = typeof placeholder === 'string' ? ` placeholder="${placeholder}"` : translated;
  const width = 'style="width: 70%"';
  switch (setting?.kind) {
    case undefined:
      return `<input type="password" id="${id}" ${describedBy} autocomplete="new-password">`;
    case 'text':
      return `<input type="text" id="${id}" ${describedBy}${shown}${wide ? ` ${width}` : ''} spellcheck="false" autocomplete="off">`;
    case 'number':
      return `<input type="number" min="${setting.min}" max="${setting.max}" step="any" id="${id}" ${describedBy} style="width: 110px">`;
    case 'node':
      return `<input type="text" id="${id}">`;
    case 'typed':
      return `<input type="text" id="${id}" ${width}${shown}>\n    <input type="text" id="${id}Type" class="smart-strip-type">`;
    default:
      return [
        `<select id="${id}" ${describedBy} ${width}>`,
        ...setting.choices.map(
          (choice) => `  <option value="${choice}" data-i18n="${set}.${field}.${choice}"></option>`,
        ),
        '</select>',
      ].join('\n    ');
  }
}

const nameRow = (id) =>
  [
    '<div class="form-row">',
    `    <label for="${id}"><i class="fa fa-tag"></i> <span data-i18n="node-red:common.label.name"></span></label>`,
    `    <input type="text" id="${id}" data-i18n="[placeholder]node-red:common.label.name">`,
    '  </div>',
  ].join('\n');

/** The members of the object given to `registerType`. `own`: those that the html in `nodes` has. */
function registration({ own, credentials, set, table, config }) {
  const call = (name, otherwise) =>
    `return window.SmartStrip ? window.SmartStrip.${name}(this) : ${otherwise};`;
  const method = (name, body) => `    ${name}: function () {\n      ${body}\n    },\n`;
  const palette = `this._('${set}.palette')`;
  return [
    config ? '' : "    category: 'smart strip',\n",
    "    color: '#6fb5a0',\n",
    `    ${own.replaceAll(', ', ',\n    ')},\n`,
    credentials.length === 0
      ? ''
      : `    credentials: {\n${credentials.map((name) => checked(name, "type: 'password'")).join('')}    },\n`,
    `    defaults: {\n${Object.entries(table)
      .map(([name, setting]) => property(name, setting, set))
      .join('')}    },\n`,
    config ? '' : method('paletteLabel', `return ${palette};`),
    method('label', call('label', `this.name || ${config ? 'this.baseUrl || this.type' : palette}`)),
    method('labelStyle', "return this.name ? 'node_label_italic' : '';"),
    config ? '' : method('inputLabels', call('inputLabel', "''")),
    config ? '' : method('outputLabels', call('outputLabel', "''")),
    method('oneditprepare', 'if (window.SmartStrip) window.SmartStrip.open(this);'),
    method('oneditsave', 'if (window.SmartStrip) window.SmartStrip.save(this);'),
    method('oneditcancel', 'if (window.SmartStrip) window.SmartStrip.close(this);'),
    method('oneditdelete', 'if (window.SmartStrip) window.SmartStrip.close(this);'),
  ].join('');
}

/** A property that the editor script checks. */
const checked = (name, member) =>
  [
    `      ${name}: {`,
    `        ${member},`,
    '        validate: function (v, opt) {',
    `          return window.SmartStrip ? window.SmartStrip.validate(this, '${name}', v) : true;`,
    '        },',
    '      },\n',
  ].join('\n');

function property(name, setting, set) {
  const withCheck = (value) => checked(name, `value: ${JSON.stringify(value)}`);
  switch (setting.kind) {
    case 'node': {
      // Node-RED calls the property by its label in the tip of a node that is not configured.
      const label = `RED._('${labelOf(name, set)}')`;
      return `      ${name}: { value: '', type: '${setting.type}', required: ${setting.required}, label: ${label} },\n`;
    }
    case 'typed': {
      const type = setting.newType ?? setting.types[0];
      return `${withCheck(setting.default)}      ${name}Type: { value: '${type}' },\n`;
    }
    case 'number':
      return withCheck(String(setting.default));
    case 'choice':
      return withCheck(setting.choices[0]);
    default:
      return name === 'name' ? `      name: { value: '' },\n` : withCheck(setting.default);
  }
}
