// The page of single sign-on in a real browser, with a real provider.

import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, launchBrowser, openVisitor } from '../../support/dashboard.ts'
import { type RealProvider, startRealProvider } from './real-provider.ts'
import { type Organization, type SsoService, startSsoService } from './service.ts'

describe.skipIf(!hasChromium)('a browser (skipped where there is no Chromium)', { timeout: 180_000 }, () => {
  let door: Server
  let service: SsoService
  let provider: RealProvider
  let org: Organization
  let browser: Browser
  let page: Page
  let complaints: string[]
  const led: string[] = []
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
    browser = await launchBrowser()
    ;({ page, complaints } = await openVisitor(browser, url))
    page.on('request', (request) => {
      if (request.url().includes('/login/sso?')) led.push(request.url())
    })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await provider?.close()
    door?.close()
  })
  const says = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
  const goOnWith = async (domain: string) => {
    await page.getByLabel('Your e-mail address, or its domain').fill(domain)
    await page.getByRole('button', { name: 'Go on' }).click()
  }

  it('walks from the page of links to the provider and back, and leaves no code in its address', async () => {
    const email = `mika@${org.domain}`
    provider.expect({ sub: 'mika', email, email_verified: true })
    await page.goto(`${url}/login/link`)
    await page.getByRole('link', { name: 'Sign in with your organization' }).click()
    await page.waitForURL('**/login/sso')
    await goOnWith(email)
    await says(`You are signed in as ${email}, analyst`)
    expect(page.url()).toBe(`${url}/login/sso`)
    expect(await page.evaluate('document.cookie')).not.toMatch(/svc_session|svc_sso/)
    expect(led[0]).toMatch(/code=.+&state=/)
    // The provider's own page is asked, and no other host.
    expect(complaints.filter((line) => !line.startsWith(`asked ${provider.issuer}`))).toEqual([])

    // The address of before, once more: the login is over, and the page says so.
    await page.goto(String(led[0]))
    await says('This login is over')
    expect(page.url()).toBe(`${url}/login/sso`)
  })

  it('says in words why the provider or the service refuses', async () => {
    await page.goto(`${url}/login/sso?error=access_denied&error_description=%3Cb%3Ex&state=x`)
    await says('did not let you in')
    expect(await page.getByRole('status').textContent()).not.toContain('<b>')
    const removed = `kim@${org.domain}`
    await service.addUser(org.accountId, { email: removed, role: 'analyst', isRemoved: true })
    provider.expect({ sub: 'kim', email: removed, email_verified: true })
    await page.context().clearCookies()
    await page.goto(`${url}/login/sso`)
    await goOnWith(org.domain)
    await says('This user was removed')
    await says('Ask an administrator')
    await goOnWith('unknown.example')
    await says('No organization here')
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
