"""One served request: its exchange and answers, results as responses, and WSGI."""
