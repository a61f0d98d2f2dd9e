"""A tour of everything, on text and tasks that come with the package."""
