"""Text helpers shared by several layers."""
