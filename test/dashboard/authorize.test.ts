// What people read and stop on the pages of Authorize, in a real browser: why an action was refused, with a proof that is checked
// there, and the acts that stop and resume agents, schedules, mandates and sessions.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'
import { type AuthorizeIds, makeAuthorizeData } from './authorize-rows.ts'

describe.skipIf(!hasChromium)('the pages of Authorize (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let scope: TestCaller
  let ids: AuthorizeIds
  let owner: Visitor
  beforeAll(async () => {
    dashboard = await startDashboard()
    scope = await dashboard.service.makeCaller()
    ids = await makeAuthorizeData(dashboard.service, scope)
    owner = await dashboard.signIn(scope.accountId)
  })
  afterAll(() => dashboard?.close())

  const call = async (path: string, sent: object = {}) => (await dashboard.service.call(scope, path, sent)).json
  /** Presses a button, fills its form, reads what follows, and confirms with two clicks. */
  async function act(title: string, fields: Record<string, string>, follows: string): Promise<void> {
    const { page } = owner
    await page.getByRole('main').getByRole('button', { name: title, exact: true }).click()
    const dialog = page.getByRole('dialog')
    for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByText(follows).waitFor()
    await dialog.getByRole('button', { name: title, exact: true }).dblclick()
    await dialog.waitFor({ state: 'detached' })
  }
  const sees = (text: string | RegExp) => owner.page.getByText(text).first().waitFor()

  it('say why an action was refused, at which step, and what to do, and prove it by the library', async () => {
    const { page, visit, complaints } = owner
    complaints.length = 0
    await visit(`sandbox/decisions/${ids.decision}`)
    const answer = page.getByRole('alert', { name: 'Why it was refused' })
    await answer.getByText('action_hash_mismatch').waitFor()
    await answer.getByText('What to do:').waitFor()
    await sees('The recorded facts lead to the same answer again.')
    const steps = await page.locator('main ol > li').allInnerTexts()
    const resultOf = (reason: string) => steps.find((step) => step.includes(reason))?.split('\n')[0]
    expect(
      ['invalid_token', 'action_hash_mismatch', 'payload_hash_mismatch', 'rules of the policy'].map(resultOf),
    ).toEqual(['passed', 'refused here', 'not reached', 'not reached'])
    await page.getByRole('status', { name: 'The entry is in the ledger: checked in this browser' }).waitFor()
    await page.getByRole('button', { name: 'Show the facts' }).click()
    await page.getByRole('group', { name: 'Facts' }).getByText('"Pay 81.00 EUR"').waitFor()
    expect(await findInaccessible(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('prove nothing where the entry is not the one of the ledger', async () => {
    const { page, visit } = owner
    const path = /\/v1\/decisions\/dec[^/]+$/
    await page.route(path, async (route) => {
      const response = await route.fetch()
      const json = (await response.json()) as { entry: object }
      await route.fulfill({ response, json: { ...json, entry: { ...json.entry, reason: null, valid: true } } })
    })
    await visit(`sandbox/decisions/${ids.decision}`)
    await page.getByRole('alert', { name: 'The entry is not proved' }).getByText('not_included').waitFor()
    await page.unroute(path)
  })

  it('say that an entry has no signed place in the ledger yet', async () => {
    await call(`/v1/agents/${ids.agent}/suspend`, { json: { reason: 'a test' } })
    await call(`/v1/agents/${ids.agent}/unsuspend`, { method: 'POST' })
    const { data } = await call('/v1/decisions?kind=agent_suspend')
    await owner.visit(`sandbox/decisions/${(data as { decision_id: string }[])[0]?.decision_id}`)
    await sees('Not signed yet')
  })

  it('suspend an agent after a second step and resume it, each once', async () => {
    await owner.visit(`sandbox/agents/${ids.agent}`)
    await act('Suspend', { Reason: 'odd payments' }, 'Repair desk is suspended')
    await sees('“odd payments”')
    expect(await call(`/v1/agents/${ids.agent}`)).toMatchObject({ status: 'suspended' })
    await act('Unsuspend', {}, 'Repair desk may act again')
    await owner.page.getByRole('main').getByRole('button', { name: 'Suspend', exact: true }).waitFor()
    expect(await call(`/v1/agents/${ids.agent}`)).toMatchObject({ status: 'active', suspensions: [] })
    // One before this test.
    const { data } = await call('/v1/decisions?kind=agent_suspend')
    expect(data).toHaveLength(2)
  })

  it('change no agent that somebody else changed first, and keep what was typed', async () => {
    const { page, visit } = owner
    await visit(`sandbox/agents/${ids.agent}`)
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Owner').fill('fleet@example.com')
    await call(`/v1/agents/${ids.agent}`, { method: 'PATCH', json: { name: 'Repair team' } })
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByText('Somebody else changed it first').waitFor()
    expect(await dialog.getByLabel('Owner').inputValue()).toBe('fleet@example.com')
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Repair team' }).waitFor()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await call(`/v1/agents/${ids.agent}`)).toMatchObject({ name: 'Repair team', owner: 'fleet@example.com' })
  })

  it('pause, resume and cancel a schedule, and list its next cycles', async () => {
    const { page, visit } = owner
    await visit('sandbox/schedules')
    await page.getByRole('link', { name: 'Next cycles' }).click()
    await page.getByRole('table', { name: 'Cycles of all schedules' }).getByText('upcoming').first().waitFor()
    await page.getByRole('link', { name: 'Example Leasing' }).first().click()
    await sees('Cycle 12')
    const statusIs = async (status: string) =>
      expect(await call(`/v1/schedules/${ids.schedule}`)).toMatchObject({ status })
    await act('Pause', {}, 'is not paid while it is paused')
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await statusIs('paused')
    await act('Resume', {}, 'can be paid again')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await statusIs('active')
    await act('Cancel the schedule', {}, 'is never paid again')
    await sees('No cycle is left.')
    await statusIs('cancelled')
  })

  it('narrow and revoke a mandate with the ones within it, clear a lock and revoke a session, each with a reason', async () => {
    const { page, visit } = owner
    await visit(`sandbox/locks/${ids.lock}`)
    await act('Clear', { Note: 'quoted, not followed' }, 'The session may go on')
    await sees('quoted, not followed')
    expect(await call(`/v1/trace/session-locks/${ids.lock}`)).toMatchObject({ status: 'cleared' })
    await visit('sandbox/revocations')
    await act('Revoke a session', { 'Agent session': 'browsing', Reason: 'left open' }, 'browsing is revoked')
    await page.getByRole('row', { name: /browsing left open/ }).waitFor()
    await visit(`sandbox/mandates/${ids.mandate}`)
    await page
      .getByRole('table', { name: 'Spent by day' })
      .getByRole('row', { name: /18 EUR/ })
      .waitFor()
    expect(await findInaccessible(page)).toEqual([])
    await page.getByRole('button', { name: 'Narrow' }).click()
    await page.getByLabel('Limit of a period').fill('400.00')
    await page.getByRole('dialog').getByRole('button', { name: 'Narrow' }).click()
    await sees('382 EUR')
    await act('Revoke', { Reason: 'the season is over' }, '“Repairs of the fleet” ends permanently')
    await page.getByText('Repairs of trucks').waitFor()
    await page.getByRole('main').getByText('revoked').nth(1).waitFor()
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0)
    const { data } = await call(`/v1/mandates?parent_id=${ids.mandate}`)
    expect(data).toMatchObject([{ status: 'revoked', status_of: ids.mandate }])
  })

  it('show no way to change anything to people who may only read', async () => {
    const { page, visit, context } = await dashboard.signIn(scope.accountId, { role: 'analyst' })
    for (const path of [`agents/${ids.agent}`, `approvals/${ids.approval}`, 'revocations', 'agent-sessions']) {
      await visit(`sandbox/${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      const acts = page.getByRole('main').getByRole('button', { name: /Suspend|Retire|Approve|Deny|Revoke|End/ })
      expect([path, await acts.count()]).toEqual([path, 0])
    }
    await context.close()
  })
})
