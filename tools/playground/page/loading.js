/** Files of the playground, with their progress. */

import { readerOf } from "./link.js";

/** The address of a file of the playground. */
export const fileUrl = (name) => new URL(name, import.meta.url).href;

/** Return the bytes of some files when compressed, as most hosts send them. */
export const compressedSize = (names) => sum(names.map((name) => SIZES[name][1]));

/**
 * Load files.
 *
 * @param {string[]} names
 * @param {(share: number) => void} onProgress is called with the loaded share, from 0 to 1
 * @returns {Promise<Record<string, Uint8Array>>} the contents by name
 */
export async function loadFiles(names, onProgress) {
  const total = sum(names.map((name) => SIZES[name][0]));
  let loaded = 0;
  const files = names.map(async (name) => {
    const response = await fetch(fileUrl(name));
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    const chunks = [];
    for await (const chunk of readerOf(response.body)) {
      chunks.push(chunk);
      loaded += chunk.length;
      onProgress(Math.min(loaded / total, 1));
    }
    return [name, new Uint8Array(await new Blob(chunks).arrayBuffer())];
  });
  return Object.fromEntries(await Promise.all(files));
}

/**
 * Return a worker that inherits the content security policy of this page.
 *
 * A worker that is loaded by its address has the policy of its own response only, and not every host
 * lets a site set headers.
 */
export function startWorker(script, options) {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return new Worker(url, options);
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
