-- Sessions: when each began, was last used and ended. What is kept until a session's end lives on its clock.
CREATE TABLE session (
  tenant TEXT NOT NULL,
  user_name TEXT NOT NULL,
  name TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  ended_at BIGINT,
  PRIMARY KEY (tenant, user_name, name)
);
