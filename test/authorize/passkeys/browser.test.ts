import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AssertionResponse } from '#src/authorize/passkeys/bodies.ts'
import { type Browser, hasBrowser, startBrowser } from '../../support/browser.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Localhost, openLocalhost } from '../../support/localhost.ts'
import type { SignedIn } from '../../support/service.ts'
import { type PasskeyService, refusalOf, startPasskeys } from './service.ts'

const ACTION = {
  action_description: 'Pay 120.00 EUR to Example Garage',
  action_payload: { amount: '120.00', currency: 'EUR' },
  agent_session_id: 'session-1',
  device_id: 'device-1',
}

// A real browser with its virtual authenticator, on our page and with the whole service. BASE_URL alone makes the relying
// party.
describe.skipIf(!hasBrowser)('passkeys in a browser (skipped where there is no Chromium)', { timeout: 180_000 }, () => {
  let localhost: Localhost
  let service: PasskeyService
  let caller: TestCaller
  let user: SignedIn
  let browser: Browser
  let root: string
  let authenticatorId: string

  beforeAll(async () => {
    localhost = await openLocalhost(() => service.app.port)
    root = localhost.root
    service = await startPasskeys({ env: { BASE_URL: root, WEBAUTHN_RP_ID: '', WEBAUTHN_ORIGINS: '' } })
    caller = await service.makeCaller()
    user = await service.signIn(caller.accountId, { email: 'mika@example.com' })
    browser = await startBrowser()
    authenticatorId = await browser.addAuthenticator()
    await signIn(root)
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    localhost?.close()
  })

  const rows = () =>
    service.test.owner<{ id: string; name: string; is_backed_up: boolean; counter: number }>(
      'SELECT id, name, is_backed_up, counter::int FROM passkeys WHERE user_id = $1 ORDER BY id',
      [user.userId],
    )
  const message = () => browser.evaluate<string>(`document.querySelector('#message').innerText`)
  const setVerified = (isUserVerified: boolean) =>
    browser.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })

  /** With the operator's link, at one of the names of the service. */
  async function signIn(at: string): Promise<void> {
    const { link } = await service.services.account.printLink('mika@example.com')
    await browser.open(link.replace(root, at))
    await browser.see(`!document.querySelector('#confirm').hidden`)
    await browser.evaluate(`document.querySelector('#confirm').requestSubmit()`)
    await browser.see(`!document.querySelector('#leave').hidden`)
  }

  async function openPage(): Promise<void> {
    await browser.open(`${root}/passkeys`)
    await browser.see(`!document.querySelector('#own').hidden`)
  }

  async function add(name: string): Promise<void> {
    await browser.evaluate(`(() => {
        document.querySelector('#name').value = ${JSON.stringify(name)}
        document.querySelector('#add').requestSubmit()
      })()`)
  }

  /** Asks the service for a challenge, and the browser for its assertion; a text is the name of the browser's error. */
  async function confirm(action: object): Promise<{ challenge_id: string; response: AssertionResponse | string }> {
    const text = await browser.evaluate<string>(`(async () => {
        const { csrf_token } = (await (await fetch('/v1/auth/session')).json()).session
        const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf_token }
        const body = ${JSON.stringify(JSON.stringify(action))}
        const { challenge_id, options } = await (await fetch('/v1/intent/challenges', { method: 'POST', headers, body })).json()
        const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
        try {
          const credential = await navigator.credentials.get({ publicKey })
          return JSON.stringify({ challenge_id, response: credential.toJSON() })
        } catch ({ name }) {
          return JSON.stringify({ challenge_id, response: name })
        }
      })()`)
    return JSON.parse(text)
  }

  async function check({ challenge_id, response }: Awaited<ReturnType<typeof confirm>>, action: object) {
    if (typeof response === 'string') throw new Error(response)
    const authorized = await service.call(caller, '/v1/intent/authorize', { method: 'POST', json: action })
    const { action_hash, payload_hash } = authorized.json.bindings as { action_hash: string; payload_hash: string }
    const bound = { action_hash, payload_hash, agent_session_id: 'session-1', device_id: 'device-1' }
    return service.check(caller, { challenge_id }, response, bound)
  }

  it('are registered on our page, and confirm exactly one action', async () => {
    await openPage()
    await add('This laptop')
    await browser.see(`document.querySelector('#passkeys li')`)
    expect(await message()).toContain('"This laptop"')
    const [made] = await rows()
    expect(made).toMatchObject({ name: 'This laptop', is_backed_up: false })
    expect(await browser.evaluate(`document.querySelector('#passkeys input').value`)).toBe('This laptop')

    const given = await confirm(ACTION)
    expect(given.response).toMatchObject({ type: 'public-key' })
    const other = { ...ACTION, action_payload: { amount: '1200.00', currency: 'EUR' } }
    expect(await refusalOf(check(given, other))).toBe('/passkey_assertion/challenge_id mismatch')
    const { userId, biometric } = await service.consume(caller, await check(given, ACTION))
    expect({ userId, biometric }).toMatchObject({ userId: user.userId, biometric: { verified: true, uv: true } })
    const [used] = await rows()
    expect(used?.counter).toBeGreaterThan(made?.counter ?? 0)
    expect(await refusalOf(check(given, ACTION))).toBe('/passkey_assertion/challenge_id used')
    expect(browser.asked().filter((url) => !url.startsWith(root))).toEqual([])
    expect(browser.complaints()).toEqual([])
  })

  it('are not made nor used by a person whom the device did not verify', async () => {
    await openPage()
    await setVerified(false)
    expect((await confirm(ACTION)).response).toBe('NotAllowedError')
    await browser.send('WebAuthn.clearCredentials', { authenticatorId })
    await add('Unverified')
    await browser.see(`document.querySelector('#message').innerText.startsWith('No passkey was made')`)
    expect(await rows()).toHaveLength(1)
    await setVerified(true)
  })

  it('are named and removed on our page', async () => {
    await openPage()
    await browser.see(`document.querySelector('#passkeys li')`)
    await browser.evaluate(`(() => {
        document.querySelector('#passkeys input').value = '<b>Phone</b>'
        document.querySelector('#passkeys form').requestSubmit()
      })()`)
    await browser.see(`document.querySelector('#message').innerText.includes('another name')`)
    expect(await rows()).toMatchObject([{ name: '<b>Phone</b>' }])
    const press = (text: string) =>
      browser.evaluate(
        `[...document.querySelectorAll('#passkeys button')].find((one) => one.innerText === '${text}').click()`,
      )
    await browser.see(`document.querySelector('#passkeys input').value === '<b>Phone</b>'`)
    await press('Remove')
    await press('Keep')
    await browser.see(`[...document.querySelectorAll('#passkeys button')].some((one) => one.innerText === 'Remove')`)
    expect(await rows()).toHaveLength(1)
    await press('Remove')
    await press('Remove permanently')
    await browser.see(`document.querySelectorAll('#passkeys li').length === 0`)
    expect(await browser.evaluate(`document.querySelector('#none').hidden`)).toBe(false)
    expect(await rows()).toEqual([])
    expect(browser.complaints()).toEqual([])
  })

  it('are refused under another name of the service, which the page says', async () => {
    const elsewhere = root.replace('localhost', '127.0.0.1')
    await signIn(elsewhere)
    await browser.open(`${elsewhere}/passkeys`)
    await browser.see(`!document.querySelector('#own').hidden`)
    await add('Elsewhere')
    await browser.see(`document.querySelector('#message').innerText.includes('at the host localhost')`)
    expect(await rows()).toEqual([])
  })

  it('are on a page that fits a phone, and that says who has to sign in', async () => {
    await openPage()
    await browser.show(360, 'dark')
    expect(await browser.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true)
    await browser.show(1400, 'light')
    await service.test.owner(`UPDATE user_sessions SET created_at = created_at - interval '11 minutes'`)
    await add('Late')
    await browser.see(`document.querySelector('#message').innerText.includes('sign in again')`)
    await browser.send('Network.clearBrowserCookies')
    await browser.open(`${root}/passkeys`)
    await browser.see(`document.querySelector('#message').innerText === 'Sign in to see your passkeys.'`)
    expect(await browser.evaluate(`document.querySelector('#own').hidden`)).toBe(true)
  })
})
