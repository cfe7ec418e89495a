/** Helpers for elements: all texts become text nodes, never markup. */

/**
 * Return a new element.
 *
 * @param {string} name tag name, with classes behind dots: `p.help.quiet`
 * @param {Record<string, string | number | boolean | null | undefined>} attributes
 * @param {(Node | string)[]} children
 */
export function element(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return fill(document.createElement(tag), classes, attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** Return a new element of SVG; as `element`. */
export function svg(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return fill(document.createElementNS(SVG, tag), classes, attributes, children);
}

function fill(target, classes, attributes, children) {
  if (classes.length) target.classList.add(...classes);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    target.setAttribute(key, value === true ? "" : String(value));
  }
  target.append(...children);
  return target;
}

/** Return the element with an id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Set the text of an element, if it differs: live regions announce each change. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Place an element on the horizontal axis of its parent, as shares of its width. */
export function place(target, from, to) {
  target.style.left = `${(100 * from).toFixed(3)}%`;
  target.style.width = `${(100 * Math.max(to - from, 0)).toFixed(3)}%`;
}

let announced = 0;

/** Let screen readers speak a text when they are idle. */
export function announce(text) {
  clearTimeout(announced);
  // An update in the same frame as another one would not be noticed.
  announced = setTimeout(() => setText(byId("announcer"), text), 100);
}
