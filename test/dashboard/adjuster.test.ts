// The way of an adjuster through the dashboard, in a real browser: from the sign-in link to a decision that takes two persons,
// and what happens to a note when something goes wrong.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { opensDashboard } from '../../commands/seed.ts'
import { BARE_PHOTO } from '../attest/claims/phone.ts'
import type { TestCaller } from '../support/callers.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard } from '../support/dashboard.ts'
import { createJobs, type Jobs } from '../support/jobs.ts'

const NOTE = 'The damage is older than the policy.'

describe.skipIf(!hasChromium)('an adjuster (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let jobs: Jobs<'attest'>
  let caller: TestCaller
  let claims = 0
  beforeAll(async () => {
    dashboard = await startDashboard({ scopes: ['attest', 'verify', 'escalate', 'admin'] })
    jobs = createJobs(dashboard.service.test, 'attest')
  })
  beforeEach(async () => {
    caller = await dashboard.service.makeCaller()
  })
  afterAll(() => dashboard?.close())

  /** A claim with a photo that nobody signed: it fails, and has a case. */
  async function failClaim(): Promise<string> {
    claims += 1
    const reference = `claim-${claims}`
    const media = { content_type: 'image/jpeg', data: Buffer.from(BARE_PHOTO).toString('base64') }
    const { service } = dashboard
    const sent = { media_type: 'image', media, claim: { reference }, external_id: reference }
    const { status, text } = await service.call(caller, '/v1/claims/attest', {
      json: sent,
      headers: { Prefer: 'wait=0' },
    })
    expect([status, text]).toEqual([202, expect.any(String)])
    const work = service.services.attest.claims.feature.work?.attest?.()
    if (work === undefined) throw new Error('nothing does the work of attest')
    await jobs.drain(work, caller)
    return reference
  }
  const openCases = async () => {
    const { json } = await dashboard.service.call(caller, '/v1/cases?order_by=due&order=asc')
    return json.data as { case_id: string; claim_reference: string; status: string; version: number }[]
  }
  const review = async (caseId: string) =>
    dashboard.service.call(caller, `/v1/cases/${caseId}/transitions`, {
      json: { to: 'in_review', actor: 'first@example.com', assignee: 'first@example.com' },
    })
  const choose = async (page: Page, decision: string, reason: string) => {
    await page.getByRole('radio', { name: decision, exact: true }).check()
    await page.getByRole('radio', { name: reason }).check()
  }
  const noteOf = (page: Page) => page.getByRole('textbox', { name: 'Note' })

  it('signs in by link, takes the next case, proposes a denial that another person confirms, and goes on', async () => {
    const { service, browser } = dashboard
    const [first, second] = [await failClaim(), await failClaim()]
    const { link } = await service.services.account.printLink('adjuster@example.com', {
      accountId: caller.accountId,
      at: service.app.url,
    })
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, reducedMotion: 'reduce' })
    const page = await context.newPage()
    await page.goto(opensDashboard(link))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'What waits' }).waitFor()
    const take = async () => {
      await page.goto(`${service.app.url}/app/sandbox/cases?queue=unassigned`)
      await page.getByRole('button', { name: 'Take next' }).click()
      await page.getByRole('heading', { level: 1, name: /^claim-/ }).waitFor()
      return page.getByRole('heading', { level: 1 }).textContent()
    }
    expect(await take()).toBe(first)
    await page.getByText('no_manifest').first().waitFor()
    await page.getByText('The media came without a signed bundle.').waitFor()
    await page.getByText('+60').waitFor()
    await page.getByAltText('The submitted photo').waitFor()
    expect(await findInaccessible(page)).toEqual([])
    const address = page.url()
    expect(await take()).toBe(second)

    await page.goto(address)
    await choose(page, 'Deny', 'suspected_fraud')
    await page.getByText('another person has to confirm it').first().waitFor()
    await noteOf(page).fill(NOTE)
    await page.getByRole('button', { name: 'Deny and next' }).click()
    await page.getByRole('heading', { level: 1, name: second }).waitFor()
    const [proposed] = await openCases()
    expect(proposed).toMatchObject({ claim_reference: first, status: 'in_review' })

    const other = await dashboard.signIn(caller.accountId, { role: 'approver' })
    await other.visit(`sandbox/cases/${proposed?.case_id}`)
    await other.page.getByText(NOTE).waitFor()
    await choose(other.page, 'Deny', 'suspected_fraud')
    await other.page.getByText('has named the fraud: with you the case is denied').waitFor()
    // Nothing is decided by a key alone: the focus must be in the form.
    await other.page.getByRole('heading', { level: 1 }).click()
    await other.page.keyboard.press('Control+Enter')
    expect((await openCases()).length).toBe(2)
    await noteOf(other.page).focus()
    await other.page.keyboard.press('Control+Enter')
    await other.page.getByText('The case is denied now.').waitFor()
    expect((await openCases()).map(({ claim_reference }) => claim_reference)).toEqual([second])
    expect(other.complaints).toEqual([])
    await Promise.all([context.close(), other.context.close()])
  })

  it('takes the following case where another adjuster took the first one meanwhile', async () => {
    await failClaim()
    const second = await failClaim()
    const { page, visit, context } = await dashboard.signIn(caller.accountId)
    await visit('sandbox/cases?queue=unassigned')
    await page.getByRole('link', { name: second }).waitFor()
    const [first] = await openCases()
    let hasMoved = false
    await page.route(/\/transitions$/, async (route) => {
      // The list was read before, and the request comes after.
      if (!hasMoved) await review(first?.case_id ?? '')
      hasMoved = true
      await route.continue()
    })
    await page.getByRole('button', { name: 'Take next' }).click()
    await page.getByRole('heading', { level: 1, name: second }).waitFor()
    await context.close()
  })

  it('sees what another person changed, and keeps the note', async () => {
    await failClaim()
    const [row] = await openCases()
    const id = row?.case_id ?? ''
    await review(id)
    const { page, visit, context } = await dashboard.signIn(caller.accountId)
    await visit(`sandbox/cases/${id}?queue=all`)
    await choose(page, 'Deny', 'insufficient_evidence')
    await noteOf(page).fill(NOTE)
    await dashboard.service.call(caller, `/v1/cases/${id}/notes`, {
      json: { actor: 'second@example.com', note: 'The policyholder called.' },
    })
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    const alert = page.getByRole('alert', { name: 'The case was changed meanwhile' })
    await alert.getByText('The policyholder called.').waitFor()
    expect((await openCases())[0]).toMatchObject({ status: 'in_review' })
    expect(await noteOf(page).inputValue()).toBe(NOTE)
    expect(await page.getByRole('radio', { name: 'insufficient_evidence' }).isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await page.getByText('The case is denied now.').waitFor()
    expect(await openCases()).toEqual([])
    await context.close()
  })

  it('is told where the photo of a case was erased', async () => {
    await failClaim()
    const [row] = await openCases()
    const { json } = await dashboard.service.call(caller, '/v1/claims')
    const [claim] = json.data as { claim_id: string }[]
    const { page, visit, context } = await dashboard.signIn(caller.accountId)
    await visit(`sandbox/claims/${claim?.claim_id}`)
    await page.getByAltText('The submitted photo').waitFor()
    const erased = await dashboard.service.call(caller, `/v1/claims/${claim?.claim_id}`, { method: 'DELETE' })
    expect([erased.status, erased.text]).toEqual([200, expect.any(String)])
    await visit(`sandbox/cases/${row?.case_id}`)
    await page.getByText('Its media and positions were erased').waitFor()
    await context.close()
  })

  it('goes on with the note after the session was over and the page was loaded again, and sends it once', async () => {
    await failClaim()
    const [row] = await openCases()
    const id = row?.case_id ?? ''
    await review(id)
    const { page, visit, context } = await dashboard.signIn(caller.accountId)
    await visit(`sandbox/cases/${id}`)
    await choose(page, 'Deny', 'insufficient_evidence')
    await noteOf(page).fill(NOTE)
    const cookies = await context.cookies()
    await context.clearCookies()
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    // The person signs in again in another tab.
    await context.addCookies(cookies)
    await page.evaluate(() => new BroadcastChannel('countersign.session').postMessage('changed'))
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'detached' })
    expect(await noteOf(page).inputValue()).toBe(NOTE)
    await page.reload()
    await noteOf(page).waitFor()
    expect(await noteOf(page).inputValue()).toBe(NOTE)

    const keys: (string | undefined)[] = []
    await page.route(/\/transitions$/, async (route) => {
      keys.push(route.request().headers()['idempotency-key'])
      // The service restarts at the first attempt.
      if (keys.length > 1) return route.continue()
      await route.fulfill({
        status: 503,
        headers: { 'Retry-After': '1' },
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'unavailable', detail: 'It restarts.', status: 503 }),
      })
    })
    await page.getByRole('button', { name: 'Deny', exact: true }).dblclick()
    await page.getByText('The case is denied now.').waitFor()
    expect([keys.length, new Set(keys).size]).toEqual([2, 1])
    const { json } = await dashboard.service.call(caller, `/v1/cases/${id}/entries`)
    expect((json.data as { note: string | null }[]).filter(({ note }) => note === NOTE)).toHaveLength(1)
    await context.close()
  })
})
