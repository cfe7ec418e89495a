/** Iterates over a session with client.js, and prints each result as a line of JSON. */

const task = JSON.parse(process.argv[2]);
const { connect } = await import(task.module);
const print = (line) => console.log(JSON.stringify(line));
const delays = [];
const controller = new AbortController();

/** Record the delays before attempts to connect, and skip them. Other timers are longer. */
const world = {
  random: () => 0.5,
  setTimeout(callback, delay) {
    if (!task.skipDelays || delay > 9_000) return setTimeout(callback, delay);
    delays.push(delay / 1000);
    return setTimeout(callback, 0);
  },
};
const options = { ...task.options, world, signal: controller.signal };
if (task.delays) options.backoff = () => task.delays.map((seconds) => seconds * 1000);

const client = connect(task.url, task.session, options);
let count = 0;
for await (const result of client) {
  count += 1;
  print({ result });
  for (const { after, event } of task.sends ?? []) {
    if (after === count) print({ sent: await client.send(event) });
  }
  if (task.acknowledgeAfter === count) print({ sent: await client.acknowledge() });
  if (task.abortAfter === count) controller.abort();
  if (task.breakAfter === count) break;
}
print({ end: { position: client.position, state: client.state, delays } });
// The process ends by itself: nothing of the client is left.
