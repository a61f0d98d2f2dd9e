"""Find, convert and load models: folders, names on the hub, models that come with the package."""
