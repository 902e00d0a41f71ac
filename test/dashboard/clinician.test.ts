// The way of clinicians through the dashboard, in a real browser with passkeys: their facts are confirmed, they sign and co-sign
// exactly the order that is shown, and nothing that was edited or changed on its way.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { workOf } from '#src/services.ts'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'
import { leieFile, samFile } from '../support/exclusion-lists.ts'
import { listNobodyToday } from '../support/exclusion-rows.ts'
import { createJobs } from '../support/jobs.ts'
import { type Localhost, openLocalhost } from '../support/localhost.ts'
import { enterOrder, enterPrescriber } from './clinical-rows.ts'

const ORDERS = '/v1/clinical/orders'

describe.skipIf(!hasChromium)('a clinician (skipped where there is no Chromium)', () => {
  let localhost: Localhost
  let dashboard: Dashboard
  let caller: TestCaller
  let root: string
  let owner: Visitor
  let robin: Visitor
  let mika: Visitor
  let prescriber: string
  let second: string

  beforeAll(async () => {
    localhost = await openLocalhost(() => dashboard.service.app.port)
    root = localhost.root
    dashboard = await startDashboard({ env: { BASE_URL: root, WEBAUTHN_RP_ID: '', WEBAUTHN_ORIGINS: '' } })
    const { service } = dashboard
    caller = await service.makeCaller()
    await listNobodyToday(service.test, caller)
    owner = await visitorWithPasskey('owner')
    robin = await visitorWithPasskey('approver', 390)
    mika = await visitorWithPasskey('approver')
    prescriber = await enterPrescriber(service, caller, { userId: robin.userId, npi: '1234567893' })
    second = await enterPrescriber(service, caller, { userId: mika.userId, npi: '1000000012', last: 'Emmer' })
  })
  afterAll(async () => {
    await dashboard?.close()
    localhost?.close()
  })

  async function visitorWithPasskey(role: 'owner' | 'approver', width = 1_280): Promise<Visitor> {
    const visitor = await dashboard.signIn(caller.accountId, { role, width, root })
    const { page, context } = visitor
    const debug = await context.newCDPSession(page)
    await debug.send('WebAuthn.enable')
    const authenticator = { protocol: 'ctap2', ctap2Version: 'ctap2_1', transport: 'internal' } as const
    const abilities = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true }
    await debug.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...authenticator, ...abilities, automaticPresenceSimulation: true },
    })
    await page.goto(`${root}/passkeys`)
    await page.evaluate(`(async () => {
      const { csrf_token } = (await (await fetch('/v1/auth/session')).json()).session
      const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf_token }
      const post = async (path, sent) => (await fetch(path, { method: 'POST', headers, body: sent && JSON.stringify(sent) })).json()
      const made = await post('/v1/passkeys/registration-options')
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(made.options)
      const own = await navigator.credentials.create({ publicKey })
      await post('/v1/passkeys/register', { name: 'Laptop', response: own.toJSON() })
    })()`)
    return visitor
  }

  const read = async (id: string) => (await dashboard.service.call(caller, `${ORDERS}/${id}`)).json
  const enter = () => enterOrder(dashboard.service, caller, prescriber)
  const edit = async (id: string, json: object) => {
    const sent = { method: 'PATCH', json, headers: { 'If-Match': '*' } }
    expect(await dashboard.service.call(caller, `${ORDERS}/${id}`, sent)).toMatchObject({ status: 200 })
  }
  const show = async ({ page }: Visitor, id: string) => {
    await page.goto(`${root}/app/sandbox/orders/${id}`)
    await page.getByRole('region', { name: 'The order' }).waitFor()
  }
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const signature = ({ page }: Visitor) => page.getByRole('region', { name: 'Signature' })

  it('is confirmed by a second person with a passkey, after which the tier is 3', async () => {
    for (const [{ page }, id] of [
      [owner, prescriber],
      [robin, second],
    ] as const) {
      await page.goto(`${root}/app/sandbox/prescribers/${id}`)
      await press(page, 'Confirm with a passkey')
      const dialog = page.getByRole('dialog')
      await dialog.getByText('DEA registration BE1234563 for II, III, IV, V, until 2099-06-30').waitFor()
      await dialog.getByRole('button', { name: 'Confirm with a passkey' }).click()
      await dialog.waitFor({ state: 'detached' })
      const { json } = await dashboard.service.call(caller, `/v1/clinical/prescribers/${id}`)
      expect(json).toMatchObject({ tier: 3 })
    }
  })

  it('reads the whole order and the statement on a phone, signs it, and a second clinician co-signs it', async () => {
    const id = await enter()
    await robin.page.goto(`${root}/orders#${id}`)
    const order = robin.page.getByRole('region', { name: 'The order' })
    await order.getByText('Robin Example').waitFor()
    expect(new URL(robin.page.url()).pathname).toBe(`/app/sandbox/orders/${id}`)
    const shown = await order.textContent()
    const { order_hash: hash } = (await read(id)) as { order_hash: string }
    for (const part of [
      ...['Oxycodone 10 mg oral tablet', '1049502', '30.0 tablet', 'One tablet every 6 hours', 'Patient/123'],
      ...[
        '21 CFR 1308 decided',
        'asked for: none',
        '"Example Pharmacy"',
        '1234567893',
        'Robin Example',
        'tier 3',
        hash,
      ],
    ]) {
      expect(shown).toContain(part)
    }
    await press(robin.page, 'Sign this order')
    await signature(robin).getByText('you are legally signing the prescription(s)').waitFor()
    await signature(robin).getByText('DEA BE1234563').waitFor()
    expect(await robin.page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await findInaccessible(robin.page)).toEqual([])
    await press(robin.page, 'Sign with a passkey')
    await robin.page.getByText('You are its prescriber, so another one co-signs.').waitFor()
    expect(await signature(robin).count()).toBe(0)

    await show(mika, id)
    await press(mika.page, 'Co-sign this order')
    await press(mika.page, 'Co-sign with a passkey')
    await mika.page.getByText('It is signed, and can be executed once.').waitFor()
    expect(await read(id)).toMatchObject({
      status: 'authorized',
      signatures: [
        { act: 'sign', method: 'passkey', order_hash: hash, statement_version: '1' },
        { act: 'cosign', method: 'passkey', order_hash: hash, prescriber_id: second },
      ],
    })
  })

  it('signs nothing where the order is edited between the challenge and the signature, and sees what changed', async () => {
    const id = await enter()
    await show(robin, id)
    await press(robin.page, 'Sign this order')
    await signature(robin).getByText('you are legally signing').waitFor()
    await edit(id, { sig: 'Two tablets every 6 hours' })
    await press(robin.page, 'Sign with a passkey')
    const alert = robin.page.getByRole('alert', { name: 'The order was edited since you read it' })
    const row = alert.getByRole('row', { name: /^Directions \(sig\)/ })
    await row.waitFor()
    expect(await row.textContent()).toContain('Two tablets every 6 hours')
    expect(await signature(robin).count()).toBe(0)
    // The pointer may stand on a time, whose tooltip is outside of the page.
    await robin.page.mouse.move(0, 0)
    await expect.poll(() => findInaccessible(robin.page), { timeout: 30_000 }).toEqual([])
    expect(await read(id)).toMatchObject({ status: 'draft', signatures: [] })

    // An edit before the challenge is seen as well.
    await press(robin.page, 'I have read it')
    await signature(robin).waitFor()
    await edit(id, { quantity: { value: '60', unit: 'tablet' } })
    await press(robin.page, 'Sign this order')
    await alert.getByRole('row', { name: /^Quantity 30.0 tablet 60 tablet/ }).waitFor()
    expect(await robin.page.getByText('you are legally signing').count()).toBe(0)
    expect(await read(id)).toMatchObject({ status: 'draft', signatures: [] })
  })

  it('can sign nothing that does not have the hash of the order, whatever was changed on the way', async () => {
    const id = await enter()
    const changes = [
      { sig: 'One tablet a day' },
      { quantity: { value: '3', unit: 'tablet' } },
      { action_payload: { to: 'Another Pharmacy' } },
      { schedule: 'V' },
      { order_hash: 'A'.repeat(43) },
    ]
    const { page } = robin
    const path = /\/v1\/clinical\/orders\/ord[^/]*$/
    for (const change of changes) {
      await page.route(path, async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...((await response.json()) as object), ...change } })
      })
      await show(robin, id)
      await page.getByRole('alert', { name: 'This is not the order that is signed' }).waitFor()
      expect(await signature(robin).count()).toBe(0)
      await page.unroute(path)
    }
    expect(await read(id)).toMatchObject({ status: 'draft', signatures: [] })
  })

  it('declines with a reason as the second clinician', async () => {
    const id = await enter()
    const { page } = mika
    await show(mika, id)
    await press(page, 'Decline')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Reason' }).click()
    await page.getByRole('option', { name: 'interaction' }).click()
    await press(page, 'Continue')
    await dialog.getByText('The order is never executed').waitFor()
    await dialog.getByRole('button', { name: 'Decline' }).click()
    await page.getByText('A clinician declined it.').waitFor()
    expect(await read(id)).toMatchObject({ status: 'declined', ended_reason: 'interaction' })
  })

  it('uploads a list, is told why another file was refused, and clears a review that the list opened', async () => {
    const { page } = owner
    const { service } = dashboard
    const jobs = createJobs(service.test, 'exclusions')
    const work = workOf(service.services, 'exclusions')
    await page.goto(`${root}/app/sandbox/exclusion-lists`)
    const leie = page.getByRole('region', { name: 'LEIE of the OIG' })
    const upload = async (name: string, buffer: Buffer) => {
      await leie.getByLabel('A file of LEIE').setInputFiles({ name, mimeType: 'text/csv', buffer })
      await leie.getByText('The file is uploaded, and is being read.').waitFor()
      await jobs.drain(work, caller)
    }
    await upload('UPDATED.csv', samFile([]))
    await leie.getByRole('alert', { name: 'The file was refused: missing_columns' }).waitFor()
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '')
    await upload('UPDATED.csv', leieFile([{ LASTNAME: 'EXAMPLE', FIRSTNAME: 'ROBIN', EXCLDATE: today }]))
    await leie.getByText('The list is in force').waitFor()
    await leie.getByText('0 of at most 45 days').waitFor()
    await page.getByRole('link', { name: 'Open reviews' }).click()
    await page.getByRole('table', { name: 'Exclusion reviews' }).getByRole('link', { name: /^exr/ }).click()
    await press(page, 'Clear')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Reason' }).click()
    await page.getByRole('option', { name: 'birth date differs' }).click()
    await press(page, 'Continue')
    await dialog.getByText('The row is about another person').waitFor()
    await dialog.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('main').getByText('birth date differs').waitFor()
    const { json } = await service.call(caller, '/v1/clinical/exclusion-reviews')
    expect(json).toMatchObject({ data: [{ status: 'cleared', prescriber_id: prescriber }] })
    expect([...robin.complaints, ...mika.complaints, ...owner.complaints]).toEqual([])
  })
})
