// SPDX-License-Identifier: BSD-3-Clause
// Objects as YAML. (The server reads YAML; see check.c.)

const PLAIN = /^([A-Za-z_/][A-Za-z0-9_./:@%+=-]*|\d+([KMGT]i|m))$/;
const WORDS = /^(true|false|yes|no|on|off|y|n|null|~|\.inf|\.nan)$/i;

function scalar(value) {
  if (typeof value !== 'string') return String(value);
  if (PLAIN.test(value) && !WORDS.test(value) && !value.endsWith(':')) return value;
  return JSON.stringify(value);
}

const isBlock = (text) => text.includes('\n') && text.endsWith('\n') && /^[^\s]/.test(text) && !/[^\n\x20-\x7e\u00a0-\ud7ff]/.test(text) &&
  !/\n\n$/.test(text);

function write(value, indent, out, lead) {
  const pad = ' '.repeat(indent);
  if (Array.isArray(value) && value.length) {
    for (const item of value) {
      if (item !== null && typeof item === 'object' && Object.keys(item).length && !Array.isArray(item)) {
        write(item, indent + 2, out, `${pad}- `);
      } else {
        member(`${pad}-`, item, indent, out);
      }
    }
  } else {
    for (const [name, item] of Object.entries(value)) {
      member(`${lead || pad}${scalar(name)}:`, item, indent, out);
      lead = null;
    }
  }
}

function member(start, value, indent, out) {
  if (value !== null && typeof value === 'object') {
    if (Object.keys(value).length === 0) out.push(`${start} ${Array.isArray(value) ? '[]' : '{}'}`);
    else {
      out.push(start);
      write(value, Array.isArray(value) && !start.endsWith('-') ? indent : indent + 2, out);
    }
  } else if (typeof value === 'string' && isBlock(value)) {
    out.push(`${start} |`);
    for (const line of value.slice(0, -1).split('\n')) out.push(line ? ' '.repeat(indent + 2) + line : '');
  } else {
    out.push(`${start} ${scalar(value)}`);
  }
}

export function yaml(value) {
  const out = [];
  write(value, 0, out);
  return out.join('\n') + '\n';
}
