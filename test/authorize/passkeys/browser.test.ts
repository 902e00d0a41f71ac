import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AssertionResponse } from '#src/authorize/passkeys/bodies.ts'
import type { TestCaller } from '../../support/callers.ts'
import { findInaccessible, hasChromium, launchBrowser, openVisitor } from '../../support/dashboard.ts'
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
describe.skipIf(!hasChromium)(
  'passkeys in a browser (skipped where there is no Chromium)',
  { timeout: 180_000 },
  () => {
    let localhost: Localhost
    let service: PasskeyService
    let caller: TestCaller
    let user: SignedIn
    let browser: Browser
    let page: Page
    let complaints: string[]
    let device: CDPSession
    let root: string
    let authenticatorId: string

    beforeAll(async () => {
      localhost = await openLocalhost(() => service.app.port)
      root = localhost.root
      service = await startPasskeys({ env: { BASE_URL: root, WEBAUTHN_RP_ID: '', WEBAUTHN_ORIGINS: '' } })
      caller = await service.makeCaller()
      user = await service.signIn(caller.accountId, { email: 'mika@example.com' })
      browser = await launchBrowser()
      ;({ page, complaints } = await openVisitor(browser, root))
      device = await page.context().newCDPSession(page)
      await device.send('WebAuthn.enable')
      const kind = { protocol: 'ctap2', ctap2Version: 'ctap2_1', transport: 'internal' } as const
      const abilities = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true }
      const options = { ...kind, ...abilities, automaticPresenceSimulation: true }
      ;({ authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', { options }))
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
    const says = (text: string) => page.getByText(text).first().waitFor()
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const setVerified = (isUserVerified: boolean) =>
      device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })

    /** With the operator's link, at one of the names of the service. */
    async function signIn(at: string): Promise<void> {
      const { link } = await service.services.account.printLink('mika@example.com')
      await page.goto(link.replace(root, at))
      await press('Sign in')
      await page.getByText('You are signed in as mika@example.com').waitFor()
    }

    async function openPage(at = root): Promise<void> {
      await page.goto(`${at}/passkeys`)
      await page.getByRole('heading', { level: 1, name: 'Your passkeys' }).waitFor()
    }

    async function add(name: string): Promise<void> {
      await press('Add a passkey')
      await page.getByRole('dialog').getByLabel('Name').fill(name)
      await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click()
    }

    /** Asks the service for a challenge, and the browser for its assertion; a text is the name of the browser's error. */
    async function confirm(action: object): Promise<{ challenge_id: string; response: AssertionResponse | string }> {
      const text: string = await page.evaluate(`(async () => {
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
      expect(new URL(page.url()).pathname).toBe('/app/sandbox/passkeys')
      await add('This laptop')
      await page.getByRole('cell', { name: 'This laptop' }).waitFor()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const [made] = await rows()
      expect(made).toMatchObject({ name: 'This laptop', is_backed_up: false })
      expect(await findInaccessible(page)).toEqual([])

      const given = await confirm(ACTION)
      expect(given.response).toMatchObject({ type: 'public-key' })
      const other = { ...ACTION, action_payload: { amount: '1200.00', currency: 'EUR' } }
      expect(await refusalOf(check(given, other))).toBe('/passkey_assertion/challenge_id mismatch')
      const { userId, biometric } = await service.consume(caller, await check(given, ACTION))
      expect({ userId, biometric }).toMatchObject({ userId: user.userId, biometric: { verified: true, uv: true } })
      const [used] = await rows()
      expect(used?.counter).toBeGreaterThan(made?.counter ?? 0)
      expect(await refusalOf(check(given, ACTION))).toBe('/passkey_assertion/challenge_id used')
      expect(complaints).toEqual([])
    })

    it('are not made nor used by a person whom the device did not verify', async () => {
      await openPage()
      await setVerified(false)
      expect((await confirm(ACTION)).response).toBe('NotAllowedError')
      await device.send('WebAuthn.clearCredentials', { authenticatorId })
      await add('Unverified')
      await says('No passkey was made')
      expect(await rows()).toHaveLength(1)
      await setVerified(true)
    })

    it('are named and removed on our page', async () => {
      await openPage()
      await press('Rename')
      await page.getByRole('dialog').getByLabel('Name').fill('<b>Phone</b>')
      await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
      await page.getByRole('cell', { name: '<b>Phone</b>' }).waitFor()
      expect(await rows()).toMatchObject([{ name: '<b>Phone</b>' }])
      await press('Remove')
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await rows()).toHaveLength(1)
      await press('Remove')
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await says('You have no passkey yet.')
      expect(await rows()).toEqual([])
    })

    it('are refused under another name of the service, which the page says', async () => {
      const elsewhere = root.replace('localhost', '127.0.0.1')
      await signIn(elsewhere)
      await openPage(elsewhere)
      await add('Elsewhere')
      await says('at the host localhost')
      expect(await rows()).toEqual([])
    })

    it('take a sign-in that is fresh, and ask who is signed in', async () => {
      await openPage()
      await service.test.owner(`UPDATE user_sessions SET created_at = created_at - interval '11 minutes'`)
      await add('Late')
      await page
        .getByRole('dialog')
        .filter({ hasText: /sign in again/i })
        .first()
        .waitFor()
      await page.context().clearCookies()
      await page.goto(`${root}/passkeys`)
      await page.getByRole('heading', { level: 1, name: 'Sign in to Countersign' }).waitFor()
      expect(await rows()).toEqual([])
    })
  },
)
