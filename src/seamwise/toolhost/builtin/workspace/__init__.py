"""The folder that tools work in: paths, ignore rules, listings and atomic writes."""

from seamwise.toolhost.builtin.workspace.workspace import Workspace as Workspace
