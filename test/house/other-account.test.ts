import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { isSeenFromSandbox } from '#src/catalogue/permissions.ts'
import { notesOf } from '#src/docs/notes.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { makeAccount } from '../support/database.ts'
import { fillEveryTable } from '../support/rows.ts'
import { type SignedIn, startTestService, type TestService } from '../support/service.ts'
import { routesOf } from '../support/services.ts'

// Every route that takes an id of a row, asked by another account for rows that exist: the answer is the one for an id
// that never existed. A new route is asked without a change here.

let service: TestService
let caller: { key: string }
let session: SignedIn
const ids = new Map<string, string[]>()

beforeAll(async () => {
  service = await startTestService({ scopes: ['all'] })
  const owner = await makeAccount(service.test)
  await fillEveryTable(service.test, owner)
  const tables = await service.test.owner<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'id' AND data_type = 'text'
       AND table_name IN (SELECT table_name FROM information_schema.columns WHERE column_name = 'account_id')`,
  )
  for (const { name } of tables) {
    const rows = await service.test.owner<{ id: string }>(`SELECT id FROM ${name} WHERE account_id = $1`, [
      owner.accountId,
    ])
    for (const { id } of rows) ids.set(id.slice(0, 3), [...(ids.get(id.slice(0, 3)) ?? []), id])
  }
  const stranger = await makeAccount(service.test)
  caller = await service.services.account.keys.create(stranger, { name: 'stranger', scopes: ['all'] })
  session = await service.signIn(stranger.accountId)
})
afterAll(() => service.close())

// What a sandbox key may read of the whole account.
const isSeen = ({ method, permission }: Route) =>
  method === 'GET' && permission !== undefined && isSeenFromSandbox(permission)
const nameOf = (route: Route) => `${route.method} ${route.path}`

function typeOf(route: Route): string | undefined {
  const schema = route.params === undefined ? {} : z.toJSONSchema(route.params, { io: 'input', unrepresentable: 'any' })
  return JSON.stringify(schema).match(/\^([a-z]{3})_/)?.[1]
}

it('an id of another account is not found, by key and by session', async () => {
  const { features } = service.services
  const notes = notesOf(features).operations
  // Models are those of the installation.
  const routes = routesOf({ features }).filter(
    ({ public: isPublic, path, takesDirectory }) =>
      isPublic === undefined && takesDirectory !== true && /:id\b/.test(path) && !path.startsWith('/v1/trace/models'),
  )
  expect(routes.length).toBeGreaterThan(30)
  const asked: string[] = []
  for (const route of routes) {
    const known = ids.get(typeOf(route) ?? '') ?? []
    const examples = Object.values(notes[nameOf(route)]?.examples ?? {})
    const type = route.rawBody?.contentTypes[0]?.replace('*', 'jpeg')
    const body = type === undefined ? { ...(route.body && { json: examples[0] ?? {} }) } : { body: 'x' }
    for (const id of known) {
      const path = route.path.replaceAll(/:([a-z]+)/g, (_, name) => (name === 'index' ? '0' : id))
      const bySession = { ...session.headers, ...(type !== undefined && { 'Content-Type': type }) }
      const byKey = type === undefined ? {} : { 'Content-Type': type }
      const answers = [
        ...(route.permission === undefined ? [] : [[{}, bySession] as const]),
        // A sandbox key changes nothing of the whole account.
        ...(route.scope === undefined || (route.isAccountLevel && !isSeen(route)) ? [] : [[caller, byKey] as const]),
      ]
      for (const [by, headers] of answers) {
        const { status, json } = await service.call(by, path, { method: route.method, headers, ...body })
        expect([nameOf(route), id, status, json.code]).toEqual([nameOf(route), id, 404, 'not_found'])
        asked.push(nameOf(route))
      }
    }
  }
  // Rows that exist for one half of the account only, or are made by a running job.
  expect(routes.map(nameOf).filter((name) => !asked.includes(name))).toEqual([])
})
