"""The errors of each domain: one file a domain, each ending in its union. No domain imports another's."""
