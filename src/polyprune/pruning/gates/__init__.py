"""Gates: fixed, learned or dynamic; and the checkpoint that holds every size."""
