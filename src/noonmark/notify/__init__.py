"""How a notice reaches people: its words, its signature, and the doors it may go through."""
