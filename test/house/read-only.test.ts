import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { KEY_SCOPES } from '#src/catalogue/access.ts'
import type { AuditAction } from '#src/catalogue/audit.ts'
import { notesOf } from '#src/docs/notes.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import { makeAccount } from '../support/database.ts'
import { fillEveryTable } from '../support/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { routesOf } from '../support/services.ts'

// A key that only reads, on every route of the table, for rows that its account has: it is refused where a route does more than
// read, and the database is the same after all of it. Some rows are too bare to be shown. A new route is asked without a change
// here.

// The name of a consumer in paths, where the account has none of its own.
const CONSUMER = 'x'

// What requests of such a key write: who read evidence and what was refused, when a key was used, how far a consumer of
// events has come, and that it was moved under an Idempotency-Key.
const WRITTEN_BY_READING: Record<string, string> = {
  audit_entries: 'SELECT to_jsonb(t) AS row FROM audit_entries t WHERE action <> ALL ($1::text[])',
  api_keys: `SELECT to_jsonb(t) - 'last_used_at' AS row FROM api_keys t`,
  event_consumers: `SELECT to_jsonb(t) AS row FROM event_consumers t WHERE name <> '${CONSUMER}'`,
  idempotency_keys: `SELECT to_jsonb(t) AS row FROM idempotency_keys t WHERE route <> 'PUT /v1/event-consumers/:name'`,
}

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const nameOf = (route: Route) => `${route.method} ${route.path}`

async function makeReader(
  environment: Environment,
): Promise<{ scope: Scope; key: string; ids: Map<string, string[]> }> {
  const scope = await makeAccount(service.test, { environment })
  await fillEveryTable(service.test, scope)
  const scopes = environment === 'sandbox' ? (['all'] as const) : KEY_SCOPES
  const { key } = await service.services.account.keys.create(scope, { name: 'reader', scopes, isReadOnly: true })
  const tables = await service.test.owner<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'id' AND data_type = 'text'
       AND table_name IN (SELECT table_name FROM information_schema.columns WHERE column_name = 'account_id')`,
  )
  const ids = new Map<string, string[]>()
  for (const { name } of tables) {
    const rows = await service.test.owner<{ id: string }>(`SELECT id FROM ${name} WHERE account_id = $1`, [
      scope.accountId,
    ])
    for (const { id } of rows) ids.set(id.slice(0, 3), [...(ids.get(id.slice(0, 3)) ?? []), id])
  }
  return { scope, key, ids }
}

/** A digest of every table, without the entries of the audit log that reading writes. */
async function snapshot(): Promise<Record<string, string>> {
  const reading = routesOf(service.services).filter(
    ({ effect, takesDirectory }) => effect === 'read' && takesDirectory !== true,
  )
  const acts: AuditAction[] = ['act.refused', ...reading.flatMap(({ audits }) => audits ?? [])]
  const tables = await service.test.owner<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  )
  const digests: Record<string, string> = {}
  for (const { name } of tables) {
    const rows = WRITTEN_BY_READING[name] ?? `SELECT to_jsonb(t) AS row FROM ${name} t`
    const [row] = await service.test.owner<{ digest: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(row::text, '|' ORDER BY row::text)), '') AS digest FROM (${rows}) AS kept`,
      name === 'audit_entries' ? [acts] : [],
    )
    digests[name] = row?.digest ?? ''
  }
  return digests
}

function pathsOf({ params, path }: Route, ids: ReadonlyMap<string, string[]>): string[] {
  const schema = params && z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' })
  const properties = (schema?.properties ?? {}) as Record<string, { pattern?: string }>
  const typeOf = (name: string) => /\^([a-z]{3})_/.exec(properties[name]?.pattern ?? '')?.[1] ?? ''
  const [first = ''] = Object.keys(properties)
  const known = ids.get(typeOf(first)) ?? ['x']
  return known.map((id) =>
    path.replaceAll(/:([a-z_]+)/g, (_, name) => {
      if (name === 'index') return '0'
      return name === first ? id : (ids.get(typeOf(name))?.[0] ?? 'x')
    }),
  )
}

describe.each(['sandbox', 'live'] as const)('a key that only reads, in %s', (environment) => {
  it('changes nothing on any route, and is answered where a route only reads', { timeout: 120_000 }, async () => {
    const { key, ids } = await makeReader(environment)
    const { features } = service.services
    const notes = notesOf(features).operations
    const routes = routesOf({ features }).filter((route) => route.scope !== undefined || route.takesAnyKey === true)
    const before = await snapshot()
    const refused: string[] = []
    const answered: string[] = []
    for (const route of routes) {
      const examples = Object.values(notes[nameOf(route)]?.examples ?? {})
      const type = route.rawBody?.contentTypes[0]?.replace('*', 'jpeg')
      const content = type === undefined ? { ...(route.body && { json: examples[0] ?? {} }) } : { body: 'x' }
      for (const path of pathsOf(route, ids)) {
        for (const more of [{}, { 'Idempotency-Key': `read ${nameOf(route)}`.replaceAll(/[^!-~]/g, '-') }]) {
          const headers = { ...(type !== undefined && { 'Content-Type': type }), ...more }
          const { status, json } = await service.call({ key }, path, { method: route.method, headers, ...content })
          if (json.code === 'key_read_only') refused.push(nameOf(route))
          else if (status !== 403) answered.push(nameOf(route))
        }
      }
    }
    // A sandbox key is refused before where a change is of the whole account.
    const isForeign = (route: Route) => environment === 'sandbox' && route.isAccountLevel === true
    const changing = routes.filter(({ effect }) => effect !== 'read')
    expect(new Set(refused)).toEqual(new Set(changing.filter((route) => !isForeign(route)).map(nameOf)))
    expect(answered.filter((name) => changing.some((route) => nameOf(route) === name))).toEqual([])
    const reading = routes.filter(({ effect }) => effect === 'read').map(nameOf)
    expect(reading.filter((name) => !answered.includes(name) && environment === 'live')).toEqual([])
    expect(await snapshot()).toEqual(before)
  })
})

it('a key that only reads creates a consumer of events and moves it', async () => {
  const scope = await makeAccount(service.test)
  const { key } = await service.services.account.keys.create(scope, { name: 'r', scopes: ['admin'], isReadOnly: true })
  const put = await service.call({ key }, '/v1/event-consumers/desk', { method: 'PUT', json: { position: 0 } })
  expect([put.status, put.json.position]).toEqual([200, 0])
  const removed = await service.call({ key }, '/v1/event-consumers/desk', { method: 'DELETE' })
  expect([removed.status, removed.json.code]).toEqual([403, 'key_read_only'])
})
