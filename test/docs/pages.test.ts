import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { html } from '#src/docs/html.ts'
import { FAILURES } from '#src/failure.ts'
import { call, startApp, type TestApp } from '../support/http.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const BASE_URL = 'https://api.example.test/base'
const FRAME = ['/', '/docs', '/docs/api-reference', '/docs/events', '/docs/errors', '/docs/roles', '/docs/decisions']
const written = globSync('docs/*/*.md', { cwd: ROOT }).map((file) => `/${file.slice(0, -'.md'.length)}`)
const [decisions, inFolders] = [true, false].map((is) =>
  written.filter((path) => path.startsWith('/docs/decisions/') === is),
)
const guides = [...(inFolders ?? []), '/docs/attest/capture-kit']
const PAGES = [...FRAME, ...guides, ...(decisions ?? [])]
const texts = new Map<string, string>()
let app: TestApp
let assets: string[]

beforeAll(async () => {
  app = await startApp([], { baseUrl: `${BASE_URL}/` })
  for (const path of PAGES) texts.set(path, (await call(app, path)).text)
  const loaded = [...texts].flatMap(([path, text]) => loadedBy(text).map((url) => pathOf(url, path)))
  assets = [...new Set(loaded)].filter((path) => path.startsWith('/docs/assets/'))
})
afterAll(() => app.close())

describe('the pages', () => {
  it('load only what this service serves, and run no inline script', async () => {
    for (const path of PAGES) {
      const { status, headers, text } = await call(app, path)
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8'])
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|https?:|\*|sandbox/)
      const foreign = loadedBy(text).filter((url) => !pathOf(url, path).startsWith('/docs/assets/') && url !== 'data:,')
      expect([path, foreign]).toEqual([path, []])
      expect([path, /<script>|<style|<[^>]+\son[a-z]+=|\sstyle="/.test(text)]).toEqual([path, false])
    }
  })

  it('show the pictures of a guide', async () => {
    const { text } = await call(app, '/docs/start/dashboard')
    const pictures = [...text.matchAll(/<img src="([^"]+)"/g)].map(([, src = '']) =>
      pathOf(src, '/docs/start/dashboard'),
    )
    expect(pictures.length).toBeGreaterThan(3)
    for (const path of pictures) {
      const { status, headers } = await call(app, path)
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'image/webp'])
    }
  })

  it('link to existing pages and sections', async () => {
    const ids = new Map([...texts].map(([path, text]) => [path, new Set(idsOf(text))]))
    const broken: string[] = []
    for (const [path, text] of texts) {
      for (const href of [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, one = '']) => plain(one))) {
        const { pathname, hash, origin } = new URL(href, `http://x${path}`)
        if (origin !== 'http://x') continue
        const known = ids.get(pathname)
        const isThere = known !== undefined || (await call(app, pathname)).status === 200
        const isSection = hash === '' || known?.has(decodeURIComponent(hash.slice(1))) === true
        if (!isThere || !isSection) broken.push(`${path}: ${href}`)
      }
    }
    expect(broken).toEqual([])
  })

  it('begin with links to the dashboard and to the page of login links, to which /login leads whatever its query says', async () => {
    expect(texts.get('/')).toContain('<a href="login/link">')
    expect(texts.get('/')).toContain('<a href="app">')
    for (const search of ['', '?next=https://evil.example', '?//evil.example', '?next=/docs']) {
      const { status, headers } = await call(app, `/login${search}`)
      expect([search, status, headers.location]).toEqual([search, 302, 'login/link'])
    }
  })

  it('are cacheable, and revalidated by their tag', async () => {
    for (const path of [
      ...FRAME,
      '/docs/attest/integrate',
      '/docs/attest/integrate.md',
      '/docs/search.json',
      ...assets,
    ]) {
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

  it('ignore unknown query parameters', async () => {
    expect((await call(app, '/docs?from=mail')).status).toBe(200)
  })

  it('answer an unknown address with a page that links to all pages', async () => {
    for (const path of [
      '/docs/nothing',
      '/docs/attest/nothing',
      '/docs/decisions/nothing.md',
      '/docs/__proto__',
      '/docs/a/b/c',
    ]) {
      const { status, json } = await call(app, path)
      expect([path, status, json.code]).toEqual([path, 404, 'not_found'])
      expect(json.detail).toContain(`${BASE_URL}/docs`)
    }
  })
})

describe('the guides', () => {
  it('are all in the list beside each of them, with the open one marked', () => {
    for (const path of guides) {
      const text = texts.get(path) ?? ''
      const listed = [
        ...text.matchAll(/<a href="\.\.\/\.\.\/(docs\/(?!decisions)[a-z0-9/-]+)"( aria-current="page")?>/g),
      ]
      expect(new Set(listed.map(([, name]) => `/${name}`))).toEqual(
        new Set([...guides, ...FRAME.filter((one) => /api-|events|errors|roles/.test(one))]),
      )
      expect(listed.filter(([, , mark]) => mark !== undefined).every(([, name]) => `/${name}` === path)).toBe(true)
    }
  })

  it('show the address of this service, as pages and as Markdown', async () => {
    for (const path of ['/docs/attest/integrate', '/docs/attest/integrate.md']) {
      const { text } = await call(app, path)
      expect([path, text.includes(BASE_URL), text.includes('localhost:8080')]).toEqual([path, true, false])
    }
    const { headers, text } = await call(app, '/docs/attest/integrate.md')
    expect(headers['content-type']).toBe('text/markdown; charset=utf-8')
    expect(text).toBe(
      readFileSync(join(ROOT, 'docs/attest/integrate.md'), 'utf8').replaceAll('http://localhost:8080', BASE_URL),
    )
  })

  it('are reached by their name alone, and a folder by its first guide', async () => {
    const leads = {
      integrate: 'attest/integrate',
      'keys.md': 'account/keys.md',
      trace: 'trace/trace',
      attest: 'attest/integrate',
      operate: 'operate/deploy',
    }
    for (const [name, location] of Object.entries(leads)) {
      const { status, headers } = await call(app, `/docs/${name}`)
      expect([name, status, headers.location]).toEqual([name, 301, location])
    }
  })

  it('are rendered once', async () => {
    const [first, second] = [await call(app, '/docs/operate/deploy'), await call(app, '/docs/operate/deploy')]
    expect(second.headers.etag).toBe(first.headers.etag)
    const br = await call(app, '/docs/operate/deploy', { headers: { 'Accept-Encoding': 'br' } })
    expect(br.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding', etag: first.headers.etag })
  })

  it('are found by the search: each section, each code, each operation', async () => {
    const { headers, text } = await call(app, '/docs/search.json')
    expect(headers['content-type']).toBe('application/json')
    const entries: { path: string; heading: string; text: string }[] = JSON.parse(text)
    const found = new Set(entries.map(({ path }) => `/${path}`))
    for (const path of guides) expect([path, found.has(path)]).toEqual([path, true])
    for (const code of Object.keys(FAILURES)) expect(found).toContain(`/docs/errors#${code}`)
    expect(found).toContain('/docs/api-reference#/Service/getOpenapiDocument')
    for (const path of found) {
      const [page = '', section] = path.split('#')
      if (section !== undefined && page !== '/docs/api-reference')
        expect(idsOf(texts.get(page) ?? '')).toContain(section)
    }
  })
})

describe('the reference', () => {
  it('lists every operation with its scope without JavaScript', () => {
    const text = texts.get('/docs/api-reference') ?? ''
    expect(text).toContain('GET /v1/openapi.json')
    expect(text).toContain('href="../v1/openapi.json"')
  })
})

describe('the assets', () => {
  it('are five files and pictures, named by their content and cached permanently', async () => {
    expect(assets.filter((path) => !path.endsWith('.webp'))).toHaveLength(5)
    for (const path of assets) {
      expect(path).toMatch(/\.[0-9a-f]{16}\.(?:js|css|webp)$/)
      for (const coding of ['identity', 'gzip', 'br']) {
        const { status, headers } = await call(app, path, { headers: { 'Accept-Encoding': coding } })
        expect([path, status]).toEqual([path, 200])
        expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
        expect(headers['content-encoding'] ?? 'identity').toBe(coding)
        expect(headers.vary).toBe('Accept-Encoding')
      }
    }
  })

  it('are the only ones, however their path is spelled', async () => {
    for (const name of [
      'swagger-ui.css',
      'swagger-ui-bundle.js',
      'pages.0000000000000000.css',
      'swagger-ui-bundle.js.map',
      '..%2f..%2fpackage.json',
      '%2e%2e%2fapp.ts',
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
  it('has a section for each code, which the type of a problem links to', async () => {
    const text = texts.get('/docs/errors') ?? ''
    const ids = [...text.matchAll(/<section id="([a-z_]+)">/g)].map(([, id]) => id)
    expect(ids.toSorted()).toEqual(Object.keys(FAILURES).sort())
    const { json } = await call(app, '/v1/nothing')
    const type = new URL(String(json.type))
    expect(`${type.origin}${type.pathname}`).toBe(`${BASE_URL}/docs/errors`)
    expect(ids).toContain(type.hash.slice(1))
  })

  it('says for each what happened, what to do, whether to retry, and shows an example', () => {
    const text = texts.get('/docs/errors') ?? ''
    for (const section of text.split('<section ').slice(1)) {
      const told = [...section.matchAll(/<d[td]>(.+?)<\/d[td]>/gs)].map(([, one = '']) => one)
      expect(told.filter((one) => one.trim().length < 3)).toEqual([])
      expect(told).toHaveLength(8)
      const example = JSON.parse(plain(/<pre[^>]*><code>(.*?)<\/code><\/pre>/s.exec(section)?.[1] ?? ''))
      const id = /^id="([a-z_]+)"/.exec(section)?.[1]
      expect(example).toMatchObject({ code: id, status: expect.any(Number), detail: expect.any(String) })
    }
  })
})

describe('html', () => {
  it('escapes inserted values, and only those', () => {
    expect(html`<b title="${'"><script>'}">${'a & b'}</b>${[html`<i>${1}</i>`]}`.text).toBe(
      '<b title="&quot;&gt;&lt;script&gt;">a &amp; b</b><i>1</i>',
    )
  })
})

function loadedBy(text: string): string[] {
  return [...text.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url)
}

function idsOf(text: string): string[] {
  return [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => plain(id))
}

function pathOf(url: string, page: string): string {
  return new URL(url, `http://x${page}`).pathname
}

function plain(text: string): string {
  const characters: Record<string, string> = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  return text.replaceAll(/&(?:quot|#39|lt|gt|amp);/g, (entity) => characters[entity] ?? '')
}
