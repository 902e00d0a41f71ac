import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { html } from '#src/docs/html.ts'
import { FAILURES } from '#src/failure.ts'
import { call, startApp, type TestApp } from '../support/http.ts'

const PAGES = ['/docs', '/docs/errors', '/docs/integrate']
let app: TestApp
let assets: string[]

beforeAll(async () => {
  app = await startApp([], { baseUrl: 'https://api.example.test/base/' })
  const { text } = await call(app, '/docs')
  assets = [...text.matchAll(/(?:href|src)="(docs\/assets\/[^"]+)"/g)].map(([, path]) => `/${path}`)
})
afterAll(() => app.close())

describe('the pages', () => {
  it('load nothing but what this service serves, and are relative to where they are', async () => {
    for (const path of PAGES.slice(0, 2)) {
      const { status, headers, text } = await call(app, path)
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|https?:|\*|sandbox/)
      const loaded = [...text.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url)
      expect(loaded.filter((url) => !/^(?:docs\/)?assets\/|^data:,$/.test(url))).toEqual([])
      expect(text).not.toMatch(/<script>|<style|\son[a-z]+=|style="/)
    }
  })

  it('are there without JavaScript: every operation with its scope', async () => {
    const { text } = await call(app, '/docs')
    expect(text).toContain('GET /v1/openapi.json')
    expect(text).toContain('href="docs/errors"')
    expect(text).toContain('href="docs/integrate"')
  })

  it('are kept for a while, and asked for again by their tag', async () => {
    for (const path of [...PAGES, ...assets]) {
      const { headers } = await call(app, path)
      expect(headers['cache-control'], path).toMatch(/^public, max-age=/)
      const again = await call(app, path, { headers: { 'If-None-Match': String(headers.etag) } })
      expect([path, again.status, again.text]).toEqual([path, 304, ''])
      const head = await call(app, path, { method: 'HEAD' })
      expect([path, head.status, head.text, head.headers.etag]).toEqual([path, 200, '', headers.etag])
      const other = await call(app, path, { method: 'POST' })
      expect([path, other.status, other.json.code]).toEqual([path, 405, 'method_not_allowed'])
    }
  })

  it('are for people: what is added to an address means nothing', async () => {
    expect((await call(app, '/docs?from=mail')).status).toBe(200)
  })

  it('serve the guide as it is, with the address of this service', async () => {
    const { headers, text } = await call(app, '/docs/integrate')
    expect(headers['content-type']).toBe('text/markdown; charset=utf-8')
    expect(text).toContain('https://api.example.test/base')
    expect(text).not.toContain('localhost:8080')
  })
})

describe('the assets', () => {
  it('are four files, named by their content and kept for ever', async () => {
    expect(assets).toHaveLength(4)
    for (const path of assets) {
      expect(path).toMatch(/\.[0-9a-f]{16}\.(?:js|css)$/)
      for (const coding of ['identity', 'gzip', 'br']) {
        const { status, headers } = await call(app, path, { headers: { 'Accept-Encoding': coding } })
        expect([path, status]).toEqual([path, 200])
        expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
        expect(headers['content-encoding'] ?? 'identity').toBe(coding)
        expect(headers.vary).toBe('Accept-Encoding')
      }
    }
  })

  it('are nothing else, however it is spelled', async () => {
    for (const name of [
      'swagger-ui.css',
      'swagger-ui-bundle.js',
      'pages.0000000000000000.css',
      'swagger-ui-bundle.js.map',
      '..%2f..%2fpackage.json',
      '%2e%2e%2fapp.ts',
      '../errors.ts',
      '%2fetc%2fpasswd',
      '%00',
      '__proto__',
    ]) {
      const { status, json } = await call(app, `/docs/assets/${name}`)
      expect([name, status, json.code]).toEqual([name, 404, 'not_found'])
    }
  })
})

describe('the page of errors', () => {
  it('has a section for each code, where the type of a problem leads', async () => {
    const { text } = await call(app, '/docs/errors')
    const ids = [...text.matchAll(/<section id="([a-z_]+)">/g)].map(([, id]) => id)
    expect(ids.toSorted()).toEqual(Object.keys(FAILURES).sort())
    const { json } = await call(app, '/v1/nothing')
    const type = new URL(String(json.type))
    expect(`${type.origin}${type.pathname}`).toBe('https://api.example.test/base/docs/errors')
    expect(ids).toContain(type.hash.slice(1))
  })

  it('says of each what happened, what to do, whether to repeat, and shows one', async () => {
    const { text } = await call(app, '/docs/errors')
    for (const section of text.split('<section ').slice(1)) {
      const told = [...section.matchAll(/<d[td]>(.+?)<\/d[td]>/gs)].map(([, one = '']) => one)
      expect(told.filter((one) => one.trim().length < 3)).toEqual([])
      expect(told).toHaveLength(8)
      const example = JSON.parse(plain(/<pre>(.*?)<\/pre>/s.exec(section)?.[1] ?? ''))
      const id = /^id="([a-z_]+)"/.exec(section)?.[1]
      expect(example).toMatchObject({ code: id, status: expect.any(Number), detail: expect.any(String) })
    }
  })
})

describe('html', () => {
  it('escapes what is put in, and only that', () => {
    expect(html`<b title="${'"><script>'}">${'a & b'}</b>${[html`<i>${1}</i>`]}`.text).toBe(
      '<b title="&quot;&gt;&lt;script&gt;">a &amp; b</b><i>1</i>',
    )
  })
})

function plain(text: string): string {
  const characters: Record<string, string> = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  return text.replaceAll(/&(?:quot|#39|lt|gt|amp);/g, (entity) => characters[entity] ?? '')
}
