-- Run after every migration: the second net under `tenant = …` in every query.
-- Each table with a tenant gets row-level security that even the owner cannot step over, and the
-- application role, which owns nothing, gets no way to change the audit.
DO $protect$
DECLARE target text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'lamina_app') THEN
    BEGIN
      CREATE ROLE lamina_app NOLOGIN NOBYPASSRLS;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END IF;
  -- Before 16 every member may become the role, and there is no word for less: see `protection` in postgres.py.
  IF NOT pg_has_role(current_user, 'lamina_app', '{{may_become}}') THEN
    EXECUTE format('GRANT lamina_app TO %I', current_user);
  END IF;
  GRANT USAGE ON SCHEMA lamina TO lamina_app;
  FOR target IN
    SELECT table_name FROM information_schema.columns
     WHERE table_schema = 'lamina' AND column_name = 'tenant'
  LOOP
    EXECUTE format('ALTER TABLE lamina.%I ENABLE ROW LEVEL SECURITY', target);
    EXECUTE format('ALTER TABLE lamina.%I FORCE ROW LEVEL SECURITY', target);
    EXECUTE format('DROP POLICY IF EXISTS own_tenant ON lamina.%I', target);
    EXECUTE format('CREATE POLICY own_tenant ON lamina.%I'
      ' USING (tenant = (SELECT current_setting(''lamina.tenant'', true)))'
      ' WITH CHECK (tenant = (SELECT current_setting(''lamina.tenant'', true)))', target);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON lamina.%I TO lamina_app', target);
  END LOOP;
  GRANT USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA lamina TO lamina_app;
  REVOKE UPDATE, DELETE ON lamina.audit FROM lamina_app;
  GRANT SELECT ON lamina.schema_migration TO lamina_app;
END
$protect$;
