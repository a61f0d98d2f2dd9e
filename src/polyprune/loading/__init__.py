"""FINDING AND READING MODELS: folders, names on the hub, models that come with the package."""
