// What people change on the pages of devices and of the risk policy, in a real browser: a device is enrolled by the keyboard
// and revoked after a confirmation, and a policy is corrected, tried and published beside another person.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Issued, makeChain } from '../platform/crypto/pki.ts'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'
import { base64, makePageData, type PageIds } from './rows.ts'

const POLICY = {
  require_attestation: false,
  require_biometric: false,
  require_gps: false,
  require_session_nonce: false,
  thresholds: { review: 25, failed: 50 },
  geofence_m: 1_000,
}

describe.skipIf(!hasChromium)('devices and the risk policy (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let scope: TestCaller
  let ids: PageIds
  let owner: Visitor
  beforeAll(async () => {
    dashboard = await startDashboard()
    scope = await dashboard.service.makeCaller()
    ids = await makePageData(dashboard.service, scope)
    owner = await dashboard.signIn(scope.accountId)
  })
  afterAll(() => dashboard?.close())

  const call = async (path: string, sent: object = {}) => (await dashboard.service.call(scope, path, sent)).json
  const putPolicy = (document: object, version: string) =>
    call('/v1/account/risk-policy', {
      method: 'PUT',
      json: { document },
      headers: { 'If-Match': version },
    })

  it('enrolls a device with the keyboard alone, and opens its page', async () => {
    const { root, intermediate, leaf } = await makeChain()
    await call('/v1/admin/root-cas', { json: { name: 'Second maker', certificate: base64(root) } })
    const { page, visit } = owner
    await visit('sandbox/devices')
    await page.getByRole('button', { name: 'Enroll a device' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect(await findInaccessible(page)).toEqual([])
    await page.getByLabel('Name').focus()
    await page.keyboard.insertText('Phone 2')
    await page.keyboard.press('Tab')
    await page.keyboard.insertText([leaf, intermediate].map(pem).join('\n'))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Phone 2' }).waitFor()
    expect(await page.evaluate('document.location.pathname')).toMatch(/\/app\/sandbox\/devices\/dev_test_/)
  })

  it('revokes a device from a time in the past, once, after it said what follows', async () => {
    const { page, visit } = owner
    await visit(`sandbox/devices/${ids.device}`)
    await page.getByRole('button', { name: 'Revoke' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('stolen')
    await dialog.getByLabel('No longer trusted from').fill('2026-02-03T04:05:06')
    const local = (await page.evaluate('new Date("2026-02-03T04:05:06").toISOString()')) as string
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByText('Phone 1 is revoked permanently').waitFor()
    await dialog.getByText('Claims with captures of this device').waitFor()
    expect(await findInaccessible(page)).toEqual([])
    expect(await call(`/v1/admin/devices/${ids.device}`)).toMatchObject({ status: 'enrolled' })
    await dialog.getByRole('button', { name: 'Revoke' }).dblclick()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('“stolen”').waitFor()
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0)
    expect(await call(`/v1/admin/devices/${ids.device}`)).toMatchObject({
      status: 'revoked',
      revoke_reason: 'stolen',
      revoke_effective_at: local,
    })
    const { data } = await call(`/v1/admin/devices/${ids.device}/history`)
    expect((data as { kind: string }[]).map(({ kind }) => kind)).toEqual(['revoked', 'enrolled'])
  })

  it('keeps what was typed into a form that was closed', async () => {
    const { page, visit } = owner
    await visit('sandbox/roots')
    await page.getByRole('button', { name: 'Add a root CA' }).click()
    await page.getByLabel('Name').fill('Third maker')
    await page.getByLabel('Certificate').fill('no certificate')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a root CA' }).click()
    await page.getByRole('alert').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Add a root CA' }).click()
    expect(await page.getByLabel('Name').inputValue()).toBe('Third maker')
  })

  it('shows a policy in sentences, what is wrong with it at its place, and which claims it would change', async () => {
    const { page, visit, complaints } = owner
    complaints.length = 0
    await visit('sandbox/risk-policy')
    await page.getByText('A claim with a score of 25 or more needs a review.').waitFor()
    await type({ ...POLICY, thresholds: { review: 60, failed: 50 } })
    await page.getByRole('status', { name: 'Findings' }).getByText('must not be above failed').waitFor()
    await page.locator('.cm-lint-marker-error').waitFor()
    expect(await page.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true)
    await type({ ...POLICY, thresholds: { review: 40, failed: 50 }, geofence_m: 500 })
    await page.getByText('A claim with a score of 40 or more needs a review.').waitFor()
    await page.getByRole('button', { name: 'Show which claims would change' }).click()
    await page.getByText(/^\d+ of \d+ claims would change\./).waitFor()
    expect(await findInaccessible(page)).toEqual([])
    // The styles of the editor have the nonce of the page.
    expect(complaints).toEqual([])
  })

  it('compares the draft with a version that was published meanwhile, and publishes it on top of that', async () => {
    const { page } = owner
    await putPolicy({ ...POLICY, geofence_m: 2_000 }, '"0"')
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('alert').getByText('Version 1 was published meanwhile').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const differences = page.getByRole('table', { name: 'Differences' })
    expect(await differences.getByRole('row').allInnerTexts()).toEqual([
      expect.stringContaining('Your draft'),
      expect.stringMatching(/thresholds\.review\s+40\s+25/),
      expect.stringMatching(/geofence_m\s+500\s+2000/),
    ])
    expect(await findInaccessible(page)).toEqual([])
    expect(await call('/v1/account/risk-policy')).toMatchObject({ version: 1 })
    await page.getByRole('button', { name: 'Keep my draft' }).click()
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click()
    await page.getByText('applies now').waitFor()
    await expect
      .poll(() => call('/v1/account/risk-policy'))
      .toMatchObject({
        version: 2,
        document: { thresholds: { review: 40, failed: 50 }, geofence_m: 500 },
      })
    await page.getByRole('button', { name: 'Compare version 1' }).click()
    await page.getByRole('table', { name: 'Differences' }).getByText('2000').waitFor()
  })

  it('shows no way to change anything to people who may only read', async () => {
    const { page, visit } = await dashboard.signIn(scope.accountId, { role: 'analyst' })
    await visit('sandbox/risk-policy')
    await page.getByText('applies now').waitFor()
    expect(await page.getByRole('button', { name: /Publish|Take version/ }).count()).toBe(0)
    await visit('sandbox/devices')
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
    expect(await page.getByRole('button', { name: 'Enroll a device' }).count()).toBe(0)
  })

  async function type(document: object): Promise<void> {
    await owner.page.getByRole('textbox', { name: 'The policy as JSON' }).fill(JSON.stringify(document, null, 2))
  }
})

const pem = (issued: Issued) => `-----BEGIN CERTIFICATE-----\n${base64(issued)}\n-----END CERTIFICATE-----`
