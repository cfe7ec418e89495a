/** JSON as readable text: keys, numbers and texts are told apart, long lines hang. */

import { element } from "./dom.js";

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\btrue\b|\bfalse\b|\bnull\b)/g;

/** Return the lines of a value. */
export function jsonNodes(value) {
  return JSON.stringify(value, null, 2).split("\n").map(lineOf);
}

function lineOf(source) {
  const code = source.trimStart();
  const line = element("span.line");
  line.style.setProperty("--indent", `${source.length - code.length}ch`);
  let last = 0;
  for (const match of code.matchAll(TOKENS)) {
    const [whole, string, colon, atom] = match;
    line.append(code.slice(last, match.index));
    if (colon !== undefined) line.append(element("span.k", {}, string), colon);
    else if (atom !== undefined) line.append(element("span.n", {}, atom));
    else line.append(element("span.s", {}, string));
    last = match.index + whole.length;
  }
  line.append(code.slice(last));
  return line;
}
