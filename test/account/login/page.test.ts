import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findInaccessible, hasChromium, launchBrowser, openVisitor } from '../../support/dashboard.ts'
import { call } from '../../support/http.ts'
import { startTeamService, type TeamService } from '../team/service.ts'
import { startLoginService } from './service.ts'

it('the page of links is one that runs its own script only, and opening it uses nothing up', async () => {
  const service = await startLoginService({ SIGNUP: 'open' })
  await service.request('mika@example.com')
  const token = await service.tokenFor('mika@example.com')
  for (const path of ['/login/link', `/login/link?token=${token}`]) {
    const { status, headers, text } = await call(service.app, path)
    expect(status).toBe(200)
    expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/)
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(text).toContain('<noscript>')
    expect(text).not.toContain(token)
    expect(text).not.toMatch(/<script>|onclick|javascript:/)
  }
  expect((await service.use(token)).status).toBe(200)
  await service.close()
})

describe.skipIf(!hasChromium)('a browser (skipped where there is no Chromium)', { timeout: 180_000 }, () => {
  let service: TeamService
  let browser: Browser
  let page: Page
  let complaints: string[]
  beforeAll(async () => {
    service = await startTeamService()
    browser = await launchBrowser()
    ;({ page, complaints } = await openVisitor(browser, service.app.url, { width: 390 }))
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })
  // Another fragment of the open page would load nothing.
  const open = async (url: string) => {
    await page.goto('about:blank')
    await page.goto(url)
  }
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const says = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()

  it('asks for a link, signs in by it after a press of the button, and out again', async () => {
    const url = `${service.app.url}/login/link`
    await open(url)
    await page.getByLabel('Your e-mail address').fill('mika@example.com')
    expect(await findInaccessible(page)).toEqual([])
    await press('Mail me a link')
    await says('on its way')
    const token = await service.tokenFor('mika@example.com')

    await open(`${url}?from=mail#${token}`)
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    expect(page.url()).toBe(url)
    await press('Sign in')
    await says('mika@example.com, owner of')
    expect(await page.evaluate('document.cookie')).not.toContain('svc_session')
    await open(url)
    await press('Sign out')
    await says('You are signed out.')

    await open(`${url}?again=1#${token}`)
    await press('Sign in')
    await says('does not work any more')
    expect(complaints).toEqual([])
  })

  it('accepts an invite, and closes the own account of a person only after another press', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    await service.invite(owner, email, 'analyst')
    const invite = `${service.app.url}/login/invite#${await service.inviteTokenFor(email)}`
    await service.request(email)
    await open(`${service.app.url}/login#${await service.tokenFor(email)}`)
    await press('Sign in')
    await says(`${email}, owner of`)

    await open(invite)
    await press('Accept the invite')
    await says('another account')
    const members = `SELECT role FROM users WHERE account_id = $1 AND email = $2`
    expect(await service.test.owner(members, [accountId, email])).toEqual([])
    expect(await findInaccessible(page)).toEqual([])
    await press('Close my own account and accept the invite')
    await says(`${email}, analyst of`)
    expect(await service.test.owner(members, [accountId, email])).toEqual([{ role: 'analyst' }])
    expect(complaints).toEqual([])
  })

  it('asks for no session where nobody is signed in, and once for one that ended elsewhere', async () => {
    await page.context().clearCookies()
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/v1/')) asked.push(request.url())
    })
    for (const [path, shown] of [
      ['login/link', 'Mail me a link'],
      ['login/sso', 'Go on'],
      ['login/invite', 'This address is not a whole link'],
      ['share', 'This address is not a whole link'],
    ] as const) {
      await open(`${service.app.url}/${path}`)
      await page.getByText(shown).waitFor()
      expect([path, asked]).toEqual([path, []])
    }
    await page.evaluate(`document.cookie = 'svc_csrf=${'a'.repeat(43)}; Path=/'`)
    for (const times of [1, 1]) {
      await open(`${service.app.url}/login/link`)
      await page.getByText('Mail me a link').waitFor()
      expect(asked).toHaveLength(times)
    }
    expect(complaints).toEqual([])
  })
})
