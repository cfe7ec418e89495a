/** Programs in links: `#code=` and the text, compressed with DEFLATE, in base64 for URLs. */

/** In characters: a longer link or program is refused. */
export const MAX_LINK = 32_768;
export const MAX_PROGRAM = 65_536;

/** Return the fragment of a link to a program. */
export async function encode(program) {
  const bytes = await transform(program, new CompressionStream("deflate-raw"), Infinity);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `#code=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Return the program in the fragment of a link; null: there is none, or it is invalid. */
export async function decode(fragment) {
  if (!fragment.startsWith("#code=") || fragment.length > MAX_LINK) return null;
  const encoded = fragment.slice("#code=".length);
  if (!/^[\w-]+$/.test(encoded)) return null;
  try {
    const binary = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
    const compressed = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const bytes = await transform(compressed, new DecompressionStream("deflate-raw"), MAX_PROGRAM);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Not base64, not DEFLATE, not UTF-8, or too long.
    return null;
  }
}

/** Return the output of a stream; a longer one than `most` bytes is an error. */
async function transform(input, stream, most) {
  const chunks = [];
  let size = 0;
  for await (const chunk of readerOf(new Blob([input]).stream().pipeThrough(stream))) {
    size += chunk.length;
    if (size > most) throw new RangeError("too long");
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** Not every browser iterates over streams. */
export async function* readerOf(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
