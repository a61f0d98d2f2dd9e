"""ONE LOOP, MANY OBJECTIVES: what is trained, on what loss, in which order."""
