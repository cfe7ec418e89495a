"""OpenAPI: the errors of adapters as schemas, responses and parts of a document."""
