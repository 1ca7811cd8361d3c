"""The larger commands of the front door, one module each. Like the door itself they import rooms only when they run."""
