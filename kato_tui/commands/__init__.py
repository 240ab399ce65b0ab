"""What each command of the command line does: one module a family, imported only when its command is asked for."""
