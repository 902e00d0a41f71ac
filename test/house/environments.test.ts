import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SCOPED_TYPES, type ScopedType } from '#src/catalogue/ids.ts'
import { notesOf } from '#src/docs/notes.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { type Environment, newId } from '#src/platform/ids.ts'
import { call, makeKeyRow, startApp, type TestApp } from '../support/http.ts'
import { makeServices, routesOf } from '../support/services.ts'

// An id of the other environment is `environment_mismatch` wherever a request carries it: in the path, which
// access.test.ts walks, and in queries and bodies, which are walked here. No database is needed: the id's own word
// decides, before anything is looked up.

// The members of bodies and queries that are ids of ours, by their names.
const OURS: Record<string, ScopedType> = {
  claim_id: 'clm',
  media_id: 'med',
  device_id: 'dev',
  batch_id: 'bat',
  screening_batch_id: 'bat',
  capture_session_id: 'cap',
  agent_id: 'agt',
  agent_session_id: 'ses',
  trace_id: 'trc',
  job_id: 'job',
  share_id: 'shr',
  request_id: 'dsr',
  parent_id: 'mnd',
  challenge_id: 'pkc',
  mandate_id: 'mnd',
  schedule_id: 'sch',
  order_id: 'ord',
  webhook_endpoint_id: 'whe',
  prescriber_id: 'prs',
  fact_ids: 'pfa',
}
// Named like ids, but of the caller's own form, or of something that has no environment, as users have none. `app_attest_key_id`: of
// Apple. `actor_id` and `subject_id`: filters of the audit log, whose entries are of both. Nodes are of a graph, rules of a policy.
const FOREIGN = [
  'client_id',
  'masked_node_ids',
  'node_id',
  'external_id',
  'app_attest_key_id',
  'actor_id',
  'subject_id',
  'matched_rule_id',
  'user_id',
]
// Lines of NDJSON, each with its own refusal: tests of these features send ids of the other environment.
const BY_LINE = ['POST /v1/claims/batches', 'POST /v1/media/screenings/batches', 'POST /v1/admin/devices/attestations']

const services = makeServices()
const routes = routesOf(services).filter((route) => route.public === undefined && route.takesDirectory !== true)
// The others take sessions only, and refuse keys before they read a body.
const forKeys = routes.filter(({ scope, takesAnyKey }) => scope !== undefined || takesAnyKey === true)
const notes = notesOf(services.features).operations
const keys = new Map<string, KeyRow>()
let app: TestApp

beforeAll(async () => {
  app = await startApp(routesOf(services), { findKey: async (raw) => keys.get(raw) })
})
afterAll(async () => {
  await app.close()
  await services.close()
})

const nameOf = (route: Route) => `${route.method} ${route.path}`
const OTHER: Record<Environment, Environment> = { sandbox: 'live', live: 'sandbox' }

/** A path of the route, with ids of the environment. */
function pathOf(route: Route, environment: Environment): string {
  const type = JSON.stringify(route.params === undefined ? {} : z.toJSONSchema(route.params)).match(
    /\^([a-z]{3})_/,
  )?.[1]
  const id = newId((type ?? 'clm') as ScopedType, environment)
  return route.path.replaceAll(/:([a-z]+)/g, (_, name) => (name === 'index' ? '0' : id))
}

async function codeOf(route: Route, environment: Environment, sent: { search?: string; json?: unknown }) {
  const key = `key-${keys.size}`
  const scope = route.scope ?? 'admin'
  keys.set(key, makeKeyRow({ environment, scopes: [scope] }))
  const { search = '', ...rest } = sent
  const { json } = await call(app, pathOf(route, environment) + search, { key, method: route.method, ...rest })
  return json.code
}

type JsonSchema = { [name: string]: JsonSchema | JsonSchema[] | string | undefined }

/** Where members stand that are named like ids: `media/media_id`. */
function idsOf(type: z.ZodType | undefined): string[] {
  if (type === undefined) return []
  const root = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const defined = (root.$defs ?? {}) as Record<string, JsonSchema>
  // `inside`: the definitions that lead here. One that refers to itself is looked at once.
  const idsIn = (schema: JsonSchema, path: string[], inside: readonly string[] = []): string[] => {
    const name = typeof schema.$ref === 'string' ? schema.$ref.replace('#/$defs/', '') : ''
    const target = inside.includes(name) ? undefined : defined[name]
    const within = target === undefined ? inside : [...inside, name]
    const others = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] ?? []) as JsonSchema[])
    const members = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    return [
      ...(target === undefined ? [] : idsIn(target, path, within)),
      ...others.flatMap((one) => idsIn(one, path, inside)),
      ...(typeof schema.items === 'object' ? idsIn(schema.items as JsonSchema, [...path, '0'], inside) : []),
      ...members.flatMap(([name]) => (/_ids?$/.test(name) ? [[...path, name].join('/')] : [])),
      ...members.flatMap(([name, inner]) => idsIn(inner, [...path, name], inside)),
    ]
  }
  return [...new Set(idsIn(root, []))]
}

const lastOf = (path: string) => path.split('/').at(-1) ?? ''
const isOurs = (path: string) => OURS[lastOf(path)] !== undefined

/** The example with the id in its place, whichever of its examples has one there; else with the id added. */
function bodyWith(route: Route, path: string, id: string): unknown {
  const examples: unknown[] = Object.values(notes[nameOf(route)]?.examples ?? {})
  const names = path.split('/')
  const holds = (value: unknown) =>
    names.reduce((at, name) => (at as Record<string, unknown> | undefined)?.[name], value)
  const found = examples.find((one) => typeof holds(one) === 'string') ?? examples[0]
  const body = structuredClone(found) as Record<string, unknown>
  const parents = names.slice(0, -1)
  // Of alternatives, the id stands alone: media are named or sent, not both.
  if (found === undefined || typeof holds(found) !== 'string') {
    const last = parents.at(-1)
    const above = parents.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, body)
    if (last !== undefined) above[last] = {}
  }
  const parent = parents.reduce((at, name) => at[name] as Record<string, unknown>, body)
  const name = lastOf(path)
  parent[name] = name.endsWith('_ids') ? [id] : id
  return body
}

describe('an id of the other environment', () => {
  it('is known by the name of its member: every member that is named like an id is listed', () => {
    const named = routes.flatMap((route) => [...idsOf(route.query), ...idsOf(route.body)])
    const unlisted = named.filter((path) => !isOurs(path) && !FOREIGN.includes(lastOf(path)))
    expect(unlisted).toEqual([])
    expect(Object.keys(OURS).filter((name) => !named.some((path) => lastOf(path) === name))).toEqual([])
    expect(Object.values(OURS).every((type) => type in SCOPED_TYPES)).toBe(true)
  })

  it.each(['sandbox', 'live'] as const)('is refused in the query, by a key of %s', async (environment) => {
    let count = 0
    for (const route of routes) {
      for (const path of idsOf(route.query).filter(isOurs)) {
        const id = newId(OURS[path] ?? 'clm', OTHER[environment])
        const code = await codeOf(route, environment, { search: `?${path}=${id}` })
        expect([nameOf(route), path, code]).toEqual([nameOf(route), path, 'environment_mismatch'])
        count += 1
      }
    }
    expect(count).toBeGreaterThan(3)
  })

  it.each(['sandbox', 'live'] as const)('is refused in the body, by a key of %s', async (environment) => {
    let count = 0
    for (const route of forKeys) {
      for (const path of idsOf(route.body).filter(isOurs)) {
        const json = bodyWith(route, path, newId(OURS[lastOf(path)] ?? 'clm', OTHER[environment]))
        const code = await codeOf(route, environment, { json })
        expect([nameOf(route), path, code]).toEqual([nameOf(route), path, 'environment_mismatch'])
        count += 1
      }
    }
    expect(count).toBeGreaterThan(3)
  })

  it('is a matter of their own tests for routes that answer by line', () => {
    const byLine = routes.filter(({ rawBody }) => rawBody?.contentTypes.includes('application/x-ndjson'))
    const withIds = byLine
      .map(nameOf)
      .filter((name) => /"(?:claim|media|device)_id/.test(JSON.stringify(notes[name]?.bodies)))
    expect(withIds.sort()).toEqual([...BY_LINE].sort())
  })
})
