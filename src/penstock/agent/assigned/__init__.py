"""Work that agents are assigned, one kind like another: followed, kept over restarts, reported."""
