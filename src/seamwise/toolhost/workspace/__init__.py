"""The folder that tools work in: paths, ignore rules, listing, atomic writes."""

from seamwise.toolhost.workspace.workspace import Workspace as Workspace
