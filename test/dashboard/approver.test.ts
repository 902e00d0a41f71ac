// The way of an approver through the dashboard, in a real browser with a passkey: from the link of a mail to a decision about
// exactly the action that is shown.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApprovalService, withApprovals } from '../authorize/approvals/service.ts'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'
import { type Localhost, openLocalhost } from '../support/localhost.ts'

const PAYLOAD = {
  amount: '12000.00',
  currency: 'EUR',
  to: { name: 'Example Garage', '<img src=x onerror=alert(1)>': ['a', 1e21, null, true] },
}
const DESCRIPTION = 'Pay 12,000.00 EUR <b>now</b> to \u202eegaraG'

type Answer = Record<string, unknown>

describe.skipIf(!hasChromium)('an approver (skipped where there is no Chromium)', () => {
  let localhost: Localhost
  let dashboard: Dashboard
  let service: ApprovalService
  let caller: TestCaller
  let root: string
  let mika: Visitor
  let page: Page

  beforeAll(async () => {
    localhost = await openLocalhost(() => dashboard.service.app.port)
    root = localhost.root
    dashboard = await startDashboard({ env: { BASE_URL: root, WEBAUTHN_RP_ID: '', WEBAUTHN_ORIGINS: '' } })
    service = withApprovals(dashboard.service)
    caller = await service.makeCaller()
    await service.join(caller, 'owner')
    mika = await dashboard.signIn(caller.accountId, { role: 'approver', email: 'mika@example.com', width: 390, root })
    page = mika.page
  })
  afterAll(async () => {
    await dashboard?.close()
    localhost?.close()
  })

  const open = (more: object = {}) =>
    service.open(caller, { payload: PAYLOAD, description: DESCRIPTION, ...more } as never)
  const show = async (id: string, on = page) => {
    await on.goto(`${root}/app/sandbox/approvals/${id}`)
    await on.getByRole('heading', { level: 1, name: 'Approval' }).waitFor()
    await on.getByRole('region', { name: 'The action' }).waitFor()
  }
  const press = (name: string | RegExp, on = page) => on.getByRole('button', { name, exact: true }).click()
  const sees = (text: string | RegExp, on = page) => on.getByText(text).first().waitFor()
  const form = () => page.getByRole('form', { name: 'Decision' })
  const comment = () => page.getByRole('textbox', { name: 'Comment' })
  /** Changes what the service answers about approvals on its way. */
  const change = (edit: (answer: Answer) => void) =>
    page.route(/\/v1\/approvals\/apr[^/]*$/, async (route) => {
      const response = await route.fetch()
      const json = (await response.json()) as Answer
      edit(json)
      await route.fulfill({ response, json })
    })
  const unchange = () => page.unroute(/\/v1\/approvals\/apr[^/]*$/)

  it('comes by the link of the mail, signs in, reads the whole action on a phone and approves it', async () => {
    const { json: mandate } = await service.call(caller, '/v1/mandates', {
      json: {
        principal: 'Example GmbH',
        description: 'Repairs of the fleet',
        budget: { limit: '500.00', currency: 'EUR', period: 'month' },
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      },
    })
    const row = await open({ demands: [{ min_approvals: 2 }], mandateId: mandate.mandate_id })
    const context = await dashboard.browser.newContext({ viewport: { width: 390, height: 800 } })
    const phone = await context.newPage()
    await phone.goto(String((await service.read(caller, row.id)).approve_url))
    await sees('Sign in to Countersign', phone)
    const { link } = await service.services.account.printLink('mika@example.com')
    await phone.goto(link)
    await press('Sign in', phone)
    await phone.getByRole('link', { name: 'Back to the dashboard' }).click()
    await phone.getByRole('heading', { level: 1, name: 'Approval' }).waitFor()
    expect(new URL(phone.url()).pathname).toBe(`/app/sandbox/approvals/${row.id}`)

    // Nothing of an action is markup, and what hides or turns text is visible.
    const action = phone.getByRole('region', { name: 'The action' })
    const shown = await action.textContent()
    for (const part of [
      'Pay 12,000.00 EUR <b>now</b> to U+202EegaraG',
      '12000.00 EUR',
      ...['"12000.00"', '"Example Garage"', '<img src=x onerror=alert(1)>', '1e+21', 'null', 'true'],
      row.actionHash,
      row.payloadHash,
    ]) {
      expect(shown).toContain(part)
    }
    expect(await action.locator('img, ul b b').count()).toBe(0)
    // The mandate is read after the approval.
    await phone.getByRole('main').getByText('Repairs of the fleet').first().waitFor()
    const all = await phone.getByRole('main').textContent()
    for (const part of ['session-1', 'device-1', 'In words 0', 'Repairs of the fleet', '500 EUR', '2 with the role']) {
      expect(all).toContain(part)
    }
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await findInaccessible(phone)).toEqual([])
    await phone.getByRole('textbox', { name: 'Comment' }).fill('Looks right.')
    await press('Approve', phone)
    await sees('You have approved. It waits for others.', phone)
    await sees('“Looks right.”', phone)
    expect(await phone.getByRole('form', { name: 'Decision' }).count()).toBe(0)
    expect(await service.read(caller, row.id)).toMatchObject({
      status: 'pending',
      decisions: [{ by: { type: 'user', id: mika.userId }, via: 'session', comment: 'Looks right.' }],
    })
    // The page follows what the second approver decides.
    await service.approve(await service.join(caller, 'admin'), row.id)
    await sees('This approval is approved. The action may run.', phone)
    await context.close()
  })

  it('sees what hides, looks like something else or stands apart by its numbers, and names as they are', async () => {
    const description = 'Pay\u00ad \u0430pple\n1\u03362 to Cafe\u0301 größe кофе\t\u3164'
    const payload = { 'amount ': 1, '1.': [2], '': 'a\nb', '\u05d0': 5, 'p\u0430yee': 'x' }
    await show((await open({ description, payload })).id)
    const shown = await page.getByRole('region', { name: 'The action' }).textContent()
    for (const part of [
      'PayU+00AD \u0430 (U+0430)pple↵\n1U+03362 to CafeU+0301 größe кофеU+0009U+3164',
      ...['"amount "', '"1."', '""', '"a\\nb"', '"p\u0430 (U+0430)yee"'],
    ]) {
      expect(shown).toContain(part)
    }
    const isIsolated = `[...document.querySelectorAll('[aria-label="Payload"] :is(b, code) > span')]
      .every((one) => getComputedStyle(one).unicodeBidi === 'isolate')`
    expect(await page.evaluate(isIsolated)).toBe(true)
  })

  it('can not sign what does not have the hashes of the token, whatever was changed on the way', async () => {
    const { id } = await open()
    const changes: ((answer: Answer) => void)[] = [
      (answer) => Object.assign(answer, { action_description: 'Pay 1.00 EUR to Example Garage' }),
      (answer) => Object.assign(answer, { action_payload: { ...PAYLOAD, amount: '1.00' } }),
      (answer) => Object.assign(answer, { payload_hash: answer.action_hash }),
      // JSON of an answer can have a member that objects inherit.
      (answer) => Object.assign(answer, { action_payload: JSON.parse('{"__proto__": {"amount": "1.00"}}') }),
    ]
    for (const edit of changes) {
      await change(edit)
      await show(id)
      await page.getByRole('alert', { name: 'This is not the action of the token' }).waitFor()
      expect(await form().count()).toBe(0)
      await unchange()
    }
    expect(await findInaccessible(page)).toEqual([])
    expect(await service.read(caller, id)).toMatchObject({ status: 'pending', decisions: [] })
  })

  it('is told where the action changed after it was read, and nothing is sent', async () => {
    const [row, other] = [await open(), await open({ description: 'Pay 1.00 EUR' })]
    await show(row.id)
    const sent: string[] = []
    page.on('request', (request) => void (request.method() === 'POST' && sent.push(request.url())))
    // Another action with hashes of its own.
    await change((answer) =>
      Object.assign(answer, {
        action_description: 'Pay 1.00 EUR',
        action_hash: other.actionHash,
        payload_hash: row.payloadHash,
      }),
    )
    await press('Approve')
    await page.getByRole('alert', { name: 'The action is another one than before' }).waitFor()
    await page.getByRole('region', { name: 'The action' }).getByText('Pay 1.00 EUR', { exact: true }).waitFor()
    expect([await form().count(), sent]).toEqual([0, []])
    expect(await service.read(caller, row.id)).toMatchObject({ status: 'pending', decisions: [] })
    // What was read again can be decided, after a second look.
    await press('I have read it')
    await form().waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    await unchange()
  })

  it('can decide nothing any more where the token was revoked meanwhile', async () => {
    const row = await open()
    await show(row.id)
    await form().waitFor()
    const revoked = { scope: 'token', jti: row.jti, reason: 'mistaken' }
    expect(await service.call(caller, '/v1/intent/revocations', { json: revoked })).toMatchObject({ status: 200 })
    await sees('This approval is cancelled.')
    expect(await form().count()).toBe(0)
  })

  it('decides nothing by a click that was meant for another window', async () => {
    const row = await open()
    await show(row.id)
    await page.locator('button:enabled', { hasText: 'Approve' }).waitFor()
    const isOff = await page.evaluate(`(async () => {
      const named = (name) => [...document.querySelectorAll('form button')].find((one) => one.innerText === name)
      window.dispatchEvent(new Event('focus'))
      named('Approve').click()
      await new Promise((resolve) => requestAnimationFrame(resolve))
      return named('Approve').disabled && named('Deny').disabled
    })()`)
    expect(isOff).toBe(true)
    await page.locator('button:enabled', { hasText: 'Approve' }).waitFor()
    expect(await service.read(caller, row.id)).toMatchObject({ status: 'pending', decisions: [] })
  })

  it('finds what waits in the inbox by the time that is left, and denies with a reason', async () => {
    const [later, soon] = [
      await open({ description: 'Pay later' }),
      await open({ description: 'Pay soon', demands: [{ ttl_seconds: 100 }] }),
    ]
    await page.goto(`${root}/approve`)
    await page.getByRole('link', { name: 'Pay soon' }).waitFor()
    const [first, ...others] = await page.getByRole('main').getByRole('link', { name: /^Pay/ }).allInnerTexts()
    expect([first, others.includes('Pay later')]).toEqual(['Pay soon', true])
    await sees(/seconds left/)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await press('Deny')
    await sees('Say why: a denial has a reason.')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
    await comment().fill('Not ours.')
    await press('Deny')
    await sees('This approval is denied. The action does not run.')
    expect(await service.read(caller, soon.id)).toMatchObject({
      status: 'denied',
      decisions: [{ comment: 'Not ours.' }],
    })
    expect(await service.read(caller, later.id)).toMatchObject({ status: 'pending' })
    expect(mika.complaints).toEqual([])
  })

  it('approves again where a key spoke for them and votes of keys do not count any more', async () => {
    const row = await open()
    await service.test.owner(
      `INSERT INTO approval_votes (account_id, environment, approval_id, user_id, decision, via, actor_id, key_root_id, decided_at)
       VALUES ($1, 'sandbox', $2, $3, 'approve', 'api_key', 'key_test_desk', 'key_test_desk', now())`,
      [caller.accountId, row.id, mika.userId],
    )
    await service.setPolicy(caller, { approvals: { require_human_session: true } })
    await show(row.id)
    await sees(/approved through an API key/)
    // By the keyboard alone.
    await page.locator('button:enabled', { hasText: 'Approve' }).focus()
    await page.keyboard.press('Enter')
    await sees('This approval is approved.')
    expect(await service.read(caller, row.id)).toMatchObject({
      decisions: [{ by: { type: 'user', id: mika.userId }, via: 'session' }],
    })
  })

  it('signs with a passkey where the rule demands one, bound to this approval', async () => {
    const [row, other] = [await open({ demands: [{ require_passkey: true }] }), await open()]
    const debug = await mika.context.newCDPSession(page)
    await debug.send('WebAuthn.enable')
    const authenticator = { protocol: 'ctap2', ctap2Version: 'ctap2_1', transport: 'internal' } as const
    const abilities = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true }
    await debug.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...authenticator, ...abilities, automaticPresenceSimulation: true },
    })
    await show(row.id)
    await press('Approve with a passkey')
    await sees('No passkey confirmed it')
    expect((await service.read(caller, row.id)).status).toBe('pending')

    // Registered here, and then used for another approval.
    const answers = await page.evaluate(`(async () => {
      const { csrf_token } = (await (await fetch('/v1/auth/session')).json()).session
      const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf_token }
      const post = async (path, sent) => (await fetch(path, { method: 'POST', headers, body: sent && JSON.stringify(sent) })).json()
      const made = await post('/v1/passkeys/registration-options')
      const creation = PublicKeyCredential.parseCreationOptionsFromJSON(made.options)
      const own = await navigator.credentials.create({ publicKey: creation })
      await post('/v1/passkeys/register', { name: 'Laptop', response: own.toJSON() })
      const bare = await post('/v1/approvals/${row.id}/approve', {})
      const begun = await post('/v1/approvals/${other.id}/challenge')
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.options)
      const credential = await navigator.credentials.get({ publicKey })
      const passkey_assertion = { challenge_id: begun.challenge_id, response: credential.toJSON() }
      const foreign = await post('/v1/approvals/${row.id}/approve', { passkey_assertion })
      return [bare, foreign].map(({ errors }) => errors?.[0]?.pointer + ' ' + errors?.[0]?.code)
    })()`)
    expect(answers).toEqual(['/passkey_assertion required', '/passkey_assertion/challenge_id mismatch'])
    await press('Approve with a passkey')
    await sees('This approval is approved.')
    expect(await service.read(caller, row.id)).toMatchObject({
      decisions: [{ by: { type: 'user', id: mika.userId }, via: 'passkey' }],
    })
    const [entry] = (await service.entries(caller, 'approval_decision')).filter(
      ({ subject_id }) => subject_id === row.id,
    )
    expect(entry?.inputs).toMatchObject({ via: 'passkey', passkey_id: expect.stringMatching(/^psk_/) })
  })

  it('is told what others decide, what the service refuses, and where the session ended', async () => {
    const [row, foreign, late] = [await open(), await open({ demands: [{ roles: ['owner'] }] }), await open()]
    await show(foreign.id)
    await sees('People with the role owner decide; your role is approver.')
    expect(await form().count()).toBe(0)
    await service.expire(late.id)
    await show(late.id)
    await sees('This approval is expired. Not enough people decided in time. The action does not run.')

    await show((await open({ requesterUserId: mika.userId })).id)
    await press('Approve')
    await sees(/duties are separated/)
    expect(await page.getByRole('alert').isVisible()).toBe(true)

    await show(row.id)
    await form().waitFor()
    await comment().fill('Looks right.')
    const cookies = await mika.context.cookies()
    await mika.context.clearCookies()
    await press('Approve')
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    await mika.context.addCookies(cookies)
    await page.evaluate(() => new BroadcastChannel('countersign.session').postMessage('changed'))
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'detached' })
    expect(await comment().inputValue()).toBe('Looks right.')
    await press('Approve')
    await sees('This approval is approved.')
  })
})
