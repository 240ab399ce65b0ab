"""The panes and bars of the dashboard. They show rows and raise messages; they open no file and ask no engine."""
