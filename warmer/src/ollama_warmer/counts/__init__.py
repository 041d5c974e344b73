"""What a server's log says of a request: which tokens were kept, which were read."""
