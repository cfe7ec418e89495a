// A client of the shop, typed by openapi-typescript from the document with problem details.
import type { components, paths } from "./api";

type Schemas = components["schemas"];
type Show = paths["/users/{uid}"]["get"]["responses"];
type Problem<S extends keyof Show> = Show[S] extends { content: { "application/problem+json": infer B } } ? B : never;
type Problems = Problem<400> | Problem<401> | Problem<404> | Problem<409> | Problem<429> | Problem<503>;

const named: Schemas["UserNotFound"] = {
  type: "urn:seamwise:error:USER_NOT_FOUND",
  title: "User not found",
  status: 404,
  detail: "There is no user 7.",
  instance: "req-1",
  code: "USER_NOT_FOUND",
  tag: "UserNotFound",
  retryable: false,
  uid: 7,
};
export const general: Schemas["Problem"] = named;

export const defect: Schemas["Problem"] = {
  type: "urn:seamwise:error:INTERNAL",
  title: "Internal",
  status: 500,
  detail: "The server met an unexpected condition.",
  instance: "req-1",
  code: "INTERNAL",
  tag: "UnknownError",
  retryable: false,
  ref: "err_2f4ad7qz",
};

export const invalid: Problem<400> = {
  type: "urn:seamwise:error:INVALID_REQUEST",
  title: "Invalid request",
  status: 400,
  detail: "The path of the request is not valid.",
  instance: "req-1",
  code: "INVALID_REQUEST",
  tag: "BadRequest",
  retryable: false,
  kind: "Path",
  errors: [{ pointer: "/uid", detail: "is no number", in: "path" }],
};

export const value: paths["/users/{uid}"]["get"]["responses"][200]["content"]["application/json"] = {
  uid: 100,
  name: "ann",
};

export function show(problem: Problems): string {
  switch (problem.tag) {
    case "UserNotFound":
      return problem.uid.toFixed();
    case "TeamNotFound":
      return problem.team;
    case "UserExists":
      return problem.homes.map((home) => home.street).join();
    case "QuotaExceeded":
      return problem.limit.toFixed();
    case "StoreDown":
      return problem.detail;
    case "Unauthenticated":
      return problem.scheme;
    case "BadRequest":
      return problem.kind + (problem.errors ?? []).map(({ pointer }) => pointer).join();
    default: {
      const impossible: never = problem;
      return impossible;
    }
  }
}
