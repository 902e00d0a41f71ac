// What a person sees and keeps when something goes wrong around them. The end of a session, a stale version, a restart of the
// service and a double click are in adjuster.test.ts; the upload that breaks off is in batch.test.ts.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import { type Dashboard, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'

const NOTE = 'The damage is older than the policy.'
// 200 characters each, of scripts that break lines and run in other ways.
const REFERENCES = ['漢字事故'.repeat(50), 'مطالبة٧٨٩'.repeat(23).slice(0, 200), 'W'.repeat(200)]

interface Trouble {
  title: string
  run(visitor: Visitor): Promise<void>
}

describe.skipIf(!hasChromium)('a person at the dashboard (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let scope: Scope
  let caseId: string
  beforeAll(async () => {
    dashboard = await startDashboard({ scopes: ['attest', 'verify', 'escalate'] })
    const { service } = dashboard
    const caller = await service.makeCaller()
    scope = caller
    for (const reference of ['CLM-1', ...REFERENCES]) {
      await service.makeClaim(scope, { reference, risk_status: 'review' })
    }
    const { json } = await service.call(caller, '/v1/claims?reference=CLM-1')
    const [claim] = json.data as { claim_id: string }[]
    const opened = await service.call(caller, '/v1/cases', {
      json: { claim_id: claim?.claim_id, actor: 'first@example.com', assignee: 'first@example.com' },
    })
    caseId = String(opened.json.case_id)
    await service.call(caller, `/v1/cases/${caseId}/transitions`, {
      json: { to: 'in_review', actor: 'first@example.com' },
    })
  })
  afterAll(() => dashboard?.close())

  const roleIs = (role: string) =>
    dashboard.service.test.owner('UPDATE users SET role = $2 WHERE account_id = $1 RETURNING 1', [
      scope.accountId,
      role,
    ])
  const writeNote = async ({ page, visit }: Visitor) => {
    await visit(`sandbox/cases/${caseId}?queue=all`)
    await page.getByRole('radio', { name: 'Deny', exact: true }).check()
    await page.getByRole('radio', { name: 'insufficient_evidence' }).check()
    await page.getByRole('textbox', { name: 'Note' }).fill(NOTE)
  }
  const expectNote = async ({ page, visit }: Visitor) => {
    await visit(`sandbox/cases/${caseId}`)
    await page.getByRole('textbox', { name: 'Note' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe(NOTE)
  }

  const TROUBLES: readonly Trouble[] = [
    {
      title: 'works on a case over a line of 400 ms round trip, and nothing jumps',
      async run(visitor) {
        const { page, visit, context } = visitor
        const network = await context.newCDPSession(page)
        await network.send('Network.enable')
        const conditions = { offline: false, latency: 400, downloadThroughput: -1, uploadThroughput: -1 }
        await network.send('Network.emulateNetworkConditions', conditions)
        await page.addInitScript(() => {
          const shifts: unknown[] = []
          Object.assign(globalThis, { shifts })
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) {
              const { hadRecentInput, value } = entry as unknown as { hadRecentInput: boolean; value: number }
              if (!hadRecentInput) shifts.push(value)
            }
          }).observe({ type: 'layout-shift' as never, buffered: true })
        })
        const shift = () =>
          page.evaluate(() => (globalThis as never as { shifts: number[] }).shifts.reduce((sum, one) => sum + one, 0))
        await visit('sandbox/cases?queue=all')
        await page.getByRole('link', { name: 'CLM-1', exact: true }).waitFor()
        await page.waitForLoadState('networkidle')
        expect(await shift()).toBeLessThan(0.1)
        await writeNote(visitor)
        await page.waitForLoadState('networkidle')
        expect(await shift()).toBeLessThan(0.1)
      },
    },
    {
      title: 'learns at the next click that the permission was taken away, and has the note when it is back',
      async run(visitor) {
        await writeNote(visitor)
        await roleIs('analyst')
        await visitor.page.getByRole('button', { name: 'Deny', exact: true }).click()
        await visitor.page.getByText('Your role reads cases, and does not decide them.').waitFor()
        await roleIs('owner')
        await expectNote(visitor)
      },
    },
    {
      title: 'is asked to reload where the files of the page are gone after an upgrade, and has the note afterwards',
      async run(visitor) {
        const { page } = visitor
        await writeNote(visitor)
        await page.route(/\/app\/assets\/batches-.*\.js$/, (route) => route.fulfill({ status: 404, body: '{}' }))
        await page.getByRole('navigation').getByRole('link', { name: 'Batches' }).click()
        await page.getByRole('alert', { name: 'The dashboard was updated' }).waitFor()
        await page.unroute(/\/app\/assets\/batches-.*\.js$/)
        await page.getByRole('button', { name: 'Reload' }).click()
        await page.getByRole('heading', { level: 1, name: 'Batches' }).waitFor()
        await expectNote(visitor)
      },
    },
    {
      title: 'comes back by Back to the list with its filters',
      async run({ page, visit }) {
        await visit('sandbox/claims?riskStatus=review')
        const address = page.url()
        await page.getByRole('link', { name: 'CLM-1', exact: true }).first().click()
        await page.getByRole('heading', { level: 1, name: 'CLM-1' }).waitFor()
        await page.goBack()
        await page.getByRole('heading', { level: 1, name: 'Claims' }).waitFor()
        await page.getByText('CLM-1', { exact: true }).waitFor()
        expect(page.url()).toBe(address)
      },
    },
    {
      title: 'has another environment in another tab',
      async run({ page, visit, context }) {
        await visit('sandbox/claims')
        await page.getByText('CLM-1', { exact: true }).waitFor()
        const live = await context.newPage()
        await live.goto(`${dashboard.service.app.url}/app/live/claims`)
        await live.getByText('Nothing here yet').waitFor()
        await page.reload()
        await page.getByText('CLM-1', { exact: true }).waitFor()
        expect([page, live].map((tab) => new URL(tab.url()).pathname)).toEqual([
          '/app/sandbox/claims',
          '/app/live/claims',
        ])
      },
    },
    {
      title: 'reads a reference of 200 characters of any script on a phone',
      async run({ page, visit }) {
        await page.setViewportSize({ width: 390, height: 800 })
        await visit('sandbox/claims')
        await page.getByText('CLM-1', { exact: true }).waitFor()
        const { json } = await dashboard.service.call(scope as never, '/v1/claims')
        for (const { claim_id, reference } of json.data as { claim_id: string; reference: string }[]) {
          await visit(`sandbox/claims/${claim_id}`)
          await page.getByRole('heading', { level: 1, name: reference }).waitFor()
          expect([reference, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([reference, 390])
        }
      },
    },
  ]

  it.each(TROUBLES)('$title', async ({ run }) => {
    const visitor = await dashboard.signIn(scope.accountId)
    await run(visitor)
    await visitor.context.close()
  })
})
