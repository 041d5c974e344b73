"""The doctor: what can be known to be wrong before it costs a person seven seconds."""
