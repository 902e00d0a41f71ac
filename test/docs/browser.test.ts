import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '#src/config.ts'
import { createLog } from '#src/platform/log.ts'
import { createServices, type Services } from '#src/services.ts'
import { type Browser, hasBrowser, startBrowser } from '../support/browser.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'
import { call, startApp, type TestApp } from '../support/http.ts'
import { routesOf } from '../support/services.ts'

// The service sits behind a proxy under a path, and its public address is another one still: what a browser finds must
// work from where it is.
describe.skipIf(!hasBrowser)(
  'the reference in a browser (skipped where there is no Chromium)',
  { timeout: 180_000 },
  () => {
    let database: TestDatabase
    let services: Services
    let app: TestApp
    let proxy: Server
    let browser: Browser
    let url: string
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
      app = await startApp(routesOf(services), { findKey: services.account.keys.find })
      proxy = await startProxy('/countersign', app.port)
      url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/countersign/docs`
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

    it('shows every operation and every webhook, and asks nobody else for anything', async () => {
      const { json } = await call(app, '/v1/openapi.json')
      const document = json as { paths?: Record<string, object>; webhooks?: object }
      const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.keys(methods))
      const all = operations.length + Object.keys(document.webhooks ?? {}).length

      await browser.open(url)
      await browser.see(`document.querySelectorAll('.opblock').length >= ${all}`)
      expect(await browser.evaluate(`document.querySelectorAll('.opblock').length`)).toBe(all)
      expect(await browser.evaluate(`document.body.innerText.includes('With JavaScript this page')`)).toBe(false)

      expect(browser.asked().length).toBeGreaterThan(5)
      expect(browser.asked().filter((asked) => !asked.startsWith(new URL('.', url).href))).toEqual([])
      expect(browser.complaints()).toEqual([])
    })

    it('draws every body that can be sent', { timeout: 300_000 }, async () => {
      const { json } = await call(app, '/v1/openapi.json')
      const { paths } = json as { paths: Record<string, Record<string, { operationId: string; requestBody?: object }>> }
      const ids = Object.values(paths).flatMap((methods) =>
        Object.values(methods).flatMap(({ operationId, requestBody }) =>
          requestBody === undefined ? [] : [operationId],
        ),
      )
      expect(ids.length).toBeGreaterThan(5)
      for (const id of ids) {
        const block = `document.querySelector('[id^=operations-][id$=-${id}]')`
        await browser.evaluate(`${block}.querySelector('.opblock-summary-control').click()`)
        await browser.see(`${block}.querySelector('.responses-wrapper')`)
        expect(await browser.evaluate(`${block}.innerText.match(/Could not render.*/)`), id).toBe(null)
        expect(await browser.evaluate(`${block}.querySelector('.opblock-section-request-body') !== null`), id).toBe(
          true,
        )
        await browser.evaluate(`${block}.querySelector('.opblock-summary-control').click()`)
      }
      expect(browser.complaints()).toEqual([])
    })

    it('sends a request with a key, to where the page came from', async () => {
      await browser.open(`${url}#/Claims/getClaims`)
      await browser.see(`document.querySelector('#operations-Claims-getClaims .try-out__btn')`)
      await browser.evaluate(`document.querySelector('.auth-wrapper .authorize').click()`)
      await browser.see(`document.querySelector('.modal-ux input[type=text], .modal-ux input[type=password]')`)
      await browser.evaluate(`(() => {
      const input = document.querySelector('.modal-ux input[type=text], .modal-ux input[type=password]')
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, ${JSON.stringify(key)})
      input.dispatchEvent(new Event('input', { bubbles: true }))
      document.querySelector('.modal-ux .authorize').click()
      document.querySelector('.modal-ux .btn-done').click()
    })()`)
      await browser.evaluate(`document.querySelector('#operations-Claims-getClaims .try-out__btn').click()`)
      await browser.see(`document.querySelector('#operations-Claims-getClaims .execute')`)
      await browser.evaluate(`document.querySelector('#operations-Claims-getClaims .execute').click()`)
      const live = `document.querySelector('#operations-Claims-getClaims .live-responses-table')`
      await browser.see(live)
      const answer = await browser.evaluate<string>(`${live}.innerText`)
      expect(answer).toContain('200')
      expect(answer).toContain('"has_more": false')
      expect(browser.asked().at(-1)).toBe(new URL('v1/claims', url).href)
      expect(browser.complaints()).toEqual([])
      // A tab's key goes with the tab.
      expect(
        await browser.evaluate(`JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])`),
      ).toBe('[{},{},""]')
    })

    it('says what there is when scripts are off', async () => {
      await browser.setScripts(false)
      await browser.open(url)
      await browser.setScripts(true)
      const text = await browser.evaluate<string>(`document.body.innerText`)
      for (const route of ['POST /v1/claims/attest', 'GET /v1/openapi.json']) expect(text).toContain(route)
    })

    it('lands at the section of a code', async () => {
      await browser.open(`${url}/errors#idempotency_key_reused`)
      expect(await browser.evaluate(`document.querySelector(':target').innerText`)).toContain('422')
      expect(browser.asked().filter((asked) => !asked.startsWith(new URL('.', url).href))).toEqual([])
      expect(browser.complaints()).toEqual([])
    })
  },
)

function startProxy(prefix: string, port: number): Promise<Server> {
  const server = createServer((req, res) => {
    const path = req.url ?? ''
    if (!path.startsWith(`${prefix}/`)) return void res.writeHead(502).end()
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
