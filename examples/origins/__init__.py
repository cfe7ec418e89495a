"""The systems of the five source documents, each as a short program with Seamwise."""
