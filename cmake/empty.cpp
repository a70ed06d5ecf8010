// Keeps the command library a library while it has no other source.
