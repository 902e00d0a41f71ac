import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '#src/config.ts'
import { notesOf } from '#src/docs/notes.ts'
import { createLog } from '#src/platform/log.ts'
import { createServices, type Services } from '#src/services.ts'
import { type Browser, hasBrowser, startBrowser } from '../support/browser.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'
import { call, startApp, type TestApp } from '../support/http.ts'
import { bodiesOf, componentsOf, type OpenApi } from '../support/openapi-parts.ts'
import { routesOf } from '../support/services.ts'

// The service is behind a proxy under a path, and its public address is a third one: what a browser loads must
// work from the address that it opened.
describe.skipIf(!hasBrowser)(
  'the pages in a browser (skipped where there is no Chromium)',
  { timeout: 180_000 },
  () => {
    let database: TestDatabase
    let services: Services
    let app: TestApp
    let proxy: Server
    let browser: Browser
    let root: string
    let url: string
    /** An OpenAPI document that the page gets instead of the service's. */
    let shown: string | undefined
    let key: string
    const directory = mkdtempSync(join(tmpdir(), 'countersign-docs-'))

    beforeAll(async () => {
      database = await createTestDatabase()
      const config = readConfig({
        DATABASE_URL: database.url,
        MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        BLOB_STORE: `disk:${directory}`,
      })
      services = createServices({ config, log: createLog({ process: 'test', level: 'silent' }) })
      const scope = await makeAccount(database)
      key = (await services.account.keys.create(scope, { name: 'browser', scopes: ['all'] })).key
      app = await startApp(routesOf(services), {
        findKey: services.account.keys.find,
        notes: notesOf(services.features),
      })
      proxy = await startProxy('/countersign', app.port, (path) => (path === '/v1/openapi.json' ? shown : undefined))
      root = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/countersign/`
      url = `${root}docs/api-reference`
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser?.close()
      proxy?.close()
      await app?.close()
      await services?.close()
      await database?.close()
      rmSync(directory, { recursive: true, force: true })
    })

    it('shows every operation and every webhook, and loads nothing from another host', async () => {
      const { json } = await call(app, '/v1/openapi.json')
      const document = json as { paths?: Record<string, object>; webhooks?: object }
      const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.keys(methods))
      const all = operations.length + Object.keys(document.webhooks ?? {}).length

      await browser.open(url)
      await browser.see(`document.querySelectorAll('.opblock-tag').length > 0`)
      // One group after the other: a page with all of them open takes long on a busy machine.
      const open = `document.querySelectorAll('.opblock-tag-section .opblock').length`
      const tags = await browser.evaluate<number>(`document.querySelectorAll('.opblock-tag').length`)
      let shownCount = 0
      for (let tag = 0; tag < tags; tag += 1) {
        const click = `document.querySelectorAll('.opblock-tag')[${tag}].click()`
        await browser.evaluate(click)
        await browser.see(`${open} > 0`)
        shownCount += await browser.evaluate<number>(open)
        await browser.evaluate(click)
        await browser.see(`${open} === 0`)
      }
      // Webhooks are in no group.
      shownCount += await browser.evaluate<number>(`document.querySelectorAll('.opblock').length`)
      expect(shownCount).toBe(all)
      expect(await browser.evaluate(`document.body.innerText.includes('With JavaScript this page')`)).toBe(false)

      expect(browser.asked().length).toBeGreaterThan(5)
      expect(browser.asked().filter((asked) => !asked.startsWith(root))).toEqual([])
      expect(browser.complaints()).toEqual([])
    })

    it('renders every body that can be sent', async () => {
      const { json } = await call(app, '/v1/openapi.json')
      const documents = bodiesOf(json as unknown as OpenApi)
      expect(documents.length).toBeGreaterThan(1)
      for (const { document, ids } of documents) {
        shown = JSON.stringify(document)
        await browser.open(url)
        await browser.see(`document.querySelectorAll('.opblock-tag').length > 0`)
        await browser.evaluate(`document.querySelectorAll('.opblock-tag').forEach((tag) => tag.click())`)
        await browser.see(`document.querySelectorAll('.opblock').length === ${ids.length}`)
        await browser.evaluate(`document.querySelectorAll('.opblock-summary-control').forEach((one) => one.click())`)
        await browser.see(`document.querySelectorAll('.opblock .responses-wrapper').length === ${ids.length}`)
        const bodies = `document.querySelectorAll('.opblock .opblock-section-request-body').length`
        expect(await browser.evaluate(bodies), ids.join()).toBe(ids.length)
        expect(await browser.evaluate(`document.body.innerText.match(/Could not render.*/)`), ids.join()).toBe(null)
        expect(browser.complaints()).toEqual([])
      }
      shown = undefined
    })

    it('sends a request with a key, to the origin of the page', async () => {
      shown = (await documentOf('/v1/claims', 'get')).text
      await browser.open(`${url}#/Claims/listClaims`)
      await browser.see(`document.querySelector('#operations-Claims-listClaims .try-out__btn')`)
      await browser.evaluate(`document.querySelector('.auth-wrapper .authorize').click()`)
      await browser.see(`document.querySelector('.modal-ux input[type=text], .modal-ux input[type=password]')`)
      await browser.evaluate(`(() => {
      const input = document.querySelector('.modal-ux input[type=text], .modal-ux input[type=password]')
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, ${JSON.stringify(key)})
      input.dispatchEvent(new Event('input', { bubbles: true }))
      document.querySelector('.modal-ux .authorize').click()
      document.querySelector('.modal-ux .btn-done').click()
    })()`)
      await browser.evaluate(`document.querySelector('#operations-Claims-listClaims .try-out__btn').click()`)
      await browser.see(`document.querySelector('#operations-Claims-listClaims .execute')`)
      await browser.evaluate(`document.querySelector('#operations-Claims-listClaims .execute').click()`)
      const live = `document.querySelector('#operations-Claims-listClaims .live-responses-table')`
      await browser.see(live)
      const answer = await browser.evaluate<string>(`${live}.innerText`)
      expect(answer).toContain('200')
      expect(answer).toContain('"has_more": false')
      expect(browser.asked().at(-1)).toBe(new URL('v1/claims', root).href)
      expect(browser.complaints()).toEqual([])
      // The key of a tab is dropped with the tab.
      expect(
        await browser.evaluate(`JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])`),
      ).toBe('[{},{},""]')
      shown = undefined
    })

    it('says what exists when scripts are off', async () => {
      await browser.setScripts(false)
      await browser.open(url)
      await browser.setScripts(true)
      const text = await browser.evaluate<string>(`document.body.innerText`)
      for (const route of ['POST /v1/claims/attest', 'GET /v1/openapi.json']) expect(text).toContain(route)
    })

    it('scrolls to the section of a code', async () => {
      await browser.open(`${root}docs/errors#idempotency_key_reused`)
      expect(await browser.evaluate(`document.querySelector(':target').innerText`)).toContain('422')
      expect(browser.asked().filter((asked) => !asked.startsWith(root))).toEqual([])
      expect(browser.complaints()).toEqual([])
    })

    it('finds a section by its words, and opens it, without a request to another host', async () => {
      await browser.open(`${root}docs/operate/deploy`)
      await type('retry-after webhook')
      await browser.see(`document.querySelectorAll('#found a').length > 1`)
      const found = await browser.evaluate<string[]>(
        `[...document.querySelectorAll('#found a')].map((one) => one.href)`,
      )
      expect(found.filter((one) => !one.startsWith(`${root}docs/`))).toEqual([])
      expect(await browser.evaluate(`document.querySelector('#found mark') !== null`)).toBe(true)
      await type('idempotency_key_reused')
      await browser.see(`document.querySelector('#found a')?.href.endsWith('docs/errors#idempotency_key_reused')`)
      await browser.evaluate(
        `document.querySelector('#query').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))`,
      )
      // Its script runs once the document has been read.
      await browser.see(
        `document.querySelector(':target')?.id === 'idempotency_key_reused' && document.readyState === 'complete'`,
      )
      await type('<img src=x onerror=alert(1)>')
      await browser.see(
        `document.querySelector('#found a')?.href.endsWith('docs/errors#idempotency_key_reused') === false`,
      )
      expect(await browser.evaluate(`document.querySelector('#found img') === null`)).toBe(true)
      await type('<b>qqqqqqqq</b>')
      await browser.see(`document.querySelector('#found p')?.innerText === 'Nothing was found.'`)
      expect(browser.asked().filter((asked) => !asked.startsWith(root))).toEqual([])
      expect(browser.complaints()).toEqual([])
    })

    it('has one copy button for each block of code', async () => {
      const counts = `(() => {
        const blocks = [...document.querySelectorAll('pre:not(.version)')]
        const buttons = (block) => block.parentElement.querySelectorAll(':scope > :is(.copy, .copy-to-clipboard)')
        const isSeen = (one) => getComputedStyle(one).opacity === '1' && one.checkVisibility()
        return blocks.map((block) => [...buttons(block)].filter(isSeen).length)
      })()`
      await browser.show(1400, 'light')
      for (const [path, least] of [
        ['', 1],
        ['docs/attest/submit', 4],
        ['docs/attest/capture-kit', 4],
        ['docs/errors', 40],
        ['docs/events', 10],
        ['docs/roles', 0],
      ] as const) {
        await browser.open(root + path)
        // The buttons come with the scripts.
        if (least > 0) await browser.see(`document.querySelectorAll('.copy').length >= ${least}`)
        const found = await browser.evaluate<number[]>(counts)
        expect([path, found.length >= least, found.filter((count) => count !== 1)]).toEqual([path, true, []])
      }
    })

    it('copies examples and answers of the API reference', async () => {
      const path = '/v1/admin/root-cas'
      const { text, id } = await documentOf(path, 'post')
      shown = text
      const operation = `document.querySelector('.opblock')`
      await browser.open(`${url}#/Devices/${id}`)
      await browser.see(`${operation}?.querySelector('.opblock-section-request-body pre')`)
      await browser.see(`${operation}.querySelectorAll('.response pre').length > 0`)
      const bare = `[...${operation}.querySelectorAll('pre')].filter((one) =>
        one.parentElement.querySelector(':scope > :is(.copy, .copy-to-clipboard)') === null).length`
      await browser.see(`${bare} === 0`)
      await browser.evaluate(`(() => {
        window.copied = []
        Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => void window.copied.push(text) } })
        ${operation}.querySelector('.opblock-section-request-body .copy').click()
      })()`)
      await browser.see(`window.copied.length === 1`)
      expect(JSON.parse(await browser.evaluate<string>(`window.copied[0]`))).toHaveProperty('certificate')
      // What is drawn later has one too, and a drawn block is not drawn twice.
      await browser.evaluate(`${operation}.querySelector('.try-out__btn').click()`)
      await browser.see(`${operation}.querySelector('.execute')`)
      await browser.evaluate(`${operation}.querySelector('.execute').click()`)
      await browser.see(`${operation}.querySelector('.live-responses-table pre')`)
      await browser.see(`${bare} === 0`)
      expect(browser.complaints().filter((one) => !one.includes('401'))).toEqual([])
      shown = undefined
    })

    it('copies a block of code unchanged', async () => {
      await browser.open(`${root}docs/attest/integrate`)
      const block = `document.querySelector('.code')`
      await browser.evaluate(`(() => {
        window.copied = []
        Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => void window.copied.push(text) } })
        ${block}.querySelector('button').click()
      })()`)
      await browser.see(`${block}.querySelector('button').innerText === 'Copied'`)
      expect(await browser.evaluate(`JSON.stringify(window.copied)`)).toBe(JSON.stringify(['npm start']))
      expect(await browser.evaluate(`document.querySelectorAll('.code').length`)).toBe(
        await browser.evaluate(`document.querySelectorAll('.copy').length`),
      )
    })

    it('shows the language that was chosen, by a click or the keys, on this page and the next', async () => {
      const tab = (state: string) =>
        `document.querySelector('[role=tab][aria-selected=true]')?.innerText === '${state}'`
      const language = `[...document.querySelectorAll('[role=tablist]')].map((list) =>
        list.querySelector('[aria-selected=true]').innerText + [...list.parentElement.querySelectorAll('[role=tabpanel]')]
          .filter((panel) => panel.checkVisibility()).length)`
      await browser.open(`${root}docs/start/first-requests`)
      await browser.see(tab('curl'))
      await browser.evaluate(`document.querySelectorAll('[role=tab]')[2].click()`)
      expect(new Set(await browser.evaluate<string[]>(language))).toEqual(new Set(['Python1']))
      await browser.evaluate(`document.querySelector('[role=tab][aria-selected=true]').dispatchEvent(
        new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))`)
      expect(await browser.evaluate(`document.activeElement.innerText`)).toBe('TypeScript')
      await browser.open(`${root}docs/authorize/authorize`)
      await browser.see(tab('TypeScript'))
      expect(new Set(await browser.evaluate<string[]>(language))).toEqual(new Set(['TypeScript1']))
      expect(browser.complaints()).toEqual([])
      await browser.evaluate(`localStorage.clear()`)
    })

    it('is readable on a phone and in the dark: nothing is wider than the screen, and contrast is high', async () => {
      for (const [width, scheme] of [
        [360, 'light'],
        [360, 'dark'],
        [1400, 'dark'],
      ] as const) {
        await browser.show(width, scheme)
        for (const path of [
          '',
          'docs',
          'docs/attest/integrate',
          'docs/operate/deploy',
          'docs/errors',
          'docs/decisions',
        ]) {
          await browser.open(root + path)
          const page = `${path} at ${width} ${scheme}`
          expect([page, await browser.evaluate(isWithin(width))]).toEqual([page, true])
          expect(await browser.evaluate<number>(CONTRAST), page).toBeGreaterThan(7)
          expect(browser.complaints()).toEqual([])
        }
      }
      await browser.show(1400, 'light')
    })

    it('has no page that is wider than a phone', async () => {
      await browser.show(390, 'light')
      const { text } = await call(app, '/docs')
      const guides = [...text.matchAll(/<li><a href="(docs\/[a-z0-9/-]+)"/g)].map(([, path = '']) => path)
      expect(guides.length).toBeGreaterThan(30)
      const forms = ['login/link', 'login/invite', 'passkeys', 'share']
      const paths = ['', 'docs', 'docs/events', 'docs/errors', 'docs/roles', 'docs/decisions', ...forms]
      const wide: string[] = []
      for (const path of [...paths, ...new Set(guides)]) {
        await browser.open(root + path)
        if (!(await browser.evaluate(isWithin(390)))) wide.push(path)
      }
      expect(wide).toEqual([])
      await browser.show(1400, 'light')
    })

    it('shows on a phone each permission with the answer of each role, without a table to scroll', async () => {
      await browser.show(390, 'light')
      await browser.open(`${root}docs/roles`)
      const [row] = await browser.evaluate<string[][]>(`[...document.querySelectorAll('.roles tbody tr')].map((row) =>
        [...row.querySelectorAll('td[data-role]')].map((one) => getComputedStyle(one, '::before').content + one.innerText))`)
      expect(row).toContain('"owner: "yes')
      const out = `[...document.querySelectorAll('.roles td')].filter((one) => one.getBoundingClientRect().right > 390).length`
      expect(await browser.evaluate(out)).toBe(0)
      await browser.show(1400, 'light')
    })

    it('lists the guides without scripts', async () => {
      await browser.show(360, 'light')
      await browser.setScripts(false)
      await browser.open(`${root}docs/reference/api`)
      await browser.setScripts(true)
      const shown = await browser.evaluate<string>(`(() => {
        document.querySelector('.guides-menu').open = true
        return document.querySelector('.guides-menu').innerText
      })()`)
      expect(shown).toContain('Evidence packets')
      expect(await browser.evaluate(`document.querySelector('#search').hidden`)).toBe(true)
      await browser.show(1400, 'light')
    })

    /** The OpenAPI document with one operation: drawing all of them takes the page a minute. */
    async function documentOf(path: string, method: 'get' | 'post') {
      const { json } = await call(app, '/v1/openapi.json')
      const whole = json as unknown as OpenApi
      const operation = whole.paths[path]?.[method]
      const paths = { [path]: { [method]: operation } } as OpenApi['paths']
      const text = JSON.stringify({ ...whole, webhooks: {}, paths, components: componentsOf(whole, paths) })
      return { text, id: operation?.operationId }
    }

    async function type(text: string): Promise<void> {
      await browser.evaluate(`(() => {
        const query = document.querySelector('#query')
        query.focus()
        query.value = ${JSON.stringify(text)}
        query.dispatchEvent(new Event('input'))
      })()`)
    }
  },
)

// Not innerWidth: a phone shows a page that is too wide in a smaller scale, and innerWidth grows with it.
const isWithin = (width: number) => `document.documentElement.scrollWidth <= ${width}`

// WCAG 2.1 1.4.6: the contrast of the text with its background.
const CONTRAST = `(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[0-9.]+/g).map((one) => Number(one) / 255)
    const linear = (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
  }
  const style = getComputedStyle(document.body)
  const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x)
  return (a + 0.05) / (b + 0.05)
})()`

/** @param instead What the proxy answers by itself. */
function startProxy(prefix: string, port: number, instead: (path: string) => string | undefined): Promise<Server> {
  const server = createServer((req, res) => {
    const path = req.url ?? ''
    if (!path.startsWith(`${prefix}/`)) return void res.writeHead(502).end()
    const own = instead(path.slice(prefix.length))
    if (own !== undefined) return void res.setHeader('Content-Type', 'application/json').end(own)
    const { method, headers } = req
    const onward = httpRequest(
      { host: '127.0.0.1', port, path: path.slice(prefix.length), method, headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(res)
      },
    )
    onward.on('error', () => res.destroy())
    req.pipe(onward)
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}
