import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TenantTable } from '#src/platform/feature.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { makeServices } from '../../support/services.ts'

// Every table with rows of accounts is declared by one feature (`data`): the export and the erasure of an account work
// through these declarations.

interface Column {
  table: string
  column: string
  isKey: boolean
}

const services = makeServices()
const declared: readonly TenantTable[] = services.features.flatMap(({ data = [] }) => data)
let database: TestDatabase
let columns: Column[]

beforeAll(async () => {
  database = await createTestDatabase()
  columns = await database.owner<Column>(
    `SELECT c.relname AS table, a.attname AS column,
       EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p' AND a.attnum = ANY (k.conkey)) AS "isKey"
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relrowsecurity AND a.attnum > 0 AND NOT a.attisdropped`,
  )
})
afterAll(async () => {
  await database?.close()
  await services.close()
})

const namesOf = (table: string) => columns.filter((one) => one.table === table).map(({ column }) => column)

it('every tenant table is declared by one feature, to be exported or with the reason why not', () => {
  const tables = [...new Set(columns.map(({ table }) => table))].sort()
  expect(declared.map(({ table }) => table).sort()).toEqual(tables)
  for (const { table, unexported } of declared) {
    if (unexported !== undefined) expect(unexported.length, table).toBeGreaterThan(10)
  }
})

it('no table has a foreign key to accounts beside one to a parent: each row would look up and lock the account', async () => {
  const doubled = await database.owner(
    `SELECT own.conrelid::regclass::text AS name FROM pg_constraint own
     WHERE own.contype = 'f' AND own.confrelid = 'accounts'::regclass AND EXISTS (
       SELECT FROM pg_constraint k WHERE k.conrelid = own.conrelid AND k.contype = 'f' AND k.oid <> own.oid
         AND k.confrelid <> k.conrelid AND NOT EXISTS (
           SELECT FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey) AND NOT a.attnotnull))`,
  )
  expect(doubled).toEqual([])
})

it('the declarations fit the schema: keys, environments and secrets', () => {
  for (const { table, key, isOfAccount = false, secrets = [] } of declared) {
    const keys = columns.filter((one) => one.table === table && one.isKey).map(({ column }) => column)
    const own = keys.filter((column) => column !== 'account_id' && column !== 'environment')
    expect([table, [...key].sort()]).toEqual([table, own.sort()])
    const hasEnvironment = keys.includes('environment') || (table === 'jobs' && namesOf(table).includes('environment'))
    expect([table, hasEnvironment]).toEqual([table, !isOfAccount])
    expect([table, secrets.filter((column) => !namesOf(table).includes(column))]).toEqual([table, []])
  }
})

it('no column whose name says that it is a secret is exported', () => {
  const open = declared
    .filter(({ unexported }) => unexported === undefined)
    .flatMap(({ table, secrets = [] }) =>
      namesOf(table)
        .filter((column) => /secret|sealed|token|password|(?:^|_)hash$|challenge$/.test(column))
        .filter((column) => !secrets.includes(column))
        .map((column) => `${table}.${column}`),
    )
  // The perceptual hash of a picture, the hashes of what a token authorizes, and the times of a rotation. The tokens of a
  // trace are counts. The hash of a manifest is told with it.
  const {
    pictures = [],
    intents = [],
    approvals = [],
    webhook_endpoints = [],
    traces = [],
    orders = [],
    ...others
  } = Object.groupBy(open, (name) => name.split('.')[0] ?? '')
  expect({ pictures, intents, approvals, webhook_endpoints, traces, orders, others }).toEqual({
    pictures: ['pictures.hash'],
    intents: ['token_sha256', 'action_hash', 'payload_hash', 'context_hash', 'reading_hash'].map(
      (name) => `intents.${name}`,
    ),
    approvals: ['action_hash', 'payload_hash', 'preview_hash', 'token_ttl_seconds'].map((name) => `approvals.${name}`),
    webhook_endpoints: ['previous_secret_expires_at', 'secret_rotated_at'].map((name) => `webhook_endpoints.${name}`),
    traces: ['prompt_hash', 'completion_hash', 'prompt_tokens', 'completion_tokens', 'max_tokens', 'token_facts'].map(
      (name) => `traces.${name}`,
    ),
    orders: ['orders.order_hash', 'orders.payload_hash'],
    others: {
      order_signatures: ['order_signatures.order_hash'],
      exclusion_reviews: ['exclusion_reviews.row_hash'],
      trace_jobs: ['trace_jobs.manifest_hash'],
      model_diffs: ['model_diffs.report_hash'],
      sso_configs: ['sso_configs.client_secret_last4'],
    },
  })
})

it('every tenant table admits the erasure of a closed account', async () => {
  const policies = await database.owner<{ table: string }>(
    `SELECT tablename::text AS table FROM pg_policies WHERE policyname = tablename || '_erasure' ORDER BY 1`,
  )
  // A migration that makes a tenant table says: SELECT admit_erasure('table').
  expect(policies.map(({ table }) => table)).toEqual(declared.map(({ table }) => table).sort())
})
