/** Examples of model outputs, in the formats of several providers. */

const json = (value) => JSON.stringify(value, null, 2);

/**
 * @typedef {object} Example
 * @property {string} id the text of the page with the prefix `ex_` is its title
 * @property {string} group
 * @property {string[]} tools the tools that the server must offer
 * @property {string} output
 */

/** @type {Example[]} */
export const EXAMPLES = [
  {
    id: "missing",
    group: "failures",
    tools: ["read_file"],
    output: json({ tool: "read_file", arguments: { path: "notes/plan.md" } }),
  },
  {
    id: "argument",
    group: "failures",
    tools: ["read_file"],
    output: json({
      role: "assistant",
      tool_calls: [
        {
          id: "call_7Qa",
          type: "function",
          function: {
            name: "read_file",
            arguments: '{"path": "notes.txt", "start_line": "first"}',
          },
        },
      ],
    }),
  },
  {
    id: "outside",
    group: "failures",
    tools: ["read_file"],
    output: json({
      role: "assistant",
      content: [
        { type: "text", text: "I look at the users." },
        { type: "tool_use", id: "toolu_01", name: "read_file", input: { path: "../../etc/passwd" } },
      ],
    }),
  },
  {
    id: "unknown",
    group: "failures",
    tools: ["read_file"],
    output: '<tool_call>\n{"name": "open_file", "arguments": {"path": "notes.txt"}}\n</tool_call>',
  },
  {
    id: "command",
    group: "failures",
    tools: ["execute_command"],
    output: json({
      functionCall: { name: "execute_command", args: { command: "ls missing-folder" } },
    }),
  },
  {
    id: "unreadable",
    group: "failures",
    tools: [],
    output: '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.txt"\n</tool_call>',
  },
  {
    id: "bug",
    group: "failures",
    tools: [],
    output: json({ tool: "demo_bug", arguments: {} }),
  },
  {
    id: "flaky",
    group: "guards",
    tools: [],
    output: json({ tool: "demo_service", arguments: { city: "Oslo", failures: 2 } }),
  },
  {
    id: "down",
    group: "guards",
    tools: [],
    output: json([
      { tool: "demo_service", arguments: { city: "Oslo", failures: 9 } },
      { tool: "demo_service", arguments: { city: "Lima", failures: 9 } },
      { tool: "demo_service", arguments: { city: "Kyoto", failures: 9 } },
    ]),
  },
  {
    id: "back",
    group: "guards",
    tools: [],
    output: json({ tool: "demo_service", arguments: { city: "Oslo" } }),
  },
  {
    id: "slow",
    group: "guards",
    tools: [],
    output: json({ tool: "demo_slow", arguments: { seconds: 5 } }),
  },
  {
    id: "list",
    group: "success",
    tools: ["list_files"],
    output: json({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_files", arguments: {} },
    }),
  },
  {
    id: "several",
    group: "success",
    tools: ["list_files", "read_file"],
    output: [
      "I list the files, read one, and ask the service.",
      "",
      '<tool_call>{"name": "list_files", "arguments": {}}</tool_call>',
      '<tool_call>{"name": "read_file", "arguments": {"path": "note.txt"}}</tool_call>',
      '<tool_call>{"name": "demo_service", "arguments": {"city": "Oslo", "failures": 2}}</tool_call>',
    ].join("\n"),
  },
];

export const GROUPS = ["failures", "guards", "success"];
