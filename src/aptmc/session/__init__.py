"""A run between coordinator and backend: orders, keys, control, snapshots, replay."""
