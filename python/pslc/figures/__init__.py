"""Pictures and tables as plain data, which the terminal and the page draw, each in its way."""
