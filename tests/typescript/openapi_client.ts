// A client of the shop, typed by openapi-typescript from the document with the envelope.
import type { components, paths } from "./api";

type Schemas = components["schemas"];
type Show = paths["/users/{uid}"]["get"]["responses"];
type Body<S extends keyof Show> = Show[S] extends { content: { "application/json": infer B } } ? B : never;
type Answer = Body<200> | Body<400> | Body<401> | Body<404> | Body<409> | Body<429> | Body<503>;

// Each error has a name, and every error is an ErrorBody.
const named: Schemas["UserNotFound"] | Schemas["BadRequest"] = {
  code: "USER_NOT_FOUND",
  type: "UserNotFound",
  message: "There is no user 7.",
  details: { uid: 7 },
  retryable: false,
};
export const general: Schemas["ErrorBody"] = named;

// A defect, and an error of the framework.
export const defect: Schemas["Failure"] = {
  success: false,
  error: {
    code: "INTERNAL",
    type: "UnknownError",
    message: "The server met an unexpected condition.",
    details: { ref: "err_2f4ad7qz" },
    retryable: false,
  },
  timestamp: "2026-02-20T00:00:00Z",
  request_id: "req-1",
};

export function show(answer: Answer): string {
  if (answer.success) {
    return answer.data.name;
  }
  const error = answer.error;
  switch (error.type) {
    case "UserNotFound":
      return `${error.details.uid.toFixed()} ${error.message}`;
    case "TeamNotFound":
      return error.details.team + error.docs;
    case "UserExists":
      return error.details.homes.map((home) => home.street + (home.number ?? "")).join();
    case "QuotaExceeded":
      return `${error.details.limit} ${error.retry_after_ms ?? 0}`;
    case "StoreDown":
      return error.message;
    case "Unauthenticated":
      return error.details.scheme;
    case "BadRequest":
      return (error.details.errors ?? []).map(({ pointer, detail }) => pointer + detail).join();
    default: {
      const impossible: never = error;
      return impossible;
    }
  }
}

export function listed(answer: paths["/users"]["get"]["responses"][200]["content"]["application/json"]): string[] {
  return answer.data.map((user) => user.name);
}
