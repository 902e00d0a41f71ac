import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- When a closed account is erased: 30 days after its closure, or after the end of a suspension that came later. The detour
    -- over UTC makes the expression immutable.
    ALTER TABLE accounts ADD COLUMN erased_after timestamptz GENERATED ALWAYS AS (CASE WHEN closed_at IS NOT NULL THEN
      (greatest(closed_at, suspension_ended_at) AT TIME ZONE 'UTC' + interval '30 days') AT TIME ZONE 'UTC' END) STORED;
    GRANT SELECT (erased_after) ON accounts TO countersign_system;
    -- Who accepts an invite elsewhere may close their own account with it: neither account is the transaction's tenant.
    GRANT UPDATE (closed_at, closed_by) ON accounts TO countersign_system;

    CREATE OR REPLACE FUNCTION require_closed(account text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
    BEGIN
      PERFORM set_config('app.account_id', account, true);
      PERFORM FROM accounts WHERE id = account AND erased_after <= now() AND erased_at IS NULL AND suspended_at IS NULL;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % was not closed 30 days ago, or is suspended', account;
      END IF;
    END $$;

    -- Whether an account has a row in one of some tables. The system role may read few tables, so the owner answers, bound to
    -- one account by the policies of the erasure. The setting is put back: the transaction has no tenant.
    CREATE FUNCTION has_rows(table_names text[], account text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DECLARE table_name text; found_one boolean;
    BEGIN
      PERFORM set_config('app.account_id', account, true);
      FOREACH table_name IN ARRAY table_names LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE account_id = $1)', table_name) INTO found_one USING account;
        EXIT WHEN found_one;
      END LOOP;
      PERFORM set_config('app.account_id', '', true);
      RETURN coalesce(found_one, false);
    END $$;
    REVOKE ALL ON FUNCTION has_rows FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION has_rows TO countersign_system;

    -- products: NULL for the routes of every product.
    ALTER TABLE api_keys ADD COLUMN products text[],
      ADD CONSTRAINT api_keys_products_check CHECK (cardinality(products) > 0);
    GRANT SELECT (products) ON api_keys TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
