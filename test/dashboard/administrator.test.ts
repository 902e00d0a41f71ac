// The way of an administrator through the dashboard, in a real browser: people are invited, given roles and removed, an identity
// provider is connected and tested, a passkey is registered, everything is exported, and the account is closed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RealProvider, startRealProvider } from '../account/sso/real-provider.ts'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'
import { createJobs } from '../support/jobs.ts'
import { type Localhost, openLocalhost } from '../support/localhost.ts'

describe.skipIf(!hasChromium)('an administrator (skipped where there is no Chromium)', () => {
  const records = new Map<string, string>()
  let dashboard: Dashboard
  let localhost: Localhost
  let provider: RealProvider
  let caller: TestCaller
  let owner: Visitor
  beforeAll(async () => {
    localhost = await openLocalhost(() => dashboard.service.app.port)
    provider = await startRealProvider({ redirectUri: `${localhost.root}/login/sso` })
    dashboard = await startDashboard({
      env: { OUTBOUND_ALLOW: '127.0.0.1', BASE_URL: localhost.root, WEBAUTHN_RP_ID: '', WEBAUTHN_ORIGINS: '' },
      overrides: () => ({
        async lookupTxt(name: string) {
          const found = records.get(name)
          if (found === undefined) throw Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })
          return [[found]]
        },
      }),
    })
    caller = await dashboard.service.makeCaller()
    owner = await dashboard.signIn(caller.accountId)
  })
  afterAll(async () => {
    await dashboard?.close()
    await provider?.close()
    localhost?.close()
  })

  const rowOf = (email: string) => owner.page.getByRole('row').filter({ hasText: email })
  const dialog = () => owner.page.getByRole('dialog')
  async function emailOf({ context, page }: Visitor): Promise<string> {
    const answer = await context.request.get(new URL('/v1/auth/session', page.url()).href)
    return ((await answer.json()) as { session: { user: { email: string } } }).session.user.email
  }
  async function choose(role: string): Promise<void> {
    await dialog().getByRole('combobox', { name: 'Role' }).click()
    await owner.page.getByRole('option', { name: role, exact: true }).click()
  }
  /** Another person, who looks at a page. */
  async function visitor(role: 'analyst'): Promise<Visitor & { email: string }> {
    const other = await dashboard.signIn(caller.accountId, { role })
    await other.visit('sandbox/claims')
    await other.page.getByRole('heading', { level: 1, name: 'Claims' }).waitFor()
    return { ...other, email: await emailOf(other) }
  }
  const click = async ({ page }: Visitor) => {
    await page.getByRole('navigation').getByRole('link', { name: 'Cases' }).click()
  }

  it('invites a person with a role, after reading what the role may do', async () => {
    const { page, visit } = owner
    await visit('sandbox/invites')
    await page.getByRole('button', { name: 'Invite a person' }).click()
    await dialog().getByLabel('E-mail address').fill('ada@example.com')
    await dialog().getByRole('link', { name: 'what each role may do' }).click()
    await page.getByRole('row').filter({ hasText: 'change policies' }).waitFor()
    await page.goBack()
    // What was typed is there again.
    await page.getByRole('button', { name: 'Invite a person' }).click()
    expect(await dialog().getByLabel('E-mail address').inputValue()).toBe('ada@example.com')
    await choose('approver')
    expect(await findInaccessible(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Invite a person' }).click()
    await rowOf('ada@example.com').getByText('pending').waitFor()
    await rowOf('ada@example.com').getByText('approver').waitFor()
  })

  it('gives a user another role, and removes one: the other browser is out at its next click', async () => {
    const [first, second] = [await visitor('analyst'), await visitor('analyst')]
    await owner.visit('sandbox/users')
    await rowOf(first.email).getByRole('button', { name: 'Change the role' }).click()
    await choose('developer')
    await dialog().getByRole('button', { name: 'Change the role' }).click()
    await dialog().getByText('Sessions that ended: 1.').waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
    await rowOf(first.email).getByText('developer').waitFor()
    await click(first)
    await first.page.getByRole('dialog', { name: 'Sign in again' }).waitFor()

    await rowOf(second.email).getByRole('button', { name: 'Remove' }).click()
    expect(await dialog().getByRole('button', { name: 'Remove' }).isDisabled()).toBe(true)
    await dialog().getByLabel(/^Type/).fill(second.email)
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await dialog().getByText(`${second.email} is removed.`).waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
    await rowOf(second.email).getByText('deprovisioned').waitFor()
    await click(second)
    await second.page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    await Promise.all([first.context.close(), second.context.close()])
  })

  it('signs in again for an act that asks for it, and finds the form as it was', async () => {
    const { page, visit } = owner
    const { service } = dashboard
    const other = await visitor('analyst')
    const began = (at: string) =>
      service.test.owner(`UPDATE user_sessions SET created_at = ${at} WHERE account_id = $1`, [caller.accountId])
    await began(`now() - interval '1 hour'`)
    await visit('sandbox/users')
    await rowOf(other.email).getByRole('button', { name: 'Change the role' }).click()
    await choose('owner')
    await dialog().getByRole('button', { name: 'Change the role' }).click()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.getByText('This takes a sign-in of the last 10 minutes.').waitFor()
    expect(await again.getByLabel('E-mail address').inputValue()).toBe(await emailOf(owner))
    // The person signs in again in another tab.
    await began('now()')
    await page.evaluate(() => new BroadcastChannel('countersign.session').postMessage('changed'))
    await again.waitFor({ state: 'detached' })
    expect(await dialog().getByRole('combobox', { name: 'Role' }).inputValue()).toBe('owner')
    await dialog().getByRole('button', { name: 'Change the role' }).click()
    await dialog().getByText(`${other.email} has the role owner now.`).waitFor()
    await other.context.close()
  })

  it('connects an identity provider, proves the domain, tests the sign-in, and requires it', async () => {
    const { page, visit } = owner
    await visit('sandbox/sso')
    await page.getByRole('button', { name: 'Connect a provider' }).click()
    await dialog().getByLabel('Issuer').fill(provider.issuer)
    await dialog().getByRole('textbox', { name: 'Client', exact: true }).fill(provider.clientId)
    await dialog().getByRole('textbox', { name: 'Client secret' }).fill(provider.clientSecret)
    await dialog().getByLabel('Domain').fill('example.com')
    // A secret is not kept in the browser.
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(provider.clientSecret)
    await dialog().getByRole('button', { name: 'Connect a provider' }).click()
    await page.getByText('pending').waitFor()

    const shown = async (name: string) => (await page.getByRole('textbox', { name }).textContent()) ?? ''
    records.set(await shown('Name of the TXT record'), await shown('Value of the TXT record'))
    await page.getByRole('button', { name: 'Look it up now' }).click()
    await dialog().getByRole('button', { name: 'Look it up now' }).click()
    await page.getByText('verified', { exact: true }).waitFor()
    expect(await findInaccessible(page)).toEqual([])

    await page.getByRole('button', { name: 'Test the sign-in' }).click()
    await dialog().getByRole('button', { name: 'Test the sign-in' }).click()
    const link = dialog().getByRole('link', { name: 'Sign in at the provider' })
    const authorizeUrl = (await link.getAttribute('href')) ?? ''
    const email = await emailOf(owner)
    const back = await provider.signIn(authorizeUrl, { sub: 'owner', email, email_verified: true })
    const tab = await owner.context.newPage()
    await tab.goto(`${dashboard.service.app.url}${back.pathname}${back.search}`)
    await tab.getByText(`You are signed in as ${email}`).waitFor()
    await tab.close()
    await visit('sandbox/sso')
    await page.getByText('The first sign-in by this provider was').waitFor()

    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog().getByLabel('Users of the domain sign in by it only').check()
    await dialog().getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('users of the domain sign in by it only', { exact: true }).waitFor()
  })

  it('registers a passkey, renames it and removes it', async () => {
    const { context, page } = owner
    // Browsers have passkeys of names, and of no addresses.
    const cookies = (await context.cookies()).map(({ name, value }) => ({ name, value, url: localhost.root }))
    await context.addCookies(cookies)
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.goto(`${localhost.root}/app/sandbox/passkeys`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await dialog().getByLabel('Name').fill('Laptop')
    await dialog().getByRole('button', { name: 'Add a passkey' }).click()
    await rowOf('Laptop').getByRole('button', { name: 'Rename' }).click()
    await dialog().getByLabel('Name').fill('Old laptop')
    await dialog().getByRole('button', { name: 'Rename' }).click()
    await rowOf('Old laptop').getByRole('button', { name: 'Remove' }).click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await page.getByText('You have no passkey yet.').waitFor()
  })

  it('exports everything, downloads it, reads what a smaller plan takes away, closes the account and opens it again', async () => {
    const { page, visit } = owner
    const { test, services } = dashboard.service
    await visit('sandbox/exports')
    await page.getByRole('button', { name: 'Request an export' }).click()
    await dialog().getByRole('button', { name: 'Request an export' }).click()
    await page.getByRole('link', { name: /^exp_/ }).click()
    await page.getByText('queued').waitFor()
    const work = services.features.flatMap(({ work: { export: make } = {} }) => (make === undefined ? [] : [make()]))[0]
    if (work === undefined) throw new Error('nothing does the work of export')
    await createJobs(test, 'export').drain(work, caller)
    // The page follows it.
    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    expect((await downloaded).suggestedFilename()).toMatch(/^exp_.*\.zip$/)

    await visit('sandbox/usage')
    await page
      .getByRole('row', { name: /^growth/ })
      .getByRole('button', { name: 'Change to it' })
      .click()
    await dialog().getByText('users beside the owner can no longer sign in').waitFor()
    await page.keyboard.press('Escape')
    await visit('sandbox/closing')
    await page.getByRole('button', { name: 'Close the account' }).click()
    await dialog().getByRole('button', { name: 'Continue' }).click()
    expect(await dialog().getByRole('button', { name: 'Close the account' }).isDisabled()).toBe(true)
    await dialog().getByLabel(/^Type/).fill('Test')
    await dialog().getByRole('button', { name: 'Close the account' }).click()
    await page.getByRole('alert').getByText('The account is closed').waitFor()
    await page.getByRole('button', { name: 'Open it again' }).click()
    await dialog().getByRole('button', { name: 'Open it again' }).click()
    await page.getByText('The account is open.').waitFor()
  })
})
