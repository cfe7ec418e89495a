"""The tools, one file each: a Struct for the arguments, one for the result, and a service.

A tool does not depend on any seam.
"""
