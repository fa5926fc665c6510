"""Data with names: what users give and simulators return, part by part."""
