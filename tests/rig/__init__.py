"""The rig: a real Home Assistant, a real llama.cpp and the real warmer, for tests and the demo."""
