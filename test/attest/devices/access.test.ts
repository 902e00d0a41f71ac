import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KeyScope } from '#src/catalogue/access.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { AT } from '../../platform/crypto/pki.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'
import { call } from '../../support/http.ts'

const DEVICE = newId('dev', 'sandbox')
const ROOT_CA = newId('rca', 'sandbox')
const ROUTES: { method: string; path: string; scope: KeyScope; hasBody: boolean }[] = [
  { method: 'POST', path: '/v1/admin/devices', scope: 'admin', hasBody: true },
  { method: 'GET', path: '/v1/admin/devices', scope: 'admin', hasBody: false },
  { method: 'GET', path: `/v1/admin/devices/${DEVICE}`, scope: 'admin', hasBody: false },
  { method: 'POST', path: `/v1/admin/devices/${DEVICE}/revoke`, scope: 'admin', hasBody: true },
  { method: 'POST', path: '/v1/admin/root-cas', scope: 'admin', hasBody: true },
  { method: 'GET', path: '/v1/admin/root-cas', scope: 'admin', hasBody: false },
  { method: 'GET', path: `/v1/admin/root-cas/${ROOT_CA}`, scope: 'admin', hasBody: false },
  { method: 'DELETE', path: `/v1/admin/root-cas/${ROOT_CA}`, scope: 'admin', hasBody: false },
  { method: 'POST', path: '/v1/claims/attest/sessions', scope: 'attest', hasBody: true },
]
const SCOPES: KeyScope[] = ['verify', 'attest', 'escalate', 'admin', 'intent', 'screen']

let app: AttestApp
let account: Scope & { key: string }

beforeAll(async () => {
  app = await startAttestApp(AT)
  account = await app.makeCaller()
})
afterAll(() => app.close())

describe.each(ROUTES)('$method $path', ({ method, path, scope, hasBody }) => {
  it('needs a key', async () => {
    const { status, json } = await call(app.app, path, { method })
    expect({ status, code: json.code }).toEqual({ status: 401, code: 'authentication_required' })
  })

  it('refuses an unknown key', async () => {
    const { status, json } = await call(app.app, path, { method, key: 'svc_test_unknown' })
    expect({ status, code: json.code }).toEqual({ status: 401, code: 'invalid_api_key' })
  })

  it('needs its scope; no other scope is enough', async () => {
    const key = app.addKey({ ...account, scopes: SCOPES.filter((one) => one !== scope) })
    const { status, json } = await app.call(key, path, { method })
    expect({ status, json }).toMatchObject({
      status: 403,
      json: { code: 'insufficient_scope', required_scope: scope },
    })
  })

  it('accepts a key with its scope', async () => {
    const { status } = await app.call(app.addKey({ ...account, scopes: [scope] }), path, { method })
    expect([200, 400, 404, 415]).toContain(status)
  })

  if (hasBody) {
    it('refuses a body that is too large before reading it', async () => {
      const body = Buffer.alloc(65 * 1024 * 1024, 0x20)
      const headers = { 'Content-Type': 'application/json' }
      const { status, json } = await app.call(account.key, path, { method, body, headers })
      expect({ status, code: json.code }).toEqual({ status: 413, code: 'payload_too_large' })
    })

    it.each(['{"count":', '{"name":"a","name":"b"}', '[]', 'null', '\ufeff{}', '{}{}'])('refuses %j', async (body) => {
      const headers = { 'Content-Type': 'application/json' }
      const { status, json } = await app.call(account.key, path, { method, body, headers })
      expect(status).toBe(400)
      expect(['invalid_json', 'invalid_request']).toContain(json.code)
      expect(json.errors?.length).toBeGreaterThan(0)
    })
  }
})

it('an id of the other environment is refused as such before any other check', async () => {
  for (const path of ['/v1/admin/devices/', '/v1/admin/root-cas/']) {
    const id = newId(path.includes('devices') ? 'dev' : 'rca', 'live')
    const key = app.addKey({ ...account, scopes: ['verify'] })
    expect((await app.call(key, `${path}${id}`)).json.code).toBe('environment_mismatch')
  }
})
