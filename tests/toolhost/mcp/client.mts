// Uses a server as a client of the official TypeScript SDK does, and prints what it received as JSON.
// Arguments: `http URL`, or `stdio COMMAND ARGUMENT…`.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { LoggingMessageNotificationSchema, McpError } from "@modelcontextprotocol/sdk/types.js";

const [kind, place = "", ...rest] = process.argv.slice(2);
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(place))
    : new StdioClientTransport({ command: place, args: rest, env: process.env as Record<string, string> });
const client = new Client({ name: "typescript", version: "1" });
const logs: unknown[] = [];
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
  logs.push([params.level, params.data]);
});

async function refused(call: Promise<unknown>): Promise<unknown> {
  try {
    return { answered: await call };
  } catch (error) {
    return error instanceof McpError ? error.code : String(error);
  }
}

await client.connect(transport);
const tools = (await client.listTools()).tools;
const content: Record<string, unknown> = {};
for (const name of ["simple_text", "image_content", "audio_content", "embedded_resource", "multiple_content_types"]) {
  content[name] = (await client.callTool({ name: `test_${name}` })).content;
}
// The SDK checks structured content against the output schema that it has listed.
const text = await client.callTool({ name: "test_simple_text" });
const failed = await client.callTool({ name: "test_error_handling" });
const [guidance] = failed.content as { text: string }[];

await client.setLoggingLevel("info");
await client.callTool({ name: "test_tool_with_logging" });
const informed = logs.splice(0);
await client.setLoggingLevel("error");
await client.callTool({ name: "test_tool_with_logging" });

const progress: unknown[] = [];
await client.callTool({ name: "test_tool_with_progress" }, undefined, {
  onprogress: (notice) => progress.push([notice.progress, notice.total]),
});
const abort = new AbortController();
const aborted = await refused(
  client.callTool({ name: "test_tool_with_progress" }, undefined, {
    onprogress: () => abort.abort("enough"),
    signal: abort.signal,
  }),
);

const resources = (await client.listResources()).resources;
const templates = (await client.listResourceTemplates()).resourceTemplates;
const read: Record<string, unknown> = {};
for (const uri of ["test://static-text", "test://static-binary", "test://template/7/data"]) {
  read[uri] = (await client.readResource({ uri })).contents;
}

const prompts = (await client.listPrompts()).prompts;
const messages: Record<string, unknown> = {};
for (const [name, args] of [
  ["test_prompt_with_arguments", { arg1: "a", arg2: "b" }],
  ["test_prompt_with_embedded_resource", { resourceUri: "test://x" }],
  ["test_prompt_with_image", {}],
] as const) {
  messages[name] = (await client.getPrompt({ name, arguments: args })).messages;
}
const completed = await client.complete({
  ref: { type: "ref/prompt", name: "translate" },
  argument: { name: "language", value: "e" },
});

console.log(
  JSON.stringify({
    server: client.getServerVersion()?.name,
    capabilities: Object.keys(client.getServerCapabilities() ?? {}).sort(),
    tools: tools.map((tool) => tool.name),
    schema: tools.find((tool) => tool.name === "test_simple_text")?.outputSchema,
    content,
    structured: text.structuredContent,
    failed: [failed.isError, JSON.parse(guidance?.text ?? "null").error_class],
    informed,
    quiet: logs,
    progress,
    aborted,
    unknownTool: await refused(client.callTool({ name: "no_such_tool" })),
    unknownResource: await refused(client.readResource({ uri: "test://none" })),
    unknownPrompt: await refused(client.getPrompt({ name: "none" })),
    resources: resources.map((resource) => resource.uri),
    templates: templates.map((template) => template.uriTemplate),
    read,
    prompts: prompts.map((prompt) => [prompt.name, (prompt.arguments ?? []).map((argument) => argument.name)]),
    messages,
    completed: completed.completion.values,
    ping: await client.ping(),
  }),
);
await client.close();
