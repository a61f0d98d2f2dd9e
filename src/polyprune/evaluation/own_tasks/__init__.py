"""Tasks of one's own: a folder of files, or a data set, as one more `Task`."""
