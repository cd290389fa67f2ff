"""Who acts: the backbone, the offline reader, the episode loop, the judge and their prompts."""
