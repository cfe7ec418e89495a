/** Texts of the page in English and Chinese. */

const ENGLISH = {
  skip: "Skip to the call",
  language: "Language",
  connecting: "Connecting",
  connected: "Connected",
  resuming: "Resuming",
  lost: "Connection lost, trying again",
  cut: "Disconnected, resumes in {seconds} s",
  refused: "Not allowed",
  replaced: "Open in another tab",
  atEvent: "event {seq}",
  disconnect: "Disconnect",
  reconnect: "Reconnect now",
  tokenTitle: "Open the page with its token",
  tokenHelp: "The command prints an address with the token behind “#”. Open that address, or enter the token.",
  token: "Token",
  open: "Open",
  tokenWrong: "The server does not know this token.",
  callTitle: "Run a call",
  example: "Example",
  ownCall: "A call of your own",
  output: "Output of a model",
  outputHelp: "OpenAI, Anthropic, MCP, XML …",
  run: "Run",
  stop: "Stop",
  tooLong: "The output has {size} KiB; at most {most} KiB can be sent.",
  notSent: "The connection was lost: the call was not sent.",
  happenedTitle: "What happened",
  noRun: "Choose an example, or paste a call, and run it.",
  running: "{done} of {total} done",
  runningOne: "Running",
  reading: "Reading the calls",
  queued: "In a queue",
  attempt_n: "Attempt {count}",
  legendOk: "succeeded",
  legendFailed: "failed",
  legendWait: "waits",
  legendRefused: "refused",
  legendQueue: "in a queue",
  circuits: "Circuits",
  noCircuit: "none has changed its state",
  closed: "closed",
  open_: "open",
  half_open: "half-open",
  probeIn: "a probe in {seconds} s",
  probeNext: "the next call is a probe",
  eventsTitle: "Session events",
  eventsEmpty: "Each event gets a number. After a cut, the page asks for those that it missed.",
  cutMark: "Connection cut after event {seq}",
  resumedMark: "Resumed: {count} missed events replayed, none lost",
  resumedOneMark: "Resumed: 1 missed event replayed, none lost",
  nothingMissedMark: "Resumed: nothing was missed",
  gapMark: "Events {from} to {to} are no longer kept",
  newMark: "The server has begun a new session",
  replayed: "replayed",
  seamsTitle: "At every seam",
  seamsEmpty: "One failure, eight audiences. Run a call to see the answer that each of them gets.",
  noFailure: "succeeded: each audience gets the value",
  seam_cli: "for the terminal",
  seam_http: "for API clients",
  seam_session: "for the person in the chat",
  seam_model: "for the language model",
  seam_planner: "for the planner",
  seam_jsonrpc: "for clients of MCP",
  seam_log: "for operators",
  seam_telemetry: "for dashboards",
  nothingShown: "Nothing to show: the call succeeded.",
  cutOutput: "… {size} bytes in all",
  exit: "exit {code}",
  retryable: "retryable",
  notRetryable: "not retryable",
  attempts: "{count} attempts",
  noAttempt: "not run",
  waited: "waited {time}",
  took: "{time}",
  runOk: "All {count} calls succeeded",
  runOkOne: "The call succeeded",
  runFailed: "{failed} of {count} calls failed",
  runFailedOne: "The call failed",
  unreadable: "not a call",
  metricsTitle: "Metrics of this server",
  metricErrors: "Error rate by type",
  metricRetries: "Retry success rate",
  metricRecovery: "Time to recovery",
  metricUnrecoverable: "Unrecoverable errors a session",
  metricPaths: "Commonest error paths",
  metricEmpty: "no data yet",
  perMinute: "{count} · {rate}/min",
  ofRetried: "{succeeded} of {total} retries",
  median: "median of {count}, max {longest}",
  medianOfOne: "one recovery",
  inSessions: "{count} of {total} in all · {sessions} sessions",
  inSession: "{count} of {total} in all · 1 session",
  noErrors: "no errors so far",
  times: "{count}×",
  announceFailed: "{tool} failed: {error}.",
  announceOk: "{tool} succeeded.",
  show_user_message: "A message of {count} characters",
  show_user_cancel: "Stops the calls",
  show_tool_call: "Calls {tool}",
  show_unreadable: "A call that cannot be read",
  show_tool_progress: "{tool} leaves its queue",
  show_tool_ok: "{tool} succeeded",
  show_tool_failed: "{tool}: {error}",
  show_circuit: "{name}: {before} → {after}",
  group_failures: "Failures",
  group_guards: "Guards at work",
  group_success: "Successes",
  ex_missing: "A file that does not exist",
  ex_argument: "An argument of the wrong type",
  ex_outside: "A path outside of the workspace",
  ex_unknown: "A tool that does not exist",
  ex_command: "A command that fails",
  ex_unreadable: "A call that cannot be read",
  ex_bug: "A bug in a tool",
  ex_flaky: "A flaky service: retries until it answers",
  ex_down: "A service that is down: the circuit opens",
  ex_slow: "A slow service: it runs out of time",
  ex_back: "The service is back: a probe closes the circuit",
  ex_list: "List the files",
  ex_several: "Several calls at once",
};

/** @type {typeof ENGLISH} */
const CHINESE = {
  skip: "跳到调用",
  language: "语言",
  connecting: "正在连接",
  connected: "已连接",
  resuming: "正在恢复",
  lost: "连接中断，正在重试",
  cut: "已断开，{seconds} 秒后恢复",
  refused: "没有权限",
  replaced: "已在另一个标签页打开",
  atEvent: "事件 {seq}",
  disconnect: "断开连接",
  reconnect: "立即重连",
  tokenTitle: "请使用令牌打开本页",
  tokenHelp: "命令会输出一个网址，“#”之后是令牌。请打开该网址，或在此输入令牌。",
  token: "令牌",
  open: "打开",
  tokenWrong: "服务器不认识这个令牌。",
  callTitle: "运行调用",
  example: "示例",
  ownCall: "自己的调用",
  output: "模型的输出",
  outputHelp: "OpenAI、Anthropic、MCP、XML……",
  run: "运行",
  stop: "停止",
  tooLong: "输出有 {size} KiB，最多可以发送 {most} KiB。",
  notSent: "连接已中断：调用没有发送。",
  happenedTitle: "运行过程",
  noRun: "选择一个示例，或粘贴一个调用，然后运行。",
  running: "已完成 {done}/{total}",
  runningOne: "正在运行",
  reading: "正在读取调用",
  queued: "排队中",
  attempt_n: "第 {count} 次尝试",
  legendOk: "成功",
  legendFailed: "失败",
  legendWait: "等待",
  legendRefused: "被拒绝",
  legendQueue: "排队",
  circuits: "熔断器",
  noCircuit: "尚无状态变化",
  closed: "关闭",
  open_: "断开",
  half_open: "半开",
  probeIn: "{seconds} 秒后试探",
  probeNext: "下一次调用为试探",
  eventsTitle: "会话事件",
  eventsEmpty: "每个事件都有编号。断线之后，页面会取回错过的事件。",
  cutMark: "连接在事件 {seq} 之后断开",
  resumedMark: "已恢复：补发 {count} 个事件，没有丢失",
  resumedOneMark: "已恢复：补发 1 个事件，没有丢失",
  nothingMissedMark: "已恢复：没有错过任何事件",
  gapMark: "事件 {from} 至 {to} 已不再保留",
  newMark: "服务器开始了新的会话",
  replayed: "补发",
  seamsTitle: "各个接缝的输出",
  seamsEmpty: "同一个失败，八种读者。运行一次调用，看看每种读者得到的回答。",
  noFailure: "成功：每种读者都得到结果",
  seam_cli: "面向终端",
  seam_http: "面向接口调用方",
  seam_session: "面向聊天中的用户",
  seam_model: "面向语言模型",
  seam_planner: "面向规划器",
  seam_jsonrpc: "面向 MCP 客户端",
  seam_log: "面向运维人员",
  seam_telemetry: "面向监控面板",
  nothingShown: "没有内容：调用成功。",
  cutOutput: "…… 共 {size} 字节",
  exit: "退出码 {code}",
  retryable: "可重试",
  notRetryable: "不可重试",
  attempts: "尝试 {count} 次",
  noAttempt: "未运行",
  waited: "等待 {time}",
  took: "{time}",
  runOk: "{count} 个调用全部成功",
  runOkOne: "调用成功",
  runFailed: "{count} 个调用中有 {failed} 个失败",
  runFailedOne: "调用失败",
  unreadable: "不是调用",
  metricsTitle: "本服务器的指标",
  metricErrors: "各类错误率",
  metricRetries: "重试成功率",
  metricRecovery: "恢复时间",
  metricUnrecoverable: "每个会话的不可恢复错误",
  metricPaths: "最常见的错误路径",
  metricEmpty: "暂无数据",
  perMinute: "{count} 次 · 每分钟 {rate}",
  ofRetried: "{total} 次重试中有 {succeeded} 次成功",
  median: "{count} 次的中位数，最长 {longest}",
  medianOfOne: "一次恢复",
  inSessions: "共 {total} 个错误中有 {count} 个 · {sessions} 个会话",
  inSession: "共 {total} 个错误中有 {count} 个 · 1 个会话",
  noErrors: "至今没有错误",
  times: "{count} 次",
  announceFailed: "{tool} 失败：{error}。",
  announceOk: "{tool} 成功。",
  show_user_message: "一条 {count} 个字符的消息",
  show_user_cancel: "停止调用",
  show_tool_call: "调用 {tool}",
  show_unreadable: "一个无法读取的调用",
  show_tool_progress: "{tool} 结束排队",
  show_tool_ok: "{tool} 成功",
  show_tool_failed: "{tool}：{error}",
  show_circuit: "{name}：{before} → {after}",
  group_failures: "失败",
  group_guards: "防护机制",
  group_success: "成功",
  ex_missing: "文件不存在",
  ex_argument: "参数类型错误",
  ex_outside: "路径在工作区之外",
  ex_unknown: "工具不存在",
  ex_command: "命令执行失败",
  ex_unreadable: "无法读取的调用",
  ex_bug: "工具中的程序错误",
  ex_flaky: "不稳定的服务：重试直到成功",
  ex_down: "服务宕机：熔断器断开",
  ex_slow: "缓慢的服务：超时",
  ex_back: "服务恢复：试探成功，熔断器关闭",
  ex_list: "列出文件",
  ex_several: "同时运行多个调用",
};

const TEXTS = { en: ENGLISH, zh_CN: CHINESE };
const TAGS = { en: "en", zh_CN: "zh-Hans" };

let locale = "en";

/**
 * Add the texts of another page that uses these files, or replace some.
 *
 * @param {Record<"en" | "zh_CN", Record<string, string>>} texts
 */
export function addTexts(texts) {
  for (const [name, added] of Object.entries(texts)) Object.assign(TEXTS[name], added);
}

/** The language of the page: `en` or `zh_CN`. */
export function currentLocale() {
  return locale;
}

/** Return the language that the browser prefers, of those that the page has. */
export function preferredLocale(languages) {
  const first = languages.find((tag) => /^(en|zh)\b/i.test(tag)) ?? "en";
  return /^zh/i.test(first) ? "zh_CN" : "en";
}

/** Change the language, and translate all elements with the attribute `data-text`. */
export function setLocale(name) {
  locale = Object.hasOwn(TEXTS, name) ? name : "en";
  document.documentElement.lang = TAGS[locale];
  for (const target of document.querySelectorAll("[data-text]")) {
    target.textContent = text(target.dataset.text);
  }
}

/**
 * Return a text in the language of the page.
 *
 * @param {keyof typeof ENGLISH} key
 * @param {Record<string, string | number>} values of the placeholders
 */
export function text(key, values = {}) {
  return TEXTS[locale][key].replace(/\{(\w+)\}/g, (whole, name) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}

/** Return a whole number with separators. */
export function number(value) {
  return value.toLocaleString(TAGS[locale]);
}

/** Return a duration in words: `3 ms`, `1.24 s`. */
export function duration(milliseconds) {
  if (milliseconds < 1) return "< 1 ms";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}

/** The keys of the texts, which are the same in all languages. */
export const KEYS = Object.freeze(Object.keys(ENGLISH));
export const KEYS_BY_LOCALE = Object.freeze({
  en: Object.keys(ENGLISH),
  zh_CN: Object.keys(CHINESE),
});
