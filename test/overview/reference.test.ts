// Reason codes and the changelog, as anybody reads them.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseChangelog } from '#src/overview/reference/changelog.ts'
import { call, startApp, type TestApp } from '../support/http.ts'
import { makeServices, routesOf } from '../support/services.ts'

const services = makeServices()
let app: TestApp
beforeAll(async () => {
  app = await startApp(routesOf(services))
})
afterAll(async () => {
  await app.close()
  await services.close()
})

describe('the reason codes', () => {
  it('are answered without a key, each with its places, meaning, points and remedy', async () => {
    const { status, json, headers } = await call(app, '/v1/reason-codes')
    expect([status, headers['access-control-allow-origin']]).toEqual([200, '*'])
    expect(json).toMatchObject({ object: 'list', has_more: false, next_cursor: null })
    const of = (code: string) => (json.data as { code: string; meaning: string }[]).find((entry) => entry.code === code)
    expect(of('signature_invalid')).toMatchObject({ places: ['factor', 'case'], points: 70 })
    expect(of('exif_missing')).toMatchObject({ places: ['advisory'], points: null })
    expect(of('canary_tripped')).toMatchObject({ places: ['verify', 'finish_reason'], points: null })
    expect(of('order_declined')).toMatchObject({ places: ['clinician_order'] })
    expect(of('context_hash_mismatch')?.meaning).not.toContain('](')
  })
})

describe('the roles', () => {
  it('are answered without a key, with what each may do in which environment', async () => {
    const { json } = await call(app, '/v1/roles')
    const roles = json.data as { role: string; permissions: { permission: string; environments: string[] }[] }[]
    expect(roles.map(({ role }) => role)).toEqual(['owner', 'admin', 'approver', 'analyst', 'developer'])
    const developer = new Map(roles.at(-1)?.permissions.map((one) => [one.permission, one.environments]))
    expect(developer.get('keys.manage')).toEqual(['sandbox', 'live'])
    expect(developer.get('claims.read')).toEqual(['sandbox'])
    expect(developer.has('team.write')).toBe(false)
  })
})

describe('the changelog', () => {
  it('is answered without a key, and not again while it is the same', async () => {
    const { status, json, headers } = await call(app, '/v1/changelog')
    expect(status).toBe(200)
    expect(json.data as object[]).toContainEqual(expect.objectContaining({ version: '0.1.0', date: null }))
    const etag = String(headers.etag)
    expect(headers['cache-control']).toBe('public, max-age=300')
    const again = await call(app, '/v1/changelog', { headers: { 'If-None-Match': etag } })
    expect(again.status).toBe(304)
  })

  it('has every change of the file', () => {
    const markdown = readFileSync(resolve(import.meta.dirname, '../../CHANGELOG.md'), 'utf8')
    const changes = parseChangelog(markdown, 'https://api.example.test').flatMap((version) => version.changes)
    expect(changes).toHaveLength([...markdown.matchAll(/^- /gm)].length)
    expect(changes.filter(({ section, text }) => section === '' || text.length < 5 || /\]\(docs\//.test(text))).toEqual(
      [],
    )
  })

  it('is parsed by versions and sections, with lines that continue and links that lead to the service', () => {
    const markdown = `# Changelog

Words before.

## [Unreleased]

### Added

- One change,
  on two lines. See [docs/account/keys.md](docs/account/keys.md#rotate) and [a file](src/app.ts).
- Another.

## [1.0.0] - 2026-11-20

### Fixed

- Third, [elsewhere](https://example.com).

[1.0.0]: https://example.com/1.0.0
`
    expect(parseChangelog(markdown, 'https://api.test')).toEqual([
      {
        version: 'unreleased',
        date: null,
        changes: [
          {
            section: 'Added',
            text: 'One change, on two lines. See [docs/account/keys.md](https://api.test/docs/account/keys#rotate) and a file.',
          },
          { section: 'Added', text: 'Another.' },
        ],
      },
      {
        version: '1.0.0',
        date: '2026-11-20',
        changes: [{ section: 'Fixed', text: 'Third, [elsewhere](https://example.com).' }],
      },
    ])
    expect(parseChangelog('', 'https://api.test')).toEqual([])
  })
})
