-- The people whom a service's token acts for, a JSON list; a token without an own person has the name ''.
ALTER TABLE token ADD COLUMN acts_for TEXT NOT NULL DEFAULT '[]';
