import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, hasBrowser, startBrowser } from '../../support/browser.ts'
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

describe.skipIf(!hasBrowser)('a browser (skipped where there is no Chromium)', { timeout: 180_000 }, () => {
  let service: TeamService
  let browser: Browser
  beforeAll(async () => {
    service = await startTeamService()
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })
  const message = `document.getElementById('message').textContent`
  const press = (form: string) => browser.evaluate(`document.querySelector('#${form} button').click()`)
  const visible = (form: string) => browser.see(`document.getElementById('${form}').hidden === false`)

  it('asks for a link, signs in by it after a press of the button, and out again', async () => {
    const url = `${service.app.url}/login/link`
    await browser.open(url)
    await visible('request')
    await browser.evaluate(`document.getElementById('email').value = 'mika@example.com'`)
    await press('request')
    await browser.see(`${message}.includes('on its way')`)
    const token = await service.tokenFor('mika@example.com')

    await browser.open(`${url}?from=mail#${token}`)
    await visible('confirm')
    expect(await browser.evaluate('window.location.href')).toBe(url)
    await press('confirm')
    await browser.see(`${message}.includes('mika@example.com, owner of')`)
    expect(await browser.evaluate('document.cookie')).not.toContain('svc_session')
    await browser.open(url)
    await visible('leave')
    await press('leave')
    await browser.see(`${message} === 'You are signed out.'`)

    await browser.open(`${url}?again=1#${token}`)
    await visible('confirm')
    await press('confirm')
    await browser.see(`${message}.includes('does not work any more')`)
    expect(browser.asked().filter((asked) => !asked.startsWith(service.app.url))).toEqual([])
    expect(browser.complaints().filter((line) => !line.includes('400'))).toEqual([])
  })

  it('accepts an invite, and closes the own account of a person only after another press', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    await service.invite(owner, email, 'analyst')
    const invite = `${service.app.url}/login/invite#${await service.inviteTokenFor(email)}`
    await service.request(email)
    await browser.open(`${service.app.url}/login#${await service.tokenFor(email)}`)
    await visible('confirm')
    await press('confirm')
    await browser.see(`${message}.includes('${email}, owner of')`)

    await browser.open(invite)
    await visible('accept')
    await press('accept')
    await visible('close')
    expect(await browser.evaluate(message)).toContain('another account')
    const members = `SELECT role FROM users WHERE account_id = $1 AND email = $2`
    expect(await service.test.owner(members, [accountId, email])).toEqual([])
    await press('close')
    await browser.see(`${message}.includes('${email}, analyst of')`)
    expect(await service.test.owner(members, [accountId, email])).toEqual([{ role: 'analyst' }])
  })
})
