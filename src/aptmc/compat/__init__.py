"""What stands in for other samplers: their names, arguments and shapes, with this library inside.

Each is imported by its own name, `from aptmc.compat import ptemcee`, and needs nothing of the
package that it stands in for; `bilby` is a plug-in of bilby's own.
"""
