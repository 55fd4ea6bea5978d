-- How much there is of what, kept by the database itself with every row that comes, changes or goes: a page that
-- counts does not walk over everything. And lists in their order without one.

-- The owner of the tables steps over row-level security for this; it is forced again right after.
--@postgres ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
--@postgres ALTER TABLE operational NO FORCE ROW LEVEL SECURITY;

-- Who said it, as the provenance has it first of all, '' where that is damaged. In SQLite it takes no room and rewrites no row.
ALTER TABLE memory ADD COLUMN actor TEXT NOT NULL GENERATED ALWAYS AS (
--@sqlite   coalesce(CASE WHEN json_valid(provenance) THEN provenance ->> 'actor' END, '')) VIRTUAL;
--@postgres   coalesce(('["' || substring(provenance from '^\{"actor":"((?:[^"\\]|\\.)*)"') || '"]')::json ->> 0, '')) STORED;

-- `category` is '' where a memory has none; `tags` are all of them as they are written.
CREATE TABLE memory_count (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  state TEXT NOT NULL,
  layer TEXT NOT NULL,
  kind TEXT NOT NULL,
  category TEXT NOT NULL,
  actor TEXT NOT NULL,
  trust TEXT NOT NULL,
  tags TEXT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (tenant, shelf, state, layer, kind, category, actor, trust, tags)
)
--@sqlite WITHOUT ROWID
;
INSERT INTO memory_count (tenant, shelf, state, layer, kind, category, actor, trust, tags, count)
SELECT tenant, shelf, state, layer, kind, coalesce(category, ''), actor, trust, tags, count(*)
  FROM memory GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;

-- What was done, by the hour; a stretch that begins within one is counted from the rows.
CREATE TABLE operational_count (
  tenant TEXT NOT NULL,
  user_name TEXT NOT NULL,
  hour BIGINT NOT NULL,
  node TEXT NOT NULL,
  op TEXT NOT NULL,
  status TEXT NOT NULL,
  category TEXT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (tenant, user_name, hour, node, op, status, category)
)
--@sqlite WITHOUT ROWID
;
INSERT INTO operational_count (tenant, user_name, hour, node, op, status, category, count)
SELECT tenant, user_name, at - at % 3600000000, node, op, status, coalesce(category, ''), count(*)
  FROM operational GROUP BY 1, 2, 3, 4, 5, 6, 7;
CREATE INDEX operational_asked ON operational (tenant, user_name, at) WHERE op = 'query';

-- How often the index of a shelf was made anew: what a process keeps of it is of one making.
ALTER TABLE shelf ADD COLUMN making BIGINT NOT NULL DEFAULT 0;

-- Lists in the order of age and of weight, and what is past its time.
-- The state stands last: before the order, it would make these the index of choice for nearly everything.
CREATE INDEX memory_by_age ON memory (tenant, shelf, created_at, state);
CREATE INDEX memory_by_weight ON memory (tenant, shelf, importance, created_at, state);
CREATE INDEX memory_by_end ON memory (tenant, shelf, expires_at) WHERE state = 'active' AND expires_at IS NOT NULL;

-- A count that came to nothing is no row: its words would outlive their memory.
--@sqlite CREATE TRIGGER memory_counted AFTER INSERT ON memory BEGIN
--@sqlite   INSERT INTO memory_count (tenant, shelf, state, layer, kind, category, actor, trust, tags, count)
--@sqlite   VALUES (NEW.tenant, NEW.shelf, NEW.state, NEW.layer, NEW.kind, coalesce(NEW.category, ''),
--@sqlite     NEW.actor, NEW.trust, NEW.tags, 1)
--@sqlite   ON CONFLICT (tenant, shelf, state, layer, kind, category, actor, trust, tags) DO UPDATE SET count =
--@sqlite     memory_count.count + 1;
--@sqlite END;
--@sqlite CREATE TRIGGER memory_uncounted AFTER DELETE ON memory BEGIN
--@sqlite   DELETE FROM memory_count WHERE tenant = OLD.tenant AND shelf = OLD.shelf AND state = OLD.state AND
--@sqlite     layer = OLD.layer AND kind = OLD.kind AND category = coalesce(OLD.category, '') AND actor =
--@sqlite     OLD.actor AND trust = OLD.trust AND tags = OLD.tags
--@sqlite    AND count <= 1;
--@sqlite   UPDATE memory_count SET count = count - 1 WHERE tenant = OLD.tenant AND shelf = OLD.shelf AND state
--@sqlite     = OLD.state AND layer = OLD.layer AND kind = OLD.kind AND category = coalesce(OLD.category, '') AND
--@sqlite     actor = OLD.actor AND trust = OLD.trust AND tags = OLD.tags;
--@sqlite END;
--@sqlite CREATE TRIGGER memory_recounted
--@sqlite AFTER UPDATE OF shelf, state, layer, kind, category, provenance, trust, tags ON memory
--@sqlite WHEN (OLD.shelf, OLD.state, OLD.layer, OLD.kind, coalesce(OLD.category, ''), OLD.actor, OLD.trust,
--@sqlite   OLD.tags)
--@sqlite   <> (NEW.shelf, NEW.state, NEW.layer, NEW.kind, coalesce(NEW.category, ''), NEW.actor, NEW.trust,
--@sqlite     NEW.tags)
--@sqlite BEGIN
--@sqlite   DELETE FROM memory_count WHERE tenant = OLD.tenant AND shelf = OLD.shelf AND state = OLD.state AND
--@sqlite     layer = OLD.layer AND kind = OLD.kind AND category = coalesce(OLD.category, '') AND actor =
--@sqlite     OLD.actor AND trust = OLD.trust AND tags = OLD.tags
--@sqlite    AND count <= 1;
--@sqlite   UPDATE memory_count SET count = count - 1 WHERE tenant = OLD.tenant AND shelf = OLD.shelf AND state
--@sqlite     = OLD.state AND layer = OLD.layer AND kind = OLD.kind AND category = coalesce(OLD.category, '') AND
--@sqlite     actor = OLD.actor AND trust = OLD.trust AND tags = OLD.tags;
--@sqlite   INSERT INTO memory_count (tenant, shelf, state, layer, kind, category, actor, trust, tags, count)
--@sqlite   VALUES (NEW.tenant, NEW.shelf, NEW.state, NEW.layer, NEW.kind, coalesce(NEW.category, ''),
--@sqlite     NEW.actor, NEW.trust, NEW.tags, 1)
--@sqlite   ON CONFLICT (tenant, shelf, state, layer, kind, category, actor, trust, tags) DO UPDATE SET count =
--@sqlite     memory_count.count + 1;
--@sqlite END;
--@sqlite CREATE TRIGGER operational_counted AFTER INSERT ON operational BEGIN
--@sqlite   INSERT INTO operational_count (tenant, user_name, hour, node, op, status, category, count)
--@sqlite   VALUES (NEW.tenant, NEW.user_name, NEW.at - NEW.at % 3600000000, NEW.node, NEW.op, NEW.status,
--@sqlite     coalesce(NEW.category, ''), 1)
--@sqlite   ON CONFLICT (tenant, user_name, hour, node, op, status, category) DO UPDATE SET count =
--@sqlite     operational_count.count + 1;
--@sqlite END;
--@sqlite CREATE TRIGGER operational_uncounted AFTER DELETE ON operational BEGIN
--@sqlite   DELETE FROM operational_count WHERE tenant = OLD.tenant AND user_name = OLD.user_name AND hour =
--@sqlite     OLD.at - OLD.at % 3600000000 AND node = OLD.node AND op = OLD.op AND status = OLD.status AND
--@sqlite     category = coalesce(OLD.category, '')
--@sqlite    AND count <= 1;
--@sqlite   UPDATE operational_count SET count = count - 1 WHERE tenant = OLD.tenant AND user_name =
--@sqlite     OLD.user_name AND hour = OLD.at - OLD.at % 3600000000 AND node = OLD.node AND op = OLD.op AND status
--@sqlite     = OLD.status AND category = coalesce(OLD.category, '');
--@sqlite END;

--@postgres CREATE FUNCTION count_memory() RETURNS trigger LANGUAGE plpgsql SET search_path = lamina, public AS $count$ BEGIN
--@postgres IF TG_OP = 'UPDATE' THEN
--@postgres   IF (OLD.shelf, OLD.state, OLD.layer, OLD.kind, coalesce(OLD.category, ''), OLD.actor, OLD.trust,
--@postgres     OLD.tags)
--@postgres     = (NEW.shelf, NEW.state, NEW.layer, NEW.kind, coalesce(NEW.category, ''), NEW.actor, NEW.trust,
--@postgres       NEW.tags) THEN RETURN NULL; END IF;
--@postgres END IF;
--@postgres IF TG_OP <> 'INSERT' THEN
--@postgres   DELETE FROM memory_count WHERE tenant = OLD.tenant AND shelf = OLD.shelf AND state = OLD.state AND
--@postgres     layer = OLD.layer AND kind = OLD.kind AND category = coalesce(OLD.category, '') AND actor =
--@postgres     OLD.actor AND trust = OLD.trust AND tags = OLD.tags
--@postgres    AND count <= 1;
--@postgres   UPDATE memory_count SET count = count - 1 WHERE tenant = OLD.tenant AND shelf = OLD.shelf AND state
--@postgres     = OLD.state AND layer = OLD.layer AND kind = OLD.kind AND category = coalesce(OLD.category, '') AND
--@postgres     actor = OLD.actor AND trust = OLD.trust AND tags = OLD.tags;
--@postgres END IF;
--@postgres IF TG_OP <> 'DELETE' THEN
--@postgres   INSERT INTO memory_count (tenant, shelf, state, layer, kind, category, actor, trust, tags, count)
--@postgres   VALUES (NEW.tenant, NEW.shelf, NEW.state, NEW.layer, NEW.kind, coalesce(NEW.category, ''),
--@postgres     NEW.actor, NEW.trust, NEW.tags, 1)
--@postgres   ON CONFLICT (tenant, shelf, state, layer, kind, category, actor, trust, tags) DO UPDATE SET count =
--@postgres     memory_count.count + 1;
--@postgres END IF;
--@postgres RETURN NULL; END $count$;
--@postgres CREATE TRIGGER memory_counted AFTER INSERT OR UPDATE OR DELETE ON memory FOR EACH ROW EXECUTE FUNCTION
--@postgres   count_memory();
--@postgres CREATE FUNCTION count_operational() RETURNS trigger LANGUAGE plpgsql SET search_path = lamina, public AS $count$ BEGIN
--@postgres IF TG_OP = 'DELETE' THEN
--@postgres   DELETE FROM operational_count WHERE tenant = OLD.tenant AND user_name = OLD.user_name AND hour =
--@postgres     OLD.at - OLD.at % 3600000000 AND node = OLD.node AND op = OLD.op AND status = OLD.status AND
--@postgres     category = coalesce(OLD.category, '')
--@postgres    AND count <= 1;
--@postgres   UPDATE operational_count SET count = count - 1 WHERE tenant = OLD.tenant AND user_name =
--@postgres     OLD.user_name AND hour = OLD.at - OLD.at % 3600000000 AND node = OLD.node AND op = OLD.op AND status
--@postgres     = OLD.status AND category = coalesce(OLD.category, '');
--@postgres ELSE
--@postgres   INSERT INTO operational_count (tenant, user_name, hour, node, op, status, category, count)
--@postgres   VALUES (NEW.tenant, NEW.user_name, NEW.at - NEW.at % 3600000000, NEW.node, NEW.op, NEW.status,
--@postgres     coalesce(NEW.category, ''), 1)
--@postgres   ON CONFLICT (tenant, user_name, hour, node, op, status, category) DO UPDATE SET count =
--@postgres     operational_count.count + 1;
--@postgres END IF;
--@postgres RETURN NULL; END $count$;
--@postgres CREATE TRIGGER operational_counted AFTER INSERT OR DELETE ON operational FOR EACH ROW EXECUTE FUNCTION
--@postgres   count_operational();
