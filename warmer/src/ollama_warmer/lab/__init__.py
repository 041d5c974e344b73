"""The lab: what can be found out about a model server by asking it on purpose."""
