"""How the product's encoder is made: fetch, pair, teach, train, pack. Never imported by the product."""
