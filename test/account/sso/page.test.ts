// The page of single sign-on in a real browser, with a real provider.

import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, hasBrowser, startBrowser } from '../../support/browser.ts'
import { type RealProvider, startRealProvider } from './real-provider.ts'
import { type Organization, type SsoService, startSsoService } from './service.ts'

describe.skipIf(!hasBrowser)('a browser (skipped where there is no Chromium)', { timeout: 180_000 }, () => {
  let door: Server
  let service: SsoService
  let provider: RealProvider
  let org: Organization
  let browser: Browser
  let url: string
  beforeAll(async () => {
    // The provider leads back to an address that is known before the service has its port.
    door = createServer((socket) => {
      const inner = connect(service.app.port, '127.0.0.1')
      socket.on('error', () => inner.destroy()).pipe(inner)
      inner.on('error', () => socket.destroy()).pipe(socket)
    })
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
    service = await startSsoService({ BASE_URL: url })
    provider = await startRealProvider({ redirectUri: service.redirectUri })
    org = await service.connect(provider)
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await provider?.close()
    door?.close()
  })
  // Between two pages there is none.
  const message = `(document.getElementById('message')?.textContent ?? '')`
  const visible = (id: string) => browser.see(`document.getElementById('${id}')?.hidden === false`)

  it('walks from the page of links to the provider and back, and leaves no code in its address', async () => {
    const email = `mika@${org.domain}`
    provider.expect({ sub: 'mika', email, email_verified: true })
    await browser.open(`${url}/login/link`)
    await browser.see(`document.querySelector('#sso a') !== null`)
    await browser.evaluate(`document.querySelector('#sso a').click()`)
    await visible('begin')
    expect(await browser.evaluate('window.location.pathname')).toBe('/login/sso')
    await browser.evaluate(`document.getElementById('domain').value = '${email}'`)
    await browser.evaluate(`document.querySelector('#begin button').click()`)
    await browser.see(`${message}.includes('You are signed in as ${email}, analyst')`)
    expect(await browser.evaluate('window.location.href')).toBe(`${url}/login/sso`)
    expect(await browser.evaluate('document.cookie')).not.toMatch(/svc_session|svc_sso/)
    const led = browser.asked().find((asked) => asked.includes('/login/sso?'))
    expect(led).toMatch(/code=.+&state=/)
    expect(browser.complaints()).toEqual([])

    // The address of before, once more: the login is over, and the page says so.
    await browser.open(String(led))
    await browser.see(`${message}.includes('This login is over')`)
    expect(await browser.evaluate('window.location.search')).toBe('')
  })

  it('says in words why the provider or the service refuses', async () => {
    await browser.open(`${url}/login/sso?error=access_denied&error_description=%3Cb%3Ex&state=x`)
    await browser.see(`${message}.includes('did not let you in')`)
    await visible('begin')
    expect(await browser.evaluate(message)).not.toContain('<b>')
    const removed = `kim@${org.domain}`
    await service.addUser(org.accountId, { email: removed, role: 'analyst', isRemoved: true })
    provider.expect({ sub: 'kim', email: removed, email_verified: true })
    await browser.send('Network.clearBrowserCookies')
    await browser.open(`${url}/login/sso`)
    await visible('begin')
    await browser.evaluate(`document.getElementById('domain').value = '${org.domain}'`)
    await browser.evaluate(`document.querySelector('#begin button').click()`)
    await browser.see(`${message}.includes('This user was removed') && ${message}.includes('Ask an administrator')`)
    await browser.evaluate(`document.getElementById('domain').value = 'unknown.example'`)
    await browser.evaluate(`document.querySelector('#begin button').click()`)
    await browser.see(`${message}.includes('No organization here')`)
  })
})

it('the page sends no referrer, is kept by no cache, and runs its own script only', async () => {
  const service = await startSsoService()
  const { status, headers, text } = await service.call({}, '/login/sso?code=secret-code&state=secret-state')
  expect(status).toBe(200)
  expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
  expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self'/)
  expect(text).not.toContain('secret-')
  await service.close()
})
