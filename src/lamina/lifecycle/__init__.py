"""How memories end and leave: purge, erase, export, tokens, consent."""
