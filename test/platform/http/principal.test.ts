import { describe, expect, it } from 'vitest'
import { KEY_SCOPES, ROLES } from '#src/catalogue/access.ts'
import { actorOf, hasScope, type Principal, roleOf } from '#src/platform/http/principal.ts'

const key: Principal = { kind: 'key', keyId: 'key_test_1', scopes: ['verify'] }
const session = { kind: 'session', sessionId: 'ses_1', userId: 'usr_1', role: 'analyst', isSandboxOnly: false } as const

describe('an actor', () => {
  it('is the key, and the person whom its caller names', () => {
    expect(actorOf(key)).toEqual({ id: 'key_test_1', person: null, keyId: 'key_test_1' })
    expect(actorOf(key, 'a@example.com')).toEqual({ id: 'key_test_1', person: 'a@example.com', keyId: 'key_test_1' })
  })

  it('is the user of a session, whomever the request names', () => {
    const actor = { id: 'usr_1', person: 'usr_1', keyId: null }
    expect(actorOf(session)).toEqual(actor)
    expect(actorOf(session, 'a@example.com')).toEqual(actor)
  })
})

it('a key acts with owner authority, a session in the role of its user', () => {
  expect(roleOf(key)).toBe('owner')
  for (const role of ROLES) expect(roleOf({ ...session, role })).toBe(role)
})

describe('a scope', () => {
  it('is had by keys that list it, or list all', () => {
    expect(KEY_SCOPES.filter((scope) => hasScope(key, scope))).toEqual(['verify'])
    expect(KEY_SCOPES.every((scope) => hasScope({ ...key, scopes: ['all'] }, scope))).toBe(true)
  })

  it('is never had by a session', () => {
    for (const scope of KEY_SCOPES) expect(hasScope({ ...session, role: 'owner' }, scope)).toBe(false)
  })
})
