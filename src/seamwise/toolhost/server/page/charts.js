/** The five metrics of the server, as small charts. */

import { byId, element, svg } from "./dom.js";
import { duration, text } from "./texts.js";

/** The number of bars of a list. */
const MAX_BARS = 3;

/**
 * Draw the metrics.
 *
 * @param {object | null} metrics the answer of `/v1/metrics`
 */
export function drawMetrics(metrics) {
  byId("metric-grid").replaceChildren(
    metric("metricErrors", errorRates(metrics)),
    metric("metricRetries", retries(metrics)),
    metric("metricRecovery", recovery(metrics)),
    metric("metricUnrecoverable", unrecoverable(metrics)),
    metric("metricPaths", paths(metrics)),
  );
}

function metric(key, nodes) {
  return element(
    "figure.metric.card",
    // Not every screen reader takes the name from the caption.
    { "aria-label": text(key) },
    element("figcaption", {}, text(key)),
    ...(nodes ?? [element("p.value.none", {}, text("metricEmpty")), flatLine()]),
  );
}

function flatLine() {
  return svg("svg", { viewBox: "0 0 100 4", height: 4, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("line.chart-base", { x1: 0, y1: 2, x2: 100, y2: 2, stroke: "currentColor", "stroke-opacity": 0.15, "stroke-width": 1 }));
}

/** Return a list of names with numbers, each with a bar. */
function bars(items, kind) {
  const most = Math.max(...items.map((item) => item.size));
  return element(
    "dl.bars",
    {},
    ...items.slice(0, MAX_BARS).map(({ name, label, size }) =>
      element(
        "div",
        {},
        element("dt", { title: name }, element("bdi", {}, name)),
        element("dd", {}, label),
        svg(
          "svg",
          { viewBox: "0 0 100 3", preserveAspectRatio: "none", "aria-hidden": "true" },
          svg("rect.chart-base", { width: 100, height: 3 }),
          svg(`rect.${kind}`, { width: (100 * size) / most, height: 3 }),
        ),
      ),
    ),
  );
}

function errorRates(metrics) {
  const rates = metrics?.error_rates ?? [];
  if (rates.length === 0) return null;
  // The rate of the first seconds would say little about a minute.
  const minutes = Math.max(metrics.seconds / 60, 1);
  return [
    bars(
      rates.map(({ type, count }) => ({
        name: type,
        label: text("perMinute", { count, rate: number(count / minutes) }),
        size: count,
      })),
      "chart-bad",
    ),
  ];
}

function retries(metrics) {
  const { succeeded = 0, failed = 0, success_rate: share = null } = metrics?.retries ?? {};
  if (share === null) return null;
  return [
    element("p.value", {}, `${Math.round(100 * share)} %`),
    element("p.note", {}, text("ofRetried", { succeeded, total: succeeded + failed })),
    gauge(svg("rect.chart-ok", { width: 100 * share, height: 10 }), "chart-bad"),
  ];
}

function recovery(metrics) {
  const { count = 0, mean, median, longest } = metrics?.time_to_recovery ?? {};
  if (count === 0) return null;
  const milliseconds = (seconds) => duration(1000 * seconds);
  const place = (seconds) => (longest > 0 ? (94 * seconds) / longest : 0) + 3;
  return [
    element("p.value", {}, milliseconds(median)),
    element(
      "p.note",
      {},
      text(count === 1 ? "medianOfOne" : "median", { count, longest: milliseconds(longest) }),
    ),
    svg(
      "svg",
      { viewBox: "0 0 100 10", height: 10, preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect.chart-base", { y: 4, width: 100, height: 2 }),
      svg("rect.chart-wash", { y: 4, x: place(0), width: place(longest) - place(0), height: 2 }),
      svg("rect.chart-denim", { x: place(mean) - 0.4, y: 2, width: 0.8, height: 6, opacity: 0.5 }),
      svg("rect.chart-denim", { x: place(longest) - 0.4, y: 2, width: 0.8, height: 6, opacity: 0.5 }),
      svg("rect.chart-thread", { x: place(median) - 0.75, width: 1.5, height: 10 }),
    ),
  ];
}

function unrecoverable(metrics) {
  const { count = 0, sessions = 0, per_session: mean } = metrics?.unrecoverable ?? {};
  if (sessions === 0 || !metrics.events) return null;
  const total = metrics.error_rates.reduce((sum, rate) => sum + rate.count, 0);
  const key = sessions === 1 ? "inSession" : "inSessions";
  return [
    element("p.value", {}, number(mean)),
    element("p.note", {}, total ? text(key, { count, total, sessions }) : text("noErrors")),
    gauge(svg("rect.chart-bad", { width: (100 * count) / Math.max(total, 1), height: 10 }), "chart-base"),
  ];
}

function paths(metrics) {
  const items = metrics?.error_paths ?? [];
  if (items.length === 0) return null;
  return [
    bars(
      items.map(({ steps, count }) => ({
        name: shortPath(steps),
        label: text("times", { count }),
        size: count,
      })),
      "chart-denim",
    ),
  ];
}

function gauge(part, rest) {
  return svg(
    "svg",
    { viewBox: "0 0 100 10", height: 10, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg(`rect.${rest}`, { width: 100, height: 10 }),
    part,
  );
}

/** Return the steps of a path, repeated ones once: `(timeout → retry) ×2 → recovered`. */
function shortPath(steps) {
  // Both say what the last step says.
  const told = steps.filter((step) => step !== "error.recovery_failed" && step !== "agent.error");
  const parts = [];
  for (const step of told) {
    const name = step.replace(/^(error|agent)\./, "").replace("retry_attempt", "retry");
    const last = parts.at(-1);
    if (name === "retry" && last?.name && !last.isRetried) {
      last.isRetried = true;
      last.name = `${last.name} → retry`;
    } else parts.push({ name, isRetried: false });
    const [before, added] = parts.slice(-2);
    if (added?.isRetried && before.name === added.name) {
      before.count = (before.count ?? 1) + 1;
      parts.pop();
    }
  }
  return parts.map(({ name, count }) => (count > 1 ? `(${name}) ×${count}` : name)).join(" → ");
}

function number(value) {
  if (value >= 10 || Number.isInteger(value)) return String(Math.round(value));
  return value.toFixed(1);
}
