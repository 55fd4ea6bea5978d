"""One message: what is said in it is understood and carried out."""
