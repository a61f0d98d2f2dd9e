"""Selection: which components stay within a budget of size, parameters or time."""
