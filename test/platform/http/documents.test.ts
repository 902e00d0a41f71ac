// The settings that an account keeps as documents: each is read, changed and written back in the same way.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Scope } from '#src/platform/ids.ts'
import { startTestService, type TestService } from '../../support/service.ts'

type Document = Record<string, unknown>

const SETTINGS: { path: string; change: (document: Document, round: number) => Document }[] = [
  { path: '/v1/policy', change: (document, round) => ({ ...document, name: `round ${round}` }) },
  { path: '/v1/account/risk-policy', change: (document, round) => ({ ...document, geofence_m: round + 0.5 }) },
  { path: '/v1/trace/kill-switch', change: (document, round) => ({ ...document, max_age_s: round }) },
  {
    path: '/v1/account/screening',
    change: ({ thresholds }, round) => ({
      thresholds: { ...(thresholds as Document), genai: { review: round / 100, likely: 0.9 } },
    }),
  },
]

let on: TestService
let caller: Scope & { key: string }

beforeAll(async () => {
  on = await startTestService({ scopes: ['all'] })
})
afterAll(() => on?.close())
beforeEach(async () => {
  caller = await on.makeCaller({ scopes: ['all'] })
})

describe.each(SETTINGS)('the document of $path', ({ path, change }) => {
  const get = (by: { key: string } = caller) => on.call(by, path)
  const put = (document: unknown, headers: Record<string, string>) =>
    on.call(caller, path, { method: 'PUT', json: { document }, headers })
  const documentOf = ({ json }: { json: Record<string, unknown> }) => json.document as Document

  it('is an envelope with the version that is its ETag, and the digest of its document', async () => {
    for (const version of [0, 1]) {
      if (version === 1) await put(change(documentOf(await get()), 1), { 'If-Match': '"0"' })
      const { json, headers } = await get()
      expect(Object.keys(json)).toEqual(
        expect.arrayContaining(['version', 'digest', 'changed_at', 'changed_by', 'document']),
      )
      expect(headers.etag).toBe(`"${version}"`)
      expect(json).toMatchObject({
        version,
        digest: sha256(canonicalize(json.document as never)).toString('hex'),
        changed_by: version === 0 ? null : { type: 'key', id: expect.stringMatching(/^key_test_/) },
      })
      expect(json.changed_at === null).toBe(version === 0)
    }
  })

  it('is read, changed and written back, round after round', async () => {
    for (const round of [1, 2, 3]) {
      const read = await get()
      const written = await put(change(documentOf(read), round), { 'If-Match': String(read.headers.etag) })
      expect(written).toMatchObject({ status: 200, json: { version: round }, headers: { etag: `"${round}"` } })
      expect(documentOf(written)).toEqual(change(documentOf(read), round))
      const { status, json } = await get()
      expect({ status, json }).toEqual({ status: 200, json: written.json })
      // Unchanged it is accepted too, and makes no version.
      const again = await put(documentOf(written), { 'If-Match': `"${round}"` })
      expect({ status: again.status, json: again.json }).toEqual({ status: 200, json })
    }
  })

  it('is not replaced without the version that was read', async () => {
    const changed = change(documentOf(await get()), 1)
    expect(await put(changed, {})).toMatchObject({ status: 428, json: { code: 'precondition_required' } })
    expect(await put(changed, { 'If-Match': '"7"' })).toMatchObject({
      status: 412,
      json: { code: 'precondition_failed' },
      headers: { etag: '"0"' },
    })
    expect((await put(changed, { 'If-Match': 'W/"0"' })).json).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: 'If-Match' }],
    })
    expect((await get()).json.version).toBe(0)
    expect(await put(changed, { 'If-Match': '*' })).toMatchObject({ status: 200, json: { version: 1 } })
  })

  it('is replaced by one of several concurrent changes of the same version', async () => {
    const read = documentOf(await get())
    const answers = await Promise.all([1, 2, 3, 4].map((round) => put(change(read, round), { 'If-Match': '"0"' })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412])
    expect((await get()).json.version).toBe(1)
    expect((await get(await on.makeCaller({ scopes: ['all'] }))).json.version).toBe(0)
  })

  it('is changed once by a repeated request', async () => {
    const read = documentOf(await get())
    const headers = { 'If-Match': '"0"', 'Idempotency-Key': 'once' }
    const first = await put(change(read, 1), headers)
    expect(await put(change(read, 1), headers)).toMatchObject({ status: 200, json: first.json })
    expect((await put(change(read, 2), headers)).json.code).toBe('idempotency_key_reused')
  })

  it('is the member of a body that has no other', async () => {
    const { json } = await get()
    const { version, document } = json
    const bare = await on.call(caller, path, { method: 'PUT', json: document, headers: { 'If-Match': '*' } })
    expect(bare.json.errors?.map(({ pointer }) => pointer)).toContain('/document')
    const whole = await on.call(caller, path, {
      method: 'PUT',
      json: { version, document },
      headers: { 'If-Match': '*' },
    })
    expect(whole.json.errors).toMatchObject([{ pointer: '/version', code: 'unknown_field' }])
  })
})
