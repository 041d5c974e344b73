"""What the tests of the integration share: a house, its servers, and ways to look at them."""
