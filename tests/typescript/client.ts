// How a client uses the module; compiled by `tsc --strict`, and never run.
import type { Envelope, GuardError, ModelError, ToolError, UnknownError, WorkspaceError } from "./errors";

type Body = Envelope<{ readonly bytes: number }, ToolError | UnknownError>;

export function tell(body: Body): string {
  if (body.success) return `${body.data.bytes} bytes`;
  const error = body.error;
  switch (error.type) {
    case "FileNotFound": {
      const code: "FILE_NOT_FOUND" = error.code;
      return `${code}: ${error.details.path}, or ${error.details.suggestions.join(", ")}?`;
    }
    case "ContentNotFound":
      return error.details.line === undefined ? "nowhere" : error.details.line.toFixed();
    case "PathForbidden":
      return error.details.reason === "ignored" ? "hidden" : "forbidden";
    case "DiffRejected":
      return error.details.hunks.map((hunk) => `${hunk.header}: ${hunk.reason}`).join("\n");
    case "UnknownError":
      return error.details.ref;
    default:
      return error.retryable ? `again in ${error.retry_after_ms ?? 0} ms` : error.message;
  }
}

export function wait(error: GuardError): number {
  switch (error.type) {
    case "RateLimited":
    case "CircuitOpen":
      return error.retry_after_ms ?? 0;
    case "BulkheadFull":
      // @ts-expect-error -- HTTP shows no details of a guard
      return error.details.waited;
    case "DeadlineExceeded":
      return 0;
    default: {
      const none: never = error;
      return none;
    }
  }
}

export function model(error: ModelError): string {
  return error.type === "ProviderModelNotFoundError" ? error.details.model : error.code;
}

export function impossible(error: WorkspaceError): never {
  return error;
}

export function wrong(error: ToolError): unknown {
  // @ts-expect-error -- only some of them have a path
  error.details.path;
  // @ts-expect-error -- there is no such type
  if (error.type === "FileNotFond") return null;
  // @ts-expect-error -- what came is not to be changed
  error.message = "";
  return error.type === "UnknownTool" ? error.details.available : null;
}
